/* SPDX-License-Identifier: MIT */
/*
 * The way of the listener from a command to this program, and the process that is left behind to keep it. Nobody else supervises:
 * what the keeper does not answer, waits. The daemon is one end of a pair of sockets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/handover.h"
#include "client/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define MISSING "/nonexistent/file"

typedef struct Command {
        Handover handover;
        pid_t pid, keeper;
        int listener, daemon, daemons; /* the keeper's end of the pair, and the daemon's */
        GuardLedger *ledger;
        int ledger_fd;
} Command;

/* A guarded call that fails by itself once it is let: its errno is the answer. */
static int call(void) {
        return syscall(SYS_unlinkat, AT_FDCWD, MISSING, 0) < 0 ? errno : 0;
}

/* What the child does when it goes on: `calls` calls, and the errno of the last. */
static void start(Command *c, unsigned calls) {
        int pair[2];

        assert_int_equal(handover_init(&c->handover), 0);
        c->pid = fork();
        assert_true(c->pid >= 0);
        if (c->pid == 0) {
                int r = 0;

                if (handover_child(&c->handover) != 0)
                        _exit(90);
                for (unsigned i = 0; i < calls; i++)
                        r = call();
                _exit(r);
        }
        assert_int_equal(handover_install(&c->handover, /* no_io_uring= */ true, &c->listener), 0);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        c->daemon = pair[0];
        c->daemons = pair[1];
        assert_int_equal(guard_ledger_new(&c->ledger, &c->ledger_fd), 0);
}

static void keep(Command *c) {
        assert_int_equal(keeper_start(c->listener, c->daemon, c->ledger, &c->keeper), 0);
        c->daemon = safe_close(c->daemon);
}

