/* SPDX-License-Identifier: MIT */
/* Rows of a report: operations that are the same one again are folded (report.h says which are). */
#ifndef MOUNTWATCH_COMMON_REPORT_ROW_H
#define MOUNTWATCH_COMMON_REPORT_ROW_H

#include "common/hash_index.h"
#include "common/operation.h"

typedef struct ReportRow ReportRow;
typedef struct ReportWord ReportWord;

typedef struct ReportRows {
        ReportRow **rows; /* in order of arrival */
        size_t n;
        HashIndex table;
        ReportWord *words; /* texts that many rows share: session, watch, rule, test */
} ReportRows;

void report_rows_done(ReportRows *rs);
/* `process` may be NULL: unknown. Takes what is inside `o` on success. After -ENOMEM the rows can only be freed. */
int report_rows_take(ReportRows *rs, Operation *o, const ProcessInfo *process);
const Operation *report_rows_get(const ReportRows *rs, size_t i);

#endif
