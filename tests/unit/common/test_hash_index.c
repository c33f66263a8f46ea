/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/hash.h"
#include "common/hash_index.h"

static bool is_number(const void *element, const void *key) {
        return *(const int *) element == *(const int *) key;
}

static void an_empty_index_has_nothing(void **state) {
        HashIndex x = {};
        int key = 1;

        assert_null(hash_index_find(&x, 1, is_number, &key));
        hash_index_remove(&x, 1, &key);
        hash_index_done(&x);
}

/* Against a plain list of who is in, with a hash that puts many on few places, also over the end of the table. */
static void it_has_what_was_added_and_not_removed(void **state) {
        enum {
                N = 3000
        };
        static int numbers[N];
        static bool in[N];
        HashIndex x = {};
        uint32_t seed = 1;
        size_t n = 0;

        for (int i = 0; i < N; i++)
                numbers[i] = i;
        for (int step = 0; step < 40000; step++) {
                int i;
                uint32_t hash;

                seed = seed * 1664525 + 1013904223;
                i = (int) ((seed >> 8) % N);
                hash = (uint32_t) (i / 5) * 0xfffffff1;
                if (in[i]) {
                        hash_index_remove(&x, hash, &numbers[i]);
                        n--;
                } else {
                        assert_int_equal(hash_index_add(&x, hash, &numbers[i]), 0);
                        n++;
                }
                in[i] = !in[i];
                assert_int_equal(x.n, n);
                for (int k = i % 50; k < N; k += 50)
                        assert_ptr_equal(hash_index_find(&x, (uint32_t) (k / 5) * 0xfffffff1,
                                                         is_number, &k),
                                         in[k] ? &numbers[k] : NULL);
        }
        hash_index_done(&x);
        assert_int_equal(x.n, 0);
}

static void only_the_same_element_is_removed(void **state) {
        int a = 1, b = 1, key = 1;
        HashIndex x = {};

        assert_int_equal(hash_index_add(&x, 7, &a), 0);
        hash_index_remove(&x, 7, &b);
        assert_ptr_equal(hash_index_find(&x, 7, is_number, &key), &a);
        assert_null(hash_index_find(&x, 8, is_number, &key));
        hash_index_done(&x);
}

/* Tables use the lowest bits: names that count up must not share them. */
static void hashes_of_names_that_count_up_are_spread(void **state) {
        static unsigned char seen[4096];
        unsigned taken = 0;

        for (unsigned i = 0; i < 4096; i++) {
                char name[] = {'f',
                               'i',
                               'l',
                               'e',
                               (char) ('0' + i / 1000),
                               (char) ('0' + i / 100 % 10),
                               (char) ('0' + i / 10 % 10),
                               (char) ('0' + i % 10)};
                unsigned place = hash_of_bytes(name, sizeof name) % 4096;

                taken += !seen[place];
                seen[place] = 1;
        }
        /* by chance 1 - 1/e of the places, which are 2589 */
        assert_in_range(taken, 2500, 2700);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_empty_index_has_nothing),
                cmocka_unit_test(it_has_what_was_added_and_not_removed),
                cmocka_unit_test(only_the_same_element_is_removed),
                cmocka_unit_test(hashes_of_names_that_count_up_are_spread),
        };
        return cmocka_run_group_tests_name("hash_index", tests, NULL, NULL);
}
