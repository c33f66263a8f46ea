/* SPDX-License-Identifier: MIT */
/* A watch of the running configuration: its spec, its watcher thread, and what that thread last said of itself. */
#ifndef MOUNTWATCH_WATCHED_H
#define MOUNTWATCH_WATCHED_H

#include "daemon/kernel/watcher.h"
#include "daemon/manager.h"

struct Watched {
        Watched *prev, *next;
        Manager *manager;
        WatchSpec *spec; /* reference */
        Watcher *watcher;
        sd_event_source *source;
        sd_event_source
                *backlog_source; /* on while notes wait that were taken but not yet worked off */
        Note *backlog;
        WatcherStatus status;
        bool armed; /* asked to be */
};

int watched_new(Manager *m, WatchSpec *spec, Watched **ret);
Watched *watched_free(Watched *w);
Watched *watched_find(Manager *m, const char *name);
void watched_arm(Watched *w, bool arm);

#endif
