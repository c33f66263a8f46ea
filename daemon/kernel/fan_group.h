/* SPDX-License-Identifier: MIT */
/* fanotify groups: opened with the flags this program needs, marks placed and probed. */
#ifndef MOUNTWATCH_KERNEL_FAN_GROUP_H
#define MOUNTWATCH_KERNEL_FAN_GROUP_H

#include "common/macro.h"

#include <stdbool.h>
#include <sys/types.h>

/* A group whose records have directory handle, name and object handle (5.17). -EINVAL where the kernel has no such thing.
 * limited: keep the kernel's queue limit, so that it can overflow. */
int fan_group_open_names(bool limited, int *ret_fd);

/* Names, content and attributes of everything on the superblock of `fd`. */
int fan_group_mark_filesystem(int group, int fd);
/* The entries of one directory (6.8 where the filesystem refuses a mark for all of it). is_root: and its own end. */
int fan_group_mark_directory(int group, int fd, bool is_root);

/* What a refusal by errno means, in words. */
const char *fan_group_refusal(int error);

#endif
