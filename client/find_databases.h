/* SPDX-License-Identifier: MIT */
/*
 * SQLite databases that somebody works with right now: regular files that running processes hold open for writing and that begin as such a
 * database does. Without root only the caller's own processes can be looked into.
 */
#ifndef MOUNTWATCH_CLIENT_FIND_DATABASES_H
#define MOUNTWATCH_CLIENT_FIND_DATABASES_H

#include "client/finding.h"
#include "client/search_bound.h"

/* larger ones are not copied before each session that changes them: PreserveMax= is 256M */
#define DATABASE_PRESERVE_MAX (256ULL * 1024 * 1024)

/* `proc` is the path of procfs. -ENOMEM; what cannot be looked into is passed over. */
int find_databases(const char *proc, SearchBound *bound, Findings *f);

/* Caches, profiles of browsers, what the system itself keeps and can make again. */
bool database_is_dispensable(const char *path);

#endif
