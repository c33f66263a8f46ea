/* SPDX-License-Identifier: MIT */
#include "tests/unit/store/fixture.h"

#include <errno.h>

#include <sqlite3.h>

static void expire_all(Store *s, usec_t before) {
        int r, calls = 0;

        while ((r = store_expire(s, before)) > 0) {
                assert_true(++calls < 1000);
                assert_int_equal(store_flush(s), 0);
        }
        assert_int_equal(r, 0);
        assert_int_equal(store_flush(s), 0);
}

/* How many rows a table has, seen by another connection. */
static int count_rows(const Fixture *f, const char *table) {
        char path[128], sql[64];
        sqlite3 *db;
        sqlite3_stmt *stmt;
        int n;

        (void) snprintf(path, sizeof path, "%s/mountwatch.db", f->dir);
        (void) snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
        assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
        n = sqlite3_column_int(stmt, 0);
        assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        return n;
}

static void old_sessions_go_with_all_that_hangs_on_them(void **state) {
        Fixture *f = *state;
        _cleanup_(session_freep) Session *old = start_session(f->store, 1, 0, NULL);
        _cleanup_(session_freep) Session *young = start_session(f->store, 2, 0, NULL);
        _cleanup_(session_freep) Session *live = start_session(f->store, 3, 0, NULL);
        _cleanup_(watch_spec_unrefp) WatchSpec *spec = NULL;
        _cleanup_(rows_done) Rows rows;
        StoredSession got;

        assert_int_equal(watch_spec_new("nas", &spec), 0);
        free(spec->path);
        spec->path = strdup("/mnt/nas");
        assert_int_equal(
                store_put_session_watch(f->store, old->id, spec, SCOPE_FILE, &(Coverage){0}), 0);
        assert_int_equal(session_add_loss(old, "overflow", NULL, NOON, NOON, 1), 0);
        (void) put_path(f->store, old, OP_CREATE, "/mnt/nas/old");
        (void) put_path(f->store, young, OP_CREATE, "/mnt/nas/young");
        (void) put_path(f->store, live, OP_CREATE, "/mnt/nas/live");
        stop_session(f->store, old, NOON + SECOND);
        stop_session(f->store, young, NOON + 3 * SECOND);

        expire_all(f->store, NOON + 2 * SECOND);
        assert_int_equal(store_get_session(f->store, old->id, &got), -ENOENT);
        assert_int_equal(count_rows(f, "loss"), 0);
        assert_int_equal(count_rows(f, "session_watch"), 0);
        read_query(f->store, everything(), &rows);
        assert_int_equal(rows.n, 2);
        assert_string_equal(rows.list[0].path, "/mnt/nas/young");
        assert_string_equal(rows.list[1].path, "/mnt/nas/live");

        /* The name of a session that is gone is not taken from a cache. */
        Operation late = operation(OP_CREATE, "/mnt/nas/late");
        bool folded;
        late.session = old->id;
        assert_int_equal(store_put_operation(f->store, &late, &folded), -ENOENT);
}

static void old_untagged_operations_go(void **state) {
        Fixture *f = *state;
        _cleanup_(rows_done) Rows rows;

        for (int i = 0; i < 5; i++) {
                char path[] = "/mnt/nas/?";
                Operation o = operation(OP_CREATE, path);

                path[9] = (char) ('a' + i);
                o.first = NOON + (usec_t) i * SECOND;
                o.last = i == 1 ? NOON + 60 * SECOND : o.first; /* b was repeated until lately */
                (void) put(f->store, o, NULL);
        }
        expire_all(f->store, NOON + 3 * SECOND);
        read_query(f->store, everything(), &rows);
        assert_int_equal(rows.n, 3);
        assert_string_equal(rows.list[0].path, "/mnt/nas/b");
        assert_string_equal(rows.list[1].path, "/mnt/nas/d");
        assert_string_equal(rows.list[2].path, "/mnt/nas/e");
}

