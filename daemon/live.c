/* SPDX-License-Identifier: MIT */
#include "daemon/live.h"
#include "common/matrix.h"
#include "common/strv.h"
#include "daemon/alert.h"
#include "daemon/bar.h"
#include "daemon/barrier.h"
#include "daemon/follow.h"
#include "daemon/gate_site.h"
#include "daemon/held.h"
#include "daemon/intake.h"
#include "daemon/kernel/cgroup.h"
#include "daemon/log.h"
#include "daemon/stream.h"
#include "daemon/tag.h"
#include "daemon/watched.h"

#include <errno.h>
#include <sys/random.h>
#include <utlist.h>

#define ASKED_MAX 1024 /* paths remembered as allowed by a person */

struct LiveWaiter {
        LiveWaiter *next;
        live_ended_t ended;
        void *userdata;
};

typedef struct LiveStart {
        LiveRequest request;
        live_started_t started;
        void *userdata;
} LiveStart;

void live_request_done(LiveRequest *r) {
        free(r->label);
        free(r->cwd);
        strv_free(r->command);
        *r = (LiveRequest){};
}

static Live *live_free(Live *l) {
        if (!l)
                return NULL;
        sd_event_source_disable_unref(l->events_source);
        sd_event_source_disable_unref(l->promise_timer);
        while (l->waiters) {
                LiveWaiter *w = l->waiters;

                l->waiters = w->next;
                free(w);
        }
        if (l->guard)
                gate_close(l->guard);
        (void) gate_unref(l->guard);
        strv_free(l->asked);
        leftovers_done(&l->leftovers);
        (void) session_free(l->session);
        free(l);
        return NULL;
}

DEFINE_CLEANUP(Live *, live_free)

Live *live_find(Manager *m, const char *id) {
        Live *l;

        HASH_FIND_STR(m->live, id, l);
        return l;
}

static Live *live_of(Manager *m, const Session *s) {
        return s ? live_find(m, s->id) : NULL;
}

Live *live_of_pid(Manager *m, pid_t pid) {
        Process *p;

        intake_processes(m);
        p = process_table_find(m->processes, pid);
        return p ? live_of(m, p->session) : NULL;
}

bool live_is_guarded(const Live *l) {
        for (; l; l = live_of(l->manager, l->session->outer))
                if (l->guard)
                        return true;
        return false;
}

bool live_needs_gate_on(const Live *l, const WatchSpec *w) {
        const SessionRule rule = {
                .has_policy = l->session->has_policy,
                .policy = l->session->policy,
        };

        return policy_needs_gate(w, &rule);
}

void live_remember_asked(Live *l, const char *path) {
        if (strv_length(l->asked) < ASKED_MAX && !strv_contains(l->asked, path))
                (void) strv_append(&l->asked, path);
}

size_t live_count_for(Manager *m, uid_t uid) {
        Live *l, *next;
        size_t n = 0;

        HASH_ITER (hh, m->live, l, next)
                n += l->session->uid == uid;
        return n;
}

/* ---- store ---- */

static void live_store(Live *l) {
        int r = store_put_session(l->manager->store, l->session);

        if (r < 0)
                manager_store_failed(l->manager, r);
        else
                manager_store_written(l->manager);
}

void live_store_all(Manager *m) {
        Live *l, *next;

        HASH_ITER (hh, m->live, l, next) {
                int r = store_put_session(m->store, l->session);

                if (r < 0)
                        manager_store_failed(m, r);
        }
}

void live_add_loss(Live *l, const char *reason, const char *watch, usec_t at, usec_t until,
                   uint64_t count) {
        if (session_add_loss(l->session, reason, watch, at, until, count) < 0)
                log_error("session %s: no memory to note a loss (%s)", l->session->id, reason);
        live_store(l);
        counters_add_loss(&l->manager->counters, reason);
        alert_loss(l->manager, l, reason, watch);
}

