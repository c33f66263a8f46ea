/* SPDX-License-Identifier: MIT */
#include "daemon/bar.h"
#include "daemon/core/policy.h"
#include "daemon/gatekeeper.h"
#include "daemon/intake.h"
#include "daemon/kernel/bpf_engine.h"
#include "daemon/kernel/place.h"
#include "daemon/live.h"
#include "daemon/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <utlist.h>

#define TENTATIVE_USEC \
        (USEC_PER_SEC / 2) /* how long an open may take to find that its name exists */

typedef struct Barred {
        struct Barred *prev, *next;
        unsigned number;
        char watch[65];
        char *base; /* what the kernel's names are below */
} Barred;

typedef struct Known {
        struct Known *prev, *next;
        uint64_t cgroup_id;
        char session[17];
        bool exempt;
        bool seen;
} Known;

/* A refused create that may turn out to be an open. */
typedef struct Tentative {
        struct Tentative *prev, *next;
        BpfRefusal refusal;
        nsec_t taken;
} Tentative;

struct Bars {
        Manager *manager;
        BpfEngine *engine;           /* NULL: none */
        char reason[BPF_REASON_MAX]; /* why there is none */
        sd_event_source *source, *timer;
        Barred *barred;
        Known *known;
        Tentative *tentative; /* oldest first */
};

/* ---- what was refused ---- */

static const Barred *find_barred(const Bars *b, unsigned number) {
        const Barred *at;

        DL_FOREACH (b->barred, at)
                if (at->number == number)
                        return at;
        return NULL;
}

static const char *session_of(const Bars *b, uint64_t cgroup_id) {
        const Known *k;

        DL_FOREACH (b->known, k)
                if (k->cgroup_id == cgroup_id)
                        return k->session;
        return NULL;
}

static char *path_of(const Bars *b, const BpfPlace *p) {
        const Barred *at = p->inside ? find_barred(b, p->watch) : NULL;
        char *path;

        if (asprintf(&path, "%s%s%s", at && !str_equal(at->base, "/") ? at->base : "",
                     p->cut ? "/..." : "", p->rest) < 0)
                return NULL;
        return path;
}

static void record(Bars *b, const Attempt *like, const BpfRefusal *r, const BpfPlace *place,
                   const BpfPlace *other) {
        const Barred *at = find_barred(b, place->watch);
        Attempt a = *like;

        if (!at)
                return;
        memcpy(a.watch, at->watch, sizeof a.watch);
        a.access = (Access){.type = r->type, .kind = r->kind, .replaces = r->replaces};
        a.access.path = path_of(b, place);
        a.access.leaves = place == &r->from;
        if (other && a.access.leaves)
                a.access.to = path_of(b, other);
        else if (other)
                a.access.from = path_of(b, other);
        if (a.access.path)
                gatekeeper_record(b->manager, &a, ACTION_DENIED);
        access_done(&a.access);
}

static void tell(Bars *b, const BpfRefusal *r) {
        const char *session = session_of(b, r->cgroup_id);
        Attempt a = {
                .pid = r->pid,
                .tid = r->tid,
                .decision = {.verb = VERB_REFUSE, .violation = true},
                .since = r->at,
                .at = manager_now(b->manager),
        };

        if (!session)
                return;
        (void) snprintf(a.session, sizeof a.session, "%s", session);
        if (!r->has_from) {
                record(b, &a, r, &r->place, NULL);
                return;
        }
        /* as the seccomp guard has it: one for each watch that it would have changed */
        if (r->from.inside && !(r->place.inside && r->place.watch == r->from.watch))
                record(b, &a, r, &r->from, &r->place);
        if (r->place.inside)
                record(b, &a, r, &r->place, &r->from);
}

static void tentative_end(Bars *b, Tentative *t, bool told) {
        DL_DELETE(b->tentative, t);
        if (told)
                tell(b, &t->refusal);
        bpf_refusal_done(&t->refusal);
        free(t);
}

