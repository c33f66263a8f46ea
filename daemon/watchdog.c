/* SPDX-License-Identifier: MIT */
#include "daemon/watchdog.h"
#include "daemon/log.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define STARTS_MAX 5 /* somebody may end it, the kernel may for lack of memory */

struct Watchdog {
        sd_event *event; /* reference */
        Pulses *pulses;
        int daemon; /* pidfd of this process */
        int proc;   /* /proc/PID of this process */
        pid_t pid;
        unsigned n_starts;
        sd_event_source *source;
};

/* ---- the process ---- */

/* After fork() of a process that may have threads: nothing here may need a lock that one of them had. */
typedef struct Dog {
        Pulses *pulses;
        int daemon, proc, wake;
        bool has_spoken;
        PulseWatch watch;
        PulseLate late[PULSES_MAX];
} Dog;

/* The state in /proc/PID/task/TID/stat: T is stopped, t traced and stopped. */
static bool is_stopped(const Dog *d, pid_t tid) {
        char name[32], text[128], *end;
        ssize_t n;
        int fd;

        (void) snprintf(name, sizeof name, "task/%d/stat", (int) tid);
        fd = openat(d->proc, name, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return false;
        n = read(fd, text, sizeof text - 1);
        (void) close(fd);
        text[n > 0 ? n : 0] = 0;
        /* the name is in brackets, and may hold any character */
        end = strrchr(text, ')');
        return end && end[1] == ' ' && (end[2] == 'T' || end[2] == 't');
}

/* One that waits for a filesystem as everybody there does would not come back sooner for being killed. */
static bool must_end(const Dog *d, size_t n_late) {
        for (size_t i = 0; i < n_late; i++)
                if (!d->late[i].in_filesystem || is_stopped(d, d->late[i].tid))
                        return true;
        return false;
}

static void end_daemon(Dog *d) {
        static const char words[] =
                "mountwatchd stands still while it may hold somebody's calls: its watchdog ends it\n";

        /* not to go with it before the last word: its pidfd tells of its end as well */
        (void) prctl(PR_SET_PDEATHSIG, 0);
        (void) syscall(SYS_pidfd_send_signal, d->daemon, SIGKILL, NULL, 0);
        if (!d->has_spoken)
                (void) !write(STDERR_FILENO, words, sizeof words - 1);
        d->has_spoken = true;
}

static void watch(Dog *d) {
        struct pollfd fds[] = {
                {.fd = d->daemon, .events = POLLIN},
                {.fd = d->wake, .events = POLLIN},
        };
        size_t n, n_late;

        for (;;) {
                eventfd_t count;

                n = pulses_look(d->pulses, &d->watch, d->late, &n_late);
                if (must_end(d, n_late))
                        end_daemon(d);
                /* a new pulse need not be looked at before the next turn, but somebody must look at all */
                fds[1].fd = n > 0 ? -1 : d->wake;
                if (poll(fds, ELEMENTSOF(fds), n > 0 ? PULSE_MSEC : -1) < 0 && errno != EINTR)
                        return;
                if (fds[0].revents)
                        return;
                if (n == 0)
                        (void) eventfd_read(d->wake, &count);
        }
}

static void drop_capabilities(void) {
        struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
        const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

        /* the same user may end the same user's process */
        (void) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        (void) syscall(SYS_capset, &header, none);
}

/* What is kept lies at 3, 4 and 5, and stderr for one last word. */
static int keep_descriptors(Dog *d) {
        int *const kept[] = {&d->daemon, &d->proc, &d->wake};
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        if (null >= 0) {
                (void) dup2(null, STDIN_FILENO);
                (void) dup2(null, STDOUT_FILENO);
        }
        /* first up, out of the way of one another, then down */
        for (size_t i = 0; i < ELEMENTSOF(kept); i++)
                *kept[i] = fcntl(*kept[i], F_DUPFD_CLOEXEC, 16);
        for (size_t i = 0; i < ELEMENTSOF(kept); i++) {
                *kept[i] = dup2(*kept[i], STDERR_FILENO + 1 + (int) i);
                if (*kept[i] < 0)
                        return -errno;
        }
        return syscall(SYS_close_range, STDERR_FILENO + 1 + ELEMENTSOF(kept), ~0U, 0) < 0 ? -errno
                                                                                          : 0;
}

_Noreturn static void dog_main(const Watchdog *w) {
        Dog d = {
                .pulses = w->pulses,
                .daemon = w->daemon,
                .proc = w->proc,
                .wake = pulses_fd(w->pulses),
        };
        sigset_t all;

        /* what is sent to all of the daemon's processes is the daemon's to obey first */
        (void) sigfillset(&all);
        (void) sigprocmask(SIG_SETMASK, &all, NULL);
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void) prctl(PR_SET_NAME, "mountwatch-dog");
        (void) setsid();
        if (keep_descriptors(&d) == 0 && chdir("/") == 0) {
                drop_capabilities();
                watch(&d);
        }
        _exit(EXIT_SUCCESS);
}

