/* SPDX-License-Identifier: MIT */
/* Shared by the files of the resolver (guard_path.h): the caller's view, the walk by hand, and what calls ask for. */
#ifndef MOUNTWATCH_KERNEL_GUARD_WALK_H
#define MOUNTWATCH_KERNEL_GUARD_WALK_H

#include "daemon/kernel/guard_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>

typedef char ProcName[32]; /* of a file of a thread, below /proc */

static inline void proc_name(const Walker *w, const char *what, ProcName ret) {
        (void) snprintf(ret, sizeof(ProcName), "%d/%s", (int) w->tid, what);
}

/* openat2(2) with O_PATH. A descriptor, or a negative errno. */
static inline int open_path(int base, const char *path, unsigned flags, uint64_t resolve) {
        struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags, .resolve = resolve};
        int fd = (int) syscall(SYS_openat2, base, path, &how, sizeof(how));

        return fd < 0 ? -errno : fd;
}

/* "." or "..". */
static inline bool is_dots(const char *name) {
        return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

/*
 * Component by component, as the kernel would for the caller: for paths with magic links on the way, and for symlinks at the end
 * that lead to nothing. base may be AT_FDCWD for an absolute path. What is found is a name in a directory, or an object.
 */
int walk_by_hand(Walker *w, int base, const char *path, bool follow, Spot *ret);

#endif
