/* SPDX-License-Identifier: MIT */
/* When something that was not delivered is tried again. */
#ifndef MOUNTWATCH_CORE_RETRY_H
#define MOUNTWATCH_CORE_RETRY_H

#include "common/macro.h"

#define RETRY_ATTEMPTS_MAX 12 /* 33 hours with a first pause of 5 seconds */
#define RETRY_PAUSE_MAX (6 * 3600 * USEC_PER_SEC)
#define RETRY_AFTER_MAX (24 * 3600 * USEC_PER_SEC)   /* of what a server may ask for */
#define RETRY_AGE_MAX (3 * 24 * 3600 * USEC_PER_SEC) /* older, and not delivered: given up */

typedef enum RetryVerdict {
        RETRY_DELIVERED,
        RETRY_MESSAGE, /* may be about this message alone: later, and meanwhile the others */
        RETRY_TARGET,  /* the server is not there, or busy: all wait */
        RETRY_NEVER,   /* it will not take this message */
} RetryVerdict;

/* Of a status of HTTP; 0: there was no answer. */
RetryVerdict retry_judge(int status);
/* The pause after so many failures in a row (1: the first): `first`, then 6, 24, 120, 360, 1440 times that, at most RETRY_PAUSE_MAX;
 * up to a fifth more or less, by `random`. */
usec_t retry_pause(unsigned failures, usec_t first, uint32_t random);
/* Retry-After: seconds, or a date of HTTP. The pause from `now`, at most RETRY_AFTER_MAX. -EINVAL. */
int retry_after_parse(const char *value, usec_t now, usec_t *ret);

#endif
