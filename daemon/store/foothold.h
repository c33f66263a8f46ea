/* SPDX-License-Identifier: MIT */
/*
 * A foothold: a directory, held open, and a name in it. The way there leads through no symlink and into no other filesystem, so that
 * nobody who may write in a watch can lead us, who may write everywhere, out of it.
 */
#ifndef MOUNTWATCH_STORE_FOOTHOLD_H
#define MOUNTWATCH_STORE_FOOTHOLD_H

#include "common/macro.h"

#include <stdbool.h>

typedef struct Foothold {
        int dir_fd;       /* O_PATH would not do: it is read and synced */
        const char *name; /* points into the path; "." for the root itself */
} Foothold;

#define FOOTHOLD_NULL ((Foothold){.dir_fd = -1})

/* `path` is at or below `root` (the path of the watch), or beside it with its name as a prefix (the side files of a watched file).
 * root NULL: anywhere. -ENOENT, -ENOTDIR: its directory is not there; -ELOOP, -EXDEV: not by that way. */
int foothold_open(const char *root, const char *path, Foothold *ret);
void foothold_done(Foothold *s);
/* path is `above` or lies below it. */
bool path_is_below(const char *path, const char *above);

#endif
