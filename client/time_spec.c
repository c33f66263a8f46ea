/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <time.h>

#include "client/time_spec.h"
#include "common/time_text.h"

/* Local midnight, `days` before that of today. mktime() puts a day of the month below 1 in order. */
static int midnight(usec_t now, int days, usec_t *ret) {
        time_t seconds = (time_t) (now / USEC_PER_SEC);
        struct tm tm;

        if (!localtime_r(&seconds, &tm))
                return -EINVAL;
        tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
        tm.tm_mday -= days;
        tm.tm_isdst = -1;
        seconds = mktime(&tm);
        if (seconds < 0)
                return -EINVAL;
        *ret = (usec_t) seconds * USEC_PER_SEC;
        return 0;
}

static uint64_t seconds_of(char unit) {
        switch (unit) {
        case 's':
                return 1;
        case 'm':
                return 60;
        case 'h':
                return 3600;
        case 'd':
                return 24 * 3600;
        case 'w':
                return 7 * 24 * 3600;
        default:
                return 0;
        }
}

static int relative(const char *s, usec_t now, usec_t *ret) {
        uint64_t n = 0, unit;

        if (*s < '0' || *s > '9')
                return -EINVAL;
        for (; *s >= '0' && *s <= '9'; s++) {
                n = n * 10 + (uint64_t) (*s - '0');
                if (n > 100000000)
                        return -EINVAL;
        }
        unit = seconds_of(*s);
        if (unit == 0 || s[1])
                return -EINVAL;
        n *= unit * USEC_PER_SEC;
        *ret = n < now ? now - n : 0;
        return 0;
}

int time_spec_parse(const char *s, usec_t now, usec_t *ret) {
        if (str_equal(s, "now")) {
                *ret = now;
                return 0;
        }
        if (str_equal(s, "today"))
                return midnight(now, 0, ret);
        if (str_equal(s, "yesterday"))
                return midnight(now, 1, ret);
        if (relative(s, now, ret) == 0)
                return 0;
        return time_from_text(s, ret) < 0 ? -EINVAL : 0;
}