static void settle(Bars *b, const BpfRefusal *next) {
        Tentative *t, *after;

        DL_FOREACH_SAFE (b->tentative, t, after)
                if (t->refusal.tid == next->tid)
                        tentative_end(b, t, !next->voids && !next->none);
}

static void on_refusal(BpfRefusal *r, void *userdata) {
        Bars *b = userdata;
        Tentative *t;

        settle(b, r);
        if (r->none)
                return;
        t = r->tentative ? calloc(1, sizeof *t) : NULL;
        if (!t) {
                tell(b, r);
                return;
        }
        t->refusal = *r;
        t->taken = manager_now_mono(b->manager);
        *r = (BpfRefusal){};
        DL_APPEND(b->tentative, t);
}

static void settle_older(Bars *b, nsec_t than) {
        Tentative *t, *after;

        DL_FOREACH_SAFE (b->tentative, t, after)
                if (t->taken <= than)
                        tentative_end(b, t, true);
}

static void read_refusals(Bars *b) {
        Manager *m = b->manager;
        uint64_t lost;

        if (bpf_engine_read(b->engine, on_refusal, b) < 0)
                log_error("the records of the guard in the kernel cannot be read");
        lost = bpf_engine_take_lost(b->engine);
        if (lost > 0)
                live_add_loss_all(m, "overflow", NULL, manager_now(m), manager_now(m), lost);
        if (b->tentative) {
                (void) sd_event_source_set_time_relative(b->timer, TENTATIVE_USEC);
                (void) sd_event_source_set_enabled(b->timer, SD_EVENT_ONESHOT);
        }
}

static int on_records(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        read_refusals(userdata);
        return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Bars *b = userdata;

        settle_older(b, manager_now_mono(b->manager) - TENTATIVE_USEC * NSEC_PER_USEC);
        read_refusals(b);
        return 0;
}

void bars_take(Bars *b) {
        if (!b->engine)
                return;
        read_refusals(b);
        settle_older(b, manager_now_mono(b->manager));
}

/* ---- watches ---- */

bool bar_is_wanted(const Bars *b, const Live *l, const WatchSpec *w) {
        const Policy floor = l->session->has_policy ? l->session->policy : POLICY_RECORD;
        const char *reason;

        return b->engine && l->session->cgroup && !l->guard_promised && !live_is_guarded(l) &&
                policy_stricter(w->policy, floor) == POLICY_DENY &&
                bpf_engine_can_decide(w, &reason);
}

