/* SPDX-License-Identifier: MIT */
/*
 * The guard: the supervisor's end of the seccomp user-notification filter that `mountwatch run` installs (common/guard_filter.h).
 * One thread for each guarded session receives the notifications, resolves paths as the kernel will for the caller (its cwd,
 * dirfd, root, mount namespace), and answers.
 *
 * It is a guard-rail, not a sandbox: the caller may change the path in memory after it was read (seccomp_unotify(2)).
 */
#ifndef MOUNTWATCH_KERNEL_GUARD_H
#define MOUNTWATCH_KERNEL_GUARD_H

#include "daemon/kernel/gate.h"
#include "daemon/kernel/watch_site.h"

typedef struct Guard Guard;

/* Takes listener_fd (a seccomp notification descriptor) on success and starts the thread. ledger_fd: see common/guard_ledger.h,
 * taken too; -1 for none. Takes a reference on sites. */
int guard_new(int listener_fd, int ledger_fd, WatchSites *sites, const GateHooks *hooks,
              usec_t deadline, Guard **ret);
/* Everything that waits is let; the listener is closed. */
Guard *guard_free(Guard *g);
DEFINE_CLEANUP(Guard *, guard_free)
void guard_set_sites(Guard *g, WatchSites *sites);
/*
 * VERB_LET or VERB_REFUSE; or, once the cgroup of the session has been told to freeze, VERB_FREEZE: the call is taken back
 * unmade, the caller freezes like everyone else, and makes the call anew when it is thawed. (Without a freeze that is under way, it
 * would see errno 512.) 0, or -ENOENT when it has been answered (deadline, killed caller). From any thread.
 */
int guard_answer(Guard *g, uint64_t attempt, Verb verb);
/* Whether it has not been answered yet. */
bool guard_is_waiting(Guard *g, uint64_t attempt);
/* How many were let since the last call because nobody could tell what they were (the caller could not be read), or because
 * the client had to answer for a daemon that stood still. Those that were told of as `fell_back` are not among them. */
uint64_t guard_take_lapses(Guard *g);

#endif
