/* SPDX-License-Identifier: MIT */
/*
 * An undo that a client has asked for: planned in slices in the loop, run in a job, told step by step. It goes on as long as somebody
 * listens; when the peer has gone it stops after the step it is in, and the next undo of that session goes on there.
 */
#ifndef MOUNTWATCH_UNDO_JOB_H
#define MOUNTWATCH_UNDO_JOB_H

#include "daemon/manager.h"

typedef struct UndoRequest {
        char session[17];
        char **paths; /* NULL: all. Owned by the request */
        bool dry_run;
        bool force;
        uid_t uid; /* only when all that was done was done by this user's processes; (uid_t) -1: whoever did it */
} UndoRequest;

void undo_request_done(UndoRequest *q);

/* Takes what is inside; answers the call to its end. -EBUSY: that session is being undone. */
int undo_job_start(Manager *m, ApiCall *call, UndoRequest *q);
bool undo_job_is_running(Manager *m, const char *session);
/* Stops all of them: the daemon ends. */
void undo_job_free_all(Manager *m);

#endif
