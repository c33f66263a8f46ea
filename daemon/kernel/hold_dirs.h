/* SPDX-License-Identifier: MIT */
/*
 * The directories of a subtree, each with a mark of a permission group. A permission group cannot tell of new directories, so
 * inotify does: it works on every filesystem and kernel, and needs no author.
 *
 * Each directory is watched and marked before it is read, so whatever comes later is told. What is left: opens in a new
 * directory between mkdir(2) and our mark, some tenths of a millisecond. A directory that leaves keeps its mark: opens there are held
 * for a moment, and let, since they are not in the watch.
 */
#ifndef MOUNTWATCH_KERNEL_HOLD_DIRS_H
#define MOUNTWATCH_KERNEL_HOLD_DIRS_H

#include "common/macro.h"

#include "daemon/kernel/hold_made.h"

typedef struct HoldDirs HoldDirs;

/* `creations` is marked alongside; borrowed. */
int hold_dirs_new(int group, const char *root, Creations *creations, HoldDirs **ret);
HoldDirs *hold_dirs_free(HoldDirs *d);
DEFINE_CLEANUP(HoldDirs *, hold_dirs_free)

/* Readable when there is something to follow. */
int hold_dirs_fd(const HoldDirs *d);
/* Takes in what was told; hold_dirs_step() has to follow. -ESTALE: the root is gone. */
int hold_dirs_read(HoldDirs *d);
/* One directory. 1: there are more. -ENOSPC: out of inotify watches. -EACCES: one cannot be looked into. */
int hold_dirs_step(HoldDirs *d);

#endif
