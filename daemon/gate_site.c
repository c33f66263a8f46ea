/* SPDX-License-Identifier: MIT */
#include "daemon/gate_site.h"
#include "daemon/bar.h"
#include "daemon/held.h"
#include "daemon/job.h"
#include "daemon/log.h"
#include "daemon/watchdog.h"
#include "daemon/watched.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <utlist.h>

typedef struct Site {
        struct Site *prev, *next;
        GateSites *all;
        char name[65];
        WatchSites *place; /* one entry; NULL: not known (yet) */
        bool looking;      /* a job is under way */
        bool look_again;   /* something has changed since it began */
        Gate *hold;        /* NULL: none */
        sd_event_source *hold_source;
        int hold_state; /* as hold_state() */
        char reason[256];
        int root_fd; /* for the bar, -1: none */
        bool barred; /* the kernel refuses by itself what is under deny */
        bool no_bar; /* it cannot */
        unsigned bar;
} Site;

/* A start that waits for gates to stand. */
typedef struct Opening {
        struct Opening *prev, *next;
        GateSites *all;
        sd_event_source *timer; /* the deadline; "now" when everything stands */
        bool is_guard;
        char session[17];
        int listener_fd, ledger_fd;
        gate_sites_done_t done;
        void *userdata;
} Opening;

struct GateSites {
        Manager *manager;
        Site *sites;
        Opening *openings;
};

typedef struct Look {
        char name[65];
        char *path;
        WatchSites *place;
        bool wants_root;
        int root_fd;
} Look;

/* ---- places ---- */

static void check_openings(GateSites *s);
static void apply_holds(GateSites *s);
static void site_tell_lapses(Site *site);
static void site_close_hold(Site *site);
static void site_close_bar(Site *site);
static bool bar_is_wanted_on(GateSites *s, const WatchSpec *spec);
static int site_look(Site *site, const WatchSpec *spec);

static Site *site_find(GateSites *s, const char *name) {
        Site *site;

        DL_FOREACH (s->sites, site)
                if (str_equal(site->name, name))
                        return site;
        return NULL;
}

static WatchSites *places_new(void) {
        WatchSites *w = calloc(1, sizeof *w);

        if (w)
                w->n_ref = 1;
        return w;
}

static void look_run(void *userdata) {
        Look *look = userdata;

        look->place = places_new();
        if (look->place && watch_sites_add(look->place, look->name, look->path) < 0)
                look->place = watch_sites_unref(look->place);
        if (look->place && look->wants_root)
                look->root_fd = bar_open_root(look->path);
}

static bool copy_place(WatchSites *into, const WatchSite *from) {
        return watch_sites_put(into, from) >= 0;
}

/* Every place that is known. */
static WatchSites *places_all(GateSites *s) {
        _cleanup_(watch_sites_unrefp) WatchSites *all = places_new();
        Site *site;

        if (!all)
                return NULL;
        DL_FOREACH (s->sites, site)
                for (size_t i = 0; site->place && i < site->place->n; i++)
                        if (!copy_place(all, &site->place->sites[i]))
                                return NULL;
        return TAKE_PTR(all);
}

static bool place_equal(const WatchSites *a, const WatchSites *b) {
        if (!a || !b || a->n != b->n)
                return a == b;
        for (size_t i = 0; i < a->n; i++) {
                const WatchSite *x = &a->sites[i], *y = &b->sites[i];

                if (x->dev != y->dev || x->fs_dev != y->fs_dev || !str_equal(x->path, y->path) ||
                    !str_equal(x->inner, y->inner) || !str_equal(x->file, y->file))
                        return false;
        }
        return true;
}

static void look_again(Site *site);

