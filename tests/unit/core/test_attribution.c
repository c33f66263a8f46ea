/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/strv.h"
#include "daemon/core/attribution.h"
#include "daemon/core/created.h"

#define AT 777

typedef struct Fixture {
        WatchSpec *watch; /* on /n */
        Session *inner, *outer;
        Program *program;
        Image image;
        Process in_inner, in_outer, outside;
        Operation op; /* what the last change became */
} Fixture;

static int setup(void **state) {
        Fixture *f = calloc(1, sizeof *f);

        assert_non_null(f);
        assert_int_equal(watch_spec_new("nas", &f->watch), 0);
        f->watch->path = strdup("/n");
        f->watch->policy = POLICY_ALERT;
        assert_int_equal(session_new(1, 1000, 5000, &f->inner), 0);
        assert_int_equal(session_new(2, 1000, 4000, &f->outer), 0);
        f->inner->outer = f->outer;
        assert_int_equal(program_new(strdup("/usr/bin/musicd"), NULL, NULL, &f->program), 0);
        f->image = (Image){.n_ref = 1, .program = f->program, .pid = 10};
        f->in_inner = (Process){.pid = 10, .image = &f->image, .session = f->inner};
        f->in_outer = (Process){.pid = 11, .image = &f->image, .session = f->outer};
        f->outside = (Process){.pid = 12, .image = &f->image};
        *state = f;
        return 0;
}

static int teardown(void **state) {
        Fixture *f = *state;

        operation_done(&f->op);
        (void) watch_spec_unref(f->watch);
        (void) session_free(f->inner);
        (void) session_free(f->outer);
        (void) program_unref(f->program);
        free(f);
        return 0;
}

/* One change, with a copy of its strings. Leaves the operation in f->op when there is one. */
static int change_as(Fixture *f, Process *author, Change c) {
        int r;

        c.path = strdup(c.path);
        c.from = c.from ? strdup(c.from) : NULL;
        c.to = c.to ? strdup(c.to) : NULL;
        c.at = AT;
        operation_done(&f->op);
        r = attribute(&c, f->watch, author, &f->op);
        if (r == 1)
                assert_null(c.path);
        change_done(&c);
        return r;
}

