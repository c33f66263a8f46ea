/* SPDX-License-Identifier: MIT */
/*
 * Two pipes, both close-on-exec: the child waits for one byte on the first and exits when it ends without; on the second it reports a
 * failed exec. SIGCHLD must not be ignored (an inherited SIG_IGN would make wait4() fail with ECHILD), so dispositions
 * are set before the fork and put back in the child, which is why all of them are kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "client/launch.h"
#include "client/verb.h"

#define SOON_MSEC 200

/* SIGCHLD; what a terminal sends to the whole process group; and SIGPIPE, for a child that is killed before it is released. */
static const int own_signals[LAUNCH_SIGNALS] = {SIGCHLD, SIGINT, SIGQUIT, SIGTSTP, SIGPIPE};
/* What is handed on to the command. */
static const int forwarded_signals[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

static int pipe_above_stdio(int fds[static 2]) {
        int raw[2], r = 0;

        if (pipe2(raw, O_CLOEXEC) < 0)
                return -errno;
        for (size_t i = 0; i < 2; i++) {
                fds[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
                if (fds[i] < 0 && r == 0)
                        r = -errno;
        }
        for (size_t i = 0; i < 2; i++) {
                safe_close(raw[i]);
                if (r < 0)
                        fds[i] = safe_close(fds[i]);
        }
        return r;
}

static void restore_signals(const Launch *l) {
        for (size_t i = 0; i < LAUNCH_SIGNALS; i++)
                (void) sigaction(own_signals[i], &l->actions[i], NULL);
        (void) sigprocmask(SIG_SETMASK, &l->mask, NULL);
}

_Noreturn static void run_child(const Launch *l, char *const *argv, const LaunchHook *hook,
                                int release_fd, int error_fd) {
        int error;
        ssize_t n;
        char byte;

        do
                n = read(release_fd, &byte, 1);
        while (n < 0 && errno == EINTR);
        if (n != 1 || (hook && hook->run(hook->userdata) != 0))
                _exit(STATUS_NO_DAEMON);
        restore_signals(l);
        execvp(argv[0], argv);
        error = errno;
        (void) !write(error_fd, &error, sizeof(error));
        _exit(error == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_EXECUTE);
}

static int fork_held(Launch *l, char *const *argv, const LaunchHook *hook) {
        int release[2] = {-1, -1}, error[2] = {-1, -1}, r;

        r = pipe_above_stdio(release);
        if (r < 0)
                return r;
        r = pipe_above_stdio(error);
        l->pid = r < 0 ? -1 : fork();
        if (l->pid == 0) {
                /* the child must see the end of the pipe when the parent dies */
                safe_close(release[1]);
                run_child(l, argv, hook, release[0], error[1]);
        }
        if (r == 0 && l->pid < 0)
                r = -errno;
        safe_close(release[0]);
        safe_close(error[1]);
        if (r < 0) {
                safe_close(release[1]);
                safe_close(error[0]);
                return r;
        }
        l->release_fd = release[1];
        l->error_fd = error[0];
        return 0;
}

int launch_fork(char *const *argv, const LaunchHook *hook, Launch *ret) {
        Launch l = {.pid = -1, .release_fd = -1, .error_fd = -1};
        const struct sigaction by_default = {.sa_handler = SIG_DFL};
        int r;

        (void) sigprocmask(SIG_SETMASK, NULL, &l.mask);
        for (size_t i = 0; i < LAUNCH_SIGNALS; i++)
                (void) sigaction(own_signals[i], NULL, &l.actions[i]);
        (void) sigaction(SIGCHLD, &by_default, NULL);
        r = fork_held(&l, argv, hook);
        if (r < 0) {
                restore_signals(&l);
                return r;
        }
        *ret = l;
        return 0;
}

static void close_pipes(Launch *l) {
        l->release_fd = safe_close(l->release_fd);
        l->error_fd = safe_close(l->error_fd);
}

static void reap(pid_t pid) {
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
}

void launch_abort(Launch *l) {
        close_pipes(l);
        reap(l->pid);
        restore_signals(l);
}

static void make_set(sigset_t *set) {
        sigemptyset(set);
        sigaddset(set, SIGCHLD);
        for (size_t i = 0; i < ELEMENTSOF(forwarded_signals); i++)
                sigaddset(set, forwarded_signals[i]);
}

int launch_release(Launch *l) {
        const struct sigaction ignore = {.sa_handler = SIG_IGN};
        sigset_t blocked;

        for (size_t i = 0; i < LAUNCH_SIGNALS; i++)
                if (own_signals[i] != SIGCHLD)
                        (void) sigaction(own_signals[i], &ignore, NULL);
        make_set(&blocked);
        (void) sigprocmask(SIG_BLOCK, &blocked, NULL);
        /* EPIPE: the child was killed while it waited, which launch_wait() will say */
        if (write(l->release_fd, "", 1) < 0 && errno != EPIPE)
                return -errno;
        l->release_fd = safe_close(l->release_fd);
        return 0;
}

static bool is_terminal_stop(int signal) {
        return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* Whoever waits for us (a shell with job control) must see us stop with the command, and go on with it. */
static void follow_stop(const Launch *l, int signal) {
        if (!is_terminal_stop(signal))
                return;
        (void) raise(SIGSTOP);
        (void) kill(l->pid, SIGCONT);
}

/* True when the command has ended. */
static bool look_at_child(const Launch *l, int *status) {
        for (;;) {
                pid_t p = waitpid(l->pid, status, WNOHANG | WUNTRACED);

                if (p < 0 && errno == EINTR)
                        continue;
                if (p <= 0)
                        return p < 0;
                if (!WIFSTOPPED(*status))
                        return true;
                follow_stop(l, WSTOPSIG(*status));
        }
}

static void hand_on_signals(const Launch *l, int signals) {
        struct signalfd_siginfo signal;

        while (read(signals, &signal, sizeof(signal)) == (ssize_t) sizeof(signal))
                if (signal.ssi_signo != SIGCHLD)
                        (void) kill(l->pid, (int) signal.ssi_signo);
}

static int wait_with_signals(const Launch *l, const LaunchSide *side, int signals, int *status) {
        LaunchWish wish = side ? LAUNCH_ON : LAUNCH_OVER;

        while (!look_at_child(l, status)) {
                struct pollfd fds[] = {
                        {.fd = signals, .events = POLLIN},
                        {.fd = wish == LAUNCH_ON ? side->fd : -1, .events = POLLIN},
                };
                int n = poll(fds, ELEMENTSOF(fds), wish == LAUNCH_SOON ? SOON_MSEC : -1);

                if (n < 0 && errno != EINTR)
                        return -errno;
                if (n > 0 && fds[0].revents)
                        hand_on_signals(l, signals);
                else if (wish != LAUNCH_OVER && n >= 0)
                        wish = side->ready(side->userdata);
        }
        return 0;
}

static int wait_for_end(const Launch *l, const LaunchSide *side, int *status) {
        _cleanup_close_ int signals = -1;
        sigset_t set;
        int r;

        make_set(&set);
        signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        if (signals < 0)
                return -errno;
        *status = -1;
        r = wait_with_signals(l, side, signals, status);
        if (r < 0)
                return r;
        return *status == -1 ? -ECHILD : 0;
}

/* A signal that came for a command that has just ended has done its work: it must not end us before the report. */
static void drop_pending(void) {
        const struct timespec now = {};
        sigset_t set;

        make_set(&set);
        while (sigtimedwait(&set, NULL, &now) > 0)
                ;
}

int launch_wait(Launch *l, const LaunchSide *side, int *ret_status, int *ret_exec_errno) {
        int status, error = 0, r;

        r = wait_for_end(l, side, &status);
        drop_pending();
        restore_signals(l);
        if (r == 0 && read(l->error_fd, &error, sizeof(error)) != (ssize_t) sizeof(error))
                error = 0;
        close_pipes(l);
        if (r < 0)
                return r;
        *ret_status = WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
        *ret_exec_errno = error;
        return 0;
}