static void look_done(Manager *m, void *userdata) {
        Look *look = userdata;
        Site *site = m ? site_find(m->gate_sites, look->name) : NULL;
        _cleanup_(watch_sites_unrefp) WatchSites *all = NULL;
        Live *l, *next;

        if (site) {
                site->looking = false;
                /* its marks are where it was: another mount, or another path after a reload */
                if (!place_equal(site->place, look->place)) {
                        site_tell_lapses(site);
                        site_close_hold(site);
                }
                site_close_bar(site);
                site->root_fd = TAKE_FD(look->root_fd);
                site->no_bar = look->wants_root && site->root_fd < 0;
                (void) watch_sites_unref(site->place);
                site->place = TAKE_PTR(look->place);
                all = places_all(m->gate_sites);
                HASH_ITER (hh, m->live, l, next)
                        if (all && l->guard && l->guard->guard)
                                guard_set_sites(l->guard->guard, all);
                apply_holds(m->gate_sites);
                look_again(site);
                check_openings(m->gate_sites);
        }
        (void) watch_sites_unref(look->place);
        if (look->root_fd >= 0)
                (void) close(look->root_fd);
        free(look->path);
        free(look);
}

/* One look at a time: those at a share that hangs would use up all threads. */
static int site_look(Site *site, const WatchSpec *spec) {
        Look *look;
        int r;

        if (site->looking) {
                site->look_again = true;
                return 0;
        }
        look = calloc(1, sizeof *look);
        if (!look)
                return -ENOMEM;
        memcpy(look->name, site->name, sizeof look->name);
        look->root_fd = -1;
        look->wants_root = bar_is_wanted_on(site->all, spec);
        look->path = strdup(spec->path);
        r = look->path ? job_start(site->all->manager->jobs, look_run, look_done, look) : -ENOMEM;
        if (r < 0) {
                free(look->path);
                free(look);
                return r;
        }
        site->looking = true;
        site->look_again = false;
        return 0;
}

static void site_tell_lapses(Site *site) {
        const Watched *w = watched_find(site->all->manager, site->name);
        uint64_t n = site->hold && site->hold->hold ? hold_take_lapses(site->hold->hold) : 0;
        Manager *m = site->all->manager;
        Live *l, *next;

        if (n == 0 || !w)
                return;
        HASH_ITER (hh, m->live, l, next)
                if (!live_is_guarded(l) && live_needs_gate_on(l, w->spec))
                        live_add_loss(l, "not-enforced", site->name, manager_now(m), manager_now(m),
                                      n);
}

void gate_sites_take_lapses(GateSites *s) {
        Manager *m = s->manager;
        Live *l, *next;
        Site *site;

        DL_FOREACH (s->sites, site)
                site_tell_lapses(site);
        HASH_ITER (hh, m->live, l, next) {
                uint64_t n = l->guard && l->guard->guard ? guard_take_lapses(l->guard->guard) : 0;

                if (n > 0)
                        live_add_loss(l, "not-enforced", NULL, manager_now(m), manager_now(m), n);
        }
}

static void look_again(Site *site) {
        const Watched *w = watched_find(site->all->manager, site->name);

        if (site->look_again && w && site_look(site, w->spec) < 0)
                log_error("watch '%s': no memory to look where it is", site->name);
}

static void site_close_hold(Site *site) {
        site->hold_source = sd_event_source_disable_unref(site->hold_source);
        if (site->hold) {
                gate_close(site->hold);
                held_drop_gate(site->all->manager, site->hold);
        }
        site->hold = gate_unref(site->hold);
        site->hold_state = 0;
        site->reason[0] = 0;
}

static void site_free(Site *site) {
        DL_DELETE(site->all->sites, site);
        site_close_hold(site);
        site_close_bar(site);
        (void) watch_sites_unref(site->place);
        free(site);
}

static Site *site_new(GateSites *s, const char *name) {
        Site *site = calloc(1, sizeof *site);

        if (!site)
                return NULL;
        site->all = s;
        site->root_fd = -1;
        (void) strncpy(site->name, name, sizeof site->name - 1);
        DL_APPEND(s->sites, site);
        return site;
}

