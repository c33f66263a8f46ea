/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/strv.h"
#include "daemon/core/alerts.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)
#define T0 (1000 * SECOND) /* any moment */

static Alerts *alerts;
static Session *session;
static Alert alert;

static int set_up(void **state) {
        assert_int_equal(alerts_new(30 * SECOND, 30 * MINUTE, &alerts), 0);
        assert_int_equal(session_new(0x1122334455667788, 1000, T0, &session), 0);
        session->label = strdup("nightly");
        assert_non_null(session->label);
        alert = (Alert){};
        return 0;
}

static int tear_down(void **state) {
        alert_done(&alert);
        alerts = alerts_free(alerts);
        session = session_free(session);
        return 0;
}

/* ---- what happens ---- */

static const Operation created = {
        .op = OP_CREATE,
        .watch = (char *) "nas",
        .path = (char *) "/mnt/nas/new",
        .violation = true,
        .action = ACTION_ALERTED,
};
static const Operation removed = {
        .op = OP_DELETE,
        .watch = (char *) "nas",
        .path = (char *) "/mnt/nas/old",
        .violation = true,
        .action = ACTION_ALERTED,
};

static Image *author_of(pid_t pid, const char *exe, Image *parent) {
        _cleanup_(program_unrefp) Program *program = NULL;
        char **cmdline = NULL;
        Image *i = calloc(1, sizeof *i);

        assert_non_null(i);
        assert_true(strv_append(&cmdline, exe) && strv_append(&cmdline, "x"));
        assert_int_equal(program_new(strdup(exe), cmdline, strdup("/srv"), &program), 0);
        i->n_ref = 1;
        i->pid = pid;
        i->program = TAKE_PTR(program);
        i->parent = parent ? image_ref(parent) : NULL;
        return i;
}

static void happens(const Session *s, const Operation *op, usec_t now) {
        assert_int_equal(alerts_violation(alerts, s, op, NULL, now), 0);
}

static void ends(Session *s, Verdict expected) {
        s->state = SESSION_STOPPED;
        assert_int_equal(session_verdict(s), expected);
        assert_int_equal(alerts_session_ended(alerts, s, T0), 0);
}

/* The next alert is of this kind; it stands in `alert`. */
static void told(AlertKind kind) {
        alert_done(&alert);
        assert_true(alerts_take(alerts, &alert));
        assert_int_equal(alert.kind, kind);
}

static void nothing_is_told(void) {
        Alert a;

        assert_false(alerts_take(alerts, &a));
}

static void tick(usec_t now) {
        assert_int_equal(alerts_tick(alerts, now), 0);
}

/* ---- violations ---- */

static void the_first_violation_is_told_at_once(void **state) {
        happens(session, &removed, T0);
        told(ALERT_VIOLATION);
        assert_string_equal(alert.session, "1122334455667788");
        assert_string_equal(alert.label, "nightly");
        assert_int_equal(alert.uid, 1000);
        assert_string_equal(alert.watch, "nas");
        assert_int_equal(alert.severity, SEVERITY_REMOVED);
        assert_int_equal(alert.total, 1);
        assert_int_equal(alert.fresh, 1);
        assert_int_equal(alert.count[OP_DELETE], 1);
        assert_int_equal(strv_length(alert.paths), 1);
        assert_string_equal(alert.paths[0], "/mnt/nas/old");
        assert_int_equal(alert.action, ACTION_ALERTED);
        assert_true(alert.complete);
        assert_string_equal(alert.next, "mountwatch report 1122334455667788");
        assert_int_equal(alerts_due(alerts), ALERT_NEVER);
        nothing_is_told();
}

static void further_ones_are_told_together_after_the_interval(void **state) {
        happens(session, &created, T0);
        told(ALERT_VIOLATION);
        happens(session, &created, T0 + 1);
        happens(session, &removed, T0 + SECOND);
        nothing_is_told();
        assert_int_equal(alerts_due(alerts), T0 + 30 * SECOND);
        tick(T0 + 30 * SECOND - 1);
        nothing_is_told();
        tick(T0 + 30 * SECOND);
        told(ALERT_UPDATE);
        assert_int_equal(alert.total, 3);
        assert_int_equal(alert.fresh, 2);
        assert_int_equal(alert.count[OP_CREATE], 2);
        assert_int_equal(alert.count[OP_DELETE], 1);
        assert_int_equal(alert.severity, SEVERITY_REMOVED);
        nothing_is_told();
        assert_int_equal(alerts_due(alerts), ALERT_NEVER);
}

