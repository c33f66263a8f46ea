/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/report.h"

static int set_up(void **state) {
        return report_new((Report **) state);
}

static int tear_down(void **state) {
        report_free(*state);
        return 0;
}

static char *copy(const char *s) {
        char *c = s ? strdup(s) : NULL;

        assert_int_equal(c == NULL, s == NULL);
        return c;
}

static void add_process(Report *r, int64_t id, pid_t pid, uint64_t start_ticks, const char *exe) {
        ProcessInfo p = {.id = id, .pid = pid, .start_ticks = start_ticks, .exe = copy(exe)};

        assert_int_equal(report_take_process(r, &p), 0);
        assert_null(p.exe);
}

/* Takes copies of the texts in `model`. */
static void add(Report *r, Operation model) {
        model.session = copy(model.session ? model.session : "s1");
        model.watch = copy("nas");
        model.path = copy(model.path);
        model.from = copy(model.from);
        model.to = copy(model.to);
        model.rule = copy(model.rule);
        model.test = copy(model.test);
        if (model.count == 0)
                model.count = 1;
        if (model.attribution == SIGHT_NONE)
                model.attribution = SIGHT_EXACT;
        assert_int_equal(report_take_operation(r, &model), 0);
        assert_null(model.path);
}

#define PATH(s) .path = (char *) (s)

static void the_same_again_is_one_row(void **state) {
        Report *r = *state;
        const Operation *row;

        add_process(r, 1, 100, 5000, "/bin/a");
        add(r,
            (Operation){.process_id = 1, .op = OP_MODIFY, PATH("/w/a"), .first = 10, .last = 11});
        add(r,
            (Operation){.process_id = 1, .op = OP_MODIFY, PATH("/w/b"), .first = 12, .last = 12});
        add(r,
            (Operation){.process_id = 1,
                        .op = OP_MODIFY,
                        PATH("/w/a"),
                        .first = 13,
                        .last = 19,
                        .count = 4});
        assert_int_equal(report_n_rows(r), 2);
        row = report_row(r, 0);
        assert_string_equal(row->path, "/w/a");
        assert_string_equal(row->session, "s1");
        assert_string_equal(row->watch, "nas");
        assert_int_equal(row->count, 5);
        assert_int_equal(row->first, 10);
        assert_int_equal(row->last, 19);
        assert_string_equal(report_row(r, 1)->path, "/w/b");
}

static void what_differs_is_another_row(void **state) {
        Report *r = *state;
        const Operation base = {
                .process_id = 1, .op = OP_RENAME, PATH("/w/b"), .from = (char *) "/w/a"};
        Operation o;

        add_process(r, 1, 100, 5000, "/bin/a");
        add_process(r, 2, 101, 5000, "/bin/a");
        add_process(r, 3, 100, 6000, "/bin/a");
        add(r, base);
        o = base;
        o.op = OP_CREATE;
        add(r, o);
        o = base;
        o.path = (char *) "/w/c";
        add(r, o);
        o = base;
        o.from = (char *) "/w/d";
        add(r, o);
        o.from = NULL;
        add(r, o);
        o = base;
        o.test = (char *) "t1";
        add(r, o);
        o.test = (char *) "t2";
        add(r, o);
        o = base;
        o.process_id = 2;
        add(r, o);
        o.process_id = 3;
        add(r, o);
        assert_int_equal(report_n_rows(r), 9);
        add(r, base);
        assert_int_equal(report_n_rows(r), 9);
}

/* sh -c 'cmd1; exec cmd2' is one process with two images. */
static void a_process_is_one_whatever_it_executes(void **state) {
        Report *r = *state;

        add_process(r, 1, 100, 5000, "/bin/sh");
        add_process(r, 2, 100, 5000, "/bin/python3");
        add(r, (Operation){.process_id = 1, .op = OP_CREATE, PATH("/w/a")});
        add(r, (Operation){.process_id = 2, .op = OP_CREATE, PATH("/w/a")});
        assert_int_equal(report_n_rows(r), 1);
        assert_int_equal(report_row(r, 0)->process_id, 1);
}

static void processes_of_which_little_is_known_stay_apart(void **state) {
        Report *r = *state;

        add_process(r, 1, 100, 0, NULL);
        add_process(r, 2, 100, 0, NULL);
        for (int64_t id = 1; id <= 4; id++) {
                add(r, (Operation){.process_id = id, .op = OP_CREATE, PATH("/w/a")});
                add(r, (Operation){.process_id = id, .op = OP_CREATE, PATH("/w/a")});
        }
        assert_int_equal(report_n_rows(r), 4);
        assert_null(report_process(r, 3));
}

