/* SPDX-License-Identifier: MIT */
/* Who started whom, from the session's root down to everybody who changed something, with how much that was. */
#ifndef MOUNTWATCH_CLIENT_HTML_PROCESSES_H
#define MOUNTWATCH_CLIENT_HTML_PROCESSES_H

#include "client/html_writer.h"
#include "client/report_model.h"

#define PROCESSES_AUTHORS_MAX 400
#define PROCESSES_COMMAND_MAX 600 /* columns of a command line */

/* -ENOMEM. */
int html_processes_write(Html *h, const ReportModel *m);

#endif
