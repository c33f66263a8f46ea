/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "client/report_authors.h"
#include "client/report_model.h"
#include "fixture.h"

static void add(Report *r, int64_t id, int64_t parent, const char *exe, const char *path,
                OpType op) {
        char *cmdline[] = {strdup(exe ? exe : "?"), strdup(path), NULL};
        ProcessInfo p = {.id = id, .parent_id = parent, .pid = (pid_t) id + 1000, .start_ticks = 1};
        Operation o = {.seq = id,
                       .process_id = id,
                       .op = op,
                       .watch = strdup("nas"),
                       .path = strdup(path),
                       .count = 1,
                       .first = (usec_t) id,
                       .last = (usec_t) id,
                       .violation = true};

        p.exe = exe ? strdup(exe) : NULL;
        p.cmdline = malloc(sizeof(cmdline));
        assert_non_null(p.cmdline);
        memcpy(p.cmdline, cmdline, sizeof(cmdline));
        assert_int_equal(report_take_process(r, &p), 0);
        assert_int_equal(report_take_operation(r, &o), 0);
}

static void a_loop_of_one_program_is_one_author(void **state) {
        _cleanup_(report_freep) Report *r = NULL;
        _cleanup_(authors_done) Authors a = {};

        assert_int_equal(report_new(&r), 0);
        add(r, 2, 1, "/bin/touch", "/nas/a", OP_CREATE);
        add(r, 3, 1, "/bin/rm", "/nas/b", OP_DELETE);
        add(r, 4, 1, "/bin/touch", "/nas/c", OP_CREATE);
        add(r, 5, 1, "/bin/rm", "/nas/d", OP_DELETE);
        add(r, 6, 9, "/bin/rm", "/nas/e", OP_DELETE); /* for another parent */
        add(r, 7, 1, "/bin/rm", "/nas/f", OP_DELETE);
        assert_int_equal(authors_new(r, /* violations_only= */ true, &a), 0);
        assert_int_equal(a.n, 6);
        authors_fold(&a, report_process_source(r));
        assert_int_equal(a.n, 3);
        assert_int_equal(a.items[0].process_id, 3);
        assert_int_equal(a.items[0].n_processes, 3);
        assert_int_equal(a.items[0].n_rows, 3);
        assert_int_equal(a.items[1].process_id, 6);
        assert_int_equal(a.items[1].n_processes, 1);
        assert_int_equal(a.items[2].n_processes, 2);
        assert_int_equal(a.items[2].worst, WEIGHT_CREATED);
}

static void those_that_nobody_knows_stay_apart(void **state) {
        _cleanup_(report_freep) Report *r = NULL;
        _cleanup_(authors_done) Authors a = {};

        assert_int_equal(report_new(&r), 0);
        add(r, 2, 1, NULL, "/nas/a", OP_DELETE);
        add(r, 3, 1, "/bin/rm", "/nas/b", OP_DELETE);
        add(r, 4, 1, NULL, "/nas/c", OP_DELETE);
        add(r, 5, 0, "/bin/rm", "/nas/d", OP_DELETE);
        add(r, 6, 0, "/bin/rm", "/nas/e", OP_DELETE);
        add(r, 7, 1, "/bin/rm", "/nas/f", OP_DELETE);
        assert_int_equal(authors_new(r, /* violations_only= */ true, &a), 0);
        authors_fold(&a, report_process_source(r));
        assert_int_equal(a.n, 5);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_loop_of_one_program_is_one_author),
                cmocka_unit_test(those_that_nobody_knows_stay_apart),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
