/* SPDX-License-Identifier: MIT */
#include "daemon/core/rate.h"

static usec_t interval(unsigned per_minute) {
        return 60 * USEC_PER_SEC / per_minute;
}

usec_t rate_ready_at(const Rate *r, unsigned per_minute) {
        const usec_t ahead = (MIN((unsigned) RATE_BURST, per_minute) - 1) * interval(per_minute);

        return r->due > ahead ? r->due - ahead : 0;
}

void rate_take(Rate *r, unsigned per_minute, usec_t now) {
        r->due = MAX(r->due, now) + interval(per_minute);
}
