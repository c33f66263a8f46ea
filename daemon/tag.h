/* SPDX-License-Identifier: MIT */
/* The tag: which processes belong to a session, in the process table and, where there is one, in the session's cgroup. */
#ifndef MOUNTWATCH_TAG_H
#define MOUNTWATCH_TAG_H

#include "daemon/live.h"

/* Tags the process of a new session and all its descendants, and settles which session it lies in. -ESRCH: gone, or somebody else
 * by now. -EALREADY: `automatic`, and it is in a session. */
int tag_root(Live *l, bool automatic);
/* Puts one process into the session. */
int tag_member(Live *l, Process *p);
/* After a restart: whoever the cgroup, or the chain of parents, says is a member. */
int tag_again(Live *l);
/* Process messages were lost: members that are gone are taken out, those that are there are taken in. */
void tag_resync(Live *l);
/* The table says nobody is left. The kernel may know of somebody: a member whose fork message was lost, or one that is just
 * dying (then cgroup.events comes once more). */
bool tag_has_members(Live *l);

#endif