static void intervals_double_up_to_the_longest(void **state) {
        static const unsigned seconds[] = {30, 60, 120, 240, 480, 960, 1800, 1800};
        usec_t now = T0;

        happens(session, &created, now);
        told(ALERT_VIOLATION);
        for (size_t i = 0; i < ELEMENTSOF(seconds); i++) {
                happens(session, &created, now + 1);
                assert_int_equal(alerts_due(alerts), now + seconds[i] * SECOND);
                now += seconds[i] * SECOND;
                tick(now);
                told(ALERT_UPDATE);
                assert_int_equal(alert.fresh, 1);
        }
}

static void nothing_new_is_not_told(void **state) {
        happens(session, &created, T0);
        told(ALERT_VIOLATION);
        tick(T0 + 60 * MINUTE);
        nothing_is_told();
}

static void one_that_comes_after_the_interval_is_told_at_once(void **state) {
        happens(session, &created, T0);
        told(ALERT_VIOLATION);
        happens(session, &created, T0 + 31 * SECOND);
        told(ALERT_UPDATE);
        /* and counts for the intervals */
        happens(session, &created, T0 + 32 * SECOND);
        assert_int_equal(alerts_due(alerts), T0 + 91 * SECOND);
}

static void after_a_long_silence_intervals_start_over(void **state) {
        usec_t now = T0;

        for (unsigned i = 0; i < 8; i++, now += 30 * MINUTE) {
                happens(session, &created, now);
                told(i == 0 ? ALERT_VIOLATION : ALERT_UPDATE);
        }
        now += 120 * MINUTE;
        happens(session, &created, now);
        told(ALERT_UPDATE);
        happens(session, &created, now + 1);
        assert_int_equal(alerts_due(alerts), now + 30 * SECOND);
}

static void each_watch_and_each_session_is_told_by_itself(void **state) {
        _cleanup_(session_freep) Session *other = NULL;
        Operation elsewhere = created;

        assert_int_equal(session_new(1, 1000, T0, &other), 0);
        elsewhere.watch = (char *) "db";
        happens(session, &created, T0);
        told(ALERT_VIOLATION);
        happens(session, &elsewhere, T0);
        told(ALERT_VIOLATION);
        assert_string_equal(alert.watch, "db");
        assert_int_equal(alert.total, 1);
        happens(other, &created, T0);
        told(ALERT_VIOLATION);
        assert_string_equal(alert.session, other->id);
        happens(NULL, &created, T0);
        told(ALERT_VIOLATION);
        assert_null(alert.session);
}

static void who_is_in_no_session_is_told_by_watch(void **state) {
        happens(NULL, &created, T0);
        told(ALERT_VIOLATION);
        assert_null(alert.session);
        assert_null(alert.label);
        assert_int_equal(alert.uid, (uid_t) -1);
        assert_string_equal(alert.next, "mountwatch blame '/mnt/nas/new'");
        happens(NULL, &created, T0 + 1);
        tick(T0 + 30 * SECOND);
        told(ALERT_UPDATE);
        assert_int_equal(alert.total, 2);
}

static void a_name_that_cannot_be_typed_is_no_command(void **state) {
        Operation op = created;

        op.path = (char *) "/mnt/nas/x'; rm -rf ~ '";
        happens(NULL, &op, T0);
        told(ALERT_VIOLATION);
        assert_null(alert.next);
}

/* Case 15: 27,000 changes within a second, and the end of the session. */
static void a_burst_is_two_alerts(void **state) {
        char path[64];
        Operation op = created;
        unsigned n = 0;

        for (unsigned i = 0; i < 27000; i++) {
                (void) snprintf(path, sizeof path, "/mnt/nas/f%u", i);
                op.path = path;
                op.op = i < 18000 ? OP_CREATE : OP_DELETE;
                happens(session, &op, T0 + i * 40);
                session->violations++;
        }
        ends(session, VERDICT_DIRTY);
        tick(T0 + 60 * MINUTE);
        while (alerts_take(alerts, &alert)) {
                n++;
                if (alert.kind == ALERT_SUMMARY) {
                        assert_int_equal(alert.total, 27000);
                        assert_int_equal(alert.count[OP_CREATE], 18000);
                        assert_int_equal(alert.count[OP_DELETE], 9000);
                        assert_int_equal(alert.severity, SEVERITY_REMOVED);
                        assert_int_equal(strv_length(alert.paths), ALERT_PATHS_MAX);
                        assert_string_equal(alert.paths[0], "/mnt/nas/f18000");
                }
                alert_done(&alert);
        }
        assert_int_equal(n, 2);
}

