/* SPDX-License-Identifier: MIT */
/*
 * A lookout: what a watch thread has while a watch is armed. The marks, the tree, and the way from what the kernel says to
 * notes. Made in one go, dropped in one go; used by the thread alone.
 */
#ifndef MOUNTWATCH_KERNEL_LOOKOUT_H
#define MOUNTWATCH_KERNEL_LOOKOUT_H

#include "daemon/kernel/notes.h"
#include "daemon/kernel/place.h"

typedef struct Lookout Lookout;

/* Is it time to give up? Asked between directories while a tree is read. */
typedef bool (*lookout_abort_t)(void *userdata);

typedef struct LookoutConfig {
        const char *path; /* as configured */
        const WatcherOptions *options;
        Notes *notes;
        lookout_abort_t abort;
        void *userdata;
} LookoutConfig;

/* Fills status->tier, scope, coverage, fstype and reason, on failure as far as they are known. -ENOENT and the like: nothing is
 * there. -ECANCELED: abort() said so. Keeps `config`, not a copy. */
int lookout_new(const LookoutConfig *config, WatcherStatus *status, Lookout **ret);
Lookout *lookout_free(Lookout *l);
DEFINE_CLEANUP(Lookout *, lookout_free)

/* What could be had here, without placing a mark that stays. */
int lookout_probe(const LookoutConfig *config, WatcherStatus *status);

/* To poll for reading. */
int lookout_fd(const Lookout *l);
/*
 * Reads once and works on it, into notes that are published. 1: there may be more, 0: the queue was empty at
 * a moment since the call. Negative errno: the lookout is of no use any more.
 */
int lookout_read(Lookout *l);
/* How many events wait in the kernel; with lookout_seen() it tells when all of them have been worked on. */
size_t lookout_backlog(const Lookout *l);
uint64_t lookout_seen(const Lookout *l);
/* The last read brought many events, and more are on their way. */
bool lookout_in_burst(const Lookout *l);
/* What was left open is told: before an answer to a sync. */
void lookout_rest(Lookout *l);
/* The filesystem is held for a while after the last event: let it go. False when it was not. */
bool lookout_holds(const Lookout *l);
void lookout_let_go(Lookout *l);

/* NULL while the path leads where it led and the marks live, else the reason word of a loss. */
const char *lookout_lost_ground(Lookout *l);
/* The watched directory was moved or removed. */
bool lookout_root_gone(const Lookout *l);
bool lookout_is_mount(const Lookout *l);
/* The moment since which nothing that happened has been told. */
usec_t lookout_quiet_since(const Lookout *l);
void lookout_count(const Lookout *l, WatcherStatus *status);

#endif
