/* SPDX-License-Identifier: MIT */
#include "tests/unit/store/fixture.h"

#include "common/strv.h"

#include <errno.h>

static void fill(Session *s) {
        s->label = strdup("nightly \xff");
        s->policy = POLICY_DENY;
        s->has_policy = true;
        assert_true(strv_append(&s->command, "pytest") && strv_append(&s->command, "") &&
                    strv_append(&s->command, "-k x y"));
        s->cwd = strdup("/home/\xfe");
        s->root_pid = 4711;
        s->root_start_ticks = UINT64_C(123456789012);
        s->state = SESSION_LINGERING;
        s->exit_status = 137;
        s->test = strdup("t::1");
        s->cgroup = strdup("/sys/fs/cgroup/x");
        s->operations = 12;
        s->violations = 3;
        assert_int_equal(session_add_loss(s, "overflow", "nas", NOON, NOON + 1, 5), 0);
        assert_int_equal(session_add_loss(s, "daemon-restart", NULL, NOON + 2, NOON + 3, 0), 0);
}

static void session_comes_back_as_it_was_put(void **state) {
        Fixture *f = *state;
        _cleanup_(session_freep) Session *outer = start_session(f->store, 1, 0, NULL), *s = NULL;
        _cleanup_(stored_session_done) StoredSession got = {0};

        assert_int_equal(session_new(0xabcdef, 1000, NOON, &s), 0);
        s->outer = outer;
        fill(s);
        assert_int_equal(store_put_session(f->store, s), 0);
        fixture_reopen(f);

        assert_int_equal(store_get_session(f->store, "0000000000abcdef", &got), 0);
        assert_string_equal(got.outer, outer->id);
        assert_string_equal(got.session->id, s->id);
        assert_null(got.session->outer);
        assert_string_equal(got.session->label, s->label);
        assert_int_equal(got.session->uid, 1000);
        assert_true(got.session->has_policy);
        assert_int_equal(got.session->policy, POLICY_DENY);
        assert_int_equal(strv_length(got.session->command), 3);
        for (int i = 0; i < 3; i++)
                assert_string_equal(got.session->command[i], s->command[i]);
        assert_string_equal(got.session->cwd, s->cwd);
        assert_int_equal(got.session->root_pid, 4711);
        assert_true(got.session->root_start_ticks == UINT64_C(123456789012));
        assert_int_equal(got.session->state, SESSION_LINGERING);
        assert_true(got.session->started == NOON && got.session->stopped == 0);
        assert_int_equal(got.session->exit_status, 137);
        assert_string_equal(got.session->test, "t::1");
        assert_string_equal(got.session->cgroup, "/sys/fs/cgroup/x");
        assert_int_equal(got.session->operations, 12);
        assert_int_equal(got.session->violations, 3);
        assert_int_equal(got.session->n_losses, 2);
        assert_string_equal(got.session->losses[0].reason, "overflow");
        assert_string_equal(got.session->losses[0].watch, "nas");
        assert_int_equal(got.session->losses[0].count, 5);
        assert_null(got.session->losses[1].watch);
        assert_true(got.session->losses[1].at == NOON + 2 &&
                    got.session->losses[1].until == NOON + 3);
}

static void a_bare_session_has_nothing_made_up(void **state) {
        Fixture *f = *state;
        _cleanup_(session_freep) Session *s = start_session(f->store, 1, 0, NULL);
        _cleanup_(stored_session_done) StoredSession got = {0};

        assert_int_equal(store_get_session(f->store, s->id, &got), 0);
        assert_string_equal(got.outer, "");
        assert_null(got.session->label);
        assert_false(got.session->has_policy);
        assert_int_equal(strv_length(got.session->command), 0);
        assert_non_null(got.session->command);
        assert_null(got.session->cwd);
        assert_null(got.session->test);
        assert_null(got.session->cgroup);
        assert_int_equal(got.session->exit_status, -1);
        assert_true(session_is_complete(got.session));
}

