/* SPDX-License-Identifier: MIT */
/* What to do about a report: sentences, each with the command to type. */
#ifndef MOUNTWATCH_CLIENT_HTML_NEXT_H
#define MOUNTWATCH_CLIENT_HTML_NEXT_H

#include "client/html_writer.h"
#include "client/report_model.h"
#include "client/report_tally.h"

/* -ENOMEM. */
int html_next_write(Html *h, const ReportModel *m, const Tally *tally);

#endif
