/* SPDX-License-Identifier: MIT */
/* /proc/self/mountinfo, read and followed (poll). Nothing here touches a mounted filesystem. */
#ifndef MOUNTWATCH_KERNEL_MOUNTINFO_H
#define MOUNTWATCH_KERNEL_MOUNTINFO_H

#include "common/mount_table.h"

int mountinfo_read(MountTable *ret);
/* A descriptor that polls EPOLLPRI on each change. */
int mountinfo_open(void);

#endif
