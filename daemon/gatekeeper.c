/* SPDX-License-Identifier: MIT */
/*
 * Owns the members, the rulebook and the queue of attempts. Gate threads call judge() and tell() only: these touch the members
 * and the rulebook (each behind its mutex) and the queue, never the manager.
 */
#include "daemon/gatekeeper.h"
#include "daemon/gate_site.h"
#include "daemon/held.h"
#include "daemon/intake.h"
#include "daemon/keeping.h"
#include "daemon/log.h"
#include "daemon/record.h"
#include "daemon/restrain.h"
#include "daemon/rulebook.h"
#include "daemon/watched.h"

#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <utlist.h>

typedef struct Told {
        struct Told *prev, *next;
        Gate *gate; /* reference */
        Attempt *attempt;
} Told;

struct Gatekeeper {
        Manager *manager;
        Members *members;
        Rulebook *rules;
        pthread_mutex_t mutex; /* of the queue */
        Told *queue;
        int fd;
        sd_event_source *source;
};

/* ---- in gate threads ---- */

/* A process that was forked a moment ago is a member only once the connector has been drained. It is there as long as any
 * session is, and gates go first. */
static bool find_member(const Gatekeeper *k, pid_t pid, SessionRule *ret) {
        Connector *connector = k->manager->connector;
        Membership m = members_look(k->members, pid, ret);

        if (m != MEMBERSHIP_UNKNOWN || !connector)
                return m == MEMBERSHIP_MEMBER;
        connector_poke(connector);
        return members_settle(k->members, pid, ret);
}

static bool judge(Attempt *a, void *userdata) {
        Gate *g = userdata;
        SessionRule rule;

        if (!find_member(g->keeper, a->pid, &rule))
                return false;
        if (!rulebook_decide(g->keeper->rules, a->watch, &a->access, &rule, &a->decision))
                return false;
        memcpy(a->session, rule.id, sizeof a->session);
        a->pending = a->decision.preserve ||
                (a->decision.verb != VERB_LET && a->decision.verb != VERB_REFUSE);
        return true;
}

static void tell(Attempt *a, void *userdata) {
        Gate *g = userdata;
        Gatekeeper *k = g->keeper;
        Told *t = calloc(1, sizeof *t);

        if (!t) {
                /* nobody will answer it but the deadline */
                (void) attempt_free(a);
                return;
        }
        t->gate = gate_ref(g);
        t->attempt = a;
        (void) pthread_mutex_lock(&k->mutex);
        DL_APPEND(k->queue, t);
        (void) pthread_mutex_unlock(&k->mutex);
        (void) eventfd_write(k->fd, 1);
}

/* ---- gates ---- */

Gate *gate_new(Gatekeeper *k, GateHooks *ret_hooks) {
        Gate *g = calloc(1, sizeof *g);

        if (!g)
                return NULL;
        g->n_ref = 1;
        g->keeper = k;
        *ret_hooks = (GateHooks){.judge = judge, .tell = tell, .userdata = g};
        return g;
}

Gate *gate_ref(Gate *g) {
        (void) __atomic_add_fetch(&g->n_ref, 1, __ATOMIC_RELAXED);
        return g;
}

Gate *gate_unref(Gate *g) {
        if (g && __atomic_sub_fetch(&g->n_ref, 1, __ATOMIC_ACQ_REL) == 0)
                free(g);
        return NULL;
}

void gate_close(Gate *g) {
        g->guard = guard_free(g->guard);
        g->hold = hold_free(g->hold);
}

void gatekeeper_answer(Gate *g, Attempt *a, Verb verb) {
        if (g->guard)
                (void) guard_answer(g->guard, a->id, verb);
        else if (g->hold)
                (void) hold_answer(g->hold, a->id, verb);
        (void) attempt_free(a);
}

/* ---- what was told ---- */

static char *copy_or_null(const char *s) {
        return s ? strdup(s) : NULL;
}

