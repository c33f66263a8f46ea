/* SPDX-License-Identifier: MIT */
/*
 * What a session made: hash of the path -> object. An open table of two words for each entry instead of uthash, because a
 * session may create a million files and uthash takes five times the memory.
 */
#ifndef MOUNTWATCH_CORE_CREATED_H
#define MOUNTWATCH_CORE_CREATED_H

#include "common/macro.h"

#include <stdbool.h>

#define CREATED_MAX (1024 * 1024) /* entries; 32 MiB */

typedef struct CreatedSet CreatedSet;

int created_set_new(CreatedSet **ret);
CreatedSet *created_set_free(CreatedSet *c);
DEFINE_CLEANUP(CreatedSet *, created_set_free)

/* `key` is the hash of a path. Replaces what was known of it. -ENOSPC when CREATED_MAX others are known, -ENOMEM. */
int created_set_put(CreatedSet *c, uint64_t key, uint64_t object);
bool created_set_find(const CreatedSet *c, uint64_t key, uint64_t *ret_object);
void created_set_remove(CreatedSet *c, uint64_t key);
size_t created_set_count(const CreatedSet *c);

#endif
