/* SPDX-License-Identifier: MIT */
/* The numbers of a report: how many paths were changed, deleted, refused or allowed, and on which watches. */
#ifndef MOUNTWATCH_CLIENT_REPORT_TALLY_H
#define MOUNTWATCH_CLIENT_REPORT_TALLY_H

#include "common/report.h"

typedef struct Tally {
        /* paths, each counted once however often it was changed */
        size_t changed;  /* by violations */
        size_t deleted;  /* of those: removed */
        size_t replaced; /* of those: destroyed by a rename over them, and not removed as well */
        size_t refused;  /* only tried */
        size_t allowed;  /* changed without any violation */
        /* watches with a violation, refused ones included */
        size_t n_watches;
        const char *watch; /* the first of them; borrowed from the report */
} Tally;

int tally_report(const Report *report, Tally *ret);

#endif