static void a_row_has_the_gravest_of_all(void **state) {
        Report *r = *state;
        const Operation *row;

        add(r,
            (Operation){.op = OP_RENAME,
                        PATH("/w/a"),
                        .action = ACTION_FROZEN,
                        .violation = true,
                        .replaced = true,
                        .preserved = true,
                        .rule = (char *) "*"});
        add(r, (Operation){.op = OP_RENAME, PATH("/w/a"), .attribution = SIGHT_INFERRED});
        row = report_row(r, 0);
        assert_int_equal(report_n_rows(r), 1);
        assert_int_equal(row->action, ACTION_FROZEN);
        assert_true(row->violation);
        assert_true(row->replaced);
        assert_true(row->preserved);
        assert_int_equal(row->attribution, SIGHT_INFERRED);
        assert_null(row->rule);
        add(r, (Operation){.op = OP_RENAME, PATH("/w/a"), .action = ACTION_KILLED});
        assert_int_equal(row->action, ACTION_KILLED);
}

static void a_refused_attempt_does_not_hide_one_that_succeeded(void **state) {
        Report *r = *state;
        const NetLists *net;

        add(r, (Operation){.op = OP_DELETE, PATH("/w/a"), .action = ACTION_DENIED});
        add(r, (Operation){.op = OP_DELETE, PATH("/w/a"), .action = ACTION_DENIED});
        assert_int_equal(report_net(r, &net), 0);
        assert_int_equal(net->n_deleted, 0);
        add(r, (Operation){.op = OP_DELETE, PATH("/w/a"), .action = ACTION_ALERTED});
        assert_int_equal(report_n_rows(r), 2);
        assert_int_equal(report_row(r, 0)->action, ACTION_DENIED);
        assert_int_equal(report_row(r, 0)->count, 2);
        assert_int_equal(report_row(r, 1)->action, ACTION_ALERTED);
        assert_int_equal(report_net(r, &net), 0);
        assert_int_equal(net->n_deleted, 1);
        assert_string_equal(net->deleted[0], "/w/a");
}

static void the_first_of_two_processes_with_one_id_stays(void **state) {
        Report *r = *state;

        add_process(r, 7, 100, 1, "/bin/a");
        add_process(r, 7, 100, 1, "/bin/b");
        assert_string_equal(report_process(r, 7)->exe, "/bin/a");
        assert_null(report_process(r, 8));
}

static void an_empty_report_is_empty(void **state) {
        const NetLists *net;

        assert_int_equal(report_n_rows(*state), 0);
        assert_int_equal(report_net(*state, &net), 0);
        assert_int_equal(net->n_created + net->n_modified + net->n_deleted + net->n_renamed, 0);
}

/* More rows than any table starts with, each twice, in the order in which they came. */
static void many_rows_keep_their_order(void **state) {
        Report *r = *state;
        const NetLists *net;
        char path[64];

        for (int again = 0; again < 2; again++)
                for (int i = 0; i < 50000; i++) {
                        (void) snprintf(path, sizeof path, "/w/d%d/f%d", i % 100, i);
                        add(r, (Operation){.op = OP_CREATE, PATH(path), .test = (char *) "t"});
                }
        assert_int_equal(report_n_rows(r), 50000);
        for (int i = 0; i < 50000; i++) {
                (void) snprintf(path, sizeof path, "/w/d%d/f%d", i % 100, i);
                assert_string_equal(report_row(r, (size_t) i)->path, path);
                assert_int_equal(report_row(r, (size_t) i)->count, 2);
        }
        assert_int_equal(report_net(r, &net), 0);
        assert_int_equal(net->n_created, 50000);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        const struct CMUnitTest tests[] = {
                TEST(the_same_again_is_one_row),
                TEST(what_differs_is_another_row),
                TEST(a_process_is_one_whatever_it_executes),
                TEST(processes_of_which_little_is_known_stay_apart),
                TEST(a_row_has_the_gravest_of_all),
                TEST(a_refused_attempt_does_not_hide_one_that_succeeded),
                TEST(the_first_of_two_processes_with_one_id_stays),
                TEST(an_empty_report_is_empty),
                TEST(many_rows_keep_their_order),
        };
        return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
