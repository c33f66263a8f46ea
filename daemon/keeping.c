/* SPDX-License-Identifier: MIT */
#include "daemon/keeping.h"
#include "common/operation_json.h"
#include "daemon/core/policy.h"
#include "daemon/hashing.h"
#include "daemon/job.h"
#include "daemon/log.h"
#include "daemon/store/keep.h"
#include "daemon/undo_job.h"
#include "daemon/watched.h"

#include <errno.h>
#include <stdio.h>
#include <utlist.h>

#define KEEP_ENTRIES_MAX 100000 /* of a directory that is replaced or moved out */

typedef struct Want {
        const char *path; /* the attempt's */
        KeepWhat what;
} Want;

struct Keeping {
        Keeping *prev, *next; /* in Manager.keepings, while no thread is free */
        Gate *gate;           /* reference */
        Attempt *attempt;
        WatchSpec *spec; /* reference */
        char *state_dir;
        uint64_t room;
        Want wants[2]; /* of both names of a rename */
        size_t n_wants;
        KeptList list;
        bool complete;
        int r;
};

static Keeping *keeping_free(Keeping *k) {
        if (!k)
                return NULL;
        kept_list_done(&k->list);
        (void) attempt_free(k->attempt);
        (void) gate_unref(k->gate);
        (void) watch_spec_unref(k->spec);
        free(k->state_dir);
        free(k);
        return NULL;
}

static int keep_want(Keeping *k, const Want *want) {
        const KeepRequest q = {
                .state_dir = k->state_dir,
                .session = k->attempt->session,
                .watch = k->spec->name,
                .watch_path = k->spec->path,
                .path = want->path,
                .what = want->what,
                .file_max = k->spec->preserve_max,
                .bytes_max = k->room,
                .entries_max = KEEP_ENTRIES_MAX,
                .ignore = k->spec->ignore,
        };
        KeptList list = {};
        bool complete = true;
        int r = keep_object(&q, &list, &complete);

        if (r == -ENOENT)
                return 0; /* nothing there to lose: the call will find that out as well */
        k->complete &= complete;
        for (size_t i = 0; i < list.n && r >= 0; i++) {
                k->room -= MIN(k->room, list.list[i].bytes);
                r = kept_list_add(&k->list, &list.list[i]);
                list.list[i] = (Kept){};
        }
        kept_list_done(&list);
        return r;
}

static void keeping_run(void *userdata) {
        Keeping *k = userdata;

        for (size_t i = 0; i < k->n_wants && k->r >= 0; i++)
                k->r = keep_want(k, &k->wants[i]);
        if (k->r < 0)
                keep_forget(k->state_dir, k->attempt->session, &k->list);
}

/* Deny and ask promise that nothing is lost; the others go on, and the row will not say that it was preserved. */
static void not_preserved(Manager *m, Gate *g, Attempt *a, const WatchSpec *spec, int error) {
        Live *l = live_find(m, a->session);
        _cleanup_free_ char *path = path_to_text(a->access.path);
        Policy policy = spec->policy;

        log_warning("session %s: '%s' is not preserved: %s", a->session, path ? path : "?",
                    strerror(-error));
        if (!l)
                return;
        live_add_loss(l, "not-preserved", spec->name, a->at, manager_now(m), 1);
        if (l->session->has_policy)
                policy = policy_stricter(policy, l->session->policy);
        if (policy != POLICY_ASK && policy != POLICY_DENY)
                return;
        /* when its deadline has come meanwhile, what was done is told by itself */
        if (gatekeeper_is_waiting(g, a)) {
                a->decision.verb = VERB_REFUSE;
                a->decision.violation = true;
                gatekeeper_record(m, a, ACTION_DENIED);
        }
}

/* Gives the attempt back. */
static void keeping_give_up(Manager *m, Keeping *k, int error) {
        if (error < 0)
                not_preserved(m, k->gate, k->attempt, k->spec, error);
        gatekeeper_go_on(m, k->gate, TAKE_PTR(k->attempt));
        (void) keeping_free(k);
}

/* A tree too large, or with another filesystem in it: as far as it went. */
static void tell_incomplete(Manager *m, const Keeping *k) {
        Live *l = live_find(m, k->attempt->session);

        if (l)
                live_add_loss(l, "not-preserved", k->spec->name, k->attempt->at, manager_now(m), 0);
}

static void keeping_done(Manager *m, void *userdata);

/* A thread has become free. What has been answered meanwhile, by its deadline, needs no copy. */
static void keeping_start_next(Manager *m) {
        Keeping *k, *next;

        DL_FOREACH_SAFE (m->keepings, k, next) {
                const bool waits = gatekeeper_is_waiting(k->gate, k->attempt);
                int r = waits ? job_start(m->jobs, keeping_run, keeping_done, k) : 0;

                if (r == -EAGAIN)
                        return;
                DL_DELETE(m->keepings, k);
                if (waits && r >= 0)
                        return;
                keeping_give_up(m, k, r);
        }
}

static void keeping_done(Manager *m, void *userdata) {
        Keeping *k = userdata;
        char session[17];

        if (!m) {
                (void) keeping_free(k);
                return;
        }
        keeping_start_next(m);
        if (k->r >= 0)
                k->r = store_put_kept(m->store, k->attempt->session, &k->list);
        if (k->r >= 0)
                k->r = store_flush(m->store);
        if (k->r < 0)
                not_preserved(m, k->gate, k->attempt, k->spec, k->r);
        else if (!k->complete)
                tell_incomplete(m, k);
        (void) snprintf(session, sizeof session, "%s", k->attempt->session);
        gatekeeper_go_on(m, k->gate, TAKE_PTR(k->attempt));
        if (k->r >= 0)
                hashing_add(m, session, &k->list);
        (void) keeping_free(k);
}

