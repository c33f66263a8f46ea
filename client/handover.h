/* SPDX-License-Identifier: MIT */
/*
 * The guard's way from the command to the daemon. The child (launch.h) installs the filter just before it executes the command, hands
 * the listener to this program, and waits; this program hands it on (AttachGuard), leaves a keeper behind (keeper.h), and
 * lets the child go on.
 */
#ifndef MOUNTWATCH_CLIENT_HANDOVER_H
#define MOUNTWATCH_CLIENT_HANDOVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "client/connection.h"
#include "common/guard_ledger.h"

typedef struct Handover {
        int ours, theirs;    /* a pair of sockets */
        GuardLedger *ledger; /* of the guard that was attached; NULL: none */
        pid_t keeper;        /* -1: none */
} Handover;

#define HANDOVER_INIT \
        { .ours = -1, .theirs = -1, .keeper = -1 }

/* Before the fork. */
int handover_init(Handover *h);
void handover_done(Handover *h);

/* In the child, as hook of its launch: waits for what the other side has decided, and does it. Nonzero: do not execute. */
int handover_child(void *handover);

/* In this program, after launch_release(). No guard: the child goes on at once. */
int handover_skip(Handover *h);

/* The child installs the filter. Its listener is the caller's; -EBUSY: somebody has one there already; -ENOSYS, -EINVAL: the kernel
 * is too old; -EPIPE: the child is gone. */
int handover_install(Handover *h, bool no_io_uring, int *ret_listener);

/*
 * Makes the ledger, attaches the guard on `c`, and starts the keeper, which keeps listener, ledger and connection for as long
 * as anybody has the filter. The keeper is there also when the daemon does not take the guard (returns as connection_call());
 * calls are then let as if there was none. Consumes `listener`.
 */
int handover_attach(Handover *h, Connection *c, const char *session, int listener);

/* How many calls were let because the daemon did not answer. */
uint64_t handover_lapses(const Handover *h);
/* The command wanted to supervise system calls itself, and could not for the guard. */
bool handover_was_in_the_way(const Handover *h);

#endif