static void update_replaces_losses_and_keeps_the_outer_session(void **state) {
        Fixture *f = *state;
        _cleanup_(session_freep) Session *outer = start_session(f->store, 1, 0, NULL);
        _cleanup_(session_freep) Session *s = start_session(f->store, 2, 0, outer);
        _cleanup_(stored_session_done) StoredSession got = {0};

        assert_int_equal(session_add_loss(s, "overflow", NULL, NOON, NOON, 1), 0);
        assert_int_equal(store_put_session(f->store, s), 0);
        assert_int_equal(session_add_loss(s, "overflow", NULL, NOON, NOON + 9, 1), 0);
        s->outer = NULL; /* has ended */
        stop_session(f->store, s, NOON + SECOND);

        assert_int_equal(store_get_session(f->store, s->id, &got), 0);
        assert_string_equal(got.outer, outer->id);
        assert_int_equal(got.session->state, SESSION_STOPPED);
        assert_int_equal(got.session->n_losses, 1);
        assert_int_equal(got.session->losses[0].count, 2);
}

static void start_and_end_are_committed_at_once(void **state) {
        Fixture *f = *state;
        _cleanup_(session_freep) Session *s = start_session(f->store, 1, 0, NULL);

        assert_false(store_is_dirty(f->store));
        assert_int_equal(store_put_session(f->store, s), 0);
        assert_true(store_is_dirty(f->store));
        stop_session(f->store, s, NOON);
        assert_false(store_is_dirty(f->store));
}

static void span_is_from_the_first_put_to_the_first_stop(void **state) {
        Fixture *f = *state;
        StoredSession got;
        int64_t before = put_path(f->store, NULL, OP_CREATE, "/mnt/nas/1");
        _cleanup_(session_freep) Session *s = start_session(f->store, 1, 0, NULL);
        int64_t during = put_path(f->store, NULL, OP_CREATE, "/mnt/nas/2");

        assert_int_equal(store_get_session(f->store, s->id, &got), 0);
        assert_true(got.first_seq >= before && got.first_seq < during);
        assert_true(got.last_seq == INT64_MAX);
        stored_session_done(&got);

        stop_session(f->store, s, NOON);
        int64_t after = put_path(f->store, NULL, OP_CREATE, "/mnt/nas/3");
        assert_int_equal(store_put_session(f->store, s), 0);
        assert_int_equal(store_get_session(f->store, s->id, &got), 0);
        assert_true(got.last_seq >= during && got.last_seq < after);
        stored_session_done(&got);
}

static void last_seen_is_the_last_write_while_it_ran(void **state) {
        Fixture *f = *state;
        StoredSession got;
        _cleanup_(session_freep) Session *s = start_session(f->store, 1, 0, NULL);
        Operation o = operation(OP_CREATE, "/mnt/nas/x");

        assert_int_equal(store_get_session(f->store, s->id, &got), 0);
        assert_true(got.last_seen == NOON);
        stored_session_done(&got);

        o.last = NOON + 7 * SECOND;
        (void) put(f->store, o, NULL);
        fixture_reopen(f);
        assert_int_equal(store_get_session(f->store, s->id, &got), 0);
        assert_true(got.last_seen == NOON + 7 * SECOND);
        stored_session_done(&got);

        stop_session(f->store, s, NOON + 9 * SECOND);
        o.last = NOON + 20 * SECOND;
        (void) put(f->store, o, NULL);
        assert_int_equal(store_get_session(f->store, s->id, &got), 0);
        assert_true(got.last_seen == NOON + 9 * SECOND);
        stored_session_done(&got);
}

static void list(Store *s, uid_t uid, bool live, size_t limit, const char *expected) {
        StoredSession *sessions;
        size_t n;
        char got[64] = "";

        assert_int_equal(store_list_sessions(s, uid, live, limit, &sessions, &n), 0);
        for (size_t i = 0; i < n; i++) {
                (void) strcat(got, sessions[i].session->id + 15);
                stored_session_done(&sessions[i]);
        }
        free(sessions);
        assert_string_equal(got, expected);
}

