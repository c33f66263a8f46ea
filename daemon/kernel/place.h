/* SPDX-License-Identifier: MIT */
/* The place that a configured path leads to, now: which directory is watched, and how much of it. Touches the filesystem. */
#ifndef MOUNTWATCH_KERNEL_PLACE_H
#define MOUNTWATCH_KERNEL_PLACE_H

#include "common/operation.h"

typedef struct Place {
        Scope scope;
        char *root; /* the watched directory, without symlinks; the parent in file scope */
        char *base; /* what the root is called in the configuration's words */
        char *file; /* file scope: its name in the root; else NULL */
        char fstype[32];
        dev_t dev;   /* of the superblock; what stat() says is another number on btrfs */
        bool remote; /* a server may change it as well */
} Place;

/* -ENOENT, -ENOTDIR, …: the path does not lead anywhere (yet). */
int place_resolve(const char *path, Place *ret);
void place_done(Place *p);
/* Does /etc/fstab (or another table of the same form) mount something on this path? */
bool place_is_expected_mount(const char *fstab, const char *path);

#endif
