/* SPDX-License-Identifier: MIT */
/* Globs of the configuration, and what a policy makes of an operation. */
#ifndef MOUNTWATCH_CORE_POLICY_H
#define MOUNTWATCH_CORE_POLICY_H

#include "daemon/core/watch.h"

/* Does `path` (relative, no leading slash) match? * and ? stop at '/', ** does not; [a-z] and \ as in glob(7). Bytes, not
 * characters. A pattern of a directory and two stars also matches the directory itself. Runs in bounded time for any pattern. */
bool glob_match(const char *pattern, const char *path);

/* The first of the patterns that matches, or NULL. */
const char *glob_find(char *const *patterns, const char *path);

/* The path relative to the watch, "" for the watch itself, NULL when it is elsewhere. Points into `path`. */
const char *watch_relative(const WatchSpec *w, const char *path);

/* The stricter of the two. */
static inline Policy policy_stricter(Policy a, Policy b) {
        return a > b ? a : b;
}

#endif
