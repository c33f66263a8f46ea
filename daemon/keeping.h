/* SPDX-License-Identifier: MIT */
/* Keeping: what a held call may lose is copied to the store before the call goes on. */
#ifndef MOUNTWATCH_KEEPING_H
#define MOUNTWATCH_KEEPING_H

#include "daemon/gatekeeper.h"

/* Consumes the attempt: it goes on with gatekeeper_go_on() when everything that it may lose has been kept; when that fails, as the
 * policy says: deny and ask refuse, the others go on and say that it was not preserved. */
void keeping_start(Manager *m, Gate *g, Attempt *a);
/* How many wait for a thread. */
size_t keeping_count(Manager *m);
void keeping_free_all(Manager *m);

/* Bytes that may still be kept; old sessions give theirs up for it. 0 when live sessions have used all up. */
uint64_t keeping_room(Manager *m);

#endif