/* The strings of the table are constants; nobody writes to them. */
#define CHANGE(type, name, ...) \
        ((Change){.op = OP_##type, .path = (char *) (uintptr_t) (name), __VA_ARGS__})
#define NAME(s) ((char *) (uintptr_t) (s))

static Change change_of(OpType op, const char *path, const char *from) {
        return (Change){.op = op, .path = NAME(path), .from = NAME(from)};
}

static void add_glob(char ***list, const char *glob) {
        assert_true(strv_append(list, glob));
}

/* ---- what an operation says ---- */

static void operation_tells_what_and_whose(void **state) {
        Fixture *f = *state;

        f->inner->test = strdup("test_backup");
        assert_int_equal(change_as(f, &f->in_inner,
                                   CHANGE(RENAME, "/n/b", .from = NAME("/n/a"), .replaced = true,
                                          .kind = KIND_DIR, .pid = 10)),
                         1);
        assert_string_equal(f->op.session, "0000000000000001");
        assert_string_equal(f->op.watch, "nas");
        assert_int_equal(f->op.op, OP_RENAME);
        assert_int_equal(f->op.kind, KIND_DIR);
        assert_string_equal(f->op.path, "/n/b");
        assert_string_equal(f->op.from, "/n/a");
        assert_null(f->op.to);
        assert_true(f->op.replaced);
        assert_int_equal(f->op.count, 1);
        assert_int_equal(f->op.first, AT);
        assert_int_equal(f->op.last, AT);
        assert_true(f->op.violation);
        assert_null(f->op.rule);
        assert_int_equal(f->op.action, ACTION_ALERTED);
        assert_int_equal(f->op.attribution, SIGHT_EXACT);
        assert_string_equal(f->op.test, "test_backup");
        assert_int_equal(f->op.process_id, 0);
        assert_int_equal(f->inner->operations, 1);
        assert_int_equal(f->inner->violations, 1);
        assert_int_equal(f->outer->operations, 0);

        assert_int_equal(change_as(f, &f->in_inner,
                                   CHANGE(DELETE, "/n/b", .to = NAME("/tmp/b"), .inferred = true)),
                         1);
        assert_string_equal(f->op.to, "/tmp/b");
        assert_int_equal(f->op.attribution, SIGHT_INFERRED);
        assert_int_equal(f->inner->operations, 2);
}

/* ---- violations ---- */

static void violation_depends_on_policy_floor_and_allow(void **state) {
        static const struct {
                Policy watch;
                int inner, outer; /* floors; -1: none */
                const char *path, *from, *rule;
                bool violation;
        } cases[] = {
                {POLICY_RECORD, -1, -1, "/n/x", NULL, NULL, false},
                {POLICY_RECORD, -1, -1, "/n/ok/x", NULL, "ok/**", false},
                {POLICY_ALERT, -1, -1, "/n/x", NULL, NULL, true},
                {POLICY_KILL, -1, -1, "/n/x", NULL, NULL, true},
                {POLICY_ALERT, -1, -1, "/n/ok/x", NULL, "ok/**", false},
                {POLICY_ALERT, -1, -1, "/n/ok", NULL, "ok/**", false},
                {POLICY_ALERT, -1, -1, "/n", NULL, NULL, true},
                {POLICY_RECORD, POLICY_DENY, -1, "/n/x", NULL, NULL, true},
                {POLICY_RECORD, POLICY_DENY, -1, "/n/ok/x", NULL, "ok/**", false},
                {POLICY_ALERT, POLICY_RECORD, -1, "/n/x", NULL, NULL, true}, /* never weaker */
                /* a session started inside another has that one's floor */
                {POLICY_RECORD, -1, POLICY_DENY, "/n/x", NULL, NULL, true},
                {POLICY_RECORD, POLICY_RECORD, POLICY_ALERT, "/n/x", NULL, NULL, true},
                /* a rename needs both names covered */
                {POLICY_ALERT, -1, -1, "/n/ok/x", "/n/ok/y", "ok/**", false},
                {POLICY_ALERT, -1, -1, "/n/ok/x", "/n/t.tmp", "ok/**", false},
                {POLICY_ALERT, -1, -1, "/n/d/t.tmp", "/n/ok/x", "**/*.tmp", false},
                {POLICY_ALERT, -1, -1, "/n/ok/x", "/n/y", NULL, true},
                {POLICY_ALERT, -1, -1, "/n/y", "/n/ok/x", NULL, true},
        };
        Fixture *f = *state;

        add_glob(&f->watch->allow, "ok/**");
        add_glob(&f->watch->allow, "**/*.tmp");
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                f->watch->policy = cases[i].watch;
                f->inner->has_policy = cases[i].inner >= 0;
                f->inner->policy = cases[i].inner >= 0 ? (Policy) cases[i].inner : POLICY_RECORD;
                f->outer->has_policy = cases[i].outer >= 0;
                f->outer->policy = cases[i].outer >= 0 ? (Policy) cases[i].outer : POLICY_RECORD;
                assert_int_equal(change_as(f, &f->in_inner,
                                           change_of(cases[i].from ? OP_RENAME : OP_DELETE,
                                                     cases[i].path, cases[i].from)),
                                 1);
                if (f->op.violation != cases[i].violation ||
                    !str_equal(f->op.rule, cases[i].rule) ||
                    f->op.action != (cases[i].violation ? ACTION_ALERTED : ACTION_RECORDED))
                        fail_msg("case %zu: violation %d, rule %s", i, f->op.violation, f->op.rule);
        }
}

/* What comes from outside by a move has no name there that a glob could cover. */
static void move_in_needs_only_the_new_name_covered(void **state) {
        Fixture *f = *state;

        add_glob(&f->watch->allow, "ok/**");
        assert_int_equal(
                change_as(f, &f->in_inner, CHANGE(CREATE, "/n/ok/x", .from = NAME("/tmp/x"))), 1);
        assert_false(f->op.violation);
        assert_string_equal(f->op.from, "/tmp/x");
}

static void siblings_of_a_watched_file_have_their_suffix_as_name(void **state) {
        Fixture *f = *state;

        free(f->watch->path);
        f->watch->path = strdup("/srv/x.db");
        add_glob(&f->watch->allow, "-wal");
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(MODIFY, "/srv/x.db-wal")), 1);
        assert_false(f->op.violation);
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(MODIFY, "/srv/x.db-shm")), 1);
        assert_true(f->op.violation);
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(MODIFY, "/srv/x.db")), 1);
        assert_true(f->op.violation);
}

/* ---- ignored ---- */