/* ---- what is needed ---- */

/* What the session made itself, and what it has kept already, is not kept again. */
static bool lacks(Manager *m, const Live *l, const char *path, bool content) {
        return !session_has_created(l->session, path, 0) &&
                store_has_kept(m->store, l->session->id, path, 0, content) <= 0;
}

/* The times of a directory change with the names in it. */
static bool lacks_directory(Manager *m, const Live *l, const WatchSpec *spec, const char *path) {
        _cleanup_free_ char *directory = NULL;

        if (str_equal(path, spec->path))
                return false;
        directory = strndup(path, (size_t) (strrchr(path, '/') - path));
        return !directory || lacks(m, l, directory, /* content= */ false);
}

static KeepWhat what_of(const Access *a) {
        if (a->type == ACCESS_METADATA)
                return KEEP_METADATA;
        if (a->kind == KIND_DIR && (a->type == ACCESS_RENAME || a->leaves))
                return KEEP_TREE;
        return KEEP_CONTENT;
}

static void add_wants(Manager *m, const Live *l, Keeping *k) {
        const Access *a = &k->attempt->access;
        const bool names =
                a->type == ACCESS_CREATE || a->type == ACCESS_DELETE || a->type == ACCESS_RENAME;

        if (a->type != ACCESS_CREATE && lacks(m, l, a->path, a->type != ACCESS_METADATA))
                k->wants[k->n_wants++] = (Want){a->path, what_of(a)};
        else if (names && lacks_directory(m, l, k->spec, a->path))
                k->wants[k->n_wants++] = (Want){a->path, KEEP_NAME};
        if (a->type == ACCESS_RENAME && !a->leaves && a->from &&
            watch_relative_name(k->spec, a->from) &&
            (lacks(m, l, a->from, /* content= */ false) || lacks_directory(m, l, k->spec, a->from)))
                k->wants[k->n_wants++] = (Want){a->from, KEEP_NAME};
}

/* ---- room ---- */

typedef struct Removal {
        char *state_dir;
        char session[17];
} Removal;

static void removal_run(void *userdata) {
        Removal *rm = userdata;

        (void) preserve_remove(rm->state_dir, rm->session);
}

static void removal_done(Manager *m, void *userdata) {
        Removal *rm = userdata;

        free(rm->state_dir);
        free(rm);
}

/* Its rows have gone already; files that stay behind are found at the next start. */
static void remove_files(Manager *m, const char *session) {
        Removal *rm = calloc(1, sizeof *rm);

        if (!rm)
                return;
        (void) snprintf(rm->session, sizeof rm->session, "%s", session);
        rm->state_dir = strdup(m->state_dir);
        if (!rm->state_dir || job_start_background(m->jobs, removal_run, removal_done, rm) < 0)
                removal_done(m, rm);
}

uint64_t keeping_room(Manager *m) {
        const uint64_t total = m->config->preserve_total;
        Eviction *evictions = NULL;
        uint64_t used = 0, missing = 0;
        size_t n = 0;

        if (store_kept_bytes(m->store, &used) < 0)
                return 0;
        if (used < total - total / 10)
                return total - used;
        if (store_plan_eviction(m->store, total, total / 10, &evictions, &n, &missing) < 0)
                return total > used ? total - used : 0;
        for (size_t i = 0; i < n; i++) {
                if (undo_job_is_running(m, evictions[i].session))
                        continue;
                log_warning(
                        "the store of preserved files is full: session %s (%llu bytes) can no longer be undone",
                        evictions[i].session, (unsigned long long) evictions[i].bytes);
                if (store_evict(m->store, evictions[i].session, manager_now(m)) >= 0) {
                        remove_files(m, evictions[i].session);
                        used -= MIN(used, evictions[i].bytes);
                }
        }
        free(evictions);
        return total > used ? total - used : 0;
}

static Keeping *keeping_new(Manager *m, Gate *g, Attempt *a, const Watched *w) {
        Keeping *k = calloc(1, sizeof *k);

        if (!k)
                return NULL;
        k->state_dir = strdup(m->state_dir);
        if (!k->state_dir) {
                free(k);
                return NULL;
        }
        k->gate = gate_ref(g);
        k->attempt = a;
        k->spec = watch_spec_ref(w->spec);
        k->complete = true;
        return k;
}

void keeping_start(Manager *m, Gate *g, Attempt *a) {
        const Watched *w = watched_find(m, a->watch);
        const Live *l = live_find(m, a->session);
        Keeping *k;
        int r;

        if (!w || !l) {
                gatekeeper_go_on(m, g, a);
                return;
        }
        k = keeping_new(m, g, a, w);
        if (!k) {
                not_preserved(m, g, a, w->spec, -ENOMEM);
                gatekeeper_go_on(m, g, a);
                return;
        }
        add_wants(m, l, k);
        if (k->n_wants == 0) {
                keeping_give_up(m, k, 0);
                return;
        }
        k->room = keeping_room(m);
        r = k->room > 0 ? job_start(m->jobs, keeping_run, keeping_done, k) : -ENOSPC;
        if (r == -EAGAIN)
                DL_APPEND(m->keepings, k);
        else if (r < 0)
                keeping_give_up(m, k, r);
}

size_t keeping_count(Manager *m) {
        size_t n = 0;
        Keeping *k;

        DL_COUNT(m->keepings, k, n);
        return n;
}

void keeping_free_all(Manager *m) {
        Keeping *k, *next;

        DL_FOREACH_SAFE (m->keepings, k, next) {
                DL_DELETE(m->keepings, k);
                (void) keeping_free(k);
        }
}
