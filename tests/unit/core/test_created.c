/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/core/created.h"
#include "daemon/core/hash.h"

static void put_find_and_remove(void **state) {
        _cleanup_(created_set_freep) CreatedSet *c = NULL;
        uint64_t object = 7;

        assert_int_equal(created_set_new(&c), 0);
        assert_false(created_set_find(c, 1, &object));
        created_set_remove(c, 1);
        assert_int_equal(object, 7);

        assert_int_equal(created_set_put(c, 5, 50), 0);
        assert_int_equal(created_set_put(c, 0, 90), 0); /* a hash may be zero */
        assert_int_equal(created_set_put(c, 5, 51), 0);
        assert_int_equal(created_set_count(c), 2);
        assert_true(created_set_find(c, 5, &object));
        assert_int_equal(object, 51);
        assert_true(created_set_find(c, 0, &object));
        assert_int_equal(object, 90);

        created_set_remove(c, 5);
        assert_false(created_set_find(c, 5, &object));
        assert_true(created_set_find(c, 0, &object));
        assert_int_equal(created_set_count(c), 1);
}

/* Keys that all want the same few places, the last ones of the table included, put and removed in every order. */
static void removal_leaves_no_holes(void **state) {
        _cleanup_(created_set_freep) CreatedSet *c = NULL;
        bool there[256] = {};
        uint64_t chance = 1, object;

        assert_int_equal(created_set_new(&c), 0);
        for (unsigned i = 0; i < 20000; i++) {
                unsigned k;

                chance = hash64(&i, sizeof i, chance, 0);
                k = chance % 40; /* 40 keys in 64 places, crowded at 60 to 3 */
                if (chance >> 32 & 1) {
                        assert_int_equal(created_set_put(c, 60 + k % 8 + 64 * (k + 1), k), 0);
                        there[k] = true;
                } else {
                        created_set_remove(c, 60 + k % 8 + 64 * (k + 1));
                        there[k] = false;
                }
                for (k = 0; k < 40; k++) {
                        bool found = created_set_find(c, 60 + k % 8 + 64 * (k + 1), &object);

                        assert_int_equal(found, there[k]);
                        if (found)
                                assert_int_equal(object, k);
                }
        }
}

static void a_million_are_kept_and_one_more_is_refused(void **state) {
        _cleanup_(created_set_freep) CreatedSet *c = NULL;
        uint64_t object;

        assert_int_equal(created_set_new(&c), 0);
        for (uint64_t i = 0; i < CREATED_MAX; i++)
                if (created_set_put(c, hash64(&i, sizeof i, 0, 0), i) < 0)
                        fail_msg("entry %u was refused", (unsigned) i);
        assert_int_equal(created_set_count(c), CREATED_MAX);
        for (uint64_t i = 0; i < CREATED_MAX; i++)
                if (!created_set_find(c, hash64(&i, sizeof i, 0, 0), &object) || object != i)
                        fail_msg("entry %u was lost", (unsigned) i);

        assert_int_equal(created_set_put(c, 12345, 1), -ENOSPC);
        for (uint64_t i = 0; i < 1; i++) {
                assert_int_equal(created_set_put(c, hash64(&i, sizeof i, 0, 0), 99), 0);
                created_set_remove(c, hash64(&i, sizeof i, 0, 0));
        }
        assert_int_equal(created_set_put(c, 12345, 1), 0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(put_find_and_remove),
                cmocka_unit_test(removal_leaves_no_holes),
                cmocka_unit_test(a_million_are_kept_and_one_more_is_refused),
        };

        return cmocka_run_group_tests_name("created", tests, NULL, NULL);
}