static void ignored_paths_are_no_operation(void **state) {
        Fixture *f = *state;

        add_glob(&f->watch->ignore, "@eaDir/**");
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(CREATE, "/n/@eaDir/a")), 0);
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(DELETE, "/n/@eaDir")), 0);
        assert_int_equal(change_as(f, &f->in_inner,
                                   CHANGE(RENAME, "/n/@eaDir/b", .from = NAME("/n/@eaDir/a"))),
                         0);
        assert_int_equal(f->inner->operations, 0);
        /* half ignored is not ignored */
        assert_int_equal(
                change_as(f, &f->in_inner, CHANGE(RENAME, "/n/b", .from = NAME("/n/@eaDir/a"))), 1);
        assert_int_equal(
                change_as(f, &f->in_inner, CHANGE(RENAME, "/n/@eaDir/a", .from = NAME("/n/b"))), 1);
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(CREATE, "/n/x/@eaDir/a")), 1);
        assert_int_equal(f->inner->operations, 3);
}

static void ignored_changes_count_for_the_memory(void **state) {
        Fixture *f = *state;

        add_glob(&f->watch->ignore, "skip/**");
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(CREATE, "/n/skip/a", .object = 5)), 0);
        assert_true(session_has_created(f->inner, "/n/skip/a", 5));
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(DELETE, "/n/skip/a", .object = 5)), 0);
        assert_false(session_has_created(f->inner, "/n/skip/a", 5));
}

/* ---- own creations ---- */

static void writing_to_an_own_creation_is_no_operation(void **state) {
        Fixture *f = *state;

        assert_int_equal(change_as(f, &f->in_inner, CHANGE(CREATE, "/n/a", .object = 5)), 1);
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(MODIFY, "/n/a", .object = 5)), 0);
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(MODIFY, "/n/a", .object = 0)), 0);
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(METADATA, "/n/a", .object = 5)), 1);
        assert_int_equal(f->inner->operations, 2);
        /* somebody else's file is there now */
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(MODIFY, "/n/a", .object = 6)), 1);
        /* another path, another session */
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(MODIFY, "/n/b", .object = 5)), 1);
        assert_int_equal(change_as(f, &f->in_outer, CHANGE(MODIFY, "/n/a", .object = 5)), 1);
}

static void a_renamed_creation_is_not_own_any_more(void **state) {
        Fixture *f = *state;

        assert_int_equal(change_as(f, &f->in_inner, CHANGE(CREATE, "/n/a", .object = 5)), 1);
        assert_int_equal(change_as(f, &f->in_inner,
                                   CHANGE(RENAME, "/n/b", .from = NAME("/n/a"), .object = 5)),
                         1);
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(MODIFY, "/n/b", .object = 5)), 1);
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(MODIFY, "/n/a", .object = 0)), 1);
}

static void a_name_renamed_over_is_forgotten(void **state) {
        Fixture *f = *state;

        assert_int_equal(change_as(f, &f->in_inner, CHANGE(CREATE, "/n/a", .object = 0)), 1);
        assert_int_equal(change_as(f, &f->in_inner,
                                   CHANGE(RENAME, "/n/a", .from = NAME("/n/old"),
                                          .replaced = true)),
                         1);
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(MODIFY, "/n/a", .object = 0)), 1);
}

static void a_deleted_creation_is_forgotten(void **state) {
        Fixture *f = *state;

        assert_int_equal(change_as(f, &f->in_inner, CHANGE(CREATE, "/n/a", .object = 5)), 1);
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(DELETE, "/n/a", .object = 5)), 1);
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(MODIFY, "/n/a", .object = 0)), 1);
}

/* The object was there before: its content is not the session's. */
static void links_and_files_moved_in_are_no_creations(void **state) {
        Fixture *f = *state;

        assert_int_equal(
                change_as(f, &f->in_inner, CHANGE(CREATE, "/n/l", .object = 5, .linked = true)), 1);
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(MODIFY, "/n/l", .object = 5)), 1);
        assert_int_equal(change_as(f, &f->in_inner,
                                   CHANGE(CREATE, "/n/m", .object = 6, .from = NAME("/tmp/m"))),
                         1);
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(MODIFY, "/n/m", .object = 6)), 1);
}

