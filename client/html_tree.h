/* SPDX-License-Identifier: MIT */
/* The changes of a report as a tree of directories that folds, the gravest first, each folder with the counts of all that is below it. */
#ifndef MOUNTWATCH_CLIENT_HTML_TREE_H
#define MOUNTWATCH_CLIENT_HTML_TREE_H

#include "client/html_writer.h"
#include "client/report_groups.h"
#include "client/report_model.h"

/* A browser opens what stays below these in a moment; what is beyond is counted, not listed. */
#define TREE_ROWS_MAX 4000
#define TREE_FOLDERS_MAX 1500
#define TREE_ROWS_IN_FOLDER_MAX 200
/* the path of what lies deeper is written in one line */
#define TREE_DEPTH_MAX 12
/* a folder with more than these below it is closed at first, and so are all others when so many are in sight */
#define TREE_OPEN_MAX 25
#define TREE_IN_SIGHT_MAX 120
/* of what lies side by side the rest is folded away */
#define TREE_SIBLINGS_MAX 15

/* `report` is m->own or m->untagged. Nothing is written when there is nothing. -ENOMEM. */
int html_tree_write(Html *h, const ReportModel *m, const Report *report, GroupsPick pick);

#endif
