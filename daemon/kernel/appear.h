/* SPDX-License-Identifier: MIT */
/* Tells when a path that is missing may have come into being, by inotify on what there is of it: no polling by time. */
#ifndef MOUNTWATCH_KERNEL_APPEAR_H
#define MOUNTWATCH_KERNEL_APPEAR_H

#include "common/macro.h"

/*
 * Watches the directory in which the next missing part of the path would appear; symlinks on the way are followed. To be called
 * anew after each event. The caller closes *ret_fd, which is readable when it is worth another look. The path must be looked
 * at once more after the call: it may have appeared before it.
 */
int appear_watch(const char *path, int *ret_fd);

#endif
