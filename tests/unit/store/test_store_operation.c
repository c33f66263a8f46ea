/* SPDX-License-Identifier: MIT */
#include "tests/unit/store/fixture.h"

#include <errno.h>

static void operation_comes_back_as_it_was_put(void **state) {
        Fixture *f = *state;
        _cleanup_(session_freep) Session *session = start_session(f->store, 1, 1000, NULL);
        _cleanup_(rows_done) Rows rows;
        Operation o = {
                .session = session->id,
                .process_id = 77,
                .op = OP_RENAME,
                .kind = KIND_SYMLINK,
                .watch = (char *) "nas",
                .path = (char *) "/mnt/nas/new name",
                .from = (char *) "/mnt/nas/deep/old name",
                .to = (char *) "/elsewhere",
                .replaced = true,
                .count = 3,
                .first = NOON,
                .last = NOON + 5 * SECOND,
                .violation = true,
                .rule = (char *) "scratch/**",
                .action = ACTION_KILLED,
                .attribution = SIGHT_INFERRED,
                .preserved = true,
                .test = (char *) "tests/a.py::b",
        };
        int64_t seq = put(f->store, o, NULL);

        read_query(f->store, everything(), &rows);
        assert_int_equal(rows.n, 1);
        const Operation *row = &rows.list[0];
        assert_int_equal(row->seq, seq);
        assert_string_equal(row->session, session->id);
        assert_int_equal(row->process_id, 77);
        assert_int_equal(row->op, OP_RENAME);
        assert_int_equal(row->kind, KIND_SYMLINK);
        assert_string_equal(row->watch, "nas");
        assert_string_equal(row->path, "/mnt/nas/new name");
        assert_string_equal(row->from, "/mnt/nas/deep/old name");
        assert_string_equal(row->to, "/elsewhere");
        assert_true(row->replaced && row->violation && row->preserved);
        assert_int_equal(row->count, 3);
        assert_true(row->first == NOON && row->last == NOON + 5 * SECOND);
        assert_string_equal(row->rule, "scratch/**");
        assert_int_equal(row->action, ACTION_KILLED);
        assert_int_equal(row->attribution, SIGHT_INFERRED);
        assert_string_equal(row->test, "tests/a.py::b");
}

static void absent_parts_stay_absent(void **state) {
        Fixture *f = *state;
        _cleanup_(rows_done) Rows rows;
        Operation o = {.op = OP_CREATE, .path = (char *) "/", .first = NOON + 1, .last = NOON};

        (void) put(f->store, o, NULL);
        read_query(f->store, everything(), &rows);
        assert_int_equal(rows.n, 1);
        assert_string_equal(rows.list[0].path, "/");
        assert_null(rows.list[0].session);
        assert_null(rows.list[0].watch);
        assert_null(rows.list[0].from);
        assert_null(rows.list[0].to);
        assert_null(rows.list[0].test);
        assert_null(rows.list[0].rule);
        assert_int_equal(rows.list[0].count, 1);
        assert_true(rows.list[0].last == NOON); /* the clock was set back in between */
}

static void paths_are_bytes_of_any_length(void **state) {
        Fixture *f = *state;
        _cleanup_(rows_done) Rows rows;
        char long_path[8192], long_name[8192];
        const char *paths[] = {"/mnt/\xff\xfe/\xc3\x28",
                               "/mnt/a\nb\t\"c\"",
                               "no slash",
                               "/",
                               "//",
                               "/a/",
                               long_path,
                               long_name};

        for (size_t i = 0; i < sizeof long_path - 1; i++)
                long_path[i] = i % 16 == 0 ? '/' : (char) (0x80 + i % 100);
        long_path[sizeof long_path - 1] = '\0';
        memset(long_name, 'x', sizeof long_name - 1);
        long_name[0] = '/';
        long_name[sizeof long_name - 1] = '\0';

        for (size_t i = 0; i < ELEMENTSOF(paths); i++)
                (void) put_path(f->store, NULL, OP_CREATE, paths[i]);
        fixture_reopen(f);
        read_query(f->store, everything(), &rows);
        assert_int_equal(rows.n, ELEMENTSOF(paths));
        for (size_t i = 0; i < ELEMENTSOF(paths); i++)
                assert_string_equal(rows.list[i].path, paths[i]);
}

