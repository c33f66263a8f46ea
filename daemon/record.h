/* SPDX-License-Identifier: MIT */
/* Recording: an operation goes to the store, to those who follow, to the sessions around its own, and, as a violation, to people. */
#ifndef MOUNTWATCH_RECORD_H
#define MOUNTWATCH_RECORD_H

#include "daemon/manager.h"

/* `author` NULL: only the number `pid` is known (0: not even that). The session's own counts have been raised by the caller. */
void record_operation(Manager *m, Operation *op, Image *author, pid_t pid);

#endif
