/* SPDX-License-Identifier: MIT */
/*
 * Members: which process belongs to which session, for the threads that answer held calls and cannot ask the event loop. Kept
 * up to date by the connector at the moment it drains its socket: the fork of a process that waits has been drained before it
 * is looked up. Thread-safe; a look-up is one hash probe under a mutex that nobody holds for long.
 *
 * Most who wait are in no session, and to drain the connector for each of them would cost them time. So who was born to an
 * outsider, or was looked up after a drain and found in no session, is remembered as an outsider until it ends; what it may become
 * is told here in order like anything else.
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
/* -ENOENT: no such session. What the connector tells later of a time before this call does not undo it. */
int members_add(Members *m, pid_t pid, const char *id);

/* From the connector, in order. */
/* `at`: CLOCK_MONOTONIC. -ENOMEM: the child of a member is missing. */
int members_fork(Members *m, pid_t parent, pid_t child, nsec_t at);
/* Some exits turn out to have been none (connector.h): a member is forgotten some time after its exit only. */
void members_exit(Members *m, pid_t pid);
void members_exec(Members *m, pid_t pid);
void members_lost(Members *m); /* messages are missing: what is known of outsiders may be wrong */

/* From a gate thread. false: in no session. */
bool members_find(Members *m, pid_t pid, SessionRule *ret);
bool members_is_empty(Members *m);

typedef enum Membership {
        MEMBERSHIP_UNKNOWN, /* to be asked again after connector_poke(), then it is an outsider */
        MEMBERSHIP_OUTSIDER,
        MEMBERSHIP_MEMBER,
} Membership;

Membership members_look(Members *m, pid_t pid, SessionRule *ret);
/* As members_find(), after connector_poke(): who is not found is an outsider from now on. `ret` may be NULL. */
bool members_settle(Members *m, pid_t pid, SessionRule *ret);

#endif
