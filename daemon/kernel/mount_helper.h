/* SPDX-License-Identifier: MIT */
/*
 * The processes that serve a FUSE mount (sshfs, bindfs, gocryptfs, ...): whoever uses the mount waits for them, so they must
 * never be made to wait. They have /dev/fuse open. The kernel's own servers (nfsd, ksmbd) and smbd are in no session.
 */
#ifndef MOUNTWATCH_KERNEL_MOUNT_HELPER_H
#define MOUNTWATCH_KERNEL_MOUNT_HELPER_H

#include "common/macro.h"

#include <stdbool.h>
#include <sys/types.h>

#define MOUNT_HELPERS 64

/* What was found out, by process. For one thread. */
typedef struct MountHelpers {
        struct {
                pid_t pid;
                uint64_t start_ticks;
                bool yes;
        } known[MOUNT_HELPERS];
} MountHelpers;

bool mount_helper_is(MountHelpers *h, pid_t pid);

#endif
