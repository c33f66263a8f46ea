/* SPDX-License-Identifier: MIT */
/*
 * A follower: one FollowAlerts call that is being answered. First what waits for an answer and what is frozen, then each alert, and
 * the lists again when they change. One that reads too slowly is told how many alerts it missed; nobody waits for it.
 */
#ifndef MOUNTWATCH_FOLLOW_H
#define MOUNTWATCH_FOLLOW_H

#include "common/alert.h"
#include "daemon/manager.h"

int follow_start(Manager *m);
void follow_stop(Manager *m);

/* `uid`: only what belongs to this user; (uid_t) -1: everything. */
int follow_begin(Manager *m, ApiCall *call, uid_t uid);
void follow_publish(Manager *m, const Alert *a);
/* What is held, or which sessions are frozen, has changed: told in a moment, several changes together. */
void follow_lists_changed(Manager *m);

#endif
