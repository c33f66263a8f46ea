/* SPDX-License-Identifier: MIT */
/* Freezing and killing a session's tree, those of the sessions inside it included: by its cgroup, or member by member. */
#ifndef MOUNTWATCH_RESTRAIN_H
#define MOUNTWATCH_RESTRAIN_H

#include "daemon/live.h"

/* Each returns how many processes there were. */
int restrain_kill(Live *l);
int restrain_freeze(Live *l, bool freeze);
int restrain_freeze_by_policy(Live *l); /* those who follow alerts are told */
/* One member only; -EPERM, -ESRCH. */
int restrain_kill_member(Live *l, pid_t pid);

#endif
