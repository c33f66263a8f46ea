/* SPDX-License-Identifier: MIT */
#include "daemon/prospect.h"
#include "daemon/bar.h"
#include "daemon/gate_site.h"
#include "daemon/job.h"
#include "daemon/kernel/guard_probe.h"
#include "daemon/kernel/hold_probe.h"
#include "daemon/kernel/place.h"
#include "daemon/watched.h"

#include <errno.h>
#include <stdio.h>
#include <utlist.h>

typedef struct Waiter {
        struct Waiter *prev, *next;
        Prospects *all;
        sd_event_source *timer;
        prospects_done_t done;
        void *userdata;
} Waiter;

struct Prospects {
        Manager *manager;
        unsigned n_open; /* jobs under way */
        Waiter *waiters;
};

typedef struct Look {
        char name[65];
        char *path;
        int r;
        char reason[256];
} Look;

static void look_free(Look *l) {
        free(l->path);
        free(l);
}

static bool never(void *userdata) {
        return false;
}

static void look_run(void *userdata) {
        _cleanup_(place_done) Place p = {};
        const char *reason = NULL;
        Look *l = userdata;

        l->r = place_resolve(l->path, &p);
        if (l->r >= 0)
                l->r = hold_probe(p.root, never, NULL, &reason);
        if (l->r < 0)
                (void) snprintf(l->reason, sizeof l->reason, "%s",
                                reason ? reason : strerrordesc_np(-l->r));
}

static void waiter_end(Waiter *w, bool tell) {
        Prospects *p = w->all;

        DL_DELETE(p->waiters, w);
        sd_event_source_disable_unref(w->timer);
        if (tell)
                w->done(p->manager, w->userdata);
        free(w);
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata) {
        waiter_end(userdata, /* tell= */ true);
        return 0;
}

/* The answers come from the loop itself, never below whoever asks. */
static void wake_waiters(Prospects *p) {
        Waiter *w;

        DL_FOREACH (p->waiters, w)
                (void) sd_event_source_set_time(w->timer, 0);
}

static void look_done(Manager *m, void *userdata) {
        Look *l = userdata;
        Watched *w = m ? watched_find(m, l->name) : NULL;

        if (w && str_equal(w->spec->path, l->path)) {
                w->looking = false;
                w->hold = l->r < 0 ? HOLD_IMPOSSIBLE : HOLD_POSSIBLE;
                memcpy(w->hold_reason, l->reason, sizeof w->hold_reason);
        }
        if (m && --m->prospects->n_open == 0)
                wake_waiters(m->prospects);
        look_free(l);
}

static int look_start(Prospects *p, Watched *w) {
        Look *l;
        int r;

        if (w->looking)
                return 0; /* and does not answer */
        l = calloc(1, sizeof *l);
        if (!l)
                return -ENOMEM;
        (void) snprintf(l->name, sizeof l->name, "%s", w->spec->name);
        l->path = strdup(w->spec->path);
        w->hold = HOLD_UNKNOWN;
        r = l->path ? job_start_background(p->manager->jobs, look_run, look_done, l) : -ENOMEM;
        if (r < 0) {
                look_free(l);
                return r;
        }
        w->looking = true;
        p->n_open++;
        return 0;
}

int prospects_look(Prospects *p, usec_t deadline, prospects_done_t done, void *userdata) {
        Waiter *waiter = calloc(1, sizeof *waiter);
        Watched *w;
        int r;

        if (!waiter)
                return -ENOMEM;
        *waiter = (Waiter){.all = p, .done = done, .userdata = userdata};
        DL_APPEND(p->waiters, waiter);
        r = sd_event_add_time_relative(p->manager->event, &waiter->timer, CLOCK_MONOTONIC, deadline,
                                       1000, on_deadline, waiter);
        DL_FOREACH (p->manager->watches, w)
                if (r >= 0)
                        r = look_start(p, w);
        if (r < 0) {
                waiter_end(waiter, /* tell= */ false);
                return r;
        }
        if (p->n_open == 0)
                wake_waiters(p);
        return 0;
}

void prospects_facts(const Watched *w, MatrixFacts *ret) {
        const char *reason;

        *ret = (MatrixFacts){
                .guard = guard_probe(),
                .hold = w->hold == HOLD_POSSIBLE ||
                        gate_sites_can_hold(w->manager->gate_sites, w->spec->name, &reason),
                .kernel = w->spec->policy == POLICY_DENY &&
                        bars_can(w->manager->bars, w->spec, &reason),
                .preserve = w->spec->preserve,
                .snapshot = w->spec->snapshot_max > 0,
        };
        for (OpType op = 0; op < _OP_MAX; op++)
                ret->sight[op] = w->status.coverage.op[op];
}

const char *prospect_hold_to_string(HoldProspect h) {
        static const char *const words[] = {
                [HOLD_UNKNOWN] = "unknown",
                [HOLD_POSSIBLE] = "possible",
                [HOLD_IMPOSSIBLE] = "impossible",
        };

        return words[h];
}

int prospects_new(Manager *m, Prospects **ret) {
        Prospects *p = calloc(1, sizeof *p);

        if (!p)
                return -ENOMEM;
        p->manager = m;
        *ret = p;
        return 0;
}

Prospects *prospects_free(Prospects *p) {
        Waiter *w, *next;

        if (!p)
                return NULL;
        DL_FOREACH_SAFE (p->waiters, w, next)
                waiter_end(w, /* tell= */ false);
        free(p);
        return NULL;
}
