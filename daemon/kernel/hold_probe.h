/* SPDX-License-Identifier: MIT */
/*
 * May opens be held on a mount? The kernel opens each held file once more, with the credentials of who reads the event. Where
 * that fails it refuses the user's open (EPERM): on NFS with root_squash, on FUSE without allow_other. So it is tried out before a
 * mark is placed, and where it cannot be shown that root is let in, nothing is held.
 */
#ifndef MOUNTWATCH_KERNEL_HOLD_PROBE_H
#define MOUNTWATCH_KERNEL_HOLD_PROBE_H

#include "daemon/kernel/mountinfo.h"

typedef enum Trust {
        TRUST_YES,
        TRUST_PROVE, /* the server decides: look for a file that tells */
        TRUST_NO,
} Trust;

/* What the mount's options say (pure). `reason` for TRUST_NO. */
Trust hold_probe_mount(const Mount *m, const char **ret_reason);

/* 0, or -EACCES and why. Touches the filesystem; `abort` ends it (-ECANCELED). */
int hold_probe(const char *root, bool (*abort)(void *), void *userdata, const char **ret_reason);

#endif
