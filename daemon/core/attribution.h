/* SPDX-License-Identifier: MIT */
/*
 * From a change and its author to an operation: the heart of the daemon, pure.
 *
 * Decides whether the change is an operation at all (ignored path, a write to what the session itself created under that
 * same path), whose it is, whether it is a violation and which rule covered it.
 */
#ifndef MOUNTWATCH_CORE_ATTRIBUTION_H
#define MOUNTWATCH_CORE_ATTRIBUTION_H

#include "daemon/core/change.h"
#include "daemon/core/process.h"
#include "daemon/core/session.h"
#include "daemon/core/watch.h"

/*
 * Returns 1 and fills *ret when the change is an operation to record, 0 when it is not, negative errno for lack of memory
 * (then nothing has changed). Consumes the strings of `change` on 1. `author` may be NULL (never heard of): then it is
 * untagged. Updates what the author's session, and those it was started in, remember of their creations, and its own
 * counts. ret->process_id and ret->seq are left 0: the store's business.
 *
 * What an Allow= glob covers is no violation, of a session or of an untagged process.
 */
int attribute(Change *change, const WatchSpec *watch, Process *author, Operation *ret);

/* To be called before attribute() for every live session: when the change is not by that session, or one inside it, the session
 * forgets the names that lead to something else now. (The identity of the object tells as well, where the filesystem has one.) */
void attribution_forget(const Change *change, const Process *author, Session *session);

#endif
