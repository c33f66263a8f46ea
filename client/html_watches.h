/* SPDX-License-Identifier: MIT */
/* What was watched: each watch with its policy, how well it could be seen, and what could have been refused. */
#ifndef MOUNTWATCH_CLIENT_HTML_WATCHES_H
#define MOUNTWATCH_CLIENT_HTML_WATCHES_H

#include "client/html_writer.h"
#include "client/report_model.h"

#define WATCHES_MAX 500

/* -ENOMEM. */
int html_watches_write(Html *h, const ReportModel *m);

#endif
