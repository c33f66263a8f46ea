/* SPDX-License-Identifier: MIT */
/*
 * The seccomp filter of `mountwatch run`: user notification for the calls that can change a name, a length or an attribute,
 * and for opens that may write. Reads and writes are not filtered and cost nothing.
 */
#ifndef MOUNTWATCH_COMMON_GUARD_FILTER_H
#define MOUNTWATCH_COMMON_GUARD_FILTER_H

#include "common/macro.h"

#include <stdbool.h>

/* Installs the filter for the calling process (and all it will ever execute), and returns the listener descriptor. Without
 * CAP_SYS_ADMIN it sets no_new_privs first. `no_io_uring`: io_uring_setup answers ENOSYS, so that nothing passes by the
 * filter. -EBUSY: a filter with a listener is there already (the kernel allows one in a tree). */
int guard_filter_install(bool no_io_uring);

#endif
