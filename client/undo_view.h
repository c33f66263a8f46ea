/* SPDX-License-Identifier: MIT */
/* An undo as people read it: a line for each step, and a sentence at the end. Types UndoStep and UndoResult of io.mountwatch. */
#ifndef MOUNTWATCH_CLIENT_UNDO_VIEW_H
#define MOUNTWATCH_CLIENT_UNDO_VIEW_H

#include "client/terminal.h"
#include "common/json_member.h"

typedef struct UndoResult {
        int64_t pending, done, nothing, refused, impossible, failed;
} UndoResult;

int undo_result_from_json(json_object *o, UndoResult *ret);
/* Nothing is left that should have been put back. */
bool undo_result_is_whole(const UndoResult *r);

/* What is as it should be already is not worth a line. 0 or negative errno. */
int undo_step_print(const Terminal *t, json_object *step);
/* The last line. `session` for what to type next. */
void undo_result_print(const Terminal *t, const UndoResult *r, const char *session, bool dry_run);

#endif