/* ---- evidence ---- */

static void ten_paths_gravest_first(void **state) {
        Operation op = created;
        char path[64];

        happens(session, &created, T0);
        told(ALERT_VIOLATION);
        for (unsigned i = 0; i < 12; i++) {
                (void) snprintf(path, sizeof path, "/mnt/nas/c%u", i);
                op.path = path;
                happens(session, &op, T0 + 1);
        }
        happens(session, &removed, T0 + 2);
        op.op = OP_MODIFY;
        op.path = (char *) "/mnt/nas/m";
        happens(session, &op, T0 + 3);
        tick(T0 + 30 * SECOND);
        told(ALERT_UPDATE);
        assert_int_equal(alert.fresh, 14);
        assert_int_equal(strv_length(alert.paths), ALERT_PATHS_MAX);
        assert_string_equal(alert.paths[0], "/mnt/nas/old");
        assert_string_equal(alert.paths[1], "/mnt/nas/m");
        assert_string_equal(alert.paths[2], "/mnt/nas/c0");
        assert_string_equal(alert.paths[9], "/mnt/nas/c7");
}

static void a_path_stands_there_once_with_the_gravest(void **state) {
        Operation op = created;

        happens(session, &created, T0);
        told(ALERT_VIOLATION);
        op.path = (char *) "/mnt/nas/other";
        happens(session, &op, T0 + 1);
        happens(session, &created, T0 + 1);
        happens(session, &created, T0 + 1);
        op.path = created.path;
        op.op = OP_DELETE;
        happens(session, &op, T0 + 2);
        tick(T0 + 30 * SECOND);
        told(ALERT_UPDATE);
        assert_int_equal(strv_length(alert.paths), 2);
        assert_string_equal(alert.paths[0], "/mnt/nas/new");
        assert_string_equal(alert.paths[1], "/mnt/nas/other");
}

static void severity_is_of_what_was_done_to_content(void **state) {
        static const struct {
                OpType op;
                bool replaced;
                Severity expected;
        } cases[] = {
                {OP_METADATA, false, SEVERITY_OPENED}, {OP_CREATE, false, SEVERITY_CREATED},
                {OP_CREATE, true, SEVERITY_REMOVED},   {OP_MODIFY, false, SEVERITY_MODIFIED},
                {OP_RENAME, false, SEVERITY_MODIFIED}, {OP_RENAME, true, SEVERITY_REMOVED},
                {OP_DELETE, false, SEVERITY_REMOVED},
        };
        char watch[8];

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Operation op = created;

                (void) snprintf(watch, sizeof watch, "w%zu", i);
                op.watch = watch;
                op.op = cases[i].op;
                op.replaced = cases[i].replaced;
                happens(session, &op, T0);
                told(ALERT_VIOLATION);
                assert_int_equal(alert.severity, cases[i].expected);
        }
}

static void the_chain_is_of_the_gravest_and_ends_with_the_session(void **state) {
        Image *init = author_of(1, "/sbin/init", NULL);
        Image *shell = author_of(10, "/usr/bin/bash", init);
        Image *touch = author_of(11, "/usr/bin/touch", shell);
        Image *rm = author_of(12, "/usr/bin/rm", shell);
        Operation op = removed;

        session->root_pid = 10;
        op.test = (char *) "t::x";
        happens(session, &created, T0);
        told(ALERT_VIOLATION);
        assert_int_equal(alert.n_chain, 0);
        assert_int_equal(alerts_violation(alerts, session, &created, touch, T0 + 1), 0);
        assert_int_equal(alerts_violation(alerts, session, &op, rm, T0 + 1), 0);
        assert_int_equal(alerts_violation(alerts, session, &removed, touch, T0 + 1), 0);
        (void) image_unref(rm);
        (void) image_unref(touch);
        (void) image_unref(shell);
        (void) image_unref(init);
        tick(T0 + 30 * SECOND);
        told(ALERT_UPDATE);
        assert_int_equal(alert.n_chain, 2);
        assert_int_equal(alert.chain[0].pid, 12);
        assert_string_equal(alert.chain[0].exe, "/usr/bin/rm");
        assert_string_equal(alert.chain[0].cmdline[0], "/usr/bin/rm");
        assert_int_equal(alert.chain[1].pid, 10);
        assert_string_equal(alert.cwd, "/srv");
        assert_string_equal(alert.test, "t::x");
}