int bar_open_root(const char *path) {
        _cleanup_(place_done) Place p = {};
        int r = place_resolve(path, &p), fd;

        if (r < 0)
                return r;
        fd = open_tree(AT_FDCWD, p.root, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

static char *base_of(const WatchSpec *w, const WatchSite *site) {
        char *base = strdup(w->path), *slash;

        slash = base && site->file ? strrchr(base, '/') : NULL;
        if (slash)
                *slash = '\0';
        return base;
}

int bar_put(Bars *b, const WatchSpec *w, const WatchSite *site, int root_fd, unsigned *ret_number) {
        Barred *at = calloc(1, sizeof *at);
        int r;

        if (!at)
                return -ENOMEM;
        (void) snprintf(at->watch, sizeof at->watch, "%s", w->name);
        at->base = base_of(w, site);
        r = at->base ? bpf_engine_put_watch(b->engine, w, site, root_fd, &at->number) : -ENOMEM;
        if (r < 0) {
                free(at->base);
                free(at);
                return r;
        }
        DL_APPEND(b->barred, at);
        *ret_number = at->number;
        return 0;
}

void bar_drop(Bars *b, unsigned number, int root_fd) {
        Barred *at, *next;

        bars_take(b);
        bpf_engine_drop_watch(b->engine, number, root_fd);
        bars_take(b);
        DL_FOREACH_SAFE (b->barred, at, next)
                if (at->number == number) {
                        DL_DELETE(b->barred, at);
                        free(at->base);
                        free(at);
                }
}

/* ---- sessions ---- */

static Known *know(Bars *b, uint64_t cgroup_id, const char *session) {
        Known *k;

        DL_FOREACH (b->known, k)
                if (k->cgroup_id == cgroup_id && str_equal(k->session, session))
                        return k;
        k = calloc(1, sizeof *k);
        if (!k)
                return NULL;
        k->cgroup_id = cgroup_id;
        (void) snprintf(k->session, sizeof k->session, "%s", session);
        DL_APPEND(b->known, k);
        return k;
}

static void put_session(Bars *b, const Live *l) {
        const Policy floor = l->session->has_policy ? l->session->policy : POLICY_RECORD;
        const bool exempt = live_is_guarded(l) || l->guard_promised;
        struct stat st;
        Known *k;
        int r;

        /* the id of a cgroup is the inode of its folder */
        if (!l->session->cgroup || stat(l->session->cgroup, &st) < 0)
                return;
        k = know(b, st.st_ino, l->session->id);
        r = k ? bpf_engine_put_session(b->engine, k->cgroup_id, floor, exempt) : -ENOMEM;
        if (r < 0)
                log_error("session %s: the guard in the kernel cannot be told of it: %s",
                          l->session->id, strerror(-r));
        if (k)
                k->seen = true;
}

void bars_update_sessions(Bars *b) {
        Live *l, *following;
        Known *k, *next;

        if (!b->engine)
                return;
        DL_FOREACH (b->known, k)
                k->seen = false;
        HASH_ITER (hh, b->manager->live, l, following)
                put_session(b, l);
        DL_FOREACH_SAFE (b->known, k, next) {
                if (k->seen)
                        continue;
                bpf_engine_drop_session(b->engine, k->cgroup_id);
                DL_DELETE(b->known, k);
                free(k);
        }
}

/* ---- life ---- */

bool bars_can(const Bars *b, const WatchSpec *w, const char **ret_reason) {
        *ret_reason = b->reason;
        return b->engine && bpf_engine_can_decide(w, ret_reason);
}

int bars_new(Manager *m, Bars **ret) {
        _cleanup_(bars_freep) Bars *b = calloc(1, sizeof *b);
        int r;

        if (!b)
                return -ENOMEM;
        b->manager = m;
        if (m->config->guard_engine >= GUARD_ENGINE_SECCOMP)
                (void) snprintf(b->reason, sizeof b->reason, "GuardEngine= wants none");
        else if (bpf_engine_new(&b->engine, b->reason) < 0)
                log_message(m->config->guard_engine == GUARD_ENGINE_BPF ? LOG_WARNING : LOG_INFO,
                            "no guard in the kernel: %s", b->reason);
        if (!b->engine) {
                *ret = TAKE_PTR(b);
                return 0;
        }
        r = sd_event_add_io(m->event, &b->source, bpf_engine_fd(b->engine), EPOLLIN, on_records, b);
        if (r >= 0)
                r = sd_event_add_time_relative(m->event, &b->timer, CLOCK_MONOTONIC, 0, 1000,
                                               on_timer, b);
        if (r >= 0)
                r = sd_event_source_set_enabled(b->timer, SD_EVENT_OFF);
        if (r < 0)
                return r;
        log_info("the guard in the kernel is loaded");
        *ret = TAKE_PTR(b);
        return 0;
}

Bars *bars_free(Bars *b) {
        Tentative *t, *after;
        Barred *at, *next;
        Known *k, *following;

        if (!b)
                return NULL;
        sd_event_source_disable_unref(b->source);
        sd_event_source_disable_unref(b->timer);
        DL_FOREACH_SAFE (b->tentative, t, after)
                tentative_end(b, t, false);
        DL_FOREACH_SAFE (b->barred, at, next) {
                free(at->base);
                free(at);
        }
        DL_FOREACH_SAFE (b->known, k, following)
                free(k);
        (void) bpf_engine_free(b->engine);
        free(b);
        return NULL;
}
