/* SPDX-License-Identifier: MIT */
/*
 * The report as JUnit XML, for CI systems: one suite "mountwatch" with a case for each marked test, or, when nothing was marked, for
 * each watch. A violation is a failure, what was not seen an error, a watch that was not there is skipped.
 */
#ifndef MOUNTWATCH_CLIENT_REPORT_JUNIT_H
#define MOUNTWATCH_CLIENT_REPORT_JUNIT_H

#include <stdio.h>

#include "client/report_model.h"

/* Errors of `f` are found by the caller with ferror(). -ENOMEM. */
int report_junit_write(FILE *f, const ReportModel *m);

/* Text for XML 1.0: markup escaped, line breaks kept as references, what XML cannot hold (control characters, bytes that are not
 * UTF-8) replaced by U+FFFD. */
void xml_put_text(FILE *f, const char *text);

#endif
