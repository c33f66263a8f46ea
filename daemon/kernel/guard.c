/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/guard_private.h"

#include "daemon/kernel/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <utlist.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64) /* 6.6 */
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

#define END_NSEC (200 * 1000 * 1000L) /* that long guard_free() waits for its threads */
#define STACK (256 * 1024)            /* a dozen paths of 4 KiB, and room */
#define ERESTARTSYS \
        512 /* the kernel's own; user space never sees it when a signal or a freeze is pending */

/* ---- answers ---- */

static int send_answer(Guard *g, const struct seccomp_notif_resp *answer) {
        union {
                struct seccomp_notif_resp answer;
                char room[256];
        } u = {};

        u.answer = *answer;
        while (ioctl(g->listener, SECCOMP_IOCTL_NOTIF_SEND, &u) < 0)
                if (errno != EINTR)
                        return -errno;
        return 0;
}

int guard_continue(Guard *g, uint64_t notification) {
        const struct seccomp_notif_resp answer = {.id = notification,
                                                  .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

        return send_answer(g, &answer);
}

int guard_fail(Guard *g, uint64_t notification, int error) {
        const struct seccomp_notif_resp answer = {.id = notification, .error = error};

        return send_answer(g, &answer);
}

bool guard_is_valid(const Guard *g, uint64_t notification) {
        return ioctl(g->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &notification) == 0;
}

/* ---- parked calls ---- */

Parked *parked_free(Parked *p) {
        if (!p)
                return NULL;
        (void) attempt_free(p->attempt);
        free(p);
        return NULL;
}

/* With the lock held. */
static Parked *find_parked(Guard *g, uint64_t attempt) {
        Parked *p;

        DL_FOREACH (g->parked, p)
                if (p->attempt->id == attempt)
                        return p;
        return NULL;
}

bool guard_is_waiting(Guard *g, uint64_t attempt) {
        bool waits;

        (void) pthread_mutex_lock(&g->lock);
        waits = find_parked(g, attempt) != NULL;
        (void) pthread_mutex_unlock(&g->lock);
        return waits;
}

Parked *guard_unpark(Guard *g, uint64_t attempt) {
        Parked *p = find_parked(g, attempt);

        if (!p)
                return NULL;
        DL_DELETE(g->parked, p);
        g->n_parked--;
        return p;
}

/* With the lock held. */
static int answer_parked(Guard *g, const Parked *p, Verb verb) {
        int r;

        switch (verb) {
        case VERB_LET:
                r = guard_continue(g, p->notification);
                break;
        case VERB_FREEZE:
                r = guard_fail(g, p->notification, -ERESTARTSYS);
                break;
        case VERB_REFUSE:
        case VERB_ASK:
        case VERB_KILL:
        default:
                r = guard_fail(g, p->notification, -EPERM);
        }
        if (g->ledger)
                guard_ledger_leave(g->ledger, p->notification);
        return r;
}

int guard_answer(Guard *g, uint64_t attempt, Verb verb) {
        Parked *p;
        int r;

        (void) pthread_mutex_lock(&g->lock);
        p = guard_unpark(g, attempt);
        r = p ? answer_parked(g, p, verb) : -ENOENT;
        (void) pthread_mutex_unlock(&g->lock);
        (void) parked_free(p);
        return r;
}

void guard_tell(Guard *g, Attempt *a) {
        (void) pthread_mutex_lock(&g->hooks_lock);
        if (!g->stopped)
                g->hooks.tell(TAKE_PTR(a), g->hooks.userdata);
        (void) pthread_mutex_unlock(&g->hooks_lock);
        (void) attempt_free(a);
}

/* ---- threads ---- */

void guard_thread_ended(Guard *g) {
        (void) pthread_mutex_lock(&g->lock);
        g->n_threads--;
        (void) pthread_cond_broadcast(&g->ended);
        (void) pthread_mutex_unlock(&g->lock);
        (void) guard_unref(g);
}

/* With the lock held. */
int guard_start_thread(Guard *g, void *(*main)(void *), void *argument) {
        pthread_attr_t attributes;
        pthread_t thread;
        sigset_t all, old;
        int r;

        (void) pthread_attr_init(&attributes);
        (void) pthread_attr_setstacksize(&attributes, STACK);
        (void) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        atomic_fetch_add(&g->n_ref, 1);
        g->n_threads++;
        (void) sigfillset(&all);
        (void) pthread_sigmask(SIG_SETMASK, &all, &old);
        r = pthread_create(&thread, &attributes, main, argument);
        (void) pthread_sigmask(SIG_SETMASK, &old, NULL);
        (void) pthread_attr_destroy(&attributes);
        if (r == 0)
                return 0;
        g->n_threads--;
        atomic_fetch_sub(&g->n_ref, 1);
        return -r;
}

/* ---- life ---- */

static bool is_listener(int fd) {
        char name[64], target[64];
        ssize_t n;

        (void) snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
        n = readlink(name, target, sizeof(target) - 1);
        target[MAX(n, 0)] = '\0';
        return str_equal(target, "anon_inode:seccomp notify");
}

static int set_sizes(Guard *g) {
        struct seccomp_notif_sizes sizes;

        if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
                return -errno;
        g->notif_size = MAX(sizes.seccomp_notif, sizeof(struct seccomp_notif));
        g->resp_size = MAX(sizes.seccomp_notif_resp, sizeof(struct seccomp_notif_resp));
        /* send_answer() has that much room */
        return g->resp_size > 256 ? -EOVERFLOW : 0;
}

static int prepare(Guard *g, int ledger_fd) {
        int r;

        g->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        g->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        g->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (g->wake < 0 || g->kick < 0 || g->proc_fd < 0)
                return -errno;
        r = set_sizes(g);
        if (r >= 0 && ledger_fd >= 0)
                r = guard_ledger_map(ledger_fd, &g->ledger);
        if (r < 0)
                return r;
        call_table_init(&g->calls);
        return 0;
}

static Guard *allocate(void) {
        Guard *g = calloc(1, sizeof(*g));

        if (!g)
                return NULL;
        g->listener = g->wake = g->kick = g->proc_fd = -1;
        (void) pthread_mutex_init(&g->lock, NULL);
        (void) pthread_mutex_init(&g->hooks_lock, NULL);
        (void) pthread_mutex_init(&g->receive_lock, NULL);
        (void) pthread_cond_init(&g->ended, NULL);
        atomic_init(&g->n_ref, 1);
        atomic_init(&g->lapses, 0);
        atomic_init(&g->view_changed, 0);
        return g;
}

/* The caller and its server hand over to each other at once, on the same processor where possible. Older kernels cannot. */
static void ask_for_quick_handover(int listener) {
        (void) ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
}

/* The steward first: it does not look at the listener as long as nothing is parked, so that a failure leaves that untouched. */
static int start(Guard *g, int listener_fd) {
        int r;

        (void) pthread_mutex_lock(&g->lock);
        r = guard_start_thread(g, guard_steward_main, g);
        if (r >= 0) {
                g->listener = listener_fd;
                r = guard_start_server(g);
                if (r < 0)
                        g->listener = -1;
        }
        (void) pthread_mutex_unlock(&g->lock);
        return r;
}

int guard_new(int listener_fd, int ledger_fd, WatchSites *sites, const GateHooks *hooks,
              usec_t deadline, Guard **ret) {
        _cleanup_(guard_freep) Guard *g = NULL;
        int r;

        if (!is_listener(listener_fd))
                return -EINVAL;
        g = allocate();
        if (!g)
                return -ENOMEM;
        g->deadline = deadline;
        g->hooks = *hooks;
        g->sites = watch_sites_ref(sites);
        r = prepare(g, ledger_fd);
        if (r < 0)
                return r;
        ask_for_quick_handover(listener_fd);
        r = start(g, listener_fd);
        if (r < 0)
                return r;
        safe_close(ledger_fd);
        *ret = TAKE_PTR(g);
        return 0;
}

Guard *guard_unref(Guard *g) {
        if (atomic_fetch_sub(&g->n_ref, 1) > 1)
                return NULL;
        safe_close(g->listener);
        safe_close(g->wake);
        safe_close(g->kick);
        safe_close(g->proc_fd);
        watch_sites_unref(g->sites);
        guard_ledger_free(g->ledger);
        (void) pthread_cond_destroy(&g->ended);
        (void) pthread_mutex_destroy(&g->receive_lock);
        (void) pthread_mutex_destroy(&g->hooks_lock);
        (void) pthread_mutex_destroy(&g->lock);
        free(g);
        return NULL;
}

/* With the lock held. One that hangs on a dead share is not waited for: it holds a reference, and will answer "continue". */
static void wait_for_threads(Guard *g) {
        struct timespec until;

        (void) clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += END_NSEC;
        if (until.tv_nsec >= (long) NSEC_PER_SEC) {
                until.tv_sec++;
                until.tv_nsec -= (long) NSEC_PER_SEC;
        }
        while (g->n_threads > 0)
                if (pthread_cond_timedwait(&g->ended, &g->lock, &until) != 0)
                        break;
}

static void let_all(Guard *g) {
        Parked *p, *next;

        DL_FOREACH_SAFE (g->parked, p, next) {
                DL_DELETE(g->parked, p);
                (void) answer_parked(g, p, VERB_LET);
                (void) parked_free(p);
        }
        g->n_parked = 0;
}

Guard *guard_free(Guard *g) {
        if (!g)
                return NULL;
        (void) pthread_mutex_lock(&g->hooks_lock);
        (void) pthread_mutex_lock(&g->lock);
        g->stopped = true;
        (void) pthread_mutex_unlock(&g->hooks_lock);
        let_all(g);
        if (g->wake >= 0)
                (void) eventfd_write(g->wake, 1);
        wait_for_threads(g);
        /* from now on the client answers, for as long as anybody has the filter */
        if (g->ledger)
                guard_ledger_release(g->ledger);
        (void) pthread_mutex_unlock(&g->lock);
        return guard_unref(g);
}

void guard_set_sites(Guard *g, WatchSites *sites) {
        WatchSites *old;

        (void) pthread_mutex_lock(&g->lock);
        old = g->sites;
        g->sites = watch_sites_ref(sites);
        (void) pthread_mutex_unlock(&g->lock);
        (void) watch_sites_unref(old);
}

uint64_t guard_take_lapses(Guard *g) {
        uint64_t n = atomic_exchange(&g->lapses, 0);

        return g->ledger ? n + guard_ledger_take_lapses(g->ledger) : n;
}
