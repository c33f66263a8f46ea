/* SPDX-License-Identifier: MIT */
/*
 * After the fact: a change that no gate held has been seen. What the policy still can do about it (freeze, kill) is done, and the row
 * tells what was done: kept before, allowed by a person, frozen, killed.
 */
#ifndef MOUNTWATCH_ENFORCE_H
#define MOUNTWATCH_ENFORCE_H

#include "daemon/live.h"

/* `op` is of the session `l`, on a watch with this spec, by process `pid`; not stored yet. */
void enforce(Live *l, const WatchSpec *spec, Operation *op, pid_t pid);

#endif
