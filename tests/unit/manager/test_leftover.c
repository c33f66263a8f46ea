/* SPDX-License-Identifier: MIT */
#include "daemon/leftover.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void a_refusal_after_the_create_finds_its_row(void **state) {
        Leftovers l = {};

        assert_int_equal(leftovers_note_made(&l, "/w/new", 7, 42), 0);
        assert_int_equal(leftovers_refuse(&l, "/w/new", 8), 0);
        assert_int_equal(leftovers_refuse(&l, "/w/new", 7), 42);
        assert_int_equal(leftovers_refuse(&l, "/w/new", 7), 0);
        leftovers_done(&l);
}

static void a_refusal_before_the_create_expects_it_once(void **state) {
        Leftovers l = {};

        assert_int_equal(leftovers_refuse(&l, "/w/new", 7), 0);
        assert_false(leftovers_take_refused(&l, "/w/other", 7));
        assert_true(leftovers_take_refused(&l, "/w/new", 7));
        assert_false(leftovers_take_refused(&l, "/w/new", 7));
        leftovers_done(&l);
}

static void the_oldest_is_forgotten(void **state) {
        Leftovers l = {};
        char path[16];

        for (int i = 0; i <= LEFTOVERS_MAX; i++) {
                (void) snprintf(path, sizeof path, "/w/%d", i);
                assert_int_equal(leftovers_note_made(&l, path, 7, i + 1), 0);
        }
        assert_int_equal(leftovers_refuse(&l, "/w/0", 7), 0);
        assert_int_equal(leftovers_refuse(&l, "/w/1", 7), 2);
        assert_int_equal(leftovers_refuse(&l, path, 7), LEFTOVERS_MAX + 1);
        leftovers_done(&l);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_refusal_after_the_create_finds_its_row),
                cmocka_unit_test(a_refusal_before_the_create_expects_it_once),
                cmocka_unit_test(the_oldest_is_forgotten),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
