/* SPDX-License-Identifier: MIT */
/*
 * Hashes of what was kept live: made when nobody waits any more, one file after the other, so that copies for held calls never wait
 * for a thread. What has no hash is undone all the same; only its blob cannot be compared first.
 */
#ifndef MOUNTWATCH_HASHING_H
#define MOUNTWATCH_HASHING_H

#include "daemon/manager.h"
#include "daemon/store/kept.h"

#define HASHING_MAX 100000 /* files that wait; more are left without */

/* Takes the files out of the list that have content and have been stored. */
void hashing_add(Manager *m, const char *session, KeptList *list);
void hashing_free_all(Manager *m);

#endif