static void what_is_no_operation_is_refused(void **state) {
        Fixture *f = *state;
        Operation no_path = {.op = OP_CREATE}, no_op = operation(_OP_MAX, "/x"),
                  unknown = operation(OP_CREATE, "/x");
        bool folded;

        assert_int_equal(store_put_operation(f->store, &no_path, &folded), -EINVAL);
        assert_int_equal(store_put_operation(f->store, &no_op, &folded), -EINVAL);
        unknown.session = (char *) "0123456789abcdef";
        assert_int_equal(store_put_operation(f->store, &unknown, &folded), -ENOENT);
        unknown.session = (char *) "a name that is longer than any session's";
        assert_int_equal(store_put_operation(f->store, &unknown, &folded), -ENOENT);
}

static void numbers_rise_and_never_come_again(void **state) {
        Fixture *f = *state;
        int64_t last = 0;

        for (int round = 0; round < 4; round++) {
                for (int i = 0; i < 3; i++) {
                        char path[32];
                        (void) snprintf(path, sizeof path, "/mnt/%d-%d", round, i);
                        int64_t seq = put_path(f->store, NULL, OP_CREATE, path);
                        assert_true(seq > last);
                        last = seq;
                }
                fixture_reopen(f);
        }
}

/* A block is 32768 numbers: texts, folds and traces start anew with each. */
static void order_and_texts_hold_over_blocks(void **state) {
        Fixture *f = *state;
        StoreQuery q = everything();
        Operation page[256];
        size_t n, total = 0;
        char path[64];

        for (int i = 0; i < 70000; i++) {
                (void) snprintf(path, sizeof path, "/mnt/nas/%d/%d", i % 7, i);
                (void) put_path(f->store, NULL, OP_CREATE, path);
        }
        assert_int_equal(store_flush(f->store), 0);
        do {
                assert_int_equal(store_read_operations(f->store, &q, page, ELEMENTSOF(page), &n),
                                 0);
                for (size_t i = 0; i < n; i++, total++) {
                        (void) snprintf(path, sizeof path, "/mnt/nas/%zu/%zu", total % 7, total);
                        assert_string_equal(page[i].path, path);
                        assert_string_equal(page[i].watch, "nas");
                        q.after_seq = page[i].seq;
                        operation_done(&page[i]);
                }
        } while (n > 0);
        assert_int_equal(total, 70000);
}

/* ---- folding ---- */

static void repeated_operation_raises_the_count(void **state) {
        Fixture *f = *state;
        _cleanup_(rows_done) Rows rows;
        Operation o = operation(OP_MODIFY, "/mnt/nas/log");
        int64_t first = put(f->store, o, NULL);
        bool folded;

        for (int i = 1; i < 100000; i++) {
                o.last = NOON + (usec_t) i;
                assert_int_equal(put(f->store, o, &folded), first);
                assert_true(folded);
        }
        o.count = 5;
        assert_true(put_folds(f->store, o));

        read_query(f->store, everything(), &rows);
        assert_int_equal(rows.n, 1);
        assert_int_equal(rows.list[0].count, 100005);
        assert_true(rows.list[0].first == NOON && rows.list[0].last == NOON + 99999);
}

static void counts_are_there_after_a_flush_and_a_restart(void **state) {
        Fixture *f = *state;
        Operation o = operation(OP_MODIFY, "/mnt/nas/log");
        Rows rows;

        (void) put(f->store, o, NULL);
        assert_int_equal(store_flush(f->store), 0);
        assert_false(store_is_dirty(f->store));
        assert_true(put_folds(f->store, o));
        assert_true(store_is_dirty(f->store));
        assert_int_equal(store_flush(f->store), 0);
        assert_false(store_is_dirty(f->store));

        fixture_reopen(f);
        read_query(f->store, everything(), &rows);
        assert_int_equal(rows.n, 1);
        assert_int_equal(rows.list[0].count, 2);
        rows_done(&rows);
        assert_false(
                put_folds(f->store, o)); /* the daemon was away: what came between is not known */
}

static void only_equal_operations_fold(void **state) {
        Fixture *f = *state;
        _cleanup_(session_freep) Session *session = start_session(f->store, 1, 1000, NULL);
        Operation base = operation(OP_MODIFY, "/mnt/nas/x");
        Operation other[12];

        base.session = session->id;
        for (size_t i = 0; i < ELEMENTSOF(other); i++)
                other[i] = base;
        other[0].session = NULL;
        other[1].op = OP_METADATA;
        other[2].kind = KIND_OTHER;
        other[3].from = (char *) "/mnt/nas/y";
        other[4].to = (char *) "/mnt/nas/y";
        other[5].process_id = 2;
        other[6].test = (char *) "t";
        other[7].watch = (char *) "other";
        other[8].action = ACTION_DENIED;
        other[9].violation = true;
        other[10].replaced = true;
        other[11].attribution = SIGHT_INFERRED;
        for (size_t i = 0; i < ELEMENTSOF(other); i++) {
                assert_false(put_folds(f->store, base));
                assert_false(put_folds(f->store, other[i]));
        }
        assert_false(put_folds(f->store, base));
        assert_true(put_folds(f->store, base));
}

