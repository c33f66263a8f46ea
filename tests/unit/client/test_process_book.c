/* SPDX-License-Identifier: MIT */
#include "client/process_book.h"
#include "fixture.h"

static void put(ProcessBook *b, int64_t id, int64_t parent) {
        ProcessInfo p = {
                .id = id, .parent_id = parent, .pid = (pid_t) (1000 + id), .exe = strdup("x")};

        assert_int_equal(process_book_take(b, &p), 0);
        assert_null(p.exe);
}

static void the_chain_goes_up_to_the_root(void **state) {
        _cleanup_(process_book_freep) ProcessBook *b = NULL;
        const ProcessInfo *chain[PROCESS_CHAIN_MAX];
        ProcessSource source;

        assert_int_equal(process_book_new(10, &b), 0);
        source = process_book_source(b);
        put(b, 1, 0);
        put(b, 2, 1);
        put(b, 3, 2);
        put(b, 4, 3);
        assert_int_equal(process_source_ancestors(source, 4, 0, chain), 3);
        assert_int_equal(chain[0]->id, 3);
        assert_int_equal(chain[2]->id, 1);
        assert_int_equal(process_source_ancestors(source, 4, 1002, chain), 2);
        assert_int_equal(chain[1]->id, 2);
        assert_int_equal(process_source_ancestors(source, 2, 1002, chain), 0);
        assert_int_equal(process_source_ancestors(source, 99, 0, chain), 0);
}

static void a_circle_ends(void **state) {
        _cleanup_(process_book_freep) ProcessBook *b = NULL;
        const ProcessInfo *chain[PROCESS_CHAIN_MAX];

        assert_int_equal(process_book_new(10, &b), 0);
        put(b, 1, 2);
        put(b, 2, 1);
        assert_int_equal(process_source_ancestors(process_book_source(b), 1, 0, chain),
                         PROCESS_CHAIN_MAX);
        process_book_touch(b, 1);
}

static void what_works_on_is_not_forgotten(void **state) {
        _cleanup_(process_book_freep) ProcessBook *b = NULL;
        ProcessSource source;

        assert_int_equal(process_book_new(4, &b), 0);
        source = process_book_source(b);
        put(b, 1, 0);
        put(b, 2, 1);
        put(b, 3, 0);
        for (int64_t id = 10; id < 100; id++) {
                put(b, id, 0);
                process_book_touch(b, 2);
        }
        assert_non_null(process_source_find(source, 2));
        assert_non_null(process_source_find(source, 1)); /* its parent */
        assert_null(process_source_find(source, 3));
        assert_null(process_source_find(source, 10));
        assert_non_null(process_source_find(source, 99));
}

static void the_newer_of_two_stays(void **state) {
        _cleanup_(process_book_freep) ProcessBook *b = NULL;

        assert_int_equal(process_book_new(10, &b), 0);
        put(b, 1, 0);
        put(b, 1, 7);
        assert_int_equal(process_source_find(process_book_source(b), 1)->parent_id, 7);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_chain_goes_up_to_the_root),
                cmocka_unit_test(a_circle_ends),
                cmocka_unit_test(what_works_on_is_not_forgotten),
                cmocka_unit_test(the_newer_of_two_stays),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
