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

typedef struct Guard Guard;

/* Where the watches are, for a guard or hold thread that must find out whether an object lies in one: by device and by path
 * within the filesystem, so that bind mounts, chroots and other mount namespaces do not matter. Immutable, refcounted. */
typedef struct WatchSite {
        char name[65];
        char *path;  /* as configured */
        dev_t dev;   /* st_dev of the watch root */
        char *inner; /* path of the watch root within its filesystem, "/" for its top */
        char *file;  /* file scope: name in inner; NULL otherwise */
} WatchSite;

typedef struct WatchSites {
        unsigned n_ref; /* atomic */
        WatchSite *sites;
        size_t n;
} WatchSites;

WatchSites *watch_sites_ref(WatchSites *s);
WatchSites *watch_sites_unref(WatchSites *s);
DEFINE_CLEANUP(WatchSites *, watch_sites_unref)
/* Adds what `path` leads to now; touches the filesystem, so only in a thread that may hang. -ENOENT: skipped. */
int watch_sites_add(WatchSites *s, const char *name, const char *path);

/* Takes listener_fd (a seccomp notification descriptor) on success and starts the thread. ledger_fd: see common/guard_ledger.h,
 * taken too; -1 for none. Takes a reference on sites. */
int guard_new(int listener_fd, int ledger_fd, WatchSites *sites, const GateHooks *hooks,
              usec_t deadline, Guard **ret);
/* Everything that waits is let; the listener is closed. */
Guard *guard_free(Guard *g);
DEFINE_CLEANUP(Guard *, guard_free)
void guard_set_sites(Guard *g, WatchSites *sites);
/* VERB_LET or VERB_REFUSE; 0, or -ENOENT when it has been answered (deadline, killed caller). From any thread. */
int guard_answer(Guard *g, uint64_t attempt, Verb verb);
/* How many were answered without a decision since the last call: not enforced. */
uint64_t guard_take_lapses(Guard *g);

#endif
