/* SPDX-License-Identifier: MIT */
/*
 * A job: work that may hang (it touches a watched filesystem) or takes long (it copies), done in a thread of its own and handed back
 * to the event loop. A job that never returns keeps its thread and its memory, and nothing else.
 */
#ifndef MOUNTWATCH_JOB_H
#define MOUNTWATCH_JOB_H

#include "daemon/manager.h"

#define JOBS_MAX 64            /* under way at a time; one more is -EAGAIN */
#define JOBS_BACKGROUND_MAX 16 /* of them in the background: held calls always find a thread */

/* In the thread. Must not touch the manager. */
typedef void (*job_run_t)(void *userdata);
/* In the loop. `m` is NULL when the daemon is ending: release userdata, do nothing else. */
typedef void (*job_done_t)(Manager *m, void *userdata);

int jobs_new(Manager *m, Jobs **ret);
Jobs *jobs_free(Jobs *j);
DEFINE_CLEANUP(Jobs *, jobs_free)
/* For what a held call waits for. */
int job_start(Jobs *j, job_run_t run, job_done_t done, void *userdata);
/* For everything else. */
int job_start_background(Jobs *j, job_run_t run, job_done_t done, void *userdata);

#endif