void gatekeeper_record(Manager *m, const Attempt *a, Action action) {
        Live *l = live_find(m, a->session);
        Image *image = NULL;
        Process *p;
        Operation op = {
                .op = access_operation(a->access.type),
                .kind = a->access.kind,
                .count = 1,
                .first = a->at,
                .last = a->at,
                .replaced = a->access.replaces,
                .violation = a->decision.violation,
                .action = action,
                .attempt = !a->too_late,
                .attribution = SIGHT_EXACT,
        };

        if (!l)
                return;
        op.session = strdup(a->session);
        op.watch = strdup(a->watch);
        op.path = strdup(a->access.path);
        op.from = a->access.leaves ? NULL : copy_or_null(a->access.from);
        op.to = copy_or_null(a->access.to);
        op.test = copy_or_null(l->session->test);
        if (op.session && op.watch && op.path) {
                l->session->operations++;
                l->session->violations += op.violation;
                intake_processes(m);
                /* what it ran at that moment: it need not have waited for us */
                p = process_table_author(m->processes, a->pid, /* gone= */ false, a->since,
                                         a->since);
                if (p)
                        image = process_image_at(p, a->since);
                else if ((p = process_table_find(m->processes, a->pid)))
                        image = p->image;
                record_operation(m, &op, image, a->pid);
        }
        operation_done(&op);
}

static const WatchSpec *spec_of(Manager *m, const char *watch) {
        const Watched *w = watched_find(m, watch);

        return w ? w->spec : NULL;
}

static void carry_out_kill(Manager *m, Live *l, const Attempt *a) {
        const WatchSpec *spec = spec_of(m, a->watch);

        if (spec && spec->kill_scope == KILL_SCOPE_SESSION)
                (void) restrain_kill(l);
        else
                (void) restrain_kill_member(l, a->pid);
}

bool gatekeeper_is_waiting(Gate *g, const Attempt *a) {
        return (g->guard && guard_is_waiting(g->guard, a->id)) ||
                (g->hold && hold_is_waiting(g->hold, a->id));
}

void gatekeeper_go_on(Manager *m, Gate *g, Attempt *a) {
        Live *l = live_find(m, a->session);

        if (!l || !gatekeeper_is_waiting(g, a)) {
                gatekeeper_answer(g, a, VERB_LET);
                return;
        }
        switch (a->decision.verb) {
        case VERB_LET:
        case VERB_REFUSE:
                gatekeeper_answer(g, a, a->decision.verb);
                break;
        case VERB_ASK:
                held_add(m, g, a);
                break;
        case VERB_FREEZE:
                if (l->thawed) {
                        gatekeeper_answer(g, a, VERB_LET);
                        break;
                }
                (void) restrain_freeze_by_policy(l);
                gatekeeper_record(m, a, ACTION_FROZEN);
                held_add(m, g, a);
                break;
        case VERB_KILL:
                gatekeeper_record(m, a, ACTION_KILLED);
                carry_out_kill(m, l, a);
                gatekeeper_answer(g, a, VERB_REFUSE);
                break;
        }
}

/* The watch thread saw the file come into being and go: that row is the refused attempt's. */
static bool amend_leftover(Manager *m, Live *l, const Gate *g, const Attempt *a) {
        int64_t seq;

        if (!g->hold || a->access.type != ACCESS_CREATE)
                return false;
        seq = leftovers_refuse(&l->leftovers, a->access.path, a->pid);
        if (seq == 0)
                return false;
        session_forget_created(l->session, a->access.path);
        if (store_amend_action(m->store, seq, ACTION_DENIED) < 0)
                return false;
        manager_store_written(m);
        return true;
}

static void take_answered(Manager *m, Gate *g, Attempt *a) {
        Live *l = live_find(m, a->session);

        held_drop(m, g, a->id);
        if (l && a->decision.verb == VERB_REFUSE && a->too_late)
                gatekeeper_record(m, a, ACTION_ALERTED);
        else if (l && a->decision.verb == VERB_REFUSE && !amend_leftover(m, l, g, a))
                gatekeeper_record(m, a, ACTION_DENIED);
        if (l && (a->too_late || (a->fell_back && a->decision.verb != VERB_REFUSE)))
                live_add_loss(l, "not-enforced", a->watch[0] ? a->watch : NULL, a->at,
                              manager_now(m), 1);
        (void) attempt_free(a);
}