void live_add_loss_all(Manager *m, const char *reason, const char *watch, usec_t at, usec_t until,
                       uint64_t count) {
        Live *l, *next;

        HASH_ITER (hh, m->live, l, next)
                live_add_loss(l, reason, watch, at, until, count);
}

/* ---- start ---- */

static int live_make(Manager *m, LiveRequest *q, Live **ret) {
        _cleanup_(live_freep) Live *l = calloc(1, sizeof *l);
        uint64_t chance;
        int r;

        if (!l)
                return -ENOMEM;
        if (getrandom(&chance, sizeof chance, 0) != sizeof chance)
                return -EIO;
        l->manager = m;
        r = session_new(chance, q->uid, manager_now(m), &l->session);
        if (r < 0)
                return r;
        l->session->label = TAKE_PTR(q->label);
        l->session->cwd = TAKE_PTR(q->cwd);
        if (q->command) {
                (void) strv_free(l->session->command);
                l->session->command = TAKE_PTR(q->command);
        }
        l->session->has_policy = q->has_policy;
        l->session->policy = q->policy;
        l->session->root_pid = q->pid;
        l->session->root_start_ticks = q->start_ticks;
        *ret = TAKE_PTR(l);
        return 0;
}

/* A gate stands only where something needs it: where there is none, nothing can be refused. */
static bool has_gate_on(const Live *l, const Watched *w) {
        const char *reason;

        return live_is_guarded(l) ||
                (live_needs_gate_on(l, w->spec) &&
                 gate_sites_can_hold(l->manager->gate_sites, w->spec->name, &reason));
}

void live_store_watches(Live *l) {
        Manager *m = l->manager;
        Watched *w;
        int r;

        DL_FOREACH (m->watches, w) {
                Coverage coverage = w->status.coverage;
                const bool gate = has_gate_on(l, w);
                const MatrixFacts facts = {.guard = gate,
                                           .hold = gate,
                                           .kernel = gate_sites_bar(m->gate_sites, l, w->spec)};

                for (OpType op = 0; op < _OP_MAX; op++)
                        coverage.deny[op] = matrix_is_refusable(&facts, op, live_is_guarded(l));
                r = store_put_session_watch(m->store, l->session->id, w->spec, w->status.scope,
                                            &coverage);
                if (r < 0)
                        manager_store_failed(m, r);
        }
        manager_store_written(m);
}

static int live_begin(Manager *m, LiveRequest *q, Live **ret) {
        _cleanup_(live_freep) Live *l = NULL;
        Watched *w;
        int r;

        r = live_make(m, q, &l);
        if (r < 0)
                return r;
        HASH_ADD_STR(m->live, session->id, l);
        if (!l->hh.tbl)
                return -ENOMEM;
        r = gatekeeper_put_session(m->gatekeeper, l);
        if (r >= 0)
                r = tag_root(l, q->automatic);
        if (r < 0) {
                gatekeeper_drop_session(m->gatekeeper, l);
                process_table_untag_all(m->processes, l->session, l->session->outer);
                if (l->session->cgroup)
                        (void) cgroup_dissolve(l->session->cgroup);
                HASH_DEL(m->live, l);
                return r;
        }
        /* once more: an outer session may have made it stricter */
        (void) gatekeeper_put_session(m->gatekeeper, l);
        live_store(l);
        live_store_watches(l);
        DL_FOREACH (m->watches, w) {
                if (w->status.state == WATCHER_FAILED)
                        live_add_loss(l, "not-watched", w->spec->name, l->session->started, 0, 0);
        }
        if (gatekeeper_is_needed(m, l)) {
                r = gate_sites_refresh(m->gate_sites);
                if (r < 0)
                        live_add_loss(l, "not-enforced", NULL, l->session->started, 0, 0);
        }
        if (!m->connector)
                live_add_loss(l, "no-process-events", NULL, l->session->started, 0, 0);
        r = store_flush(m->store);
        if (r < 0)
                manager_store_failed(m, r);
        l->manager->counters.started++;
        alert_started(l->session);
        *ret = TAKE_PTR(l);
        return 0;
}

