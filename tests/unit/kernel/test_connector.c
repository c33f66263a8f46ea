/* SPDX-License-Identifier: MIT */
/* Real processes. Those of others come in between at all times: every test looks at the pids of its own children alone. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "daemon/kernel/connector.h"
#include "daemon/kernel/proc.h"

#define PATIENCE_MSEC 20000
#define N_FORKS 2000

extern char **environ;

/* ---- everything that has come so far ---- */

typedef struct Log {
        Connector *connector;
        ProcEvents events;
} Log;

static void log_take(Log *l) {
        ProcEvents more = {0};
        ProcEvent *grown;

        assert_int_equal(connector_take(l->connector, &more), 0);
        if (more.n > 0) {
                grown = realloc(l->events.items, (l->events.n + more.n) * sizeof(*grown));
                assert_non_null(grown);
                memcpy(grown + l->events.n, more.items, more.n * sizeof(*grown));
                l->events.items = grown;
                l->events.n += more.n;
        }
        free(more.items); /* the references are ours now */
}

/* From where on a pid means our child: its number may have been somebody else's a moment before. */
static size_t log_start(const Log *l, pid_t pid) {
        for (size_t i = l->events.n; i > 0; i--) {
                const ProcEvent *e = &l->events.items[i - 1];

                if (e->type == PROC_FORK && e->pid == pid && e->parent == getpid())
                        return i - 1;
        }
        return pid > 0 ? l->events.n : 0;
}

static const ProcEvent *log_find(const Log *l, ProcEventType type, pid_t pid) {
        for (size_t i = log_start(l, pid); i < l->events.n; i++)
                if (l->events.items[i].type == type && l->events.items[i].pid == pid)
                        return &l->events.items[i];
        return NULL;
}

static size_t log_count(const Log *l, ProcEventType type, pid_t pid) {
        size_t n = 0;

        for (size_t i = log_start(l, pid); i < l->events.n; i++)
                n += l->events.items[i].type == type && l->events.items[i].pid == pid;
        return n;
}

/* Waits for events by the descriptor, as the event loop does. */
static const ProcEvent *log_wait(Log *l, ProcEventType type, pid_t pid) {
        for (;;) {
                struct pollfd p = {.fd = connector_fd(l->connector), .events = POLLIN};
                const ProcEvent *e;

                log_take(l);
                e = log_find(l, type, pid);
                if (e)
                        return e;
                if (poll(&p, 1, PATIENCE_MSEC) <= 0)
                        fail_msg("no event %d of pid %d", (int) type, (int) pid);
        }
}

static int setup(void **state) {
        Log *l = calloc(1, sizeof(*l));
        int r;

        assert_non_null(l);
        r = connector_new(&l->connector);
        if (r == -EPERM || r == -ENOENT)
                print_message("no process connector: %s\n", strerror(-r));
        else
                assert_int_equal(r, 0);
        *state = l;
        return 0;
}

static int teardown(void **state) {
        Log *l = *state;

        connector_free(l->connector);
        proc_events_done(&l->events);
        free(l);
        return 0;
}

static Log *log_of(void **state) {
        Log *l = *state;

        if (!l->connector)
                skip();
        return l;
}

/* ---- children ---- */

typedef void (*child_t)(void);

static pid_t spawn(child_t child) {
        pid_t pid = fork();

        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                child();
                _exit(0);
        }
        assert_true(pid > 0);
        return pid;
}

static pid_t run(const char *const *argv) {
        pid_t pid;

        assert_int_equal(posix_spawn(&pid, argv[0], NULL, NULL, (char *const *) argv, environ), 0);
        return pid;
}

