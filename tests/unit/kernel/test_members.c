/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "daemon/kernel/connector.h"

/* Numbers that no process has: above the largest pid that Linux allows. */
enum {
        FIRST = 4194304 + 1
};

#define LATER UINT64_MAX /* after anything that is added */

static SessionRule rule_of(const char *id) {
        SessionRule r = {.policy = POLICY_DENY};

        (void) snprintf(r.id, sizeof(r.id), "%s", id);
        return r;
}

static int setup(void **state) {
        Members *m = NULL;
        SessionRule a = rule_of("aaaa"), b = rule_of("bbbb");

        assert_int_equal(members_new(&m), 0);
        assert_int_equal(members_set_rule(m, &a), 0);
        assert_int_equal(members_set_rule(m, &b), 0);
        assert_true(members_is_empty(m));
        *state = m;
        return 0;
}

static int teardown(void **state) {
        members_free(*state);
        return 0;
}

static void assert_in(Members *m, pid_t pid, const char *id) {
        SessionRule r = {0};

        assert_true(members_find(m, pid, &r));
        assert_string_equal(r.id, id);
}

static void child_is_in_its_parents_session(void **state) {
        Members *m = *state;

        assert_int_equal(members_add(m, FIRST, "aaaa"), 0);
        assert_int_equal(members_fork(m, FIRST, FIRST + 1, LATER), 0);
        assert_int_equal(members_fork(m, FIRST + 1, FIRST + 2, LATER), 0);
        assert_int_equal(members_fork(m, FIRST + 9, FIRST + 3, LATER), 0);
        assert_in(m, FIRST + 2, "aaaa");
        assert_false(members_find(m, FIRST + 3, NULL));
        assert_false(members_is_empty(m));
}

static void session_must_be_known(void **state) {
        assert_int_equal(members_add(*state, FIRST, "cccc"), -ENOENT);
        assert_false(members_find(*state, FIRST, NULL));
}

static void rule_is_replaced(void **state) {
        Members *m = *state;
        SessionRule r = rule_of("aaaa");

        assert_int_equal(members_add(m, FIRST, "aaaa"), 0);
        r.allow_asked = true;
        assert_int_equal(members_set_rule(m, &r), 0);
        r = (SessionRule){0};
        assert_true(members_find(m, FIRST, &r));
        assert_true(r.allow_asked);
}

static void innermost_session_wins_and_is_inherited(void **state) {
        Members *m = *state;

        assert_int_equal(members_add(m, FIRST, "aaaa"), 0);
        assert_int_equal(members_add(m, FIRST, "bbbb"), 0);
        assert_int_equal(members_fork(m, FIRST, FIRST + 1, LATER), 0);
        assert_in(m, FIRST + 1, "bbbb");
        members_drop_session(m, "bbbb", "aaaa");
        assert_in(m, FIRST, "aaaa");
        assert_in(m, FIRST + 1, "aaaa");
        members_drop_session(m, "aaaa", NULL);
        assert_false(members_find(m, FIRST, NULL));
        assert_true(members_is_empty(m));
        members_drop_session(m, "aaaa", NULL);
}

static void number_given_away_leaves_the_session(void **state) {
        Members *m = *state;

        assert_int_equal(members_add(m, FIRST, "aaaa"), 0);
        members_exit(m, FIRST);
        assert_true(members_is_empty(m));
        assert_int_equal(members_fork(m, 1, FIRST, LATER), 0);
        assert_false(members_find(m, FIRST, NULL));
}

/* An exec of another thread than the main one is told as an exit and an exec. */
static void exit_that_was_none_is_forgiven(void **state) {
        Members *m = *state;

        assert_int_equal(members_add(m, FIRST, "aaaa"), 0);
        members_exit(m, FIRST);
        members_exec(m, FIRST);
        for (pid_t i = 1; i < 1000; i++) {
                assert_int_equal(members_fork(m, FIRST, FIRST + i, LATER), 0);
                members_exit(m, FIRST + i);
        }
        assert_in(m, FIRST, "aaaa");
        assert_false(members_is_empty(m));
}

static void the_exited_are_forgotten_after_a_while(void **state) {
        Members *m = *state;

        assert_int_equal(members_add(m, FIRST, "aaaa"), 0);
        for (pid_t i = 1; i < 1000; i++) {
                assert_int_equal(members_fork(m, FIRST, FIRST + i, LATER), 0);
                members_exit(m, FIRST + i);
        }
        assert_false(members_find(m, FIRST + 1, NULL));
        assert_in(m, FIRST, "aaaa");
}

/* The exit of a number's last owner may be told after the fork of the next (linux/kernel/exit.c). */
static void late_exit_does_not_take_the_living(void **state) {
        Members *m = *state;
        pid_t alive = getpid();

        assert_int_equal(members_add(m, FIRST, "aaaa"), 0);
        assert_int_equal(members_fork(m, FIRST, alive, LATER), 0);
        members_exit(m, alive);
        for (pid_t i = 1; i < 1000; i++) {
                assert_int_equal(members_fork(m, FIRST, FIRST + i, LATER), 0);
                members_exit(m, FIRST + i);
        }
        assert_in(m, alive, "aaaa");
}

static void child_of_an_outsider_is_one(void **state) {
        Members *m = *state;
        SessionRule r;

        /* nobody will ask as long as there are no members */
        assert_int_equal(members_fork(m, FIRST + 1, FIRST + 2, LATER), 0);
        assert_int_equal(members_look(m, FIRST + 2, &r), MEMBERSHIP_UNKNOWN);
        assert_int_equal(members_add(m, FIRST, "aaaa"), 0);
        assert_int_equal(members_fork(m, FIRST + 1, FIRST + 2, LATER), 0);
        assert_int_equal(members_look(m, FIRST + 2, &r), MEMBERSHIP_OUTSIDER);
        /* its number is given away */
        assert_int_equal(members_fork(m, FIRST, FIRST + 2, LATER), 0);
        assert_int_equal(members_look(m, FIRST + 2, &r), MEMBERSHIP_MEMBER);
}

