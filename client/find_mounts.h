/* SPDX-License-Identifier: MIT */
/*
 * Mounts whose files live on another machine. Read from the mount table alone: a server that is gone hangs whoever looks at its files, and a
 * look at an automount point mounts it.
 */
#ifndef MOUNTWATCH_CLIENT_FIND_MOUNTS_H
#define MOUNTWATCH_CLIENT_FIND_MOUNTS_H

#include "client/finding.h"
#include "common/mount_table.h"

/* What kind of network filesystem, in words ("NFS share"); NULL: it is none. */
const char *network_filesystem(const char *fstype);

/* Mounted over the network, or an automount point: not to be looked into. */
bool mount_is_remote(const Mount *m);

/* `fstab` is the path of it: it tells what an automount point of systemd would mount. What is mounted read-only is left out. -ENOMEM. */
int find_mounts(const MountTable *t, const char *fstab, Findings *f);

#endif