static int reap(pid_t pid) {
        int status;

        while (waitpid(pid, &status, 0) < 0)
                assert_int_equal(errno, EINTR);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Both end: the keeper, because nobody has the filter any more, though this program still has the listener. */
static int finish(Command *c) {
        int r = reap(c->pid);

        assert_int_equal(reap(c->keeper), 0);
        safe_close(c->listener);
        safe_close(c->daemons);
        safe_close(c->ledger_fd);
        (void) guard_ledger_free(c->ledger);
        handover_done(&c->handover);
        return r;
}

/* As a daemon that has received a call and entered it, and does no more. */
static uint64_t receive(const Command *c, bool refuse_when_late) {
        struct seccomp_notif n = {};
        struct timespec t;

        assert_int_equal(ioctl(c->listener, SECCOMP_IOCTL_NOTIF_RECV, &n), 0);
        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        assert_int_equal(guard_ledger_enter(c->ledger, n.id, (nsec_t) t.tv_sec * NSEC_PER_SEC,
                                            refuse_when_late),
                         0);
        return n.id;
}

static void calls_go_on_when_the_daemon_is_gone(void **state) {
        Command c = {};

        start(&c, 3);
        keep(&c);
        c.daemons = safe_close(c.daemons);
        assert_int_equal(handover_skip(&c.handover), 0);
        assert_int_equal(finish(&c), ENOENT);
}

static void what_it_owed_is_answered(void **state) {
        static const int expected[] = {ENOENT, EPERM};

        for (int refuse = 0; refuse < 2; refuse++) {
                Command c = {};

                start(&c, 1);
                keep(&c);
                assert_int_equal(handover_skip(&c.handover), 0);
                (void) receive(&c, refuse);
                c.daemons = safe_close(c.daemons);
                assert_int_equal(finish(&c), expected[refuse]);
        }
}

static void lapses_are_counted(void **state) {
        Command c = {};
        uint64_t lapses;

        start(&c, 4);
        keep(&c);
        assert_int_equal(handover_skip(&c.handover), 0);
        (void) receive(&c, false);
        c.daemons = safe_close(c.daemons);
        assert_int_equal(reap(c.pid), ENOENT);
        lapses = guard_ledger_lapses(c.ledger);
        assert_int_equal(lapses, 4);
        c.pid = fork();
        if (c.pid == 0)
                _exit(0);
        assert_int_equal(finish(&c), 0);
}

static void a_session_that_has_ended_leaves_no_lapses(void **state) {
        Command c = {};

        start(&c, 2);
        guard_ledger_release(c.ledger);
        keep(&c);
        assert_int_equal(handover_skip(&c.handover), 0);
        assert_int_equal(reap(c.pid), ENOENT);
        assert_int_equal(guard_ledger_lapses(c.ledger), 0);
        c.pid = fork();
        if (c.pid == 0)
                _exit(0);
        assert_int_equal(finish(&c), 0);
}

/* The daemon is there, and does nothing: it is stopped. One call it has received, and the other not. */
static void a_daemon_that_stands_still_is_helped(void **state) {
        Command received = {}, waiting = {};

        start(&received, 1);
        keep(&received);
        start(&waiting, 3);
        keep(&waiting);
        assert_int_equal(handover_skip(&received.handover), 0);
        (void) receive(&received, false);
        assert_int_equal(handover_skip(&waiting.handover), 0);
        assert_int_equal(finish(&received), ENOENT);
        assert_int_equal(finish(&waiting), ENOENT);
}

static void the_keeper_has_nothing_of_the_command(void **state) {
        int fds[2];
        char byte;
        Command c = {};

        assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
        start(&c, 0);
        keep(&c);
        (void) close(fds[1]);
        /* the child still has it; then nobody has */
        assert_int_equal(handover_skip(&c.handover), 0);
        assert_int_equal(read(fds[0], &byte, 1), 0);
        (void) close(fds[0]);
        assert_int_equal(finish(&c), 0);
}

static void the_keeper_is_not_ended_by_signals(void **state) {
        Command c = {};

        start(&c, 1);
        keep(&c);
        (void) kill(c.keeper, SIGTERM);
        (void) kill(c.keeper, SIGINT);
        (void) kill(c.keeper, SIGHUP);
        c.daemons = safe_close(c.daemons);
        assert_int_equal(handover_skip(&c.handover), 0);
        assert_int_equal(finish(&c), ENOENT);
}

/* The child gives up when this program goes away before it has decided. */
static void without_a_word_nothing_is_executed(void **state) {
        Handover h;
        pid_t pid;

        assert_int_equal(handover_init(&h), 0);
        pid = fork();
        if (pid == 0)
                _exit(handover_child(&h) == 0 ? 1 : 2);
        handover_done(&h);
        assert_int_equal(reap(pid), 2);
}

static void a_command_may_do_without(void **state) {
        Handover h;
        pid_t pid;

        assert_int_equal(handover_init(&h), 0);
        pid = fork();
        if (pid == 0)
                _exit(handover_child(&h) == 0 ? call() : 90);
        assert_int_equal(handover_skip(&h), 0);
        assert_int_equal(reap(pid), ENOENT);
        assert_int_equal(handover_lapses(&h), 0);
        assert_false(handover_was_in_the_way(&h));
        handover_done(&h);
}

/* A filter with a listener that lets everything. */
static int supervise_nothing(void) {
        struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        const struct sock_fprog program = {.len = 1, .filter = &all};

        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return -1;
        return (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                             &program);
}

static void a_listener_that_is_there_is_told(void **state) {
        int listener = -1;
        Handover h;
        pid_t pid;

        assert_int_equal(handover_init(&h), 0);
        pid = fork();
        if (pid == 0) {
                if (supervise_nothing() < 0)
                        _exit(91);
                _exit(handover_child(&h) == 0 ? 0 : 90);
        }
        assert_int_equal(handover_install(&h, true, &listener), -EBUSY);
        assert_int_equal(listener, -1);
        assert_int_equal(handover_skip(&h), 0);
        assert_int_equal(reap(pid), 0);
        handover_done(&h);
}

static void a_child_that_is_gone_is_told(void **state) {
        int listener = -1;
        Handover h;
        pid_t pid;

        assert_int_equal(handover_init(&h), 0);
        pid = fork();
        if (pid == 0)
                _exit(0);
        assert_int_equal(reap(pid), 0);
        assert_int_equal(handover_install(&h, true, &listener), -EPIPE);
        assert_int_equal(handover_skip(&h), -EPIPE);
        handover_done(&h);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(calls_go_on_when_the_daemon_is_gone),
                cmocka_unit_test(what_it_owed_is_answered),
                cmocka_unit_test(lapses_are_counted),
                cmocka_unit_test(a_session_that_has_ended_leaves_no_lapses),
                cmocka_unit_test(a_daemon_that_stands_still_is_helped),
                cmocka_unit_test(the_keeper_has_nothing_of_the_command),
                cmocka_unit_test(the_keeper_is_not_ended_by_signals),
                cmocka_unit_test(without_a_word_nothing_is_executed),
                cmocka_unit_test(a_command_may_do_without),
                cmocka_unit_test(a_listener_that_is_there_is_told),
                cmocka_unit_test(a_child_that_is_gone_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