static void another_path_in_between_does_not_matter(void **state) {
        Fixture *f = *state;

        assert_false(put_folds(f->store, operation(OP_MODIFY, "/mnt/nas/x")));
        assert_false(put_folds(f->store, operation(OP_MODIFY, "/mnt/nas/y")));
        assert_true(put_folds(f->store, operation(OP_MODIFY, "/mnt/nas/x")));
}

/* Otherwise "create f, rename f to x, create f, rename f to x" would end with an f that nobody
 * renamed. */
static void rename_folds_only_when_it_is_last_on_both_names(void **state) {
        Fixture *f = *state;
        Operation rename = operation(OP_RENAME, "/mnt/nas/x");

        rename.from = (char *) "/mnt/nas/f";
        assert_false(put_folds(f->store, operation(OP_CREATE, "/mnt/nas/f")));
        assert_false(put_folds(f->store, rename));
        assert_false(put_folds(f->store, operation(OP_CREATE, "/mnt/nas/f")));
        assert_false(put_folds(f->store, rename));
        assert_true(put_folds(f->store, rename));
}

static void nothing_folds_over_the_start_or_end_of_a_session(void **state) {
        Fixture *f = *state;
        Operation o = operation(OP_MODIFY, "/mnt/nas/log");

        assert_false(put_folds(f->store, o));
        _cleanup_(session_freep) Session *session = start_session(f->store, 1, 1000, NULL);
        assert_false(put_folds(f->store, o));
        assert_int_equal(store_put_session(f->store, session), 0); /* an update is no boundary */
        assert_true(put_folds(f->store, o));
        stop_session(f->store, session, NOON + SECOND);
        assert_false(put_folds(f->store, o));
        assert_true(put_folds(f->store, o));
}

static void nothing_folds_over_a_directory_that_went_away(void **state) {
        Fixture *f = *state;
        Operation create = operation(OP_CREATE, "/mnt/nas/d/x"),
                  rename = operation(OP_RENAME, "/mnt/nas/e");

        rename.kind = KIND_DIR;
        rename.from = (char *) "/mnt/nas/d";
        assert_false(put_folds(f->store, create));
        (void) put(f->store, rename, NULL);
        assert_false(put_folds(f->store, create));
}

/* More paths than the table of last rows has room for: rows may be more than necessary, counts
 * may not be wrong. */
static void forgotten_paths_lose_no_count(void **state) {
        Fixture *f = *state;
        StoreQuery q = everything();
        Operation page[256];
        uint64_t total = 0;
        size_t n;

        for (int round = 0; round < 3; round++)
                for (int i = 0; i < 9000; i++) {
                        char path[32];
                        (void) snprintf(path, sizeof path, "/mnt/nas/%d", i);
                        (void) put_path(f->store, NULL, OP_MODIFY, path);
                        (void) put_path(f->store, NULL, OP_MODIFY, path);
                }
        do {
                assert_int_equal(store_read_operations(f->store, &q, page, ELEMENTSOF(page), &n),
                                 0);
                for (size_t i = 0; i < n; i++) {
                        total += page[i].count;
                        q.after_seq = page[i].seq;
                        operation_done(&page[i]);
                }
        } while (n > 0);
        assert_int_equal(total, 54000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                TEST(operation_comes_back_as_it_was_put),
                TEST(absent_parts_stay_absent),
                TEST(paths_are_bytes_of_any_length),
                TEST(what_is_no_operation_is_refused),
                TEST(numbers_rise_and_never_come_again),
                TEST(order_and_texts_hold_over_blocks),
                TEST(repeated_operation_raises_the_count),
                TEST(counts_are_there_after_a_flush_and_a_restart),
                TEST(only_equal_operations_fold),
                TEST(another_path_in_between_does_not_matter),
                TEST(rename_folds_only_when_it_is_last_on_both_names),
                TEST(nothing_folds_over_the_start_or_end_of_a_session),
                TEST(nothing_folds_over_a_directory_that_went_away),
                TEST(forgotten_paths_lose_no_count),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
