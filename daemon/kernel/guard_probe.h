/* SPDX-License-Identifier: MIT */
#ifndef MOUNTWATCH_KERNEL_GUARD_PROBE_H
#define MOUNTWATCH_KERNEL_GUARD_PROBE_H

#include <stdbool.h>

/* Whether this kernel has what a guard needs: seccomp user notification with "continue" (5.5), and pidfd_getfd (5.6). */
bool guard_probe(void);

#endif
