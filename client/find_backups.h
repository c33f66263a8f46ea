/* SPDX-License-Identifier: MIT */
/*
 * Folders of backups: repositories of borg, restic, rsnapshot and kopia by what lies in them, and folders that are called so and are not empty.
 * Level by level, so that what is near the top is found first; no network, no hidden folders, no links followed.
 */
#ifndef MOUNTWATCH_CLIENT_FIND_BACKUPS_H
#define MOUNTWATCH_CLIENT_FIND_BACKUPS_H

#include "client/finding.h"
#include "client/search_bound.h"

#define BACKUP_DEPTH_MAX 4

/* From `top` ("/" for the machine) on. -ENOMEM; what cannot be looked into is passed over. */
int find_backups(const char *top, SearchBound *bound, Findings *f);

/* "backups", "Backup", "db-backups", "nas_backup" … */
bool backup_is_named_so(const char *name);

#endif
