/* SPDX-License-Identifier: MIT */
/* Globs of the configuration, and what a policy makes of an operation. */
#ifndef MOUNTWATCH_CORE_POLICY_H
#define MOUNTWATCH_CORE_POLICY_H

#include "daemon/core/watch.h"

#define GLOB_PATTERN_MAX 1024 /* bytes; a longer pattern matches nothing */

/*
 * Does `path` (relative, no leading slash) match? * and ? stop at '/', ** does not; sets such as [a-z], [!a-z] and [[:digit:]]
 * and \ as in glob(7), but a leading dot is a byte like any other. Bytes, not characters; classes are those of ASCII.
 * A pattern of a directory and two stars also matches the directory itself; two stars as the first or a middle component
 * also match no component at all. Time is at most length of the path times length of the pattern.
 */
bool glob_match(const char *pattern, const char *path);

/* The first of the patterns (NULL-terminated) that matches, or NULL. */
const char *glob_find(char *const *patterns, const char *path);

/* The path relative to the watch, "" for the watch itself, NULL when it is elsewhere. Points into `path`. */
const char *watch_relative(const WatchSpec *w, const char *path);
/* The name that globs are compared with. As above, and a watch of one file has siblings: "/x.db-wal" is "-wal". */
const char *watch_relative_name(const WatchSpec *w, const char *path);

/* The stricter of the two. */
static inline Policy policy_stricter(Policy a, Policy b) {
        return a > b ? a : b;
}

#endif
