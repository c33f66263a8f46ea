/* SPDX-License-Identifier: MIT */
#include "daemon/core/access.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

typedef struct Case {
        const char *what;
        Policy policy;
        Policy floor; /* POLICY_RECORD: none */
        AccessType type;
        const char *path, *from;
        bool replaces, leaves, preserve, allow_asked, thawed;
        Verb verb;
        bool violation, kept;
        const char *rule;
} Case;

static char *allow[] = {(char *) "scratch/**", NULL};
static char *ignore[] = {(char *) "@eaDir/**", NULL};

static const Case cases[] = {
        {"record lets everything", POLICY_RECORD, 0, ACCESS_DELETE, "/w/a", .verb = VERB_LET},
        {"alert lets and tells", POLICY_ALERT, 0, ACCESS_DELETE, "/w/a", .verb = VERB_LET,
         .violation = true},
        {"opening to read a database is no violation", POLICY_ALERT, 0, ACCESS_OPEN, "/w/a",
         .verb = VERB_LET},
        {"deny refuses a change", POLICY_DENY, 0, ACCESS_RENAME, "/w/b", "/w/a",
         .verb = VERB_REFUSE, .violation = true},
        {"deny refuses the open itself", POLICY_DENY, 0, ACCESS_OPEN, "/w/a", .verb = VERB_REFUSE,
         .violation = true},
        {"allowed", POLICY_DENY, 0, ACCESS_CREATE, "/w/scratch/x", .verb = VERB_LET,
         .rule = "scratch/**"},
        {"a rename out of the allowed part", POLICY_DENY, 0, ACCESS_RENAME, "/w/x", "/w/scratch/x",
         .verb = VERB_REFUSE, .violation = true},
        {"a rename into the allowed part", POLICY_DENY, 0, ACCESS_RENAME, "/w/scratch/x", "/w/x",
         .verb = VERB_REFUSE, .violation = true},
        {"a rename within it", POLICY_DENY, 0, ACCESS_RENAME, "/w/scratch/y", "/w/scratch/x",
         .verb = VERB_LET, .rule = "scratch/**"},
        {"moved in from outside to there", POLICY_DENY, 0, ACCESS_RENAME, "/w/scratch/y", "/tmp/x",
         .verb = VERB_LET, .rule = "scratch/**"},
        {"moved out from there", POLICY_DENY, 0, ACCESS_RENAME, "/w/scratch/y", .leaves = true,
         .verb = VERB_LET, .rule = "scratch/**"},
        {"moved out", POLICY_DENY, 0, ACCESS_RENAME, "/w/y", .leaves = true, .verb = VERB_REFUSE,
         .violation = true},
        {"ignored", POLICY_KILL, 0, ACCESS_DELETE, "/w/@eaDir/x", .preserve = true,
         .verb = VERB_LET},
        {"the session is stricter", POLICY_ALERT, POLICY_DENY, ACCESS_DELETE, "/w/a",
         .verb = VERB_REFUSE, .violation = true},
        {"the session is not weaker", POLICY_DENY, POLICY_ALERT, ACCESS_DELETE, "/w/a",
         .verb = VERB_REFUSE, .violation = true},
        {"ask", POLICY_ASK, 0, ACCESS_DELETE, "/w/a", .verb = VERB_ASK, .violation = true},
        {"asked and allowed", POLICY_ASK, 0, ACCESS_DELETE, "/w/a", .allow_asked = true,
         .verb = VERB_LET, .violation = true},
        {"freeze", POLICY_FREEZE, 0, ACCESS_TRUNCATE, "/w/a", .verb = VERB_FREEZE,
         .violation = true},
        {"freeze lets a database be read", POLICY_FREEZE, 0, ACCESS_OPEN, "/w/a", .verb = VERB_LET},
        {"thawed", POLICY_FREEZE, 0, ACCESS_TRUNCATE, "/w/a", .thawed = true, .verb = VERB_LET,
         .violation = true},
        {"kill", POLICY_KILL, 0, ACCESS_CREATE, "/w/a", .verb = VERB_KILL, .violation = true},
        {"kept before a write", POLICY_ALERT, 0, ACCESS_OPEN, "/w/a", .preserve = true,
         .verb = VERB_LET, .kept = true},
        {"kept though allowed", POLICY_ALERT, 0, ACCESS_DELETE, "/w/scratch/a", .preserve = true,
         .verb = VERB_LET, .kept = true, .rule = "scratch/**"},
        {"a directory's times", POLICY_RECORD, 0, ACCESS_CREATE, "/w/a", .preserve = true,
         .verb = VERB_LET, .kept = true},
        {"nothing replaced", POLICY_RECORD, 0, ACCESS_RENAME, "/w/a", "/w/b", .preserve = true,
         .verb = VERB_LET, .kept = true},
        {"the replaced one is kept", POLICY_RECORD, 0, ACCESS_RENAME, "/w/a", "/w/b",
         .replaces = true, .preserve = true, .verb = VERB_LET, .kept = true},
        {"what is refused needs no copy", POLICY_DENY, 0, ACCESS_DELETE, "/w/a", .preserve = true,
         .verb = VERB_REFUSE, .violation = true},
        {"kept before it is asked", POLICY_ASK, 0, ACCESS_DELETE, "/w/a", .preserve = true,
         .verb = VERB_ASK, .violation = true, .kept = true},
};

static void policies_decide_what_is_let(void **state) {
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const Case *c = &cases[i];
                WatchSpec w = {.path = (char *) "/w",
                               .policy = c->policy,
                               .allow = allow,
                               .ignore = ignore,
                               .preserve = c->preserve};
                const SessionRule s = {
                        .has_policy = c->floor != 0,
                        .policy = c->floor,
                        .allow_asked = c->allow_asked,
                        .thawed = c->thawed,
                };
                const Access a = {
                        .type = c->type,
                        .path = (char *) c->path,
                        .from = (char *) c->from,
                        .replaces = c->replaces,
                        .leaves = c->leaves,
                };
                Decision d = decide(&a, &w, &s);

                if (d.verb != c->verb || d.violation != c->violation || d.preserve != c->kept)
                        fail_msg("%s: verb %d, violation %d, preserve %d", c->what, d.verb,
                                 d.violation, d.preserve);
                if (!str_equal(d.rule, c->rule))
                        fail_msg("%s: rule %s", c->what, d.rule ? d.rule : "none");
        }
}

static void a_gate_is_needed_where_something_is_refused_or_kept(void **state) {
        WatchSpec w = {.policy = POLICY_ALERT};
        SessionRule s = {};

        assert_false(policy_needs_gate(&w, &s));
        s = (SessionRule){.has_policy = true, .policy = POLICY_DENY};
        assert_true(policy_needs_gate(&w, &s));
        s = (SessionRule){};
        w.preserve = true;
        assert_true(policy_needs_gate(&w, &s));
        w = (WatchSpec){.policy = POLICY_ASK};
        assert_true(policy_needs_gate(&w, &s));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(policies_decide_what_is_let),
                cmocka_unit_test(a_gate_is_needed_where_something_is_refused_or_kept),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