static void on_ready(Manager *m, Watched *const *missing, size_t n_missing, void *userdata) {
        LiveStart *start = userdata;
        Live *l = NULL;
        int r;

        r = live_begin(m, &start->request, &l);
        m->starting--;
        if (r < 0)
                manager_update_demand(m);
        start->started(m, r, l, missing, n_missing, start->userdata);
        live_request_done(&start->request);
        free(start);
}

int live_start(Manager *m, LiveRequest *request, live_started_t started, void *userdata) {
        LiveStart *start = calloc(1, sizeof *start);
        int r;

        if (!start)
                return -ENOMEM;
        start->request = *request;
        start->started = started;
        start->userdata = userdata;
        m->starting++;
        manager_update_demand(m);
        r = barrier_start(m, BARRIER_READ_USEC, on_ready, start);
        if (r < 0) {
                free(start);
                m->starting--;
                manager_update_demand(m);
                return r;
        }
        *request = (LiveRequest){};
        return 0;
}

/* ---- end ---- */

/* The folder of the outer session stays as long as a nested one lies in it: try again when that one has gone. */
static void dissolve_cgroups(Manager *m, const char *cgroup) {
        _cleanup_free_ char *path = strdup(cgroup);

        while (path) {
                char *slash = strrchr(path, '/');
                const char *id;
                int r;

                if (!slash || strncmp(slash, "/mountwatch-", strlen("/mountwatch-")) != 0)
                        return;
                id = slash + strlen("/mountwatch-");
                if (live_find(m, id))
                        return;
                r = cgroup_dissolve(path);
                if (r < 0) {
                        if (r != -EBUSY)
                                log_warning("cannot remove the cgroup of session %s: %s", id,
                                            strerror(-r));
                        return;
                }
                *slash = 0;
        }
}

static void live_finish(Manager *m, Live *l) {
        Session *s = l->session;
        LiveWaiter *waiters = TAKE_PTR(l->waiters);
        Live *inner, *next;
        char id[sizeof s->id];
        int r;

        bars_take(m->bars);
        gate_sites_take_lapses(m->gate_sites);
        s->state = l->killed ? SESSION_KILLED : SESSION_STOPPED;
        s->stopped = l->ended;
        live_store(l);
        r = store_flush(m->store);
        if (r < 0)
                manager_store_failed(m, r);
        m->counters.ended[session_verdict(s)]++;
        alert_ended(m, s);

        process_table_untag_all(m->processes, s, s->outer);
        HASH_ITER (hh, m->live, inner, next)
                if (inner->session->outer == s)
                        inner->session->outer = s->outer;
        gatekeeper_drop_session(m->gatekeeper, l);
        held_drop_session(m, s->id);
        gate_sites_close_guard(m->gate_sites, l);
        HASH_DEL(m->live, l);
        if (l->frozen_by_policy)
                follow_lists_changed(m);
        (void) gate_sites_update_holds(m->gate_sites, NULL, NULL);
        if (s->cgroup)
                dissolve_cgroups(m, s->cgroup);
        memcpy(id, s->id, sizeof id);
        (void) live_free(l);

        stream_session_ended(m, id);
        while (waiters) {
                LiveWaiter *w = waiters;

                waiters = w->next;
                w->ended(m, id, w->userdata);
                free(w);
        }
        live_check_soon(m);
        manager_update_demand(m);
}

typedef struct LiveEnd {
        char id[17];
} LiveEnd;

static void on_last_word(Manager *m, Watched *const *missing, size_t n_missing, void *userdata) {
        _cleanup_free_ LiveEnd *end = userdata;
        Live *l = live_find(m, end->id);

        if (!l)
                return;
        for (size_t i = 0; i < n_missing; i++)
                live_add_loss(l, "watch-stalled", missing[i]->spec->name, l->session->started,
                              manager_now(m), 0);
        live_finish(m, l);
}