/* The event loop may be quicker than the connector. */
static void fork_that_is_told_late_does_not_undo_what_was_added(void **state) {
        Members *m = *state;

        assert_int_equal(members_add(m, FIRST, "aaaa"), 0);
        assert_int_equal(members_add(m, FIRST + 1, "bbbb"), 0);
        assert_int_equal(members_fork(m, 1, FIRST, 1), 0);
        assert_int_equal(members_fork(m, FIRST, FIRST + 1, 2), 0);
        assert_in(m, FIRST, "aaaa");
        assert_in(m, FIRST + 1, "bbbb");
}

static void outsider_is_remembered_until_something_is_told(void **state) {
        Members *m = *state;
        SessionRule r;

        assert_int_equal(members_look(m, FIRST, &r), MEMBERSHIP_UNKNOWN);
        assert_false(members_settle(m, FIRST, &r));
        assert_int_equal(members_look(m, FIRST, &r), MEMBERSHIP_OUTSIDER);

        members_exit(m, FIRST);
        assert_int_equal(members_look(m, FIRST, &r), MEMBERSHIP_UNKNOWN);
        assert_false(members_settle(m, FIRST, &r));
        members_lost(m);
        assert_int_equal(members_look(m, FIRST, &r), MEMBERSHIP_UNKNOWN);
        assert_false(members_settle(m, FIRST, &r));
        assert_int_equal(members_add(m, FIRST, "bbbb"), 0);
        assert_int_equal(members_look(m, FIRST, &r), MEMBERSHIP_MEMBER);
        assert_string_equal(r.id, "bbbb");
        assert_true(members_settle(m, FIRST, NULL));
}

/* ---- told by the connector ---- */

static Connector *connect(Members *m) {
        Connector *c = NULL;
        int r = connector_new(&c);

        if (r < 0) {
                print_message("skipped: no process connector: %s\n", strerror(-r));
                skip();
        }
        connector_set_members(c, m);
        return c;
}

static pid_t spawn(void) {
        pid_t pid = fork();

        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;)
                        (void) pause();
        }
        assert_true(pid > 0);
        return pid;
}

static void reap(pid_t pid) {
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void fork_is_known_after_a_poke(void **state) {
        Members *m = *state;
        Connector *c = connect(m);
        ProcEvents events = {0};
        bool told = false;
        pid_t pid;

        assert_int_equal(members_add(m, getpid(), "aaaa"), 0);
        for (int i = 0; i < 200; i++) {
                pid = spawn();
                connector_poke(c);
                assert_in(m, pid, "aaaa");
                reap(pid);
        }
        /* What a poke drained is handed over all the same. */
        assert_int_equal(connector_take(c, &events), 0);
        for (size_t i = 0; i < events.n; i++)
                told |= events.items[i].type == PROC_FORK && events.items[i].pid == pid;
        assert_true(told);
        proc_events_done(&events);
        connector_free(c);
}

static void *pause_and_exec(void *userdata) {
        (void) usleep(20000);
        (void) execl("/bin/sleep", "sleep", "1000", NULL);
        _exit(1);
}

/* The main thread is gone, its process goes on, and calls exec. */
static void main_thread_that_ends_stays_a_member(void **state) {
        Members *m = *state;
        Connector *c = connect(m);
        char path[64], name[32] = "";
        pid_t pid;

        assert_int_equal(members_add(m, getpid(), "aaaa"), 0);
        pid = fork();
        if (pid == 0) {
                pthread_t t;

                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                (void) pthread_create(&t, NULL, pause_and_exec, NULL);
                (void) syscall(SYS_exit, 0);
        }
        assert_true(pid > 0);
        (void) snprintf(path, sizeof(path), "/proc/%d/comm", (int) pid);
        while (strcmp(name, "sleep\n") != 0) {
                FILE *f = fopen(path, "re");

                assert_non_null(f);
                assert_non_null(fgets(name, sizeof(name), f));
                (void) fclose(f);
                connector_poke(c);
                assert_in(m, pid, "aaaa");
        }
        reap(pid);
        connector_free(c);
}

static void process_that_ends_leaves(void **state) {
        Members *m = *state;
        Connector *c = connect(m);
        pid_t pid = spawn();

        assert_int_equal(members_add(m, pid, "aaaa"), 0);
        reap(pid);
        while (!members_is_empty(m))
                connector_poke(c);
        connector_set_members(c, NULL);
        connector_free(c);
}

int main(void) {
#define WITH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        static const struct CMUnitTest tests[] = {
                WITH(child_is_in_its_parents_session),
                WITH(session_must_be_known),
                WITH(rule_is_replaced),
                WITH(innermost_session_wins_and_is_inherited),
                WITH(number_given_away_leaves_the_session),
                WITH(exit_that_was_none_is_forgiven),
                WITH(the_exited_are_forgotten_after_a_while),
                WITH(late_exit_does_not_take_the_living),
                WITH(child_of_an_outsider_is_one),
                WITH(fork_that_is_told_late_does_not_undo_what_was_added),
                WITH(outsider_is_remembered_until_something_is_told),
                WITH(fork_is_known_after_a_poke),
                WITH(main_thread_that_ends_stays_a_member),
                WITH(process_that_ends_leaves),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
