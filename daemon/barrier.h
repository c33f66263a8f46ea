/* SPDX-License-Identifier: MIT */
/*
 * A barrier: everything that happened on the watches before it began has been taken in when it ends. Each watch thread
 * is asked to read its queue empty and to say so; a watch that does not answer until the deadline (a dead share) is left out
 * and can be asked for by name.
 */
#ifndef MOUNTWATCH_BARRIER_H
#define MOUNTWATCH_BARRIER_H

#include "daemon/manager.h"

#define BARRIER_READ_USEC (2 * USEC_PER_SEC) /* for somebody who waits for an answer */
#define BARRIER_END_USEC (5 * USEC_PER_SEC)  /* for the last word of a session */

/* `missing`: watches that have not answered. Always called from the loop, never from barrier_start(). */
typedef void (*barrier_done_t)(Manager *m, Watched *const *missing, size_t n_missing,
                               void *userdata);

int barrier_start(Manager *m, usec_t deadline, barrier_done_t done, void *userdata);
/* A watch has answered, or is going away. */
void barrier_arrived(Manager *m, uint64_t cookie, Watched *w);
void barrier_drop_watch(Manager *m, Watched *w);
/* Ends all without calling anybody back. */
void barrier_free_all(Manager *m);

#endif
