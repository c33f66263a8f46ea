/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/alert.h"

static char *paths_one[] = {(char *) "/mnt/nas/a.txt", NULL};
static char *paths_two[] = {(char *) "/mnt/nas/a.txt", (char *) "/mnt/nas/b.txt", NULL};
static char *rm_cmdline[] = {(char *) "rm", (char *) "-rf", (char *) "/mnt/nas", NULL};
static AlertProcess chain[] = {
        {.pid = 7, .exe = (char *) "/usr/bin/rm", .cmdline = rm_cmdline},
        {.pid = 6, .exe = (char *) "/usr/bin/bash"},
};

/* What most cases have in common. */
static Alert example(void) {
        return (Alert){
                .id = "msg_1",
                .kind = ALERT_VIOLATION,
                .severity = SEVERITY_REMOVED,
                .session = (char *) "1122334455667788",
                .uid = (uid_t) -1,
                .watch = (char *) "nas",
                .total = 1,
                .fresh = 1,
                .count[OP_DELETE] = 1,
                .paths = paths_one,
                .chain = chain,
                .n_chain = 1,
                .action = ACTION_ALERTED,
                .exit_status = -1,
                .complete = true,
        };
}

static void assert_title(const Alert *a, const char *expected) {
        _cleanup_free_ char *title = alert_title(a);

        assert_string_equal(title, expected);
}

static void assert_text(const Alert *a, const char *expected) {
        _cleanup_free_ char *text = alert_text(a);

        assert_string_equal(text, expected);
}

static void words_go_both_ways(void **state) {
        for (AlertKind k = 0; k < _ALERT_KIND_MAX; k++)
                assert_int_equal(alert_kind_from_string(alert_kind_to_string(k)), k);
        for (Severity s = 0; s < _SEVERITY_MAX; s++)
                assert_int_equal(severity_from_string(severity_to_string(s)), s);
        assert_int_equal(alert_kind_from_string("alarm"), -EINVAL);
        assert_int_equal(alert_kind_from_string(NULL), -EINVAL);
        assert_int_equal(severity_from_string(""), -EINVAL);
        assert_null(alert_kind_to_string(_ALERT_KIND_MAX));
        assert_null(severity_to_string(_SEVERITY_MAX));
}

static void the_first_one_is_told_by_its_name(void **state) {
        Alert a = example();

        assert_title(&a, "rm removed a.txt on nas");
        a.label = (char *) "nightly";
        assert_title(&a, "nightly removed a.txt on nas");
}

static void several_are_told_by_number_gravest_first(void **state) {
        Alert a = example();

        a.total = 15;
        a.count[OP_DELETE] = 3;
        a.count[OP_CREATE] = 12;
        assert_title(&a, "rm removed 3 files, created 12 on nas");
        a.count[OP_CREATE] = 0;
        a.total = 3;
        assert_title(&a, "rm removed 3 files on nas");
}

static void what_was_replaced_is_not_merely_created(void **state) {
        Alert a = example();

        a.count[OP_DELETE] = 0;
        a.count[OP_RENAME] = 1;
        assert_title(&a, "rm replaced a.txt on nas");
        a.count[OP_RENAME] = a.total = 2;
        assert_title(&a, "rm renamed 2 files on nas, in place of what was there");
}

static void what_did_not_happen_is_told_as_an_attempt(void **state) {
        Alert a = example();

        a.refused = 1;
        a.action = ACTION_DENIED;
        assert_title(&a, "rm tried to remove a.txt on nas; refused");
        a.action = ACTION_KILLED;
        assert_title(&a, "rm tried to remove a.txt on nas; killed");
        a.action = ACTION_FROZEN;
        assert_title(&a, "rm tried to remove a.txt on nas; frozen");
        a.action = ACTION_HELD;
        assert_title(&a, "rm waits to remove a.txt on nas");
}

static void somebody_is_named_as_well_as_is_known(void **state) {
        Alert a = example();

        a.n_chain = 0;
        assert_title(&a, "session 1122334455667788 removed a.txt on nas");
        a.session = NULL;
        assert_title(&a, "an unknown process, outside every session, removed a.txt on nas");
        a.n_chain = 1;
        assert_title(&a, "rm, outside every session, removed a.txt on nas");
}

static void a_loss_names_its_reason(void **state) {
        Alert a = {.kind = ALERT_LOSS,
                   .label = (char *) "nightly",
                   .watch = (char *) "nas",
                   .reason = (char *) "overflow",
                   .uid = (uid_t) -1};

        assert_title(&a, "nightly: changes may have been missed on nas (overflow)");
        assert_text(
                &a,
                "why: changes came faster than they could be read, and the kernel dropped some\n");
}

