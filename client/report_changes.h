/* SPDX-License-Identifier: MIT */
/* Two paragraphs of the report for people: what changed, and who did it. */
#ifndef MOUNTWATCH_CLIENT_REPORT_CHANGES_H
#define MOUNTWATCH_CLIENT_REPORT_CHANGES_H

#include "client/report_model.h"
#include "client/terminal.h"

#define CHANGES_IN_GROUP_MAX 10
#define CHANGES_MAX 40
#define AUTHORS_MAX 8

/* *ret_left_out: whether something was folded away that `all` would show. -ENOMEM. */
int report_changes_write(const Terminal *t, const ReportModel *m, bool all, bool *ret_left_out);
int report_authors_write(const Terminal *t, const ReportModel *m, bool all, bool *ret_left_out);

/* Whether anything of this session is a violation: then the rest is only counted unless `all` is asked for. */
bool report_has_violations(const Report *report);

#endif
