/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <time.h>

#include "client/time_spec.h"
#include "fixture.h"

#define NOW (1796150154 * USEC_PER_SEC) /* 2026-12-01 18:35:54 UTC */

static void moments_as_people_type_them(void **state) {
        static const struct {
                const char *text;
                usec_t expected;
        } cases[] = {
                {"now", NOW},
                {"30s", NOW - 30 * USEC_PER_SEC},
                {"10m", NOW - 600 * USEC_PER_SEC},
                {"2h", NOW - 7200 * USEC_PER_SEC},
                {"3d", NOW - 3 * 86400 * USEC_PER_SEC},
                {"1w", NOW - 7 * 86400 * USEC_PER_SEC},
                {"100000000w", 0}, /* before everything */
                {"today", 1796083200 * USEC_PER_SEC},
                {"yesterday", 1795996800 * USEC_PER_SEC},
                {"2026-11-30T18:35:54Z", 1796063754 * USEC_PER_SEC},
                {"2026-11-30T19:35:54.5+01:00", 1796063754 * USEC_PER_SEC + 500000},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                usec_t t = 1;

                assert_int_equal(time_spec_parse(cases[i].text, NOW, &t), 0);
                assert_int_equal(t, cases[i].expected);
        }
}

static void today_is_a_day_of_the_place(void **state) {
        usec_t t;

        setenv("TZ", "Etc/GMT-10", 1); /* ten hours east: 04:35 on the second there */
        tzset();
        assert_int_equal(time_spec_parse("today", NOW, &t), 0);
        assert_int_equal(t, (1796083200 + 14 * 3600) * USEC_PER_SEC);
        setenv("TZ", "UTC", 1);
        tzset();
}

static void what_is_no_moment_is_refused(void **state) {
        static const char *const texts[] = {"",          "10", "m",    "-5m",           "5 m",
                                            "5mm",       "1y", "soon", "999999999999d", "10M",
                                            "2026-11-30"};

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                usec_t t = 7;

                assert_int_equal(time_spec_parse(texts[i], NOW, &t), -EINVAL);
                assert_int_equal(t, 7);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(moments_as_people_type_them),
                cmocka_unit_test(today_is_a_day_of_the_place),
                cmocka_unit_test(what_is_no_moment_is_refused),
        };

        return cmocka_run_group_tests(tests, fixture_set_up, NULL);
}
