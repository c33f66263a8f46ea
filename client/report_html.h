/* SPDX-License-Identifier: MIT */
/*
 * The report as one HTML page that needs nothing else: no scripts, no requests, folding by <details>. The verdict and what to do about it stand
 * first. However many changes there were, the page stays small enough to open; what is not on it is counted there.
 */
#ifndef MOUNTWATCH_CLIENT_REPORT_HTML_H
#define MOUNTWATCH_CLIENT_REPORT_HTML_H

#include <stdio.h>

#include "client/report_model.h"

/* Errors of `f` are found by the caller with ferror(). -ENOMEM. */
int report_html_write(FILE *f, const ReportModel *m);

#endif
