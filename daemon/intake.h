/* SPDX-License-Identifier: MIT */
/*
 * The intake: notes of the watch threads and messages of the process connector become operations.
 *
 * Order is everything: notes are taken first, then the connector is drained, so that the fork of every author is known; then the
 * notes are worked off, in slices, so that a burst of a hundred thousand does not keep the API waiting.
 */
#ifndef MOUNTWATCH_INTAKE_H
#define MOUNTWATCH_INTAKE_H

#include "daemon/manager.h"

void intake_take(Watched *w);      /* notes wait */
void intake_work(Watched *w);      /* one slice of the backlog */
void intake_processes(Manager *m); /* drains the connector into the process table */

/* The living process of that number with its ancestors, learned from /proc where the table does not know them. NULL when it is
 * gone. */
Process *intake_learn(Manager *m, pid_t pid);

#endif
