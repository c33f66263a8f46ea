/* SPDX-License-Identifier: MIT */
/*
 * Where gates stand: for each watch the place that it leads to (found by a job, since looking may hang), and the hold on it while a
 * live session without a guard needs one. And the opening of a session's guard, which wants to know all places.
 */
#ifndef MOUNTWATCH_GATE_SITE_H
#define MOUNTWATCH_GATE_SITE_H

#include "daemon/gatekeeper.h"

#define GATE_READY_USEC (2 * USEC_PER_SEC)   /* how long a start waits for gates to stand */
#define GATE_PROMISE_USEC (5 * USEC_PER_SEC) /* how long a promised guard is waited for */

/* A gate of this keeper with its hooks; the caller sets guard or hold. NULL for lack of memory. */
Gate *gate_new(Gatekeeper *k, GateHooks *ret_hooks);
/* Closes what it holds; what waits there is let. The Gate itself goes with its last reference. */
void gate_close(Gate *g);

int gate_sites_new(Manager *m, GateSites **ret);
/* Closes every gate, the guards of the sessions too: before the connections end, by which the keepers would take the daemon for dead. */
GateSites *gate_sites_free(GateSites *s);
DEFINE_CLEANUP(GateSites *, gate_sites_free)

/* The watches have changed, or mounts have: look again. */
int gate_sites_refresh(GateSites *s);

/* Holds follow the live sessions. `done` comes, once, when all that are wanted stand, have been refused or take too long. */
typedef void (*gate_sites_done_t)(Manager *m, int r, void *userdata);
int gate_sites_update_holds(GateSites *s, gate_sites_done_t done /* or NULL */, void *userdata);
/* Takes both descriptors, also on failure; -1 for no ledger. The session has a guard when `done` says 0. */
int gate_sites_open_guard(GateSites *s, Live *l, int listener_fd, int ledger_fd,
                          gate_sites_done_t done, void *userdata);
/* The starter is about to: until then nothing is held for the session. When it does not come, that is told, and opens are held. */
void gate_sites_expect_guard(GateSites *s, Live *l);
/* Before a session goes. */
void gate_sites_close_guard(GateSites *s, Live *l);

/* Tells the live sessions what the gates had to let without a judgement. */
void gate_sites_take_lapses(GateSites *s);

/* What can be refused on a watch for a session without a guard: 0 nothing (and why), 1 opens. */
int gate_sites_can_hold(GateSites *s, const char *watch, const char **ret_reason);

/* Whether the kernel refuses by itself what this session would change in that watch. */
bool gate_sites_bar(GateSites *s, const Live *l, const WatchSpec *spec);

#endif
