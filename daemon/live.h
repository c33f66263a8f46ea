/* SPDX-License-Identifier: MIT */
/*
 * Live sessions: from the wish to tag a process, through its start (every watch armed and read up to now), to the end
 * (last process gone, last event taken in, stored). What has ended lives in the store only.
 */
#ifndef MOUNTWATCH_LIVE_H
#define MOUNTWATCH_LIVE_H

#include "daemon/core/session.h"
#include "daemon/leftover.h"
#include "daemon/manager.h"

#include "common/hash.h"

typedef struct LiveWaiter LiveWaiter;

struct Live {
        UT_hash_handle hh; /* by session->id */
        Manager *manager;
        Session *session; /* owned */
        sd_event_source
                *events_source; /* cgroup.events; NULL when the table alone carries the tag */
        bool ending;            /* its last barrier is under way */
        bool killed;            /* by request: the final state says so */
        usec_t ended;           /* when the end was noticed */
        Gate *guard;            /* reference, or NULL: none of its own */
        bool guard_promised; /* the starter is about to attach one: nothing else need be held for it */
        sd_event_source *promise_timer;
        bool allow_asked;      /* somebody said allow-session */
        bool frozen;           /* by a person or by policy, itself or a session around it */
        bool frozen_by_policy; /* itself, not a session around it; and not thawed yet */
        bool thawed;           /* frozen by policy, and thawed by a person */
        Leftovers leftovers;
        char **asked; /* paths that somebody allowed; NULL-terminated or NULL */
        LiveWaiter *waiters;
};

typedef struct LiveRequest {
        pid_t pid;
        uint64_t start_ticks; /* of pid, as checked by the caller */
        uid_t uid;            /* whose session it will be */
        bool automatic;       /* not when the process is in a session by then: -EALREADY */
        char *label;          /* owned by the request, like what follows */
        bool has_policy;
        Policy policy;
        char **command;
        char *cwd;
} LiveRequest;

void live_request_done(LiveRequest *r);

/* `live` is NULL when r < 0 (-ESRCH: the process is gone). `missing`: names of watches that are not ready. */
typedef void (*live_started_t)(Manager *m, int r, Live *live, Watched *const *missing,
                               size_t n_missing, void *userdata);

/* Takes what is inside the request. The callback comes later, exactly once, unless this fails. */
int live_start(Manager *m, LiveRequest *request, live_started_t started, void *userdata);

Live *live_find(Manager *m, const char *id);
/* The session that this process is in, or NULL. */
Live *live_of_pid(Manager *m, pid_t pid);
size_t live_count_for(Manager *m, uid_t uid);

/* Its calls go through a seccomp guard: its own, or that of a session around it. */
bool live_is_guarded(const Live *l);
/* Whether this watch's policy, the session's own or Preserve= needs a gate for it. */
bool live_needs_gate_on(const Live *l, const WatchSpec *w);
/* What the watches are like for it, for the report: once more when its gates stand. */
void live_store_watches(Live *l);
/* A person let this: what follows is "held", not merely seen. */
void live_remember_asked(Live *l, const char *path);

/* The command of the session has ended with this status. */
void live_command_ended(Live *l, int exit_status);
/* Ends it now; its processes go on untagged. `ended` comes when the store has everything; the Live is gone then. */
typedef void (*live_ended_t)(Manager *m, const char *id, void *userdata);
int live_stop(Live *l, live_ended_t ended, void *userdata);

/* Something was not seen: by this session, by every live one. Stores it. */
void live_add_loss(Live *l, const char *reason, const char *watch, usec_t at, usec_t until,
                   uint64_t count);
void live_add_loss_all(Manager *m, const char *reason, const char *watch, usec_t at, usec_t until,
                       uint64_t count);

/* Writes the counts of every live session, so that a daemon killed later has told the truth so far. */
void live_store_all(Manager *m);

/* Looks for sessions whose last process, or whose command, is gone. */
void live_check_soon(Manager *m);
void live_check_all(Manager *m);
/* Process messages were lost: who is in a session's cgroup is its member. */
void live_resync(Manager *m);

/* Takes over a session from the store, without members yet. Consumes it. */
int live_adopt(Manager *m, Session *session, Live **ret);
/* At a clean stop: what happens from now on is not seen. The sessions stay live in the store. */
void live_suspend_all(Manager *m);
void live_free_all(Manager *m);

#endif
