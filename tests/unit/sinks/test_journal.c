/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <syslog.h>

#include <cmocka.h>

#include "daemon/sinks/journal.h"

static char *paths[] = {(char *) "/mnt/nas/a\n\xff", (char *) "/mnt/nas/b", NULL};
static char *cmdline[] = {(char *) "rm", (char *) "-f", (char *) "a", NULL};
static AlertProcess chain[] = {{.pid = 7, .exe = (char *) "/usr/bin/rm", .cmdline = cmdline},
                               {.pid = 6}};

static Alert example(void) {
        return (Alert){
                .id = "msg_1",
                .kind = ALERT_VIOLATION,
                .severity = SEVERITY_REMOVED,
                .session = (char *) "1122334455667788",
                .label = (char *) "nightly",
                .uid = 1000,
                .user = (char *) "ci",
                .watch = (char *) "nas",
                .total = 2,
                .fresh = 2,
                .count[OP_DELETE] = 1,
                .count[OP_CREATE] = 1,
                .refused = 1,
                .paths = paths,
                .chain = chain,
                .n_chain = 2,
                .cwd = (char *) "/srv",
                .test = (char *) "t::x",
                .action = ACTION_DENIED,
                .exit_status = -1,
                .next = (char *) "mountwatch report 1122334455667788",
        };
}

static bool has(const JournalEntry *e, const char *field) {
        for (size_t i = 0; i < e->n; i++)
                if (e->fields[i].iov_len == strlen(field) &&
                    memcmp(e->fields[i].iov_base, field, strlen(field)) == 0)
                        return true;
        return false;
}

static size_t count(const JournalEntry *e, const char *name) {
        size_t n = 0;

        for (size_t i = 0; i < e->n; i++)
                n += e->fields[i].iov_len > strlen(name) &&
                        memcmp(e->fields[i].iov_base, name, strlen(name)) == 0 &&
                        ((const char *) e->fields[i].iov_base)[strlen(name)] == '=';
        return n;
}

static void a_violation_has_all_its_fields(void **state) {
        static const char *const expected[] = {
                "MESSAGE_ID=" JOURNAL_ID_VIOLATION,
                "PRIORITY=3",
                "SYSLOG_IDENTIFIER=mountwatch",
                "MOUNTWATCH_ALERT_ID=msg_1",
                "MOUNTWATCH_KIND=violation",
                "MOUNTWATCH_SEVERITY=removed",
                "MOUNTWATCH_SESSION=1122334455667788",
                "MOUNTWATCH_LABEL=nightly",
                "MOUNTWATCH_UID=1000",
                "MOUNTWATCH_USER=ci",
                "MOUNTWATCH_WATCH=nas",
                "MOUNTWATCH_OPERATION=create",
                "MOUNTWATCH_OPERATION=delete",
                "MOUNTWATCH_PATH=/mnt/nas/a\n\xff", /* bytes as they are */
                "MOUNTWATCH_PATH=/mnt/nas/b",
                "MOUNTWATCH_PID=7",
                "MOUNTWATCH_EXE=/usr/bin/rm",
                "MOUNTWATCH_CMDLINE=rm -f a",
                "MOUNTWATCH_CWD=/srv",
                "MOUNTWATCH_TEST=t::x",
                "MOUNTWATCH_ACTION=denied",
                "MOUNTWATCH_TOTAL=2",
                "MOUNTWATCH_FRESH=2",
                "MOUNTWATCH_REFUSED=1",
                "MOUNTWATCH_PRESERVED=0",
                "MOUNTWATCH_NEXT=mountwatch report 1122334455667788",
        };
        const Alert a = example();
        _cleanup_(journal_entry_done) JournalEntry e = {};

        assert_int_equal(journal_entry_make(&a, &e), 0);
        for (size_t i = 0; i < ELEMENTSOF(expected); i++)
                if (!has(&e, expected[i]))
                        fail_msg("no %s", expected[i]);
        assert_int_equal(e.n, ELEMENTSOF(expected) + 1); /* and the message */
        assert_int_equal(count(&e, "MESSAGE"), 1);
}