static void lists_are_newest_first_and_limited(void **state) {
        Fixture *f = *state;
        Session *s[4];
        StoredSession got;

        list(f->store, (uid_t) -1, false, 10, "");
        assert_int_equal(store_get_last_session(f->store, (uid_t) -1, &got), -ENOENT);
        for (unsigned i = 0; i < 4; i++)
                s[i] = start_session(f->store, i, 1000 + i % 2, NULL);
        stop_session(f->store, s[2], NOON);

        list(f->store, (uid_t) -1, false, 10, "3210");
        list(f->store, (uid_t) -1, false, 2, "32");
        list(f->store, (uid_t) -1, true, 10, "310");
        list(f->store, 1000, false, 10, "20");
        list(f->store, 1000, true, 10, "0");
        list(f->store, 5, false, 10, "");
        assert_int_equal(store_get_last_session(f->store, (uid_t) -1, &got), 0);
        assert_string_equal(got.session->id, s[3]->id);
        stored_session_done(&got);
        assert_int_equal(store_get_last_session(f->store, 1000, &got), 0);
        assert_string_equal(got.session->id, s[2]->id);
        stored_session_done(&got);
        assert_int_equal(store_get_session(f->store, "ffffffffffffffff", &got), -ENOENT);
        for (int i = 0; i < 4; i++)
                session_free(s[i]);
}

static void watches_come_back_with_their_coverage(void **state) {
        Fixture *f = *state;
        _cleanup_(session_freep) Session *s = start_session(f->store, 1, 0, NULL);
        _cleanup_(watch_spec_unrefp) WatchSpec *spec = NULL;
        Coverage coverage = {.op = {SIGHT_EXACT, SIGHT_INFERRED, SIGHT_NONE, SIGHT_EXACT,
                                    SIGHT_INFERRED},
                             .deny = {true, false, true, false, true}};
        StoredWatch *watches;
        size_t n;

        assert_int_equal(watch_spec_new("nas", &spec), 0);
        free(spec->path);
        spec->path = strdup("/mnt/\xff");
        spec->policy = POLICY_ASK;
        assert_int_equal(store_put_session_watch(f->store, "none", spec, SCOPE_FILE, &coverage),
                         -ENOENT);
        assert_int_equal(store_put_session_watch(f->store, s->id, spec, SCOPE_FILE, &(Coverage){0}),
                         0);
        assert_int_equal(store_put_session_watch(f->store, s->id, spec, SCOPE_SUBTREE, &coverage),
                         0);
        fixture_reopen(f);

        assert_int_equal(store_get_session_watches(f->store, "none", &watches, &n), -ENOENT);
        assert_int_equal(store_get_session_watches(f->store, s->id, &watches, &n), 0);
        assert_int_equal(n, 1);
        assert_string_equal(watches[0].spec->name, "nas");
        assert_string_equal(watches[0].spec->path, "/mnt/\xff");
        assert_int_equal(watches[0].spec->policy, POLICY_ASK);
        assert_int_equal(watches[0].scope, SCOPE_SUBTREE);
        for (int i = 0; i < _OP_MAX; i++) {
                assert_int_equal(watches[0].coverage.op[i], coverage.op[i]);
                assert_int_equal(watches[0].coverage.deny[i], coverage.deny[i]);
        }
        stored_watch_done(&watches[0]);
        free(watches);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                TEST(session_comes_back_as_it_was_put),
                TEST(a_bare_session_has_nothing_made_up),
                TEST(update_replaces_losses_and_keeps_the_outer_session),
                TEST(start_and_end_are_committed_at_once),
                TEST(span_is_from_the_first_put_to_the_first_stop),
                TEST(last_seen_is_the_last_write_while_it_ran),
                TEST(lists_are_newest_first_and_limited),
                TEST(watches_come_back_with_their_coverage),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
