/* SPDX-License-Identifier: MIT */
/* When it happened: a bar for each slice of the session, by gravity, what was not seen shaded, and the tests in their order. */
#ifndef MOUNTWATCH_CLIENT_HTML_TIMELINE_H
#define MOUNTWATCH_CLIENT_HTML_TIMELINE_H

#include "client/html_writer.h"
#include "client/report_model.h"

#define TIMELINE_SLICES 80
#define TIMELINE_TESTS_MAX 200
#define TIMELINE_TESTS_SHOWN 12 /* the others are folded away */

/* -ENOMEM. */
int html_timeline_write(Html *h, const ReportModel *m);

#endif