static void reap(pid_t pid) {
        assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void nothing(void) {
}

static void for_ever(void) {
        for (;;)
                (void) pause();
}

static void short_life_is_told_in_order(void **state) {
        static const char *const argv[] = {"/bin/true", "an argument", NULL};
        Log *l = log_of(state);
        const ProcEvent *fork_event, *exec, *end;
        pid_t pid = run(argv);

        reap(pid);
        end = log_wait(l, PROC_EXIT, pid);
        fork_event = log_find(l, PROC_FORK, pid);
        exec = log_find(l, PROC_EXEC, pid);
        assert_non_null(fork_event);
        assert_non_null(exec);
        assert_true(fork_event < exec && exec < end);
        assert_true(fork_event->at <= exec->at && exec->at <= end->at);
        assert_int_equal(fork_event->parent, getpid());
        assert_int_equal(log_count(l, PROC_EXIT, pid), 1);
}

static void exec_brings_details(void **state) {
        static const char *const argv[] = {"/bin/sleep", "1000", NULL};
        Log *l = log_of(state);
        const ProcEvent *exec, *fork_event;
        pid_t pid = run(argv);

        exec = log_wait(l, PROC_EXEC, pid);
        fork_event = log_find(l, PROC_FORK, pid);
        assert_true(exec->has_details);
        assert_int_equal(exec->details.pid, pid);
        assert_int_equal(exec->details.ppid, getpid());
        assert_non_null(exec->details.program);
        assert_non_null(strstr(exec->details.program->exe, "/bin/"));
        assert_string_equal(exec->details.program->cmdline[0], "/bin/sleep");
        assert_string_equal(exec->details.program->cmdline[1], "1000");
        assert_null(exec->details.program->cmdline[2]);
        /* computed; a tick later when the kernel was interrupted at the wrong moment */
        assert_in_range(fork_event->start_ticks, exec->details.start_ticks,
                        exec->details.start_ticks + 100);
        (void) kill(pid, SIGKILL);
        reap(pid);
}

static void change_uid(void) {
        if (setresuid(65534, 65534, 0) < 0)
                _exit(1);
        for_ever();
}

static void change_of_uid_is_told(void **state) {
        Log *l = log_of(state);
        pid_t pid = spawn(change_uid);

        assert_int_equal(log_wait(l, PROC_UID, pid)->uid, 65534);
        (void) kill(pid, SIGKILL);
        reap(pid);
}

/* ---- threads ---- */

static void *thread_nothing(void *userdata) {
        return userdata;
}

static void many_threads(void) {
        for (int i = 0; i < 20; i++) {
                pthread_t t;

                if (pthread_create(&t, NULL, thread_nothing, NULL) != 0)
                        _exit(1);
                (void) pthread_join(t, NULL);
        }
}

static void threads_are_not_told(void **state) {
        Log *l = log_of(state);
        pid_t pid = spawn(many_threads);

        reap(pid);
        log_wait(l, PROC_EXIT, pid);
        assert_int_equal(log_count(l, PROC_EXIT, pid), 1);
        for (size_t i = 0; i < l->events.n; i++) {
                const ProcEvent *e = &l->events.items[i];

                assert_false(e->type == PROC_FORK && e->parent == pid);
        }
}

static void *thread_until_signal(void *userdata) {
        sigset_t set;
        int sig;

        (void) sigemptyset(&set);
        (void) sigaddset(&set, SIGUSR1);
        (void) sigwait(&set, &sig);
        (void) userdata;
        _exit(0); /* not exit(), which the last thread would call: a sanitizer reports there */
}

static void leave_a_thread(void) {
        pthread_t t;
        sigset_t set;

        (void) sigemptyset(&set);
        (void) sigaddset(&set, SIGUSR1);
        (void) pthread_sigmask(SIG_BLOCK, &set, NULL);
        if (pthread_create(&t, NULL, thread_until_signal, NULL) != 0)
                _exit(1);
        pthread_exit(NULL);
}

/* The kernel tells the exit of the main thread as that of the process; the process lives as long as any of its threads. */
static void main_thread_that_ends_first_is_no_exit(void **state) {
        Log *l = log_of(state);
        pid_t pid = spawn(leave_a_thread), later;
        ProcStat st = {0};

        while (st.state != 'Z') {
                assert_int_equal(proc_read_stat(pid, &st), 0);
                (void) sched_yield();
        }
        /* The end of a process that began later: all before it has been told by then. */
        later = spawn(nothing);
        reap(later);
        log_wait(l, PROC_EXIT, later);
        assert_null(log_find(l, PROC_EXIT, pid));

        assert_int_equal(kill(pid, SIGUSR1), 0);
        reap(pid);
        log_wait(l, PROC_EXIT, pid);
        assert_int_equal(log_count(l, PROC_EXIT, pid), 1);
}

static void *thread_exec(void *userdata) {
        (void) execl("/bin/sleep", "sleep", "1000", (char *) NULL);
        return userdata;
}

static void exec_in_a_thread(void) {
        pthread_t t;

        if (pthread_create(&t, NULL, thread_exec, NULL) == 0)
                for_ever();
}

static void *thread_exec_true(void *userdata) {
        (void) execl("/bin/true", "true", (char *) NULL);
        return userdata;
}

static void exec_true_in_a_thread(void) {
        pthread_t t;

        if (pthread_create(&t, NULL, thread_exec_true, NULL) == 0)
                for_ever();
}

/* It ends the main thread, whose exit the kernel tells, and goes on under its number. */
static void exec_of_another_thread_is_no_exit(void **state) {
        Log *l = log_of(state);
        pid_t pid = spawn(exec_in_a_thread);
        const ProcEvent *e = log_wait(l, PROC_EXEC, pid);

        assert_true(e->has_details);
        assert_string_equal(e->details.program->cmdline[0], "sleep");
        assert_null(log_find(l, PROC_EXIT, pid));
        (void) kill(pid, SIGKILL);
        reap(pid);
        log_wait(l, PROC_EXIT, pid);
        assert_int_equal(log_count(l, PROC_EXIT, pid), 1);
}

static void short_exec_of_another_thread_ends_once(void **state) {
        Log *l = log_of(state);

        for (int i = 0; i < 50; i++) {
                pid_t pid = spawn(exec_true_in_a_thread);
                const ProcEvent *e;

                reap(pid);
                e = log_wait(l, PROC_EXIT, pid);
                assert_true(log_find(l, PROC_EXEC, pid) < e);
                assert_int_equal(log_count(l, PROC_EXEC, pid), 1);
                assert_int_equal(log_count(l, PROC_EXIT, pid), 1);
        }
}

/* ---- many ---- */

static int compare_pids(const void *a, const void *b) {
        const pid_t *x = a, *y = b;

        return (*x > *y) - (*x < *y);
}

typedef struct Life {
        bool forked, ended;
} Life;

static void none_of_many_forks_is_lost(void **state) {
        static pid_t pids[N_FORKS];
        static Life lives[N_FORKS];
        Log *l = log_of(state);

        for (size_t i = 0; i < N_FORKS; i++) {
                pids[i] = spawn(nothing);
                reap(pids[i]);
        }
        log_wait(l, PROC_EXIT, pids[N_FORKS - 1]);
        qsort(pids, N_FORKS, sizeof(pids[0]), compare_pids);
        for (size_t i = 0; i < l->events.n; i++) {
                const ProcEvent *e = &l->events.items[i];
                const pid_t *p = bsearch(&e->pid, pids, N_FORKS, sizeof(pids[0]), compare_pids);
                Life *life = p ? &lives[p - pids] : NULL;

                assert_int_not_equal(e->type, PROC_LOST);
                if (life && e->type == PROC_FORK && e->parent == getpid()) {
                        assert_false(life->forked);
                        life->forked = true;
                }
                if (life && e->type == PROC_EXIT && life->forked) {
                        assert_false(life->ended);
                        life->ended = true;
                }
        }
        for (size_t i = 0; i < N_FORKS; i++)
                assert_true(lives[i].forked && lives[i].ended);
}

/* The connector's socket, found among our descriptors. */
static int find_socket(void) {
        DIR *d = opendir("/proc/self/fd");
        const struct dirent *e;
        int found = -1;

        assert_non_null(d);
        while ((e = readdir(d))) {
                int fd = (int) strtol(e->d_name, NULL, 10), domain, protocol;
                socklen_t size = sizeof(int);

                if (e->d_name[0] != '.' &&
                    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
                    getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 &&
                    domain == AF_NETLINK && protocol == NETLINK_CONNECTOR)
                        found = fd;
        }
        (void) closedir(d);
        return found;
}

/* The thread of the connector: the one of ours that is not the main thread. */
static pid_t find_thread(void) {
        DIR *d = opendir("/proc/self/task");
        const struct dirent *e;
        pid_t found = 0;

        assert_non_null(d);
        while ((e = readdir(d))) {
                pid_t tid = (pid_t) strtol(e->d_name, NULL, 10);

                if (tid > 0 && tid != getpid())
                        found = tid;
        }
        (void) closedir(d);
        return found;
}

/* Does the thread, which is stopped, wait for events? Elsewhere it may hold locks, that of malloc() for one. */
static bool waits(pid_t tid) {
        char path[48], text[64] = "";
        FILE *f;
        long number;

        (void) snprintf(path, sizeof(path), "/proc/%d/syscall", (int) tid);
        f = fopen(path, "re");
        if (!f)
                return false;
        (void) !fgets(text, sizeof(text), f);
        (void) fclose(f);
        number = strtol(text, NULL, 10);
#ifdef SYS_epoll_wait
        if (number == SYS_epoll_wait)
                return true;
#endif
        return number == SYS_epoll_pwait;
}

/* Holds a thread of the parent still from the byte in `up` on, until `up` is closed. */
static void hold_thread(pid_t tid, int up) {
        char byte;

        if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
                _exit(77);
        for (;;) {
                if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0 ||
                    waitpid(tid, NULL, __WALL) != tid)
                        _exit(77);
                if (waits(tid))
                        break;
                (void) ptrace(PTRACE_CONT, tid, NULL, NULL);
                (void) sched_yield();
        }
        (void) !write(up, "x", 1);
        (void) !read(up, &byte, 1);
        (void) ptrace(PTRACE_DETACH, tid, NULL, NULL);
        _exit(0);
}

