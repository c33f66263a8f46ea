/* SPDX-License-Identifier: MIT */
/* So many a minute, and a few at once after a rest (GCRA). Times are of one clock, in microseconds. */
#ifndef MOUNTWATCH_CORE_RATE_H
#define MOUNTWATCH_CORE_RATE_H

#include "common/macro.h"

#define RATE_BURST 5

typedef struct Rate {
        usec_t due; /* when all that was taken would have come, evenly spread; 0 at the start */
} Rate;

/* When the next one may come; in the past: now. */
usec_t rate_ready_at(const Rate *r, unsigned per_minute);
void rate_take(Rate *r, unsigned per_minute, usec_t now);

#endif