int gate_sites_refresh(GateSites *s) {
        Site *site, *next;
        Watched *w;
        int r = 0;

        DL_FOREACH_SAFE (s->sites, site, next)
                if (!watched_find(s->manager, site->name))
                        site_free(site);
        DL_FOREACH (s->manager->watches, w) {
                site = site_find(s, w->spec->name);
                if (!site)
                        site = site_new(s, w->spec->name);
                r = site ? site_look(site, w->spec) : -ENOMEM;
                if (r < 0)
                        break;
        }
        return r;
}

/* ---- bars ---- */

static bool bar_is_wanted_on(GateSites *s, const WatchSpec *spec) {
        Live *l, *next;

        HASH_ITER (hh, s->manager->live, l, next)
                if (bar_is_wanted(s->manager->bars, l, spec))
                        return true;
        return false;
}

static void site_close_bar(Site *site) {
        if (site->barred)
                bar_drop(site->all->manager->bars, site->bar, site->root_fd);
        site->barred = false;
        if (site->root_fd >= 0)
                (void) close(site->root_fd);
        site->root_fd = -1;
}

/* The kernel refuses there what this session does, or is about to: nothing need be held for it but what Preserve= wants. */
static bool leaves_to_kernel(Site *site, const Live *l, const WatchSpec *spec) {
        return !site->no_bar && !spec->preserve && bar_is_wanted(site->all->manager->bars, l, spec);
}

static void apply_bars(GateSites *s) {
        Site *site;

        bars_update_sessions(s->manager->bars);
        DL_FOREACH (s->sites, site) {
                const Watched *w = watched_find(s->manager, site->name);
                int r;

                if (!w || !bar_is_wanted_on(s, w->spec)) {
                        site_close_bar(site);
                        continue;
                }
                if (site->barred || site->no_bar)
                        continue;
                if (site->root_fd < 0 || !site->place) {
                        /* nobody wanted it when somebody looked last */
                        site->no_bar = !site->looking && site_look(site, w->spec) < 0;
                        continue;
                }
                r = bar_put(s->manager->bars, w->spec, &site->place->sites[0], site->root_fd,
                            &site->bar);
                site->barred = r >= 0;
                site->no_bar = r < 0;
                if (r < 0)
                        log_warning("watch '%s': the kernel cannot refuse by itself: %s",
                                    site->name, strerror(-r));
        }
}

bool gate_sites_bar(GateSites *s, const Live *l, const WatchSpec *spec) {
        Site *site = site_find(s, spec->name);

        return site && site->barred && bar_is_wanted(s->manager->bars, l, spec);
}

/* ---- holds ---- */

static bool hold_is_wanted(GateSites *s, Site *site, const Watched *w) {
        Live *l, *next;

        HASH_ITER (hh, s->manager->live, l, next)
                if (!live_is_guarded(l) && !l->guard_promised && live_needs_gate_on(l, w->spec) &&
                    !leaves_to_kernel(site, l, w->spec))
                        return true;
        return false;
}

/* Nothing is held on this watch for those who have no guard. */
static void tell_not_held(Site *site) {
        const Watched *w = watched_find(site->all->manager, site->name);
        Manager *m = site->all->manager;
        Live *l, *next;

        HASH_ITER (hh, m->live, l, next)
                if (w && !live_is_guarded(l) && !l->guard_promised &&
                    live_needs_gate_on(l, w->spec) && !leaves_to_kernel(site, l, w->spec))
                        live_add_loss(l, "not-enforced", site->name, manager_now(m), 0, 0);
}

static void not_enforced(Site *site) {
        log_warning("watch '%s': opens cannot be held: %s", site->name, site->reason);
        tell_not_held(site);
}

static void site_fails(Site *site, int error, const char *reason) {
        (void) snprintf(site->reason, sizeof site->reason, "%s", reason);
        site->hold_state = error;
        not_enforced(site);
}

static int on_hold_state(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Site *site = userdata;
        int state = site->hold && site->hold->hold ? hold_state(site->hold->hold, site->reason) : 0;

        if (state < 0 && site->hold_state >= 0)
                not_enforced(site);
        site->hold_state = state;
        check_openings(site->all);
        return 0;
}