/* ---- the daemon ---- */

static int start(Watchdog *w);

static int on_exit_of_dog(sd_event_source *source, const siginfo_t *si, void *userdata) {
        Watchdog *w = userdata;
        int r;

        w->pid = 0;
        w->source = sd_event_source_disable_unref(w->source);
        r = w->n_starts < STARTS_MAX ? start(w) : -EAGAIN;
        if (r < 0)
                log_error(
                        "the watchdog process has ended and is not started again (%s): should this daemon stand still, held calls wait until it is ended",
                        strerror(-r));
        else
                log_warning("the watchdog process has ended; there is a new one");
        return 0;
}

static int start(Watchdog *w) {
        pid_t pid;
        int r;

        w->n_starts++;
        pid = fork();
        if (pid < 0)
                return -errno;
        if (pid == 0)
                dog_main(w);
        w->pid = pid;
        r = sd_event_add_child(w->event, &w->source, pid, WEXITED, on_exit_of_dog, w);
        return r < 0 ? r : 0;
}

/* sd-event wants SIGCHLD blocked where it cannot use a pidfd. */
static int block_sigchld(void) {
        sigset_t child;

        (void) sigemptyset(&child);
        (void) sigaddset(&child, SIGCHLD);
        return sigprocmask(SIG_BLOCK, &child, NULL) < 0 ? -errno : 0;
}

static int prepare(Watchdog *w) {
        int r;

        r = block_sigchld();
        if (r < 0)
                return r;
        w->daemon = (int) syscall(SYS_pidfd_open, getpid(), 0);
        w->proc = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (w->daemon < 0 || w->proc < 0)
                return -errno;
        return pulses_new(&w->pulses);
}

int watchdog_new(sd_event *event, Watchdog **ret) {
        _cleanup_(watchdog_freep) Watchdog *w = calloc(1, sizeof *w);
        int r;

        if (!w)
                return -ENOMEM;
        w->daemon = w->proc = -1;
        w->event = sd_event_ref(event);
        r = prepare(w);
        if (r >= 0)
                r = start(w);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(w);
        return 0;
}

Watchdog *watchdog_free(Watchdog *w) {
        if (!w)
                return NULL;
        w->source = sd_event_source_disable_unref(w->source);
        if (w->pid > 0) {
                (void) kill(w->pid, SIGKILL);
                (void) waitpid(w->pid, NULL, 0);
        }
        (void) pulses_unref(w->pulses);
        (void) safe_close(w->daemon);
        (void) safe_close(w->proc);
        sd_event_unref(w->event);
        free(w);
        return NULL;
}

Pulses *watchdog_pulses(Watchdog *w) {
        return w->pulses;
}

usec_t watchdog_patience(usec_t deadline) {
        return MIN(deadline + WATCHDOG_GRACE_USEC, WATCHDOG_PATIENCE_MAX_USEC);
}
