/* SPDX-License-Identifier: MIT */
/*
 * Inner paths: where something lies within its filesystem, "/" being its top, whatever mount, root or namespace it was reached
 * through. The kernel names an open file by the mount that it was opened on; /proc/PID/mountinfo says what of the filesystem
 * that mount shows. Reads nothing but /proc.
 */
#ifndef MOUNTWATCH_KERNEL_INNER_PATH_H
#define MOUNTWATCH_KERNEL_INNER_PATH_H

#include "daemon/kernel/mountinfo.h"

/* The mounts of our own namespace, read again when they have changed. For one thread. */
typedef struct InnerPaths {
        MountTable table;
        int fd; /* tells changes */
} InnerPaths;

int inner_paths_init(InnerPaths *p);
void inner_paths_done(InnerPaths *p);

/* Of a path that lies on the mount, as our namespace names it. -ENOENT: it does not. Caller frees. */
int inner_path_on_mount(const Mount *m, const char *path, char **ret);

typedef struct InnerPath {
        dev_t fs_dev; /* of the superblock, as mountinfo has it */
        char *path;   /* owned */
        bool removed; /* it has lost that name */
} InnerPath;

void inner_path_done(InnerPath *p);
/*
 * Of what is open, in whatever namespace it was opened; `viewer` is a process that can see that mount. -ENOENT: neither
 * we nor it can (a mount that was detached, or is another's).
 */
int inner_path_of_fd(InnerPaths *p, int fd, pid_t viewer, InnerPath *ret);

#endif
