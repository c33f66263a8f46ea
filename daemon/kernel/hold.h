/* SPDX-License-Identifier: MIT */
/*
 * Held opens: the permission group of a watch, for sessions without a guard (late-tagged, automatic). Exists only while such
 * a session is live and the watch's policy or Preserve= needs it, and only where a probe has shown that it cannot break
 * anybody's access. Its own thread, so that a slow walk of the watch thread never keeps an open waiting.
 *
 * FAN_PRE_ACCESS (6.14) would refuse truncate(2) by path as well, and is not used. It needs a mark on everything, and then each
 * read() and write() of everybody waits: 10.3 us instead of 0.6 on 6.18, p99 70. Nor would it refuse writes through descriptors that
 * are older than the session: a file that is opened before the first such mark of its filesystem never asks (6.18). Those opened
 * later have been asked about already.
 *
 * What an open has made is taken away again when it is refused, if that can be known (hold_made.h): over SMB, NFS and FUSE
 * only with O_EXCL; else an empty file stays.
 *
 * Order of the verdict: our own process and the mount's helpers are let; who is in no session (Members) is let; then the intent is
 * read from /proc/TID/syscall (proc_intent.h); then the judge. No file outside /proc is opened, nothing is logged, nobody waited for.
 */
#ifndef MOUNTWATCH_KERNEL_HOLD_H
#define MOUNTWATCH_KERNEL_HOLD_H

#include "daemon/kernel/connector.h"
#include "daemon/kernel/gate.h"
#include "daemon/kernel/guard.h"
#include "daemon/kernel/members.h"
#include "daemon/kernel/pulse.h"

typedef struct Hold Hold;

typedef struct HoldConfig {
        const char *watch;    /* name */
        const char *path;     /* configured */
        WatchSites *sites;    /* of this watch; a reference is taken */
        Members *members;     /* borrowed, outlives the hold */
        Connector *connector; /* borrowed: drained before a look-up that finds nobody */
        GateHooks hooks;
        usec_t deadline;
        Pulses *pulses;  /* of the watchdog, or NULL for none; a reference is taken */
        usec_t patience; /* of the watchdog with the answering thread */
} HoldConfig;

/* Places the marks in the thread: hold_fd() tells when. */
int hold_new(const HoldConfig *config, Hold **ret);
Hold *hold_free(Hold *h);
DEFINE_CLEANUP(Hold *, hold_free)
/* An eventfd, readable when the state has changed. hold_state: 0 not yet, 1 in place, negative errno why not; `reason` in words. */
int hold_fd(const Hold *h);
int hold_state(Hold *h, char reason[static 256]);
int hold_answer(Hold *h, uint64_t attempt, Verb verb);
/* Whether it has not been answered yet. */
bool hold_is_waiting(Hold *h, uint64_t attempt);
/* How many were let since the last call because nobody could tell what they were, or refused by the kernel because it could not be
 * read. Those that were told of as `fell_back` are not among them. */
uint64_t hold_take_lapses(Hold *h);

#endif