static void full_buffer_is_told_and_reading_goes_on(void **state) {
        Log *l = log_of(state);
        int tiny = 1, huge = 1024 * 1024, fd = find_socket(), pair[2];
        pid_t holder, pid = 0, tid = find_thread();
        char byte;

        assert_true(fd >= 0 && tid > 0);
        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &tiny, sizeof(tiny)), 0);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        holder = fork();
        if (holder == 0) {
                safe_close(pair[0]);
                hold_thread(tid, pair[1]);
        }
        safe_close(pair[1]);
        if (read(pair[0], &byte, 1) != 1) {
                reap(holder);
                print_message("not allowed to trace a thread of our own\n");
                skip();
        }
        for (int i = 0; i < 20; i++) {
                pid = spawn(nothing);
                reap(pid);
        }
        safe_close(pair[0]);
        reap(holder);
        log_wait(l, PROC_LOST, 0);
        assert_null(log_find(l, PROC_EXIT, pid));

        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &huge, sizeof(huge)), 0);
        pid = spawn(nothing);
        reap(pid);
        log_wait(l, PROC_EXIT, pid);
}

/* More of them than are followed at a time. */
static void too_many_ended_main_threads_are_told(void **state) {
        static pid_t pids[300];
        Log *l = log_of(state);

        for (size_t i = 0; i < ELEMENTSOF(pids); i++) {
                ProcStat st = {0};

                pids[i] = spawn(leave_a_thread);
                while (st.state != 'Z') {
                        assert_int_equal(proc_read_stat(pids[i], &st), 0);
                        (void) sched_yield();
                }
        }
        log_take(l);
        assert_true(log_count(l, PROC_LOST, 0) > 0);
        for (size_t i = 0; i < ELEMENTSOF(pids); i++) {
                assert_null(log_find(l, PROC_EXIT, pids[i]));
                (void) kill(pids[i], SIGUSR1);
                reap(pids[i]);
        }
        log_wait(l, PROC_EXIT, pids[0]);
}