static void a_summary_tells_the_verdict(void **state) {
        Alert a = example();

        a.kind = ALERT_SUMMARY;
        a.verdict = VERDICT_DIRTY;
        a.watch = NULL;
        a.total = a.count[OP_DELETE] = 2;
        a.exit_status = 3;
        assert_title(&a, "session 1122334455667788 ended dirty: removed 2 files");
        a.verdict = VERDICT_INCOMPLETE;
        a.total = a.count[OP_DELETE] = 0;
        assert_title(&a, "session 1122334455667788 ended incomplete");
}

static void the_text_has_the_evidence(void **state) {
        Alert a = example();

        a.total = 5;
        a.fresh = 4;
        a.count[OP_DELETE] = 3;
        a.count[OP_CREATE] = 2;
        a.refused = 1;
        a.preserved = 2;
        a.paths = paths_two;
        a.n_chain = 2;
        a.cwd = (char *) "/srv/ci";
        a.test = (char *) "tests/x.py::test_y";
        a.label = (char *) "nightly";
        a.user = (char *) "ci";
        a.complete = false;
        a.next = (char *) "mountwatch undo 1122334455667788";
        assert_text(&a,
                    "/mnt/nas/a.txt\n"
                    "/mnt/nas/b.txt\n"
                    "and 2 more\n"
                    "changes: 5, 4 of them new: 3 removed, 2 created; 1 did not happen; "
                    "of 2 the old state is kept\n"
                    "by: rm -rf /mnt/nas (pid 7)\n"
                    "  started by: /usr/bin/bash (pid 6)\n"
                    "in: /srv/ci\n"
                    "test: tests/x.py::test_y\n"
                    "session: 1122334455667788 nightly, of ci\n"
                    "done about it: alerted\n"
                    "this may not be all: something was not seen\n"
                    "next: mountwatch undo 1122334455667788\n");
}

static void hostile_names_stay_on_their_line(void **state) {
        char *paths[] = {(char *) "/mnt/nas/a\nnext: rm -rf ~\x1b[2J\xff", NULL};
        char *cmdline[] = {(char *) "sh\n", (char *) "\xe2\x80\xae", NULL};
        AlertProcess evil = {.pid = 1, .exe = (char *) "/x\ny", .cmdline = cmdline};
        Alert a = example();
        _cleanup_free_ char *title = NULL, *text = NULL;

        a.paths = paths;
        a.chain = &evil;
        a.watch = (char *) "n\ta";
        title = alert_title(&a);
        text = alert_text(&a);
        assert_string_equal(title, "x\\x0ay removed a\\x0anext: rm -rf ~\\x1b[2J\\xff on n\\x09a");
        assert_non_null(strstr(text, "by: sh\\x0a \\xe2\\x80\\xae (pid 1)\n"));
        assert_null(strchr(text, '\x1b'));
}

static void a_long_command_line_is_cut(void **state) {
        char word[2000];
        char *cmdline[] = {word, NULL};
        AlertProcess p = {.pid = 1, .cmdline = cmdline};
        Alert a = example();
        _cleanup_free_ char *text = NULL;

        memset(word, 'w', sizeof word - 1);
        word[sizeof word - 1] = 0;
        a.chain = &p;
        text = alert_text(&a);
        assert_non_null(strstr(text, "www ... (pid 1)\n"));
        assert_true(strlen(text) < 600);
}

static void what_was_given_back_is_empty(void **state) {
        Alert a = {.session = strdup("s"), .next = strdup("n"), .n_chain = 1};

        a.chain = calloc(1, sizeof *a.chain);
        assert_non_null(a.chain);
        a.chain[0].exe = strdup("/x");
        alert_done(&a);
        assert_null(a.session);
        assert_int_equal(a.n_chain, 0);
        alert_done(&a);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(words_go_both_ways),
                cmocka_unit_test(the_first_one_is_told_by_its_name),
                cmocka_unit_test(several_are_told_by_number_gravest_first),
                cmocka_unit_test(what_was_replaced_is_not_merely_created),
                cmocka_unit_test(what_did_not_happen_is_told_as_an_attempt),
                cmocka_unit_test(somebody_is_named_as_well_as_is_known),
                cmocka_unit_test(a_loss_names_its_reason),
                cmocka_unit_test(a_summary_tells_the_verdict),
                cmocka_unit_test(the_text_has_the_evidence),
                cmocka_unit_test(hostile_names_stay_on_their_line),
                cmocka_unit_test(a_long_command_line_is_cut),
                cmocka_unit_test(what_was_given_back_is_empty),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
