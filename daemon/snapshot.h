/* SPDX-License-Identifier: MIT */
/*
 * Snapshots: a session without a guard removes and renames without asking anybody, so what it may lose is kept when it starts: all of
 * each watch with Preserve= that is no larger than its SnapshotMax=. Taken by jobs, by reflink where the filesystem can.
 */
#ifndef MOUNTWATCH_SNAPSHOT_H
#define MOUNTWATCH_SNAPSHOT_H

#include "daemon/live.h"

#define SNAPSHOT_ENTRIES_MAX 200000
#define SNAPSHOT_USEC (20 * USEC_PER_SEC) /* for all of a session; clients wait for it */

bool snapshot_is_wanted(Manager *m, const Live *l);

/* `reason` in words: why there is none of this watch; once for each such watch. */
typedef void (*snapshot_missing_t)(const char *watch, const char *reason, void *userdata);
/* Once, when all are taken or given up; the session may have ended meanwhile. */
typedef void (*snapshot_done_t)(Manager *m, void *userdata);
int snapshot_take(Manager *m, Live *l, snapshot_missing_t missing, snapshot_done_t done,
                  void *userdata);
/* The daemon ends: nobody is told any more. */
void snapshot_free_all(Manager *m);

#endif
