/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/macro.h"
#include "daemon/core/authorisation.h"

static void only_owner_and_privileged_may(void **state) {
        static const struct {
                uid_t peer;
                bool privileged;
                uid_t owner;
                bool may;
        } cases[] = {
                {1000, false, 1000, true},        {1000, false, 1001, false},
                {1000, false, 0, false}, /* a set-uid program of one's own is root's */
                {1000, true, 1001, true},         {0, true, 1000, true},
                {0, false, 1000, false}, /* the caller says who is privileged */
                {1000, false, (uid_t) -1, false}, {(uid_t) -1, false, (uid_t) -1, false},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                uid_t peer = cases[i].peer, owner = cases[i].owner;
                bool privileged = cases[i].privileged;

                assert_int_equal(authorise_see(peer, privileged, owner), cases[i].may);
                assert_int_equal(authorise_control(peer, privileged, owner), cases[i].may);
                assert_int_equal(authorise_tag(peer, privileged, owner), cases[i].may);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(only_owner_and_privileged_may),
        };

        return cmocka_run_group_tests_name("authorisation", tests, NULL, NULL);
}
