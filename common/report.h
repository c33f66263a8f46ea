/* SPDX-License-Identifier: MIT */
/*
 * The report (DESIGN.md 4.3): operations in order become rows folded by (op, path, from, process, test), and the net
 * effect (net.h). Pure: no JSON, no I/O. The client builds it from a stream, so that a million operations cost the daemon a
 * cursor.
 *
 * A process is its pid and start time, whatever it executes; a process without a start time is its image. Refused attempts
 * have rows of their own: folded with one that succeeded, either the refusal or the damage would not be told.
 */
#ifndef MOUNTWATCH_COMMON_REPORT_H
#define MOUNTWATCH_COMMON_REPORT_H

#include "common/net.h"
#include "common/operation.h"

typedef struct Report Report;

int report_new(Report **ret);
Report *report_free(Report *r);
DEFINE_CLEANUP(Report *, report_free)

/* Takes what is inside the struct (on success); operations must come in order of seq, each after its process. Duplicated
 * process ids are fine: the first stays. */
int report_take_process(Report *r, ProcessInfo *p);
int report_take_operation(Report *r, Operation *o);

/* Folded rows in the order of their first operations: count added, first the earliest and last the latest, the gravest action,
 * a violation, a replaced target, a preserved content of any of them; inferred when one of them was. Borrowed. */
size_t report_n_rows(const Report *r);
const Operation *report_row(const Report *r, size_t i);
/* NULL when unknown. */
const ProcessInfo *report_process(const Report *r, int64_t id);
int report_net(Report *r, const NetLists **ret);

#endif