static int site_open_hold(Site *site, const WatchSpec *spec) {
        Manager *m = site->all->manager;
        HoldConfig config = {
                .watch = site->name,
                .path = spec->path,
                .sites = site->place,
                .members = gatekeeper_members(m->gatekeeper),
                .connector = m->connector,
                .deadline = m->config->hold_deadline,
                .pulses = watchdog_pulses(m->watchdog),
                .patience = watchdog_patience(m->config->hold_deadline),
        };
        _cleanup_(gate_unrefp) Gate *g = gate_new(m->gatekeeper, &config.hooks);
        int r;

        if (!g)
                return -ENOMEM;
        r = hold_new(&config, &g->hold);
        if (r >= 0)
                r = sd_event_add_io(m->event, &site->hold_source, hold_fd(g->hold), EPOLLIN,
                                    on_hold_state, site);
        if (r < 0) {
                gate_close(g);
                return r;
        }
        site->hold = TAKE_PTR(g);
        return 0;
}

static void apply_holds(GateSites *s) {
        Site *site;

        apply_bars(s);
        DL_FOREACH (s->sites, site) {
                const Watched *w = watched_find(s->manager, site->name);
                int r = 0;

                if (!w || !hold_is_wanted(s, site, w)) {
                        site_close_hold(site);
                        continue;
                }
                if (site->hold || !site->place || site->hold_state < 0)
                        continue;
                r = s->manager->connector ? site_open_hold(site, w->spec) : -ENOTCONN;
                if (r == -ENOTCONN)
                        site_fails(site, r,
                                   "there is no news of processes: nobody knows whose they are");
                else if (r < 0)
                        site_fails(site, r, strerror(-r));
        }
}

int gate_sites_can_hold(GateSites *s, const char *watch, const char **ret_reason) {
        Site *site = site_find(s, watch);

        *ret_reason = site ? site->reason : "";
        return site && site->hold_state > 0;
}

/* ---- openings ---- */

static void opening_free(Opening *o) {
        DL_DELETE(o->all->openings, o);
        sd_event_source_disable_unref(o->timer);
        (void) safe_close(o->listener_fd);
        (void) safe_close(o->ledger_fd);
        free(o);
}

static int guard_open(Opening *o) {
        Manager *m = o->all->manager;
        Live *l = live_find(m, o->session);
        _cleanup_(watch_sites_unrefp) WatchSites *all = places_all(o->all);
        _cleanup_(gate_unrefp) Gate *g = NULL;
        GateHooks hooks;
        int r;

        if (!l)
                return -ESRCH;
        g = gate_new(m->gatekeeper, &hooks);
        if (!g || !all)
                return -ENOMEM;
        r = guard_new(o->listener_fd, o->ledger_fd, all, &hooks, m->config->hold_deadline,
                      &g->guard);
        if (r < 0)
                return r;
        o->listener_fd = o->ledger_fd = -1;
        l->guard = TAKE_PTR(g);
        r = gatekeeper_put_session(m->gatekeeper, l);
        apply_holds(o->all);
        return r;
}

static int on_opening(sd_event_source *source, uint64_t usec, void *userdata) {
        Opening *o = userdata;
        Manager *m = o->all->manager;
        gate_sites_done_t done = o->done;
        void *done_userdata = o->userdata;
        int r = o->is_guard ? guard_open(o) : 0;
        Site *site;

        /* one that has failed for an earlier session, too; but not one that is not there */
        DL_FOREACH (m->gate_sites->sites, site)
                if (!o->is_guard && site->hold_state <= 0 &&
                    (site->hold_state < 0 || site->place || site->looking > 0))
                        tell_not_held(site);
        opening_free(o);
        if (done)
                done(m, r, done_userdata);
        return 0;
}

