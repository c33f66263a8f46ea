/* SPDX-License-Identifier: MIT */
#include "tests/unit/store/fixture.h"

/* "op:path" of each row, newest first. */
static void expect(Store *s, const char *path, size_t limit, const char *expected) {
        char got[512] = "";
        Operation *rows;
        size_t n;

        assert_int_equal(store_blame(s, path, &rows, &n, limit), 0);
        for (size_t i = 0; i < n; i++) {
                (void) snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s:%s",
                                i ? " " : "", op_type_to_string(rows[i].op), rows[i].path);
                operation_done(&rows[i]);
        }
        free(rows);
        assert_string_equal(got, expected);
}

static void put_dir(Store *s, OpType op, const char *path, const char *from) {
        Operation o = operation(op, path);

        o.kind = KIND_DIR;
        o.from = (char *) from;
        (void) put(s, o, NULL);
}

static void path_finds_its_own_operations_newest_first(void **state) {
        Fixture *f = *state;

        expect(f->store, "/mnt/a", 10, "");
        (void) put_path(f->store, NULL, OP_CREATE, "/mnt/a");
        (void) put_path(f->store, NULL, OP_CREATE, "/mnt/ab");
        (void) put_path(f->store, NULL, OP_MODIFY, "/mnt/a");
        fixture_reopen(f);
        (void) put_path(f->store, NULL, OP_DELETE, "/mnt/a");
        (void) put_path(f->store, NULL, OP_CREATE, "/mnt/a/b");
        expect(f->store, "/mnt/a", 10, "delete:/mnt/a modify:/mnt/a create:/mnt/a");
        expect(f->store, "/mnt/a", 2, "delete:/mnt/a modify:/mnt/a");
        expect(f->store, "/mnt/a", 0, "");
        expect(f->store, "/mnt", 10, "");
        expect(f->store, "", 10, "");
}

static void both_names_of_a_rename_find_it(void **state) {
        Fixture *f = *state;
        Operation rename = operation(OP_RENAME, "/mnt/new"),
                  out = operation(OP_DELETE, "/mnt/gone");

        rename.from = (char *) "/mnt/old";
        out.to = (char *) "/outside/x";
        (void) put(f->store, rename, NULL);
        (void) put(f->store, out, NULL);
        expect(f->store, "/mnt/new", 10, "rename:/mnt/new");
        expect(f->store, "/mnt/old", 10, "rename:/mnt/new");
        expect(f->store, "/outside/x", 10, "delete:/mnt/gone");
}

static void directories_above_count_when_they_moved(void **state) {
        Fixture *f = *state;

        put_dir(f->store, OP_CREATE, "/mnt/d", NULL);
        (void) put_path(f->store, NULL, OP_CREATE, "/mnt/d/sub/x");
        put_dir(f->store, OP_METADATA, "/mnt/d", NULL);
        put_dir(f->store, OP_RENAME, "/mnt/e", "/mnt/d");
        put_dir(f->store, OP_DELETE, "/mnt/e/sub", NULL);
        expect(f->store, "/mnt/d/sub/x", 10, "rename:/mnt/e create:/mnt/d/sub/x create:/mnt/d");
        expect(f->store, "/mnt/e/sub/x", 10, "delete:/mnt/e/sub rename:/mnt/e");
        expect(f->store, "/mnt/d", 10, "rename:/mnt/e metadata:/mnt/d create:/mnt/d");
        expect(f->store, "/mnt/dd", 10, "");
}

static void old_operations_are_found_over_many_blocks(void **state) {
        Fixture *f = *state;

        (void) put_path(f->store, NULL, OP_CREATE, "/mnt/\xff");
        for (int i = 0; i < 100000; i++) {
                char path[32];
                (void) snprintf(path, sizeof path, "/mnt/%d", i);
                (void) put_path(f->store, NULL, OP_CREATE, path);
        }
        (void) put_path(f->store, NULL, OP_MODIFY, "/mnt/\xff");
        expect(f->store, "/mnt/\xff", 10, "modify:/mnt/\xff create:/mnt/\xff");
        expect(f->store, "/mnt/99", 10, "create:/mnt/99");
        expect(f->store, "/mnt/100000", 10, "");
}

/* A path of nothing but directories asks for as many look-ups in each block. */
static void very_deep_path_is_looked_up(void **state) {
        Fixture *f = *state;
        char path[8192];

        for (size_t i = 0; i < sizeof path - 1; i++)
                path[i] = i % 2 ? 'd' : '/';
        path[sizeof path - 1] = '\0';
        put_dir(f->store, OP_DELETE, "/d/d/d", NULL);
        expect(f->store, path, 10, "delete:/d/d/d");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                TEST(path_finds_its_own_operations_newest_first),
                TEST(both_names_of_a_rename_find_it),
                TEST(directories_above_count_when_they_moved),
                TEST(old_operations_are_found_over_many_blocks),
                TEST(very_deep_path_is_looked_up),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
