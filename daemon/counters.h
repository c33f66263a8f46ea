/* SPDX-License-Identifier: MIT */
/*
 * What has been since the daemon started, in numbers, for GetMetrics. They only go up; a new daemon begins at 0. Those of a watch
 * go with it.
 */
#ifndef MOUNTWATCH_COUNTERS_H
#define MOUNTWATCH_COUNTERS_H

#include "common/alert.h"
#include "common/operation.h"

#define COUNTED_REASONS_MAX 64

typedef struct WatchCounters {
        uint64_t operations, violations;
        uint64_t refused; /* attempts: did not happen */
} WatchCounters;

typedef struct CountedReason {
        char reason[32];
        uint64_t n;
} CountedReason;

typedef struct Counters {
        uint64_t started;             /* sessions */
        uint64_t ended[_VERDICT_MAX]; /* likewise */
        uint64_t alerts[_ALERT_KIND_MAX];
        CountedReason losses[COUNTED_REASONS_MAX]; /* of sessions */
        size_t n_losses;
} Counters;

static inline void watch_counters_add(WatchCounters *c, const Operation *op) {
        c->operations++;
        c->violations += op->violation;
        c->refused += !operation_has_happened(op);
}

/* When there are too many reasons, further ones are not told apart: the last is "other". */
void counters_add_loss(Counters *c, const char *reason);

#endif
