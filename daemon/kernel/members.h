/* SPDX-License-Identifier: MIT */
/*
 * Members: which process belongs to which session, for the threads that answer held calls and cannot ask the event loop. Kept
 * up to date by the connector at the moment it drains its socket: the fork of a process that waits has been drained before it
 * is looked up. Thread-safe; a look-up is one hash probe under a mutex that nobody holds for long.
 */
#ifndef MOUNTWATCH_KERNEL_MEMBERS_H
#define MOUNTWATCH_KERNEL_MEMBERS_H

#include "daemon/core/access.h"

typedef struct Members Members;

int members_new(Members **ret);
Members *members_free(Members *m);
DEFINE_CLEANUP(Members *, members_free)

/* From the event loop: a session, its rule, and who is in it. Innermost wins: adding a pid moves it. */
int members_set_rule(Members *m, const SessionRule *rule); /* adds or replaces by id */
void members_drop_session(Members *m, const char *id, const char *heir /* or NULL */);
int members_add(Members *m, pid_t pid, const char *id);

/* From the connector, in order. */
void members_fork(Members *m, pid_t parent, pid_t child);
void members_exit(Members *m, pid_t pid);

/* From a gate thread. false: in no session. */
bool members_find(Members *m, pid_t pid, SessionRule *ret);
bool members_is_empty(Members *m);

#endif