static void sessions_forget_what_others_replace(void **state) {
        Fixture *f = *state;
        const Change replaced = CHANGE(CREATE, "/n/a");

        /* by a session inside: attribute() sees to that itself */
        assert_int_equal(change_as(f, &f->in_outer, CHANGE(CREATE, "/n/a")), 1);
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(DELETE, "/n/a")), 1);
        assert_int_equal(change_as(f, &f->in_outer, CHANGE(MODIFY, "/n/a")), 1);

        /* by somebody else */
        assert_int_equal(change_as(f, &f->in_outer, CHANGE(CREATE, "/n/a")), 1);
        attribution_forget(&replaced, &f->in_outer, f->outer);
        attribution_forget(&replaced, &f->in_inner, f->outer);
        assert_true(session_has_created(f->outer, "/n/a", 0));
        attribution_forget(&replaced, &f->outside, f->outer);
        assert_false(session_has_created(f->outer, "/n/a", 0));
        assert_int_equal(session_remember_created(f->inner, "/n/a", 0), 0);
        attribution_forget(&replaced, &f->in_outer, f->inner);
        assert_false(session_has_created(f->inner, "/n/a", 0));
        assert_int_equal(session_remember_created(f->inner, "/n/a", 0), 0);
        attribution_forget(&replaced, NULL, f->inner);
        assert_false(session_has_created(f->inner, "/n/a", 0));
}

static void more_creations_than_can_be_remembered_are_a_loss(void **state) {
        Fixture *f = *state;

        for (uint64_t i = 0; i < CREATED_MAX; i++)
                assert_true(created_set_put(f->inner->created, i * 0x9e3779b97f4a7c15, 1) == 0);
        assert_int_equal(change_as(f, &f->in_inner, CHANGE(CREATE, "/n/one-more")), 1);
        assert_int_equal(f->inner->n_losses, 1);
        assert_string_equal(f->inner->losses[0].reason, "created-limit");
        assert_int_equal(f->inner->losses[0].at, AT);
}

/* ---- untagged ---- */

static void untagged_changes_follow_the_watch(void **state) {
        static const struct {
                Untagged untagged;
                bool known, writer, allowed;
                int r;
                bool violation;
        } cases[] = {
                {UNTAGGED_IGNORE, true, false, false, 0, false},
                {UNTAGGED_IGNORE, false, false, false, 0, false},
                {UNTAGGED_RECORD, true, false, false, 1, false},
                {UNTAGGED_RECORD, false, false, false, 1, false},
                {UNTAGGED_ALERT, true, false, false, 1, true},
                {UNTAGGED_ALERT, false, false, false, 1, true},
                {UNTAGGED_ALERT, false, true, false, 1, true}, /* unknown is no writer */
                {UNTAGGED_ALERT, true, true, false, 1, false},
                {UNTAGGED_ALERT, true, false, true, 1, false},
        };
        Fixture *f = *state;

        add_glob(&f->watch->allow, "ok/**");
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                f->watch->untagged = cases[i].untagged;
                (void) strv_free(f->watch->writers);
                f->watch->writers = NULL;
                add_glob(&f->watch->writers,
                         cases[i].writer ? "/usr/bin/music*" : "/usr/bin/other");
                assert_int_equal(change_as(f, cases[i].known ? &f->outside : NULL,
                                           CHANGE(MODIFY, cases[i].allowed ? "/n/ok/a" : "/n/a")),
                                 cases[i].r);
                if (cases[i].r == 0)
                        continue;
                assert_null(f->op.session);
                assert_null(f->op.test);
                if (f->op.violation != cases[i].violation ||
                    f->op.action != (cases[i].violation ? ACTION_ALERTED : ACTION_RECORDED))
                        fail_msg("case %zu: violation %d", i, f->op.violation);
        }
}

static void ignored_paths_are_ignored_for_the_untagged_too(void **state) {
        Fixture *f = *state;

        f->watch->untagged = UNTAGGED_ALERT;
        add_glob(&f->watch->ignore, "@eaDir/**");
        assert_int_equal(change_as(f, &f->outside, CHANGE(CREATE, "/n/@eaDir/x")), 0);
        assert_int_equal(change_as(f, NULL, CHANGE(CREATE, "/n/@eaDir/x")), 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                T(operation_tells_what_and_whose),
                T(violation_depends_on_policy_floor_and_allow),
                T(move_in_needs_only_the_new_name_covered),
                T(siblings_of_a_watched_file_have_their_suffix_as_name),
                T(ignored_paths_are_no_operation),
                T(ignored_changes_count_for_the_memory),
                T(writing_to_an_own_creation_is_no_operation),
                T(a_renamed_creation_is_not_own_any_more),
                T(a_name_renamed_over_is_forgotten),
                T(a_deleted_creation_is_forgotten),
                T(links_and_files_moved_in_are_no_creations),
                T(sessions_forget_what_others_replace),
                T(more_creations_than_can_be_remembered_are_a_loss),
                T(untagged_changes_follow_the_watch),
                T(ignored_paths_are_ignored_for_the_untagged_too),
        };

        return cmocka_run_group_tests_name("attribution", tests, NULL, NULL);
}
