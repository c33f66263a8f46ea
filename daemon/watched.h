/* SPDX-License-Identifier: MIT */
/* A watch of the running configuration: its spec, its watcher thread, and what that thread last said of itself. */
#ifndef MOUNTWATCH_WATCHED_H
#define MOUNTWATCH_WATCHED_H

#include "daemon/kernel/watcher.h"
#include "daemon/manager.h"

/* Whether opens could be held on it, when somebody looked last. */
typedef enum HoldProspect {
        HOLD_UNKNOWN,
        HOLD_POSSIBLE,
        HOLD_IMPOSSIBLE,
} HoldProspect;

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
        WatchCounters counters;
        bool armed;   /* asked to be */
        bool looking; /* a job looks whether opens could be held */
        HoldProspect hold;
        char hold_reason[256]; /* of HOLD_IMPOSSIBLE */
};

int watched_new(Manager *m, WatchSpec *spec, Watched **ret);
Watched *watched_free(Watched *w);
Watched *watched_find(Manager *m, const char *name);
void watched_arm(Watched *w, bool arm);

#endif
