/* SPDX-License-Identifier: MIT */
/*
 * The manager owns everything and lives on one sd-event loop. It wires the rooms together and carries out what core
 * decides; the nouns it is made of have files of their own (watched, live, barrier, intake, stream, method_*).
 */
#ifndef MOUNTWATCH_MANAGER_H
#define MOUNTWATCH_MANAGER_H

#include "daemon/api/api.h"
#include "daemon/config.h"
#include "daemon/core/process.h"
#include "daemon/counters.h"
#include "daemon/kernel/connector.h"
#include "daemon/store/store.h"

#include <systemd/sd-event.h>

typedef struct Manager Manager;
typedef struct Watched Watched;
typedef struct Live Live;
typedef struct Barrier Barrier;
typedef struct Stream Stream;
typedef struct Alerts Alerts;
typedef struct Follower Follower;
typedef struct Held Held;
typedef struct UndoJob UndoJob;
typedef struct Hashing Hashing;
typedef struct Snapshots Snapshots;
typedef struct Prospects Prospects;
typedef struct Keeping Keeping;
typedef struct Gate Gate;
typedef struct Gatekeeper Gatekeeper;
typedef struct GateSites GateSites;
typedef struct Bars Bars;
typedef struct Jobs Jobs;
typedef struct Watchdog Watchdog;
typedef struct Webhooks Webhooks;
typedef struct WebhookTest WebhookTest;

typedef struct ManagerOptions {
        const char *config_file;
        const char *socket; /* path; also the name shown when listen_fd is used */
        const char *state_dir;
        int listen_fd; /* from socket activation, or -1 */
} ManagerOptions;

struct Manager {
        sd_event *event;
        Config *config;
        char *config_file, *socket, *state_dir;
        char *cgroup_root; /* NULL: no cgroup v2, the process table alone carries the tag */
        usec_t started;

        Store *store;
        sd_event_source *flush_timer; /* oneshot; on while the store is dirty */
        sd_event_source *expire_timer;

        ProcessTable *processes;
        Connector *connector; /* NULL while idle */
        sd_event_source *connector_source;
        char *connector_error; /* why there is none although one is wanted, or NULL */

        Image *stranger; /* reference; see record.c */

        Watched *watches; /* list */
        sd_event_source *mounts_source;
        int mounts_fd;

        Live *live;                    /* by session id */
        unsigned starting;             /* sessions on their way: they keep watches armed */
        sd_event_source *check_source; /* looks for sessions whose last process is gone */

        Jobs *jobs;
        Gatekeeper *gatekeeper;
        GateSites *gate_sites;
        Bars *bars;
        Watchdog *watchdog;
        Held *held; /* list */
        uint64_t next_held;
        Keeping *keepings;    /* list: calls whose copy waits for a thread */
        UndoJob *undos;       /* list */
        Snapshots *snapshots; /* list: being taken */
        Prospects *prospects;
        Hashing *hashing; /* list: what waits for its hash */
        size_t n_hashing;
        bool hashing_runs;

        Barrier *barriers; /* list */
        uint64_t next_cookie;
        Stream *streams; /* list */

        Alerts *alerts;
        sd_event_source *alert_timer;
        usec_t alert_due;    /* what the timer is set to */
        Follower *followers; /* list */
        sd_event_source *lists_source;

        Webhooks *webhooks;
        WebhookTest *webhook_tests; /* list */

        Counters counters;

        ApiServer *api;
};

/* Reads the configuration, opens the store, finds the sessions of an earlier daemon, and listens. What goes wrong is logged
 * here. */
int manager_new(const ManagerOptions *options, Manager **ret);
Manager *manager_free(Manager *m);
DEFINE_CLEANUP(Manager *, manager_free)
int manager_run(Manager *m);

usec_t manager_now(Manager *m);      /* wall clock of this turn of the loop */
nsec_t manager_now_mono(Manager *m); /* CLOCK_MONOTONIC, now */

/* On a session starting or ending: watches are armed, and process events subscribed to, exactly while somebody needs them. */
void manager_update_demand(Manager *m);

/* The store was written to: flush soon. Errors of the store make every live session incomplete. */
void manager_store_written(Manager *m);
void manager_store_failed(Manager *m, int error);

/* Reads the configuration again. -EINVAL with `problems` filled: the running one stays. */
int manager_reload(Manager *m, ConfigProblems *problems);

#endif
