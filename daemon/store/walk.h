/* SPDX-License-Identifier: MIT */
/*
 * A walk through all that is below a directory: a stack of open directories, no recursion, no symlink followed, no other filesystem
 * entered.
 */
#ifndef MOUNTWATCH_STORE_WALK_H
#define MOUNTWATCH_STORE_WALK_H

#include "common/macro.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>

#define WALK_DEPTH_MAX 128 /* open directories */

typedef struct WalkLevel {
        DIR *dir;
        int pair_fd; /* of whoever walks: the same directory of a second tree, or -1; closed with the level */
        size_t path_length;
} WalkLevel;

typedef struct Walk {
        WalkLevel levels[WALK_DEPTH_MAX];
        size_t depth;
        char path[PATH_MAX]; /* of the entry at hand */
        dev_t dev;
} Walk;

/* Begins with the directory `name` of dir_fd, which is called `path`. */
int walk_start(Walk *w, int dir_fd, const char *name, const char *path);
/* Goes into the entry at hand, a directory. 1; 0 when it is gone, no directory, on another filesystem or too deep. */
int walk_enter(Walk *w, const char *name);
/* The next entry of the deepest directory, in no order; NULL: it has no more, and is to be left. */
const char *walk_next(Walk *w);
/* The path is that of the directory left. */
void walk_leave(Walk *w);
int walk_dir_fd(const Walk *w);
int *walk_pair_fd(Walk *w);
void walk_done(Walk *w);

#endif