static bool stands(GateSites *s, const Opening *o) {
        Site *site;

        DL_FOREACH (s->sites, site) {
                const Watched *w = watched_find(s->manager, site->name);

                if (site->looking && !site->place)
                        return false;
                if (!o->is_guard && w && site->place && site->hold_state == 0 &&
                    hold_is_wanted(s, site, w))
                        return false;
                if (!o->is_guard && w && site->looking && !site->barred &&
                    bar_is_wanted_on(s, w->spec))
                        return false;
        }
        return true;
}

static void check_openings(GateSites *s) {
        Opening *o;

        DL_FOREACH (s->openings, o)
                if (stands(s, o))
                        (void) sd_event_source_set_time(o->timer, 0);
}

static int opening_start(GateSites *s, const Opening *like) {
        Opening *o = calloc(1, sizeof *o);
        int r;

        if (!o) {
                (void) safe_close(like->listener_fd);
                (void) safe_close(like->ledger_fd);
                return -ENOMEM;
        }
        *o = *like;
        o->all = s;
        DL_APPEND(s->openings, o);
        r = sd_event_add_time_relative(s->manager->event, &o->timer, CLOCK_MONOTONIC,
                                       GATE_READY_USEC, 1000, on_opening, o);
        if (r < 0) {
                opening_free(o);
                return r;
        }
        check_openings(s);
        return 0;
}

int gate_sites_update_holds(GateSites *s, gate_sites_done_t done, void *userdata) {
        const Opening o = {.listener_fd = -1, .ledger_fd = -1, .done = done, .userdata = userdata};

        apply_holds(s);
        return done ? opening_start(s, &o) : 0;
}

int gate_sites_open_guard(GateSites *s, Live *l, int listener_fd, int ledger_fd,
                          gate_sites_done_t done, void *userdata) {
        Opening o = {.is_guard = true,
                     .listener_fd = listener_fd,
                     .ledger_fd = ledger_fd,
                     .done = done,
                     .userdata = userdata};

        memcpy(o.session, l->session->id, sizeof o.session);
        return opening_start(s, &o);
}

static int on_no_guard(sd_event_source *source, uint64_t usec, void *userdata) {
        Live *l = userdata;
        Manager *m = l->manager;
        Watched *w;

        l->promise_timer = sd_event_source_disable_unref(l->promise_timer);
        if (!l->guard_promised)
                return 0;
        l->guard_promised = false;
        log_warning("session %s: its guard did not come", l->session->id);
        DL_FOREACH (m->watches, w)
                if (!live_is_guarded(l) && live_needs_gate_on(l, w->spec))
                        live_add_loss(l, "not-enforced", w->spec->name, l->session->started,
                                      manager_now(m), 0);
        apply_holds(m->gate_sites);
        return 0;
}

void gate_sites_expect_guard(GateSites *s, Live *l) {
        l->guard_promised = true;
        l->promise_timer = sd_event_source_disable_unref(l->promise_timer);
        if (sd_event_add_time_relative(s->manager->event, &l->promise_timer, CLOCK_MONOTONIC,
                                       GATE_PROMISE_USEC, 1000, on_no_guard, l) < 0)
                (void) on_no_guard(NULL, 0, l);
}

void gate_sites_close_guard(GateSites *s, Live *l) {
        if (!l->guard)
                return;
        gate_close(l->guard);
        l->guard = gate_unref(l->guard);
}

/* ---- life ---- */

int gate_sites_new(Manager *m, GateSites **ret) {
        GateSites *s = calloc(1, sizeof *s);

        if (!s)
                return -ENOMEM;
        s->manager = m;
        *ret = s;
        return 0;
}

GateSites *gate_sites_free(GateSites *s) {
        Site *site, *next;
        Opening *o, *after;
        Live *l, *following;

        if (!s)
                return NULL;
        HASH_ITER (hh, s->manager->live, l, following)
                gate_sites_close_guard(s, l);
        DL_FOREACH_SAFE (s->openings, o, after)
                opening_free(o);
        DL_FOREACH_SAFE (s->sites, site, next)
                site_free(site);
        free(s);
        return NULL;
}
