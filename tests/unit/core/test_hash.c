/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/core/hash.h"

/* Appendix A of the SipHash paper and the vectors of its reference implementation: key 00 01 ... 0f, input 00 01 ... */
static void hash_is_siphash_2_4(void **state) {
        static const struct {
                size_t size;
                uint64_t hash;
        } vectors[] = {
                {0, 0x726fdb47dd0e0e31},  {1, 0x74f839c593dc67fd}, {2, 0x0d6c8009d9a94f5a},
                {3, 0x85676696d7fb7e2d},  {7, 0xab0200f58b01d137}, {8, 0x93f5f5799a932462},
                {15, 0xa129ca6149be45e5},
        };
        uint8_t input[16];

        for (size_t i = 0; i < sizeof input; i++)
                input[i] = (uint8_t) i;
        for (size_t i = 0; i < ELEMENTSOF(vectors); i++)
                assert_int_equal(hash64(input, vectors[i].size, 0x0706050403020100,
                                        0x0f0e0d0c0b0a0908),
                                 vectors[i].hash);
}

static void hash_does_not_need_alignment(void **state) {
        uint8_t bytes[32] = {};

        memcpy(bytes + 3, "a path that is read", 20);
        assert_int_equal(hash64(bytes + 3, 20, 1, 2), hash64("a path that is read", 20, 1, 2));
        assert_int_not_equal(hash64(bytes + 3, 20, 1, 2), hash64(bytes + 3, 20, 1, 3));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(hash_is_siphash_2_4),
                cmocka_unit_test(hash_does_not_need_alignment),
        };

        return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
