/* SPDX-License-Identifier: MIT */
/* Everything a report shows of one session, fetched from the daemon: session, watches, operations, and what others did. */
#ifndef MOUNTWATCH_CLIENT_REPORT_MODEL_H
#define MOUNTWATCH_CLIENT_REPORT_MODEL_H

#include "client/connection.h"
#include "client/process_source.h"
#include "client/session_view.h"
#include "client/watch_view.h"
#include "common/report.h"

typedef struct ReportModel {
        SessionView session;
        WatchViews watches;
        Report *own;
        Report *untagged; /* NULL: no watch asks for them */
} ReportModel;

int report_model_new(ReportModel **ret);
ReportModel *report_model_free(ReportModel *m);
DEFINE_CLEANUP(ReportModel *, report_model_free)

/*
 * Asks for session `id` ("last" or NULL: the one started last). With `wait`, which needs the id, the answer comes when the session has
 * ended. Returns as connection_call() does.
 */
int report_model_fetch(Connection *c, const char *id, bool wait, ReportModel **ret);

/* What one reply of GetOperations (or Blame) has, put into a report. -EBADMSG for another shape. */
int report_take_reply(Report *report, json_object *reply);
/* Its processes alone. */
int report_take_processes(Report *report, json_object *reply);

/* What was in force on a watch for the session: `--policy` makes it stricter. */
Policy report_model_policy(const ReportModel *m, const WatchView *watch);

ProcessSource report_process_source(const Report *r);

#endif