static void forks_of_one_program_stand_there_once(void **state) {
        Image *shell = author_of(10, "/usr/bin/bash", NULL);
        Image *fork = author_of(11, "/usr/bin/bash", shell);
        Image *unknown = author_of(12, "/x", fork);

        (void) program_unref(fork->program);
        shell->program->n_ref++;
        fork->program = shell->program;
        unknown->program = program_unref(unknown->program);
        assert_int_equal(alerts_violation(alerts, session, &created, unknown, T0), 0);
        told(ALERT_VIOLATION);
        assert_int_equal(alert.n_chain, 2);
        assert_int_equal(alert.chain[0].pid, 12);
        assert_null(alert.chain[0].exe);
        assert_int_equal(alert.chain[1].pid, 11);
        (void) image_unref(unknown);
        (void) image_unref(fork);
        (void) image_unref(shell);
}

static void a_long_chain_and_long_commands_are_cut(void **state) {
        Image *parent = NULL;
        size_t bytes = 0;

        for (int i = 0; i < 20; i++) {
                Image *child = author_of(100 + i, "/usr/bin/x", parent);

                for (int j = 0; j < 100; j++)
                        assert_true(strv_append(&child->program->cmdline,
                                                "a rather long argument of a program"));
                (void) image_unref(parent);
                parent = child;
        }
        assert_int_equal(alerts_violation(alerts, session, &created, parent, T0), 0);
        (void) image_unref(parent);
        told(ALERT_VIOLATION);
        assert_int_equal(alert.n_chain, ALERT_CHAIN_MAX);
        for (char **s = alert.chain[0].cmdline; *s; s++) {
                bytes += strlen(*s);
                if (!s[1])
                        assert_string_equal(*s, "...");
        }
        assert_true(bytes < 2100);
}

static void an_attempt_is_counted_as_what_it_tried(void **state) {
        Operation op = removed;

        op.action = ACTION_DENIED;
        op.attempt = true;
        happens(session, &op, T0);
        told(ALERT_VIOLATION);
        assert_int_equal(alert.count[OP_DELETE], 1);
        assert_int_equal(alert.refused, 1);
        assert_int_equal(alert.action, ACTION_DENIED);
}

static void the_next_command_fits(void **state) {
        static const struct {
                Action action;
                bool preserved;
                const char *expected;
        } cases[] = {
                {ACTION_ALERTED, false, "mountwatch report 1122334455667788"},
                {ACTION_ALERTED, true, "mountwatch undo 1122334455667788"},
                {ACTION_FROZEN, true, "mountwatch session thaw 1122334455667788"},
                {ACTION_KILLED, false, "mountwatch report 1122334455667788"},
                {ACTION_HELD, false, "mountwatch report 1122334455667788"},
        };
        char watch[8];

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Operation op = removed;

                (void) snprintf(watch, sizeof watch, "w%zu", i);
                op.watch = watch;
                op.action = cases[i].action;
                op.preserved = cases[i].preserved;
                happens(session, &op, T0);
                told(ALERT_VIOLATION);
                assert_string_equal(alert.next, cases[i].expected);
        }
}

/* ---- calls that wait ---- */

static void a_waiting_call_is_told_and_counted_when_it_is_decided(void **state) {
        Operation op = removed;

        op.action = ACTION_HELD;
        op.attempt = true;
        assert_int_equal(alerts_waiting(alerts, session, &op, NULL, T0), 0);
        told(ALERT_VIOLATION);
        assert_int_equal(alert.action, ACTION_HELD);
        assert_int_equal(alert.total, 1);
        assert_int_equal(alert.refused, 1);
        assert_string_equal(alert.next, "mountwatch decide");
        op.action = ACTION_DENIED;
        happens(session, &op, T0 + SECOND);
        session->violations++;
        tick(T0 + 30 * SECOND);
        told(ALERT_UPDATE);
        assert_int_equal(alert.total, 1);
        assert_string_equal(alert.next, "mountwatch report 1122334455667788");
        ends(session, VERDICT_DIRTY);
        told(ALERT_SUMMARY);
        assert_int_equal(alert.total, 1);
        assert_int_equal(alert.count[OP_DELETE], 1);
}

/* ---- losses ---- */

