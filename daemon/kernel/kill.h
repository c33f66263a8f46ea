/* SPDX-License-Identifier: MIT */
/* Signals to processes of a session, by pidfd, never to a recycled number. */
#ifndef MOUNTWATCH_KERNEL_KILL_H
#define MOUNTWATCH_KERNEL_KILL_H

#include "common/macro.h"

#include <sys/types.h>

/* Opens the pidfd first, then compares the start time (0: not known, not compared), then signals. Refuses with
 * -EPERM: pid 1 and below, kernel threads, ourselves. -ESRCH when it is gone or somebody else by now. */
int kill_process(pid_t pid, uint64_t start_ticks, int sig);

#endif
