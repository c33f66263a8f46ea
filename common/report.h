/* SPDX-License-Identifier: MIT */
/*
 * The report (DESIGN.md 4.3): operations in order become rows folded by (op, path, from, process, test), and the net
 * effect. Pure: no JSON, no I/O. The client builds it from a stream, so that a million operations cost the daemon a cursor.
 */
#ifndef MOUNTWATCH_COMMON_REPORT_H
#define MOUNTWATCH_COMMON_REPORT_H

#include "common/operation.h"

typedef struct Report Report;
typedef struct Net Net;

typedef struct NetRename {
        const char *from, *to;
} NetRename;

/* The effect from start to stop. Borrowed from the Report; each list sorted by path. */
typedef struct NetLists {
        const char **created, **modified, **deleted;
        size_t n_created, n_modified, n_deleted;
        NetRename *renamed;
        size_t n_renamed;
} NetLists;

int report_new(Report **ret);
Report *report_free(Report *r);
DEFINE_CLEANUP(Report *, report_free)

/* Takes what is inside the struct (on success); operations must come in order of seq. Duplicated process ids are fine. */
int report_take_process(Report *r, ProcessInfo *p);
int report_take_operation(Report *r, Operation *o);

/* Folded rows in order of first. Borrowed. */
size_t report_n_rows(const Report *r);
const Operation *report_row(const Report *r, size_t i);
/* NULL when unknown. */
const ProcessInfo *report_process(const Report *r, int64_t id);
/* Refused operations and metadata do not count. */
int report_net(Report *r, const NetLists **ret);

#endif
