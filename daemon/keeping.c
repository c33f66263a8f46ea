/* SPDX-License-Identifier: MIT */
#include "daemon/keeping.h"
#include "common/operation_json.h"
#include "daemon/job.h"
#include "daemon/log.h"
#include "daemon/store/keep.h"
#include "daemon/watched.h"

#include <errno.h>

#define KEEP_ENTRIES_MAX 100000 /* of a directory that is replaced or moved out */

typedef struct Keeping {
        Gate *gate; /* reference */
        Attempt *attempt;
        WatchSpec *spec; /* reference */
        char *state_dir;
        uint64_t room;
        KeptList list;
        bool complete;
        int r;
} Keeping;

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

/* What this access may lose, and of which path. */
static KeepWhat what_of(const Access *a) {
        if (a->type == ACCESS_METADATA)
                return KEEP_METADATA;
        if (a->kind == KIND_DIR && (a->type == ACCESS_RENAME || a->leaves))
                return KEEP_TREE;
        return KEEP_CONTENT;
}

static void keeping_run(void *userdata) {
        Keeping *k = userdata;
        const KeepRequest q = {
                .state_dir = k->state_dir,
                .session = k->attempt->session,
                .watch = k->spec->name,
                .watch_path = k->spec->path,
                .path = k->attempt->access.path,
                .what = what_of(&k->attempt->access),
                .file_max = k->spec->preserve_max,
                .bytes_max = k->room,
                .entries_max = KEEP_ENTRIES_MAX,
                .ignore = k->spec->ignore,
        };

        k->r = keep_object(&q, &k->list, &k->complete);
}

/* Deny and ask promise that nothing is lost; the others go on, and the row will not say that it was preserved. */
static void keeping_failed(Manager *m, Keeping *k) {
        Live *l = live_find(m, k->attempt->session);
        _cleanup_free_ char *path = path_to_text(k->attempt->access.path);

        log_warning("session %s: '%s' is not preserved: %s", k->attempt->session, path ? path : "?",
                    strerror(-k->r));
        if (l)
                live_add_loss(l, "not-preserved", k->spec->name, k->attempt->at, manager_now(m), 1);
        if (k->attempt->decision.verb == VERB_ASK || k->spec->policy == POLICY_DENY) {
                k->attempt->decision.verb = VERB_REFUSE;
                k->attempt->decision.violation = true;
                gatekeeper_record(m, k->attempt, ACTION_DENIED);
        }
}

static void keeping_done(Manager *m, void *userdata) {
        Keeping *k = userdata;

        if (!m) {
                (void) keeping_free(k);
                return;
        }
        if (k->r == -ENOENT)
                k->r = 0; /* nothing there to lose, but perhaps its directory's times */
        if (k->r >= 0)
                k->r = store_put_kept(m->store, k->attempt->session, &k->list);
        if (k->r >= 0)
                k->r = store_flush(m->store);
        if (k->r < 0)
                keeping_failed(m, k);
        gatekeeper_go_on(m, k->gate, TAKE_PTR(k->attempt));
        (void) keeping_free(k);
}

/* What the session made itself, and what it has kept already, is not kept again. */
static bool is_needed(Manager *m, const Attempt *a) {
        const Live *l = live_find(m, a->session);

        if (!l || session_has_created(l->session, a->access.path, 0))
                return false;
        return store_has_kept(m->store, a->session, a->access.path, 0,
                              a->access.type != ACCESS_METADATA) <= 0;
}

/* Bytes that may still be written; 0 when live sessions have used all up. */
static uint64_t make_room(Manager *m) {
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
                log_warning(
                        "the store of preserved files is full: session %s (%llu bytes) can no longer be undone",
                        evictions[i].session, (unsigned long long) evictions[i].bytes);
                if (store_evict(m->store, evictions[i].session, manager_now(m)) >= 0) {
                        (void) preserve_remove(m->state_dir, evictions[i].session);
                        used -= MIN(used, evictions[i].bytes);
                }
        }
        free(evictions);
        return total > used ? total - used : 0;
}

void keeping_start(Manager *m, Gate *g, Attempt *a) {
        const Watched *w = watched_find(m, a->watch);
        Keeping *k;
        int r;

        if (!w || !is_needed(m, a)) {
                gatekeeper_go_on(m, g, a);
                return;
        }
        k = calloc(1, sizeof *k);
        if (!k || !(k->state_dir = strdup(m->state_dir))) {
                free(k);
                gatekeeper_go_on(m, g, a);
                return;
        }
        k->gate = gate_ref(g);
        k->attempt = a;
        k->spec = watch_spec_ref(w->spec);
        k->room = make_room(m);
        r = k->room > 0 ? job_start(m->jobs, keeping_run, keeping_done, k) : -ENOSPC;
        if (r < 0) {
                k->r = r;
                keeping_failed(m, k);
                gatekeeper_go_on(m, k->gate, TAKE_PTR(k->attempt));
                (void) keeping_free(k);
        }
}
