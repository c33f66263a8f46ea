/* SPDX-License-Identifier: MIT */
/* Moments as text: RFC 3339 with microseconds, UTC. No time zone data, no clock. */
#ifndef MOUNTWATCH_COMMON_TIME_TEXT_H
#define MOUNTWATCH_COMMON_TIME_TEXT_H

#include "common/macro.h"

/* "2026-11-30T18:35:54.123456Z". What is after the year 9999 becomes the end of that year. Returns the buffer. */
#define TIME_TEXT_MAX 32
char *time_to_text(usec_t t, char buffer[static TIME_TEXT_MAX]);
/* RFC 3339 with any offset and fraction (cut after the microsecond); a leap second is the second after it. -EINVAL for
 * what is not that, or is before 1970 or after 9999. */
int time_from_text(const char *s, usec_t *ret);

#endif