static void put_many(Store *s, const Session *session, int n) {
        char *cmdline[] = {(char *) "sh", NULL};
        Program program = {.exe = (char *) "/bin/sh", .cmdline = cmdline};

        for (int i = 0; i < n; i++) {
                char path[64];
                Image image = {.pid = i + 2, .program = &program};
                Operation o = operation(OP_CREATE, path);

                (void) snprintf(path, sizeof path, "/mnt/nas/%d/%d", i / 10, i);
                if (i % 10 == 0)
                        assert_int_equal(store_put_image(s, &image), 0);
                o.process_id = image.store_id;
                o.session = session ? (char *) session->id : NULL;
                (void) put(s, o, NULL);
        }
        assert_int_equal(store_flush(s), 0);
}

static void a_million_bytes_are_given_back_in_slices(void **state) {
        Fixture *f = *state;
        _cleanup_(session_freep) Session *s = start_session(f->store, 1, 0, NULL);
        uint64_t before, after;

        put_many(f->store, s, 70000);
        stop_session(f->store, s, NOON);
        (void) put_path(f->store, NULL, OP_CREATE, "/mnt/nas/stays");
        fixture_reopen(f);
        (void) put_path(f->store, NULL, OP_CREATE, "/mnt/nas/stays too");
        assert_int_equal(store_flush(f->store), 0);
        assert_int_equal(store_size(f->store, &before), 0);
        assert_int_equal(store_expire(f->store, NOON + 1), 1);

        expire_all(f->store, NOON);
        assert_int_equal(count_rows(f, "operation"), 2 + 70000 - 2000);
        expire_all(f->store, NOON + SECOND);
        assert_int_equal(count_rows(f, "operation"), 0);
        assert_true(count_rows(f, "text") < 10);
        assert_true(count_rows(f, "trace") < 10);
        assert_int_equal(count_rows(f, "block"), 1);
        assert_int_equal(count_rows(f, "process"), 0);
        assert_int_equal(count_rows(f, "program"), 0);
        fixture_reopen(f);
        assert_int_equal(store_size(f->store, &after), 0);
        assert_true(after < before / 10);
}

static void numbers_go_on_when_all_is_forgotten(void **state) {
        Fixture *f = *state;
        int64_t last = put_path(f->store, NULL, OP_CREATE, "/mnt/nas/a");

        expire_all(f->store, NOON + SECOND);
        fixture_reopen(f);
        assert_true(put_path(f->store, NULL, OP_CREATE, "/mnt/nas/a") > last);
}

/* A login shell of last year is the ancestor of today's processes. */
static void image_in_use_is_kept_or_stored_again(void **state) {
        Fixture *f = *state;
        Image shell = {.pid = 10}, child = {.parent = &shell, .pid = 11}, forgotten = {.pid = 12};
        _cleanup_(process_info_done) ProcessInfo p = {0}, q = {0};

        assert_int_equal(store_put_image(f->store, &shell), 0);
        assert_int_equal(store_put_image(f->store, &forgotten), 0);
        put_many(f->store, NULL, 70000);
        _cleanup_(session_freep) Session *s = start_session(f->store, 1, 0, NULL);
        assert_int_equal(store_put_image(f->store, &child), 0);
        (void) put_path(f->store, s, OP_CREATE, "/mnt/nas/x");
        put_many(f->store, s, 33000);
        expire_all(f->store, NOON + SECOND);

        assert_int_equal(store_get_process(f->store, shell.store_id, &p), 0);
        assert_int_equal(store_get_process(f->store, forgotten.store_id, &q), -ENOENT);
        assert_int_equal(store_put_image(f->store, &forgotten), 0);
        assert_int_equal(store_get_process(f->store, forgotten.store_id, &q), 0);
        assert_int_equal(q.pid, 12);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                TEST(old_sessions_go_with_all_that_hangs_on_them),
                TEST(old_untagged_operations_go),
                TEST(a_million_bytes_are_given_back_in_slices),
                TEST(numbers_go_on_when_all_is_forgotten),
                TEST(image_in_use_is_kept_or_stored_again),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
