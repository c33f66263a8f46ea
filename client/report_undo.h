/* SPDX-License-Identifier: MIT */
/* How much of what a session did can be undone. */
#ifndef MOUNTWATCH_CLIENT_REPORT_UNDO_H
#define MOUNTWATCH_CLIENT_REPORT_UNDO_H

#include "common/report.h"

/* Changes, refused ones aside, and those of them that undo puts back: what was made or renamed, and what was preserved. */
int report_count_undoable(const Report *r, size_t *ret_undoable, size_t *ret_all);

#endif
