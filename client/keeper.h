/* SPDX-License-Identifier: MIT */
/*
 * The keeper: a small process that outlives `mountwatch run`, with a copy of the guard's listener. When the last copy is closed, every
 * guarded call fails with ENOSYS; so somebody must keep one for as long as anybody has the filter, whatever becomes of the
 * daemon, of `mountwatch run`, and of the command. The kernel says when that is (POLLHUP, 5.8), and the keeper ends.
 *
 * Nearly always it does nothing. It answers "continue" when the daemon is gone, has let go of the session, or stands still.
 */
#ifndef MOUNTWATCH_CLIENT_KEEPER_H
#define MOUNTWATCH_CLIENT_KEEPER_H

#include <sys/types.h>

#include "common/guard_ledger.h"

/* Forks it off. Descriptors stay the caller's. daemon_fd: a connection that ends with the daemon; -1: there is none any more. When
 * it ends before the caller does, the caller should reap it. */
int keeper_start(int listener_fd, int daemon_fd, GuardLedger *ledger, pid_t *ret);

#endif
