/* SPDX-License-Identifier: MIT */
/*
 * The rows of a report as people want to read them: by watch and directory, the gravest first everywhere, and what only differs in process or
 * test folded into one.
 */
#ifndef MOUNTWATCH_CLIENT_REPORT_GROUPS_H
#define MOUNTWATCH_CLIENT_REPORT_GROUPS_H

#include "common/report.h"

/* Gravest first. */
typedef enum Weight {
        WEIGHT_DELETED,
        WEIGHT_REPLACED,
        WEIGHT_MODIFIED,
        WEIGHT_CREATED,
        WEIGHT_RENAMED,
        WEIGHT_METADATA,
        _WEIGHT_MAX,
} Weight;

typedef enum GroupsPick {
        GROUPS_ALL,
        GROUPS_VIOLATIONS,
        GROUPS_ALLOWED, /* the rest */
} GroupsPick;

typedef struct GroupRow {
        const Operation *op; /* borrowed from the report; the first of those that are folded */
        uint64_t count;
} GroupRow;

typedef struct Group {
        const char *watch;     /* borrowed */
        const char *directory; /* not terminated: n_directory bytes, without the slash at the end */
        size_t n_directory;
        GroupRow *rows; /* by weight, then by path */
        size_t n_rows;
        size_t n_weight[_WEIGHT_MAX];
        size_t n_refused; /* of the rows: did not happen */
        Weight worst;
        Weight watch_worst; /* of all groups of its watch */
} Group;

typedef struct Groups {
        Group *items;
        size_t n;
        GroupRow *rows; /* storage of all */
        size_t n_rows;
        size_t n_left_out; /* rows that were not picked */
} Groups;

Weight operation_weight(const Operation *op);
/* "deleted", "replaced", … */
const char *weight_to_string(Weight weight);

int groups_new(const Report *report, GroupsPick pick, Groups *ret);
void groups_done(Groups *g);

#endif