static int live_end(Live *l) {
        LiveEnd *end;
        int r;

        if (l->ending)
                return 0;
        end = calloc(1, sizeof *end);
        if (!end)
                return -ENOMEM;
        memcpy(end->id, l->session->id, sizeof end->id);
        r = barrier_start(l->manager, BARRIER_END_USEC, on_last_word, end);
        if (r < 0) {
                free(end);
                return r;
        }
        l->ending = true;
        l->ended = manager_now(l->manager);
        return 0;
}

int live_stop(Live *l, live_ended_t ended, void *userdata) {
        LiveWaiter *w = calloc(1, sizeof *w);
        int r;

        if (!w)
                return -ENOMEM;
        w->ended = ended;
        w->userdata = userdata;
        r = live_end(l);
        if (r < 0) {
                free(w);
                return r;
        }
        LL_PREPEND(l->waiters, w);
        return 0;
}

void live_command_ended(Live *l, int exit_status) {
        l->session->exit_status = exit_status;
        live_store(l);
        live_check_soon(l->manager);
}

static bool has_inner(Live *l) {
        Live *other, *next;

        HASH_ITER (hh, l->manager->live, other, next)
                if (other->session->outer == l->session)
                        return true;
        return false;
}

/* Start times that were computed from a fork message may be one tick off (connector.h). */
static bool process_is(const Process *p, uint64_t start_ticks) {
        return p->image && p->image->start_ticks + 1 >= start_ticks &&
                p->image->start_ticks <= start_ticks + 1;
}

static void live_check(Live *l) {
        Process *root = process_table_find(l->manager->processes, l->session->root_pid);
        bool root_lives = root && process_is(root, l->session->root_start_ticks);

        if (l->ending)
                return;
        if (process_table_count(l->manager->processes, l->session) > 0 || has_inner(l) ||
            tag_has_members(l)) {
                if (l->session->state == SESSION_ACTIVE && !root_lives) {
                        l->session->state = SESSION_LINGERING;
                        live_store(l);
                }
                return;
        }
        if (live_end(l) < 0)
                log_error("session %s: no memory to end it; it is tried again", l->session->id);
}

void live_check_soon(Manager *m) {
        (void) sd_event_source_set_enabled(m->check_source, SD_EVENT_ONESHOT);
}

void live_check_all(Manager *m) {
        Live *l, *next;

        intake_processes(m);
        HASH_ITER (hh, m->live, l, next)
                live_check(l);
}

void live_resync(Manager *m) {
        Live *l, *next;

        HASH_ITER (hh, m->live, l, next)
                tag_resync(l);
        live_check_soon(m);
}

int live_adopt(Manager *m, Session *session, Live **ret) {
        Live *l = calloc(1, sizeof *l);

        if (!l) {
                (void) session_free(session);
                return -ENOMEM;
        }
        l->manager = m;
        l->session = session;
        l->frozen = session->cgroup && cgroup_is_frozen(session->cgroup) > 0;
        l->frozen_by_policy =
                l->frozen; /* who did it is not known any more: better told once too often */
        HASH_ADD_STR(m->live, session->id, l);
        if (!l->hh.tbl) {
                (void) live_free(l);
                return -ENOMEM;
        }
        manager_update_demand(m);
        (void) gatekeeper_put_session(m->gatekeeper, l);
        *ret = l;
        return 0;
}

void live_suspend_all(Manager *m) {
        Live *l, *next;

        HASH_ITER (hh, m->live, l, next)
                live_add_loss(l, "daemon-restart", NULL, manager_now(m), 0, 0);
}

void live_free_all(Manager *m) {
        Live *l, *next;

        HASH_ITER (hh, m->live, l, next) {
                HASH_DEL(m->live, l);
                (void) live_free(l);
        }
}