static Told *take_told(Gatekeeper *k) {
        Told *t;

        (void) pthread_mutex_lock(&k->mutex);
        t = k->queue;
        if (t)
                DL_DELETE(k->queue, t);
        (void) pthread_mutex_unlock(&k->mutex);
        return t;
}

static void told_free(Told *t) {
        (void) gate_unref(t->gate);
        free(t);
}

static int on_told(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Gatekeeper *k = userdata;
        Manager *m = k->manager;
        eventfd_t n;
        Told *t;

        (void) eventfd_read(fd, &n);
        while ((t = take_told(k))) {
                if (!t->attempt->pending)
                        take_answered(m, t->gate, t->attempt);
                else if (t->attempt->decision.preserve)
                        keeping_start(m, t->gate, t->attempt);
                else
                        gatekeeper_go_on(m, t->gate, t->attempt);
                told_free(t);
        }
        return 0;
}

/* ---- life ---- */

int gatekeeper_new(Manager *m, Gatekeeper **ret) {
        _cleanup_(gatekeeper_freep) Gatekeeper *k = calloc(1, sizeof *k);
        int r;

        if (!k)
                return -ENOMEM;
        (void) pthread_mutex_init(&k->mutex, NULL);
        k->manager = m;
        k->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (k->fd < 0)
                return -errno;
        r = members_new(&k->members);
        if (r >= 0)
                r = rulebook_new(&k->rules);
        if (r >= 0)
                r = sd_event_add_io(m->event, &k->source, k->fd, EPOLLIN, on_told, k);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(k);
        return 0;
}

Gatekeeper *gatekeeper_free(Gatekeeper *k) {
        Told *t;

        if (!k)
                return NULL;
        k->source = sd_event_source_disable_unref(k->source);
        while ((t = take_told(k))) {
                (void) attempt_free(t->attempt);
                told_free(t);
        }
        (void) safe_close(k->fd);
        (void) rulebook_free(k->rules);
        (void) members_free(k->members);
        (void) pthread_mutex_destroy(&k->mutex);
        free(k);
        return NULL;
}

Members *gatekeeper_members(Gatekeeper *k) {
        return k->members;
}

int gatekeeper_set_watches(Gatekeeper *k) {
        _cleanup_free_ WatchSpec **specs = NULL;
        size_t n = 0;
        Watched *w;

        DL_COUNT(k->manager->watches, w, n);
        specs = calloc(n + 1, sizeof *specs);
        if (!specs)
                return -ENOMEM;
        n = 0;
        DL_FOREACH (k->manager->watches, w)
                specs[n++] = w->spec;
        return rulebook_set(k->rules, specs, n);
}

static SessionRule rule_of(const Live *l) {
        SessionRule rule = {
                .has_policy = l->session->has_policy,
                .policy = l->session->policy,
                .allow_asked = l->allow_asked,
                .thawed = l->thawed,
                .guarded = live_is_guarded(l),
        };

        memcpy(rule.id, l->session->id, sizeof rule.id);
        return rule;
}

int gatekeeper_put_session(Gatekeeper *k, Live *l) {
        const SessionRule rule = rule_of(l);

        return members_set_rule(k->members, &rule);
}

void gatekeeper_drop_session(Gatekeeper *k, Live *l) {
        members_drop_session(k->members, l->session->id,
                             l->session->outer ? l->session->outer->id : NULL);
}

int gatekeeper_add_member(Gatekeeper *k, Live *l, pid_t pid) {
        return members_add(k->members, pid, l->session->id);
}

bool gatekeeper_is_needed(Manager *m, const Live *l) {
        Watched *w;

        DL_FOREACH (m->watches, w)
                if (live_needs_gate_on(l, w->spec))
                        return true;
        return false;
}
