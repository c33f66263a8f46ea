/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "client/keeper.h"

#define TICK_MSEC 250
#define PATIENCE_NSEC \
        (5 *          \
         NSEC_PER_SEC) /* a daemon that is well receives at once, and renews what it holds every second */
#define LATE_NSEC NSEC_PER_SEC
#define NOTIF_ROOM 1024 /* the kernel's struct may have grown; it is 80 bytes in 6.12 */

typedef struct Keeper {
        int listener, daemon; /* daemon -1: there is none */
        GuardLedger *ledger;
        uint64_t beats;    /* of the daemon, */
        nsec_t beaten;     /* and when the last was seen */
        nsec_t looked;     /* when we last did */
        bool stands_still; /* there was none for too long: we receive */
} Keeper;

static nsec_t now_nsec(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (nsec_t) t.tv_sec * NSEC_PER_SEC + (nsec_t) t.tv_nsec;
}

/* ---- answers ---- */

static void answer(const Keeper *k, uint64_t notification, bool refuse) {
        union {
                struct seccomp_notif_resp answer;
                char room[NOTIF_ROOM];
        } u = {};

        u.answer.id = notification;
        if (refuse)
                u.answer.error = -EPERM;
        else
                u.answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        (void) ioctl(k->listener, SECCOMP_IOCTL_NOTIF_SEND, &u);
}

static void answer_late(uint64_t notification, bool refuse, void *userdata) {
        Keeper *k = userdata;

        guard_ledger_add_lapse(k->ledger);
        answer(k, notification, refuse);
}

/* Only when there is something: the receive would wait. */
static void serve_one(Keeper *k) {
        union {
                struct seccomp_notif notif;
                char room[NOTIF_ROOM];
        } u = {};

        if (ioctl(k->listener, SECCOMP_IOCTL_NOTIF_RECV, &u) < 0)
                return;
        if (!guard_ledger_is_released(k->ledger))
                guard_ledger_add_lapse(k->ledger);
        answer(k, u.notif.id, /* refuse= */ false);
}

/* ---- the daemon ---- */

static void daemon_is_gone(Keeper *k) {
        k->daemon = safe_close(k->daemon);
        if (!guard_ledger_is_released(k->ledger))
                guard_ledger_foreach(k->ledger, UINT64_MAX, answer_late, k);
}

/* It is stopped, or under a debugger, or hangs: what it holds is answered, and what it does not receive is received, until it
 * is well again. */
static void look_after_daemon(Keeper *k) {
        nsec_t now = now_nsec(), looked = k->looked;
        uint64_t beats = guard_ledger_beats(k->ledger);
        /* the machine stood still, or was too busy for us: then so it was for the daemon */
        bool late = now - looked > LATE_NSEC;

        k->looked = now;
        if (beats != k->beats || late) {
                k->beats = beats;
                k->beaten = now;
        }
        if (!late && now > PATIENCE_NSEC)
                guard_ledger_foreach(k->ledger, now - PATIENCE_NSEC, answer_late, k);
        k->stands_still = now - k->beaten >= PATIENCE_NSEC;
}

static bool has_daemon(const Keeper *k) {
        return k->daemon >= 0 && !guard_ledger_is_released(k->ledger);
}

static void run(Keeper *k) {
        struct pollfd fds[2] = {};

        for (;;) {
                bool supervised = has_daemon(k), serves = !supervised || k->stands_still;

                fds[0] = (struct pollfd){.fd = k->listener, .events = serves ? POLLIN : 0};
                fds[1] = (struct pollfd){.fd = k->daemon, .events = POLLRDHUP};
                if (poll(fds, 2, supervised ? TICK_MSEC : -1) < 0)
                        continue;
                if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
                        return;
                if (fds[1].revents)
                        daemon_is_gone(k);
                else if (supervised)
                        look_after_daemon(k);
                if (serves && (fds[0].revents & POLLIN) && (k->stands_still || !has_daemon(k)))
                        serve_one(k);
        }
}

/* ---- the process ---- */

/* Nothing of the command's is kept: no pipe whose end somebody waits for, no folder that somebody wants to unmount. */
static int let_go(Keeper *k) {
        int fds[] = {k->listener, k->daemon}, null;

        if (chdir("/") < 0)
                return -errno;
        null = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int i = 0; null >= 0 && i <= STDERR_FILENO; i++)
                (void) dup2(null, i);
        /* first up, out of the way of one another, then down */
        for (size_t i = 0; i < ELEMENTSOF(fds); i++)
                if (fds[i] >= 0)
                        fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 16);
        k->listener = dup2(fds[0], STDERR_FILENO + 1);
        k->daemon = fds[1] >= 0 ? dup2(fds[1], STDERR_FILENO + 2) : -1;
        if (k->listener < 0)
                return -errno;
        (void) syscall(SYS_close_range, STDERR_FILENO + 1 + (k->daemon >= 0 ? 2 : 1), ~0U, 0);
        return 0;
}

_Noreturn static void keeper_main(Keeper *k) {
        (void) setsid();
        (void) prctl(PR_SET_NAME, "mw-keeper");
        if (let_go(k) == 0)
                run(k);
        _exit(0);
}

/* It is born with all signals blocked, and stays so: whoever ends the command by a signal to all must not end what its
 * calls need. When the command has ended, so does the keeper. */
int keeper_start(int listener_fd, int daemon_fd, GuardLedger *ledger, pid_t *ret) {
        Keeper k = {.listener = listener_fd, .daemon = daemon_fd, .ledger = ledger};
        sigset_t all, old;
        pid_t pid;
        int r;

        (void) sigfillset(&all);
        (void) sigprocmask(SIG_SETMASK, &all, &old);
        pid = fork();
        r = pid < 0 ? -errno : 0;
        if (pid == 0)
                keeper_main(&k);
        (void) sigprocmask(SIG_SETMASK, &old, NULL);
        if (r < 0)
                return r;
        *ret = pid;
        return 0;
}
