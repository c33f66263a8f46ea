/* SPDX-License-Identifier: MIT */
#include "daemon/snapshot.h"
#include "daemon/hashing.h"
#include "daemon/job.h"
#include "daemon/keeping.h"
#include "daemon/log.h"
#include "daemon/store/keep.h"
#include "daemon/watched.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <utlist.h>

#define TOO_LONG "a copy of it takes too long: what is removed or renamed cannot be undone"

typedef struct Part Part;

/* All snapshots of one session. Shared with the threads: the last one of its parts frees it. */
struct Snapshots {
        Snapshots *prev, *next;
        Manager *manager;
        char session[17];
        Part *parts; /* jobs under way */
        atomic_bool cancel;
        sd_event_source *timer;
        snapshot_missing_t missing;
        snapshot_done_t done; /* NULL: has been called */
        void *userdata;
};

struct Part {
        Part *prev, *next;
        Snapshots *all;
        WatchSpec *spec; /* reference */
        char *state_dir;
        uint64_t room;
        KeptList list;
        bool complete;
        int r;
};

static bool is_wanted_of(const Watched *w) {
        return w->spec->preserve && w->spec->snapshot_max > 0 &&
                (w->status.state == WATCHER_ARMED || w->status.state == WATCHER_IDLE);
}

bool snapshot_is_wanted(Manager *m, const Live *l) {
        Watched *w;

        if (live_is_guarded(l) || l->guard_promised)
                return false;
        DL_FOREACH (m->watches, w)
                if (is_wanted_of(w))
                        return true;
        return false;
}

/* ---- in the thread ---- */

static void part_run(void *userdata) {
        Part *p = userdata;
        const uint64_t max = MIN(p->spec->snapshot_max, p->room);
        const KeepRequest q = {
                .state_dir = p->state_dir,
                .session = p->all->session,
                .watch = p->spec->name,
                .watch_path = p->spec->path,
                .path = p->spec->path,
                .what = KEEP_TREE,
                .snapshot = true,
                .file_max = p->spec->preserve_max,
                .bytes_max = max,
                .entries_max = SNAPSHOT_ENTRIES_MAX,
                .ignore = p->spec->ignore,
                .cancel = &p->all->cancel,
        };
        uint64_t bytes;
        size_t entries;

        p->r = keep_measure(p->spec->path, max, SNAPSHOT_ENTRIES_MAX, &p->all->cancel, &bytes,
                            &entries);
        if (p->r >= 0)
                p->r = keep_object(&q, &p->list, &p->complete);
}

/* ---- in the loop ---- */

static void part_free(Part *p) {
        kept_list_done(&p->list);
        (void) watch_spec_unref(p->spec);
        free(p->state_dir);
        free(p);
}

static void snapshots_end(Snapshots *s, Manager *m) {
        snapshot_done_t done = s->done;

        s->done = NULL;
        s->timer = sd_event_source_disable_unref(s->timer);
        if (done && m)
                done(m, s->userdata);
}

static const char *reason_of(const Part *p) {
        if (p->r == -E2BIG)
                return "it is larger than SnapshotMax=: what is removed or renamed cannot be undone";
        if (p->r == -ENOSPC)
                return "there is no room to preserve it: what is removed or renamed cannot be undone";
        if (p->r == -ECANCELED)
                return TOO_LONG;
        if (p->r < 0)
                return "it cannot be preserved: what is removed or renamed cannot be undone";
        return p->complete ? NULL : "only a part of it could be preserved: not all can be undone";
}

static void tell_missing(Snapshots *s, const Part *p) {
        const char *reason = reason_of(p);

        if (!reason)
                return;
        log_info("session %s: watch '%s': %s", s->session, p->spec->name, reason);
        if (s->done && s->missing)
                s->missing(p->spec->name, reason, s->userdata);
}

static void part_done(Manager *m, void *userdata) {
        Part *p = userdata;
        Snapshots *s = p->all;

        if (m) {
                if (p->r >= 0)
                        p->r = store_put_kept(m->store, s->session, &p->list);
                if (p->r >= 0)
                        p->r = store_flush(m->store);
                tell_missing(s, p);
                if (p->r >= 0)
                        hashing_add(m, s->session, &p->list);
        }
        DL_DELETE(s->parts, p);
        part_free(p);
        if (s->parts)
                return;
        snapshots_end(s, m);
        if (m)
                DL_DELETE(m->snapshots, s);
        free(s);
}

/* A share that hangs: its job stays behind, the client does not wait for it. */
static int on_too_long(sd_event_source *source, uint64_t usec, void *userdata) {
        Snapshots *s = userdata;
        Part *p;

        atomic_store(&s->cancel, true);
        DL_FOREACH (s->parts, p)
                if (s->done && s->missing)
                        s->missing(p->spec->name, TOO_LONG, s->userdata);
        snapshots_end(s, s->manager);
        return 0;
}

static int part_start(Snapshots *s, const Watched *w) {
        Manager *m = s->manager;
        Part *p = calloc(1, sizeof *p);
        int r;

        if (!p)
                return -ENOMEM;
        p->all = s;
        p->spec = watch_spec_ref(w->spec);
        p->complete = true;
        p->room = keeping_room(m);
        p->state_dir = strdup(m->state_dir);
        r = p->state_dir ? job_start_background(m->jobs, part_run, part_done, p) : -ENOMEM;
        if (r < 0) {
                part_free(p);
                return r;
        }
        DL_APPEND(s->parts, p);
        return 0;
}

static void start_parts(Snapshots *s) {
        Watched *w;

        DL_FOREACH (s->manager->watches, w)
                if (is_wanted_of(w) && part_start(s, w) < 0 && s->missing)
                        s->missing(w->spec->name, "no thread or memory to preserve it",
                                   s->userdata);
}

int snapshot_take(Manager *m, Live *l, snapshot_missing_t missing, snapshot_done_t done,
                  void *userdata) {
        Snapshots *s = calloc(1, sizeof *s);
        int r;

        if (!s)
                return -ENOMEM;
        s->manager = m;
        memcpy(s->session, l->session->id, sizeof s->session);
        s->missing = missing;
        s->done = done;
        s->userdata = userdata;
        r = sd_event_add_time_relative(m->event, &s->timer, CLOCK_MONOTONIC, SNAPSHOT_USEC, 1000,
                                       on_too_long, s);
        if (r >= 0)
                start_parts(s);
        if (!s->parts) {
                s->timer = sd_event_source_disable_unref(s->timer);
                free(s);
                return r < 0 ? r : -EAGAIN;
        }
        DL_APPEND(m->snapshots, s);
        return 0;
}

void snapshot_free_all(Manager *m) {
        Snapshots *s, *next;

        /* the jobs free them */
        DL_FOREACH_SAFE (m->snapshots, s, next) {
                atomic_store(&s->cancel, true);
                s->done = NULL;
                s->timer = sd_event_source_disable_unref(s->timer);
                DL_DELETE(m->snapshots, s);
        }
}