static void a_loss_is_told_once_for_each_reason(void **state) {
        assert_int_equal(session_add_loss(session, "overflow", "nas", T0, T0, 1), 0);
        assert_int_equal(alerts_loss(alerts, session, "overflow", "nas", T0), 0);
        told(ALERT_LOSS);
        assert_string_equal(alert.reason, "overflow");
        assert_string_equal(alert.watch, "nas");
        assert_string_equal(alert.session, session->id);
        assert_int_equal(alert.total, 0);
        assert_false(alert.complete);
        assert_int_equal(alerts_loss(alerts, session, "overflow", "nas", T0 + 1), 0);
        assert_int_equal(alerts_loss(alerts, session, "overflow", "db", T0 + 2), 0);
        nothing_is_told();
        assert_int_equal(alerts_loss(alerts, session, "reload", "nas", T0 + 2), 0);
        told(ALERT_LOSS);
        assert_string_equal(alert.reason, "reload");
        tick(T0 + 30 * SECOND);
        told(ALERT_LOSS);
        assert_string_equal(alert.reason, "overflow");
        assert_null(alert.watch);
        nothing_is_told();
}

static void after_a_loss_the_rest_is_not_complete(void **state) {
        assert_int_equal(session_add_loss(session, "overflow", "nas", T0, T0, 1), 0);
        happens(session, &created, T0);
        told(ALERT_VIOLATION);
        assert_false(alert.complete);
}

/* ---- the end ---- */

static void a_clean_session_is_not_told(void **state) {
        ends(session, VERDICT_CLEAN);
        nothing_is_told();
}

static void the_summary_has_it_all(void **state) {
        Operation elsewhere = removed;

        elsewhere.watch = (char *) "db";
        happens(session, &created, T0);
        told(ALERT_VIOLATION);
        happens(session, &created, T0 + 1);
        happens(session, &elsewhere, T0 + 1);
        told(ALERT_VIOLATION);
        session->violations = 3;
        session->exit_status = 4;
        ends(session, VERDICT_DIRTY);
        told(ALERT_SUMMARY);
        assert_null(alert.watch);
        assert_int_equal(alert.verdict, VERDICT_DIRTY);
        assert_int_equal(alert.total, 3);
        assert_int_equal(alert.fresh, 1);
        assert_int_equal(alert.exit_status, 4);
        assert_string_equal(alert.paths[0], "/mnt/nas/old");
        /* what was fresh is not told once more */
        tick(T0 + 60 * MINUTE);
        nothing_is_told();
}

static void an_incomplete_session_is_told(void **state) {
        assert_int_equal(session_add_loss(session, "overflow", NULL, T0, T0, 1), 0);
        ends(session, VERDICT_INCOMPLETE);
        told(ALERT_SUMMARY);
        assert_int_equal(alert.verdict, VERDICT_INCOMPLETE);
        assert_false(alert.complete);
        assert_int_equal(alert.total, 0);
}

/* The daemon was started anew in the middle: what the store says is told. */
static void what_was_before_the_daemon_is_in_the_summary(void **state) {
        session->violations = 7;
        happens(session, &created, T0);
        told(ALERT_VIOLATION);
        ends(session, VERDICT_DIRTY);
        told(ALERT_SUMMARY);
        assert_int_equal(alert.total, 7);
}

static void inner_sessions_count_for_the_outer_ones_summary(void **state) {
        _cleanup_(session_freep) Session *inner = NULL;

        assert_int_equal(session_new(2, 1000, T0, &inner), 0);
        inner->outer = session;
        happens(inner, &removed, T0);
        inner->violations = session->violations = 1;
        told(ALERT_VIOLATION);
        assert_string_equal(alert.session, inner->id);
        nothing_is_told();
        ends(inner, VERDICT_DIRTY);
        told(ALERT_SUMMARY);
        happens(session, &created, T0 + 1);
        told(ALERT_VIOLATION);
        assert_int_equal(alert.total, 1);
        session->violations++;
        ends(session, VERDICT_DIRTY);
        told(ALERT_SUMMARY);
        assert_int_equal(alert.total, 2);
        assert_int_equal(alert.count[OP_DELETE], 1);
        assert_int_equal(alert.severity, SEVERITY_REMOVED);
}

/* ---- limits ---- */

