/* SPDX-License-Identifier: MIT */
/* The report as one JSON object (DESIGN.md 4.3), written row by row: a million rows need no second copy in memory. */
#ifndef MOUNTWATCH_CLIENT_REPORT_JSON_H
#define MOUNTWATCH_CLIENT_REPORT_JSON_H

#include <stdio.h>

#include "client/report_model.h"

/* Errors of `f` are found by the caller with ferror(). -ENOMEM: what was written so far is not whole. */
int report_json_write(FILE *f, ReportModel *m);

#endif