static void a_summary_has_its_verdict(void **state) {
        Alert a = example();
        _cleanup_(journal_entry_done) JournalEntry e = {};

        a.kind = ALERT_SUMMARY;
        a.verdict = VERDICT_DIRTY;
        a.exit_status = 3;
        assert_int_equal(journal_entry_make(&a, &e), 0);
        assert_true(has(&e, "MESSAGE_ID=" JOURNAL_ID_SUMMARY));
        assert_true(has(&e, "MOUNTWATCH_VERDICT=dirty"));
        assert_true(has(&e, "MOUNTWATCH_EXIT_STATUS=3"));
        assert_true(has(&e, "PRIORITY=5"));
}

static void what_is_not_known_has_no_field(void **state) {
        const Alert a = {.id = "m",
                         .kind = ALERT_LOSS,
                         .uid = (uid_t) -1,
                         .reason = (char *) "overflow",
                         .exit_status = -1};
        _cleanup_(journal_entry_done) JournalEntry e = {};

        assert_int_equal(journal_entry_make(&a, &e), 0);
        assert_true(has(&e, "MOUNTWATCH_REASON=overflow"));
        assert_int_equal(e.n, 8);
}

static void assert_line(const Alert *a, const char *expected) {
        _cleanup_free_ char *line = journal_line(a);

        assert_string_equal(line, expected);
}

static void the_line_is_one_line(void **state) {
        Alert a = example();

        a.total = a.fresh = 1;
        a.count[OP_CREATE] = a.refused = 0;
        assert_line(&a,
                    "session 1122334455667788 nightly changes watch 'nas': delete of "
                    "'/mnt/nas/a\\x0a\\xff' by /usr/bin/rm (pid 7)");
        a.refused = 1;
        assert_line(&a,
                    "session 1122334455667788 nightly tries to change watch 'nas': delete of "
                    "'/mnt/nas/a\\x0a\\xff' by /usr/bin/rm (pid 7)");
        a.refused = 0;
        a.session = a.label = NULL;
        a.n_chain = 0;
        assert_line(&a,
                    "change outside every session on watch 'nas': delete of "
                    "'/mnt/nas/a\\x0a\\xff' by an unknown program");
        a = example();
        a.kind = ALERT_UPDATE;
        a.total = 9;
        assert_line(&a,
                    "session 1122334455667788 nightly changes watch 'nas': 9 changes, 2 of them "
                    "new, '/mnt/nas/a\\x0a\\xff' by /usr/bin/rm (pid 7)");
        a.kind = ALERT_SUMMARY;
        a.verdict = VERDICT_INCOMPLETE;
        assert_line(&a,
                    "session 1122334455667788 nightly ended incomplete: 9 violations, 1 of them "
                    "did not happen");
}

static void priority_goes_with_severity(void **state) {
        static const int expected[_SEVERITY_MAX] = {LOG_INFO, LOG_NOTICE, LOG_NOTICE, LOG_WARNING,
                                                    LOG_ERR};
        Alert a = example();

        for (Severity s = 0; s < _SEVERITY_MAX; s++) {
                a.severity = s;
                assert_int_equal(journal_priority(&a), expected[s]);
        }
        a.kind = ALERT_LOSS;
        assert_int_equal(journal_priority(&a), LOG_WARNING);
        a.kind = ALERT_SUMMARY;
        a.verdict = VERDICT_CLEAN;
        assert_int_equal(journal_priority(&a), LOG_INFO);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_violation_has_all_its_fields),
                cmocka_unit_test(a_summary_has_its_verdict),
                cmocka_unit_test(what_is_not_known_has_no_field),
                cmocka_unit_test(the_line_is_one_line),
                cmocka_unit_test(priority_goes_with_severity),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
