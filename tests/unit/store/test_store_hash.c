/* SPDX-License-Identifier: MIT */
#include "daemon/store/store_hash.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* The vectors of the paper (Aumasson and Bernstein, appendix A) and of the reference
 * implementation. */
static const HashKey paper_key = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

static void hash_is_siphash_2_4(void **state) {
        uint8_t data[64];

        for (size_t i = 0; i < sizeof data; i++)
                data[i] = (uint8_t) i;
        assert_true(hash_bytes(&paper_key, data, 0) == 0x726fdb47dd0e0e31);
        assert_true(hash_bytes(&paper_key, data, 1) == 0x74f839c593dc67fd);
        assert_true(hash_bytes(&paper_key, data, 8) == 0x93f5f5799a932462);
        assert_true(hash_bytes(&paper_key, data, 15) == 0xa129ca6149be45e5);
}

static void hash_of_no_string_is_zero(void **state) {
        assert_true(hash_string(&paper_key, NULL) == 0);
        assert_true(hash_string(&paper_key, "") == hash_bytes(&paper_key, "", 0));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(hash_is_siphash_2_4),
                cmocka_unit_test(hash_of_no_string_is_zero),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
