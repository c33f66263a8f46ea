/* SPDX-License-Identifier: MIT */
/*
 * Bars: the event loop's side of the guard in the kernel (kernel/bpf_engine.h). A bar stands on a watch while a live session
 * without a seccomp guard is under deny there: the kernel refuses by itself, on any filesystem, and here it is recorded. Sessions with
 * a guard are exempt: their calls are refused, and told, before the kernel's program would see them.
 */
#ifndef MOUNTWATCH_BAR_H
#define MOUNTWATCH_BAR_H

#include "daemon/kernel/watch_site.h"
#include "daemon/manager.h"

/* Never fails for want of an engine: that is logged, once. */
int bars_new(Manager *m, Bars **ret);
Bars *bars_free(Bars *b);
DEFINE_CLEANUP(Bars *, bars_free)
/* Whether the kernel could refuse by itself what deny forbids in such a watch; why not in *ret_reason, borrowed. */
bool bars_can(const Bars *b, const WatchSpec *w, const char **ret_reason);

/* Whether the kernel is to refuse what this session does in that watch. */
bool bar_is_wanted(const Bars *b, const Live *l, const WatchSpec *w);
/* A descriptor of the root of the watch that does not keep anybody from unmounting it; in a thread that may hang. Negative errno. */
int bar_open_root(const char *path);
/* root_fd stays the caller's, and open until the bar is dropped. */
int bar_put(Bars *b, const WatchSpec *w, const WatchSite *site, int root_fd, unsigned *ret_number);
void bar_drop(Bars *b, unsigned number, int root_fd);
/* The live sessions have changed, or which of them have a guard. */
void bars_update_sessions(Bars *b);
/* Before a session ends: what has been refused so far is recorded. */
void bars_take(Bars *b);

#endif
