/* SPDX-License-Identifier: MIT */
#include "daemon/core/rate.h"
#include "daemon/core/retry.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SECOND USEC_PER_SEC
#define HOUR (3600 * SECOND)
#define MIDDLE 0x80000000U /* no jitter */

static void pauses_grow_to_six_hours(void **state) {
        static const usec_t seconds[] = {5, 30, 120, 600, 1800, 7200, 21600, 21600, 21600};
        usec_t total = 0;

        for (unsigned i = 0; i < ELEMENTSOF(seconds); i++) {
                const usec_t pause = retry_pause(i + 1, 5 * SECOND, MIDDLE);

                assert_in_range(pause, seconds[i] * SECOND * 999 / 1000,
                                seconds[i] * SECOND * 1001 / 1000);
        }
        for (unsigned i = 1; i < RETRY_ATTEMPTS_MAX; i++)
                total += retry_pause(i, 5 * SECOND, MIDDLE);
        assert_in_range(total, 24 * HOUR, 75 * HOUR);
        assert_true(retry_pause(1000, 3600 * SECOND, UINT32_MAX) <= RETRY_PAUSE_MAX);
        assert_true(retry_pause(0, SECOND, MIDDLE) > 0);
}

static void jitter_is_a_fifth(void **state) {
        assert_int_equal(retry_pause(1, 10 * SECOND, 0), 8 * SECOND);
        assert_int_equal(retry_pause(1, 10 * SECOND, UINT32_MAX), 12 * SECOND);
}

static void status_decides(void **state) {
        static const struct {
                int status;
                RetryVerdict verdict;
        } cases[] = {
                {0, RETRY_TARGET},    {200, RETRY_DELIVERED}, {204, RETRY_DELIVERED},
                {301, RETRY_TARGET},  {400, RETRY_NEVER},     {404, RETRY_NEVER},
                {407, RETRY_NEVER},   {408, RETRY_MESSAGE},   {410, RETRY_NEVER},
                {425, RETRY_MESSAGE}, {429, RETRY_TARGET},    {431, RETRY_NEVER},
                {500, RETRY_MESSAGE}, {502, RETRY_TARGET},    {503, RETRY_TARGET},
                {504, RETRY_TARGET},  {999, RETRY_TARGET},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++)
                assert_int_equal(retry_judge(cases[i].status), cases[i].verdict);
}

static void retry_after_is_seconds_or_a_date(void **state) {
        /* Sun, 06 Nov 1994 08:49:37 GMT */
        const usec_t then = 784111777 * SECOND;
        static const struct {
                const char *value;
                usec_t pause;
        } cases[] = {
                {"0", 0},
                {"120", 120 * SECOND},
                {"86401", 24 * HOUR},
                {"99999999999999999999999", 24 * HOUR},
                {"Sun, 06 Nov 1994 08:49:37 GMT", 0},
                {"Sun, 06 Nov 1994 08:50:37 GMT", 60 * SECOND},
                {"Sun, 06 Nov 1994 08:48:37 GMT", 0},
                {"Mon, 06 Nov 2023 08:49:37 GMT", 24 * HOUR},
        };
        static const char *const bad[] = {
                "",
                "-1",
                "1.5",
                "soon",
                "1 ",
                "06 Nov 1994 08:49:37 GMT",
                "Sun, 06 Non 1994 08:49:37 GMT",
                "Sun, 06 anF 1994 08:49:37 GMT",
                "Sun, 36 Nov 1994 08:49:37 GMT",
                "Sun, 06 Nov 1994 08:49:37 CET",
        };
        usec_t pause;

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                assert_int_equal(retry_after_parse(cases[i].value, then, &pause), 0);
                assert_int_equal(pause, cases[i].pause);
        }
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                assert_int_equal(retry_after_parse(bad[i], then, &pause), -EINVAL);
}

static void rate_lets_a_few_through_and_then_spreads(void **state) {
        Rate rate = {};
        usec_t now = 1000 * SECOND;

        for (int i = 0; i < RATE_BURST; i++) {
                assert_true(rate_ready_at(&rate, 30) <= now);
                rate_take(&rate, 30, now);
        }
        assert_int_equal(rate_ready_at(&rate, 30), now + 2 * SECOND);
        now += 2 * SECOND;
        rate_take(&rate, 30, now);
        assert_int_equal(rate_ready_at(&rate, 30), now + 2 * SECOND);
        assert_true(rate_ready_at(&rate, 30) <= now + 60 * SECOND);
}

static void rate_of_one_a_minute_is_one_a_minute(void **state) {
        Rate rate = {};

        rate_take(&rate, 1, 1000 * SECOND);
        assert_int_equal(rate_ready_at(&rate, 1), 1060 * SECOND);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(pauses_grow_to_six_hours),
                cmocka_unit_test(jitter_is_a_fifth),
                cmocka_unit_test(status_decides),
                cmocka_unit_test(retry_after_is_seconds_or_a_date),
                cmocka_unit_test(rate_lets_a_few_through_and_then_spreads),
                cmocka_unit_test(rate_of_one_a_minute_is_one_a_minute),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