static void the_limit_is_told_and_ends_with_the_sessions(void **state) {
        char watch[16];
        Operation op = created;
        size_t first = 0, limit = 0;

        op.watch = watch;
        for (unsigned i = 0; i < ALERT_TOPICS_MAX + 10; i++) {
                (void) snprintf(watch, sizeof watch, "w%u", i);
                happens(session, &op, T0);
                session->violations++;
        }
        while (alerts_take(alerts, &alert)) {
                if (alert.kind == ALERT_LOSS) {
                        assert_string_equal(alert.reason, "alert-limit");
                        assert_null(alert.session);
                        limit++;
                } else
                        first++;
                alert_done(&alert);
        }
        assert_int_equal(first, ALERT_TOPICS_MAX);
        assert_int_equal(limit, 1);
        ends(session, VERDICT_DIRTY);
        told(ALERT_SUMMARY);
        assert_int_equal(alert.total, ALERT_TOPICS_MAX + 10);
        happens(NULL, &created, T0 + 1);
        told(ALERT_VIOLATION);
}

static void another_interval_holds_from_the_next_alert_on(void **state) {
        alerts_set_interval(alerts, SECOND, 2 * SECOND);
        happens(session, &created, T0);
        told(ALERT_VIOLATION);
        happens(session, &created, T0 + 1);
        assert_int_equal(alerts_due(alerts), T0 + SECOND);
        tick(T0 + SECOND);
        told(ALERT_UPDATE);
        happens(session, &created, T0 + SECOND + 1);
        assert_int_equal(alerts_due(alerts), T0 + 3 * SECOND);
}

/* ---- the journal ---- */

static void only_journald_at_its_own_files_is_the_journal_at_work(void **state) {
        static const struct {
                const char *exe, *path;
                uid_t uid;
                const char *session;
                bool expected;
        } cases[] = {
                {"/usr/lib/systemd/systemd-journald", "/log/journal/m/system.journal", 0, NULL,
                 true},
                {"/lib/systemd/systemd-journald", "/log/journal/m/user-1000.journal", 0, NULL,
                 true},
                {"/usr/lib/systemd/systemd-journald", "/l/system@0006-0006.journal~", 0, NULL,
                 true},
                {"/usr/lib/systemd/systemd-journald", "/log/secret.txt", 0, NULL, false},
                {"/usr/lib/systemd/systemd-journald", "/l/system.journal", 1000, NULL, false},
                {"/usr/lib/systemd/systemd-journald", "/l/system.journal", 0, "s", false},
                {"/tmp/systemd-journald", "/l/system.journal", 0, NULL, false},
                {"/usr/bin/rm", "/l/system.journal", 0, NULL, false},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Image *author = author_of(1, cases[i].exe, NULL);
                const Operation op = {
                        .op = OP_MODIFY,
                        .path = (char *) cases[i].path,
                        .session = (char *) cases[i].session,
                };

                author->uid = cases[i].uid;
                if (alerts_is_journal_at_work(&op, author) != cases[i].expected)
                        fail_msg("%s %s", cases[i].exe, cases[i].path);
                assert_false(alerts_is_journal_at_work(&op, NULL));
                (void) image_unref(author);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
                TEST(the_first_violation_is_told_at_once),
                TEST(further_ones_are_told_together_after_the_interval),
                TEST(intervals_double_up_to_the_longest),
                TEST(nothing_new_is_not_told),
                TEST(one_that_comes_after_the_interval_is_told_at_once),
                TEST(after_a_long_silence_intervals_start_over),
                TEST(each_watch_and_each_session_is_told_by_itself),
                TEST(who_is_in_no_session_is_told_by_watch),
                TEST(a_name_that_cannot_be_typed_is_no_command),
                TEST(a_burst_is_two_alerts),
                TEST(ten_paths_gravest_first),
                TEST(a_path_stands_there_once_with_the_gravest),
                TEST(severity_is_of_what_was_done_to_content),
                TEST(the_chain_is_of_the_gravest_and_ends_with_the_session),
                TEST(forks_of_one_program_stand_there_once),
                TEST(a_long_chain_and_long_commands_are_cut),
                TEST(an_attempt_is_counted_as_what_it_tried),
                TEST(the_next_command_fits),
                TEST(a_waiting_call_is_told_and_counted_when_it_is_decided),
                TEST(a_loss_is_told_once_for_each_reason),
                TEST(after_a_loss_the_rest_is_not_complete),
                TEST(a_clean_session_is_not_told),
                TEST(the_summary_has_it_all),
                TEST(an_incomplete_session_is_told),
                TEST(what_was_before_the_daemon_is_in_the_summary),
                TEST(inner_sessions_count_for_the_outer_ones_summary),
                TEST(the_limit_is_told_and_ends_with_the_sessions),
                TEST(another_interval_holds_from_the_next_alert_on),
                TEST(only_journald_at_its_own_files_is_the_journal_at_work),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
