/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "common/time_text.h"

typedef struct Moment {
        const char *text;
        usec_t t;
} Moment;

static void moments_become_text(void **state) {
        static const Moment moments[] = {
                {"1970-01-01T00:00:00.000000Z", 0},
                {"1970-01-01T00:00:00.000001Z", 1},
                {"1999-12-31T23:59:59.999999Z", 946684799999999},
                {"2000-02-29T12:00:00.000000Z", 951825600000000},
                {"2024-02-29T23:59:59.000000Z", 1709251199000000},
                {"2024-03-01T00:00:00.000000Z", 1709251200000000},
                {"2026-11-30T18:35:54.123456Z", 1796063754123456},
                {"2100-03-01T00:00:00.000000Z", 4107542400000000},
                {"9999-12-31T23:59:59.999999Z", 253402300799999999},
        };
        char buffer[TIME_TEXT_MAX];

        for (size_t i = 0; i < ELEMENTSOF(moments); i++) {
                usec_t t = 0;

                assert_string_equal(time_to_text(moments[i].t, buffer), moments[i].text);
                assert_int_equal(time_from_text(moments[i].text, &t), 0);
                assert_int_equal(t, moments[i].t);
        }
        assert_string_equal(time_to_text(UINT64_MAX, buffer), "9999-12-31T23:59:59.999999Z");
}

/* Against the C library, once a day and a bit over 140 years. */
static void every_day_is_the_one_of_the_c_library(void **state) {
        for (time_t s = 0; s < 140LL * 366 * 86400; s += 86399) {
                char buffer[TIME_TEXT_MAX], expected[TIME_TEXT_MAX];
                struct tm tm;
                usec_t back;

                assert_non_null(gmtime_r(&s, &tm));
                assert_true(strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S.000000Z", &tm));
                (void) time_to_text((usec_t) s * USEC_PER_SEC, buffer);
                assert_string_equal(buffer, expected);
                assert_int_equal(time_from_text(buffer, &back), 0);
                assert_int_equal(back, (usec_t) s * USEC_PER_SEC);
        }
}

static void any_offset_and_fraction_is_read(void **state) {
        static const Moment moments[] = {
                {"2026-11-30T18:35:54Z", 1796063754000000},
                {"2026-11-30t18:35:54z", 1796063754000000},
                {"2026-11-30 18:35:54Z", 1796063754000000},
                {"2026-11-30T19:35:54.1+01:00", 1796063754100000},
                {"2026-11-30T13:05:54.12-05:30", 1796063754120000},
                {"2026-11-30T18:35:54.123456789Z", 1796063754123456},
                {"2026-11-30T18:35:54.000000000000000000000000000000009-00:00", 1796063754000000},
                {"1970-01-01T01:00:00+01:00", 0},
                {"2016-12-31T23:59:60Z", 1483228800000000},
        };

        for (size_t i = 0; i < ELEMENTSOF(moments); i++) {
                usec_t t = 0;

                assert_int_equal(time_from_text(moments[i].text, &t), 0);
                assert_int_equal(t, moments[i].t);
        }
}

static void what_is_no_moment_is_refused(void **state) {
        static const char *const texts[] = {
                "",
                "now",
                "2026-11-30",
                "2026-11-30T18:35Z",
                "2026-11-30T18:35:54",
                "2026-11-30T18:35:54.Z",
                "2026-11-30T18:35:54ZZ",
                "2026-11-30T18:35:54+0100",
                "2026-11-30T18:35:54+24:00",
                "2026-11-30T18:35:54+01:60",
                "2026-11-30T24:00:00Z",
                "2026-11-30T18:60:00Z",
                "2026-11-30T18:35:61Z",
                "2026-11-31T00:00:00Z",
                "2026-02-29T00:00:00Z",
                "2100-02-29T00:00:00Z",
                "2026-00-10T00:00:00Z",
                "2026-13-10T00:00:00Z",
                "2026-10-00T00:00:00Z",
                "26-10-01T00:00:00Z",
                " 2026-11-30T18:35:54Z",
                "+026-11-30T18:35:54Z",
                "1969-12-31T23:59:59Z",
                "1970-01-01T00:00:00+00:01",
                "9999-12-31T23:59:59-00:01",
                "9999-12-31T23:59:60Z",
        };
        usec_t t = 42;

        for (size_t i = 0; i < ELEMENTSOF(texts); i++)
                if (time_from_text(texts[i], &t) != -EINVAL)
                        fail_msg("'%s' was taken", texts[i]);
        assert_int_equal(time_from_text(NULL, &t), -EINVAL);
        assert_int_equal(t, 42);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(moments_become_text),
                cmocka_unit_test(every_day_is_the_one_of_the_c_library),
                cmocka_unit_test(any_offset_and_fraction_is_read),
                cmocka_unit_test(what_is_no_moment_is_refused),
        };
        return cmocka_run_group_tests_name("time_text", tests, NULL, NULL);
}