/* Two daemons on one machine: each gets its own confirmation and all events. */
static void two_listeners_hear_the_same(void **state) {
        Log *l = log_of(state), other = {0};
        pid_t pid;

        assert_int_equal(connector_new(&other.connector), 0);
        pid = spawn(nothing);
        reap(pid);
        log_wait(l, PROC_EXIT, pid);
        log_wait(&other, PROC_EXIT, pid);
        connector_free(other.connector);
        proc_events_done(&other.events);

        pid = spawn(nothing);
        reap(pid);
        log_wait(l, PROC_EXIT, pid);
}

static void without_privilege_it_is_eperm_or_silent(void **state) {
        pid_t pid;
        int status;

        (void) log_of(state);
        pid = fork();
        if (pid == 0) {
                Connector *c = NULL;
                int r;

                if (setresuid(65534, 65534, 65534) < 0)
                        _exit(77);
                r = connector_new(&c);
                connector_free(c);
                _exit(r == -EPERM || r == 0 ? 0 : 1); /* from 6.6 on everybody may listen */
        }
        assert_true(pid > 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 77)
                skip();
        assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- the wire ---- */

/* A fork message as Linux 6.18 sends it: 1234 begets 5678 at 1 s. */
static const unsigned char fork_message[] = {
        0x4c, 0,    0,    0,    3,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* nlmsghdr */
        1,    0,    0,    0,    1,    0,    0, 0, 9, 0, 0, 0, 0, 0, 0, 0, /* cn_msg: id, seq, ack */
        40,   0,    0,    0,    1,    0,    0, 0, 1, 0, 0, 0, /* len, flags; what, cpu */
        0,    0xca, 0x9a, 0x3b, 0,    0,    0, 0,             /* timestamp */
        0xd2, 4,    0,    0,    0xd2, 4,    0, 0,             /* parent_pid, parent_tgid */
        0x2e, 0x16, 0,    0,    0x2e, 0x16, 0, 0,             /* child_pid, child_tgid */
        0,    0,    0,    0,    0,    0,    0, 0,
};

static void message_is_parsed(void **state) {
        ProcEvent e[2];

        assert_int_equal(connector_parse(fork_message, sizeof(fork_message), e, 2), 1);
        assert_int_equal(e[0].type, PROC_FORK);
        assert_int_equal(e[0].pid, 5678);
        assert_int_equal(e[0].parent, 1234);
        assert_true(e[0].at == NSEC_PER_SEC);
        assert_int_equal(connector_parse_ack(fork_message, sizeof(fork_message), 9), -ENODATA);
}

static void thread_and_foreign_messages_are_of_no_interest(void **state) {
        static const struct {
                size_t at;
                unsigned char value;
        } cases[] = {
                {60, 0x2f}, /* child_pid is not child_tgid: a thread */
                {4, 2},     /* NLMSG_ERROR */
                {16, 2},    /* another connector */
                {37, 2},    /* comm */
                {36, 0},    /* an answer */
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                unsigned char m[sizeof(fork_message)];
                ProcEvent e[2];

                memcpy(m, fork_message, sizeof(m));
                m[cases[i].at] = cases[i].value;
                assert_int_equal(connector_parse(m, sizeof(m), e, 2), 0);
        }
}

static void cut_messages_are_garbage(void **state) {
        ProcEvent e[2];

        for (size_t n = 1; n < sizeof(fork_message); n++)
                assert_int_equal(connector_parse(fork_message, n, e, 2), -EBADMSG);
        assert_int_equal(connector_parse(fork_message, 0, e, 2), 0);
}

static void answer_is_told_from_that_to_others(void **state) {
        unsigned char m[sizeof(fork_message)];

        memcpy(m, fork_message, sizeof(m));
        memset(m + 36, 0, sizeof(m) - 36);
        m[28] = 10; /* ack: one more than in the request */
        assert_int_equal(connector_parse_ack(m, sizeof(m), 9), 0);
        assert_int_equal(connector_parse_ack(m, sizeof(m), 8), -ENODATA);
        m[52] = EPERM;
        assert_int_equal(connector_parse_ack(m, sizeof(m), 9), -EPERM);
}

int main(void) {
#define REAL(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(message_is_parsed),
                cmocka_unit_test(thread_and_foreign_messages_are_of_no_interest),
                cmocka_unit_test(cut_messages_are_garbage),
                cmocka_unit_test(answer_is_told_from_that_to_others),
                REAL(short_life_is_told_in_order),
                REAL(exec_brings_details),
                REAL(change_of_uid_is_told),
                REAL(threads_are_not_told),
                REAL(main_thread_that_ends_first_is_no_exit),
                REAL(exec_of_another_thread_is_no_exit),
                REAL(short_exec_of_another_thread_ends_once),
                REAL(none_of_many_forks_is_lost),
                REAL(full_buffer_is_told_and_reading_goes_on),
                REAL(too_many_ended_main_threads_are_told),
                REAL(two_listeners_hear_the_same),
                REAL(without_privilege_it_is_eperm_or_silent),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
