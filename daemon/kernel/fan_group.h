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
/* A group whose records have a descriptor of the object. */
int fan_group_open_fds(bool limited, int *ret_fd);

/* Names, content and attributes of everything on the superblock of `fd`. */
int fan_group_mark_filesystem(int group, int fd);
/* The entries of one directory. */
int fan_group_mark_directory(int group, int fd);
/* Content only, everything on the superblock of `fd`: for a group of descriptors. */
int fan_group_mark_content(int group, int fd);
int fan_group_unmark_all(int group);

/* What a refusal by errno means, in words. */
const char *fan_group_refusal(int error);

#endif
