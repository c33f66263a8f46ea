/* SPDX-License-Identifier: MIT */
#include "daemon/core/retry.h"
#include "common/time_text.h"

#include <errno.h>
#include <stdio.h>

#define JITTER 5 /* one part in so many, both ways */

RetryVerdict retry_judge(int status) {
        switch (status) {
        case 200 ... 299:
                return RETRY_DELIVERED;
        case 408:
        case 425:
        case 500:
                return RETRY_MESSAGE;
        case 429:
                return RETRY_TARGET;
        case 400 ... 407:
        case 409 ... 424:
        case 426 ... 428:
        case 430 ... 499:
                return RETRY_NEVER;
        default:
                return RETRY_TARGET;
        }
}

usec_t retry_pause(unsigned failures, usec_t first, uint32_t random) {
        static const unsigned factors[] = {1, 6, 24, 120, 360, 1440, 4320};
        const unsigned i = MIN(MAX(failures, 1U), (unsigned) ELEMENTSOF(factors)) - 1;
        const usec_t pause = MIN(first * factors[i], RETRY_PAUSE_MAX), span = pause / JITTER;

        return MIN(pause - span + 2 * span * (random >> 16) / UINT16_MAX, RETRY_PAUSE_MAX);
}

/* "Sun, 06 Nov 1994 08:49:37 GMT", the only form that RFC 9110 lets servers send. */
static int parse_date(const char *value, usec_t *ret) {
        static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
        int day, year, hour, minute, second, end = 0;
        char month[4] = "", text[TIME_TEXT_MAX * 2];
        const char *found;

        /* NOLINTNEXTLINE(cert-err34-c): widths are given, and time_from_text() knows the ranges */
        if (sscanf(value, "%*3[A-Za-z], %2d %3s %4d %2d:%2d:%2d GMT%n", &day, month, &year, &hour,
                   &minute, &second, &end) != 6 ||
            end == 0)
                return -EINVAL;
        found = strlen(month) == 3 ? strstr(months, month) : NULL;
        if (!found || (found - months) % 3 != 0)
                return -EINVAL;
        (void) snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02dZ", year,
                        (int) (found - months) / 3 + 1, day, hour, minute, second);
        return time_from_text(text, ret);
}

int retry_after_parse(const char *value, usec_t now, usec_t *ret) {
        usec_t at;
        const size_t digits = strspn(value, "0123456789");
        int r;

        if (digits > 0 && value[digits] == 0) {
                /* more digits than this are more than a day anyway */
                *ret = digits > 9 ? RETRY_AFTER_MAX
                                  : MIN(strtoull(value, NULL, 10) * USEC_PER_SEC, RETRY_AFTER_MAX);
                return 0;
        }
        r = parse_date(value, &at);
        if (r < 0)
                return r;
        *ret = at > now ? MIN(at - now, RETRY_AFTER_MAX) : 0;
        return 0;
}
