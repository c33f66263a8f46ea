/* SPDX-License-Identifier: MIT */
/* Who waits in a guarded call, as far as it matters for the answer. */
#ifndef MOUNTWATCH_KERNEL_GUARD_CALLER_H
#define MOUNTWATCH_KERNEL_GUARD_CALLER_H

#include "common/macro.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct CallerStatus {
        pid_t pid; /* thread group id */
        uint64_t
                pending; /* signals that have come for the thread or its process, and that it does not block; bit N-1 */
} CallerStatus;

/* /proc/TID/status. -EBADMSG. */
int caller_parse_status(const char *data, size_t size, CallerStatus *ret);
/* -ESRCH: gone. */
int caller_read_status(int proc_fd, pid_t tid, CallerStatus *ret);
/* Someone wants it to end: what it waits in must not stand in the way. */
bool caller_is_called_off(const CallerStatus *s);

#endif
