/* SPDX-License-Identifier: MIT */
#include "daemon/manager.h"
#include "common/strv.h"
#include "daemon/alert.h"
#include "daemon/auto_session.h"
#include "daemon/bar.h"
#include "daemon/barrier.h"
#include "daemon/gate_site.h"
#include "daemon/hashing.h"
#include "daemon/held.h"
#include "daemon/intake.h"
#include "daemon/job.h"
#include "daemon/keeping.h"
#include "daemon/kernel/cgroup.h"
#include "daemon/kernel/mountinfo.h"
#include "daemon/live.h"
#include "daemon/log.h"
#include "daemon/method.h"
#include "daemon/prospect.h"
#include "daemon/recover.h"
#include "daemon/snapshot.h"
#include "daemon/store/kept.h"
#include "daemon/stream.h"
#include "daemon/undo_job.h"
#include "daemon/watchdog.h"
#include "daemon/watched.h"
#include "daemon/webhook_test.h"
#include "daemon/webhooks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <systemd/sd-daemon.h>
#include <utlist.h>

#define FLUSH_USEC (USEC_PER_SEC / 2)
#define EXPIRE_USEC (24 * 60 * 60 * USEC_PER_SEC)
#define DAY_USEC (24 * 60 * 60 * USEC_PER_SEC)

usec_t manager_now(Manager *m) {
        uint64_t t = 0;

        (void) sd_event_now(m->event, CLOCK_REALTIME, &t);
        return t;
}

nsec_t manager_now_mono(Manager *m) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (nsec_t) ts.tv_sec * NSEC_PER_SEC + (nsec_t) ts.tv_nsec;
}

/* ---- store ---- */

static int on_flush(sd_event_source *source, uint64_t usec, void *userdata) {
        Manager *m = userdata;
        int r;

        live_store_all(m);
        r = store_flush(m->store);
        if (r < 0)
                manager_store_failed(m, r);
        return 0;
}

void manager_store_written(Manager *m) {
        int enabled = SD_EVENT_OFF;

        (void) sd_event_source_get_enabled(m->flush_timer, &enabled);
        if (enabled != SD_EVENT_OFF)
                return;
        (void) sd_event_source_set_time_relative(m->flush_timer, FLUSH_USEC);
        (void) sd_event_source_set_enabled(m->flush_timer, SD_EVENT_ONESHOT);
}

void manager_store_failed(Manager *m, int error) {
        const usec_t now = manager_now(m);
        bool told = false;
        Live *l, *next;

        HASH_ITER (hh, m->live, l, next) {
                for (size_t i = 0; i < l->session->n_losses; i++)
                        told |= str_equal(l->session->losses[i].reason, "store");
                /* in memory only: the store is what failed */
                (void) session_add_loss(l->session, "store", NULL, now, now, 1);
        }
        if (told)
                return;
        log_error("cannot write to the store in '%s': %s; live sessions are incomplete",
                  m->state_dir, strerror(-error));
        /* what sends it may fail to write in turn, and comes here again: by then it is told */
        HASH_ITER (hh, m->live, l, next)
                alert_loss(m, l, "store", NULL);
}

static int on_expire(sd_event_source *source, uint64_t usec, void *userdata) {
        Manager *m = userdata;
        uint64_t next = EXPIRE_USEC;
        int r;

        r = store_expire(m->store, manager_now(m) - m->config->retain_days * DAY_USEC);
        if (r < 0)
                log_error("cannot remove old sessions from the store: %s", strerror(-r));
        if (r > 0)
                next = USEC_PER_SEC / 10;
        (void) sd_event_source_set_time_relative(source, next);
        (void) sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        return 0;
}

/* ---- demand ---- */

static bool watch_is_wanted(const Watched *w) {
        return w->manager->starting > 0 || w->manager->live || w->spec->untagged != UNTAGGED_IGNORE;
}

static int on_process_events(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        intake_processes(userdata);
        return 0;
}

static void connector_begin(Manager *m) {
        _cleanup_free_ char *reason = NULL;
        int r;

        if (m->connector)
                return;
        r = connector_new(&m->connector);
        if (r >= 0)
                r = sd_event_add_io(m->event, &m->connector_source, connector_fd(m->connector),
                                    EPOLLIN, on_process_events, m);
        if (r >= 0)
                connector_set_members(m->connector, gatekeeper_members(m->gatekeeper));
        if (r >= 0) {
                free(TAKE_PTR(m->connector_error));
                return;
        }
        m->connector = connector_free(m->connector);
        if (m->connector_error)
                return;
        if (asprintf(
                    &m->connector_error,
                    "no process events (%s): short-lived processes cannot be told apart, and sessions are incomplete",
                    strerror(-r)) < 0)
                m->connector_error = NULL;
        log_error("cannot subscribe to process events: %s", strerror(-r));
}

static void connector_end(Manager *m) {
        m->connector_source = sd_event_source_disable_unref(m->connector_source);
        m->connector = connector_free(m->connector);
        process_table_clear_untagged(m->processes);
}

void manager_update_demand(Manager *m) {
        bool wanted = false;
        Watched *w;

        /* before the marks: the author of the first event must be known */
        DL_FOREACH (m->watches, w)
                wanted |= watch_is_wanted(w);
        wanted |= m->starting > 0 || m->live || auto_session_is_wanted(m);
        if (wanted)
                connector_begin(m);
        DL_FOREACH (m->watches, w)
                watched_arm(w, watch_is_wanted(w));
        if (!wanted)
                connector_end(m);
}

static void on_session_empty(Session *session, void *userdata) {
        live_check_soon(userdata);
}

static int on_check(sd_event_source *source, void *userdata) {
        live_check_all(userdata);
        return 0;
}

/* ---- configuration ---- */

static void log_problems(const ConfigProblems *problems) {
        for (size_t i = 0; i < problems->n; i++) {
                const ConfigProblem *p = &problems->items[i];

                log_message(p->fatal ? LOG_ERR : LOG_WARNING, "%s:%u: %s", p->file, p->line,
                            p->reason);
        }
}

static bool spec_equal(const WatchSpec *a, const WatchSpec *b) {
        return str_equal(a->name, b->name) && str_equal(a->path, b->path) &&
                a->policy == b->policy && a->preserve == b->preserve &&
                a->preserve_max == b->preserve_max && a->snapshot_max == b->snapshot_max &&
                a->untagged == b->untagged && a->kill_scope == b->kill_scope &&
                strv_equal(a->allow, b->allow) && strv_equal(a->ignore, b->ignore) &&
                strv_equal(a->writers, b->writers);
}

static WatchSpec *config_find_equal(const Config *c, const WatchSpec *spec) {
        for (size_t i = 0; i < c->n_watches; i++)
                if (spec_equal(c->watches[i], spec))
                        return c->watches[i];
        return NULL;
}

static Watched *watched_find_equal(Manager *m, const WatchSpec *spec) {
        Watched *w = watched_find(m, spec->name);

        return w && spec_equal(w->spec, spec) ? w : NULL;
}

/* Watches that stay the same are not touched; a changed one is made anew, which costs live sessions a gap that is noted. */
static int apply_watches(Manager *m, const Config *config) {
        Watched *w, *next;
        int r;

        DL_FOREACH_SAFE (m->watches, w, next) {
                if (config_find_equal(config, w->spec))
                        continue;
                if (w->armed)
                        live_add_loss_all(m, "reload", w->spec->name, manager_now(m),
                                          manager_now(m), 0);
                DL_DELETE(m->watches, w);
                (void) watched_free(w);
        }
        for (size_t i = 0; i < config->n_watches; i++) {
                if (watched_find_equal(m, config->watches[i]))
                        continue;
                r = watched_new(m, config->watches[i], &w);
                if (r < 0) {
                        log_error("cannot start watch '%s': %s", config->watches[i]->name,
                                  strerror(-r));
                        return r;
                }
                DL_APPEND(m->watches, w);
        }
        r = gatekeeper_set_watches(m->gatekeeper);
        if (r < 0)
                return r;
        manager_update_demand(m);
        return m->live ? gate_sites_refresh(m->gate_sites) : 0;
}

int manager_reload(Manager *m, ConfigProblems *problems) {
        _cleanup_(config_freep) Config *config = NULL;
        int r;

        r = config_load(m->config_file, &config, problems);
        log_problems(problems);
        if (r < 0) {
                log_error("the configuration is not taken over; the running one stays");
                return r;
        }
        (void) sd_notify(false, "RELOADING=1");
        r = apply_watches(m, config);
        if (r >= 0) {
                (void) api_server_set_group(m->api, config->group ? config->group : "mountwatch");
                webhooks_apply(m->webhooks, config);
                (void) config_free(m->config);
                m->config = TAKE_PTR(config);
                alert_configure(m);
                manager_update_demand(m);
                log_info("configuration read again: %zu watches", m->config->n_watches);
        }
        (void) sd_notify(false, "READY=1");
        return r;
}

static int on_sighup(sd_event_source *source, const struct signalfd_siginfo *si, void *userdata) {
        ConfigProblems problems = {};

        (void) manager_reload(userdata, &problems);
        config_problems_done(&problems);
        return 0;
}

/* ---- mounts ---- */

static int on_mounts(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Manager *m = userdata;
        Watched *w;

        DL_FOREACH (m->watches, w)
                watcher_mounts_changed(w->watcher);
        if (m->live)
                (void) gate_sites_refresh(m->gate_sites);
        return 0;
}

static int follow_mounts(Manager *m) {
        m->mounts_fd = mountinfo_open();
        if (m->mounts_fd < 0)
                return m->mounts_fd;
        return sd_event_add_io(m->event, &m->mounts_source, m->mounts_fd, EPOLLPRI, on_mounts, m);
}

/* ---- life ---- */

static int add_sources(Manager *m) {
        sigset_t signals;
        int r;

        (void) sigemptyset(&signals);
        (void) sigaddset(&signals, SIGTERM);
        (void) sigaddset(&signals, SIGINT);
        (void) sigaddset(&signals, SIGHUP);
        if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
                return -errno;
        r = sd_event_add_signal(m->event, NULL, SIGTERM, NULL, NULL);
        if (r >= 0)
                r = sd_event_add_signal(m->event, NULL, SIGINT, NULL, NULL);
        if (r >= 0)
                r = sd_event_add_signal(m->event, NULL, SIGHUP, on_sighup, m);
        if (r >= 0)
                r = sd_event_set_watchdog(m->event, true);
        if (r >= 0)
                r = sd_event_add_defer(m->event, &m->check_source, on_check, m);
        if (r >= 0)
                r = sd_event_source_set_enabled(m->check_source, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_time_relative(m->event, &m->flush_timer, CLOCK_MONOTONIC, 0, 0,
                                               on_flush, m);
        if (r >= 0)
                r = sd_event_source_set_enabled(m->flush_timer, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_time_relative(m->event, &m->expire_timer, CLOCK_MONOTONIC,
                                               EXPIRE_USEC, USEC_PER_SEC, on_expire, m);
        if (r >= 0)
                r = follow_mounts(m);
        return r < 0 ? r : 0;
}

static int load_first_config(Manager *m) {
        ConfigProblems problems = {};
        int r;

        r = config_load(m->config_file, &m->config, &problems);
        log_problems(&problems);
        if (r < 0 && problems.n == 0)
                log_error("cannot read the configuration '%s': %s", m->config_file, strerror(-r));
        config_problems_done(&problems);
        return r;
}

static int make_gates(Manager *m) {
        int r;

        r = watchdog_new(m->event, &m->watchdog);
        if (r >= 0)
                r = jobs_new(m, &m->jobs);
        if (r >= 0)
                r = gatekeeper_new(m, &m->gatekeeper);
        if (r >= 0)
                r = bars_new(m, &m->bars);
        if (r >= 0)
                r = gate_sites_new(m, &m->gate_sites);
        if (r >= 0)
                r = prospects_new(m, &m->prospects);
        if (r < 0)
                log_error("cannot make the gates: %s", strerror(-r));
        return r;
}

static int open_store(Manager *m) {
        int r;

        r = store_open(m->state_dir, &m->store);
        if (r == -EEXIST)
                log_error("another mountwatchd uses the state directory '%s'", m->state_dir);
        else if (r == -EUCLEAN)
                log_error("the database in '%s' is damaged; move it away to start afresh",
                          m->state_dir);
        else if (r < 0)
                log_error("cannot open the store in '%s': %s", m->state_dir, strerror(-r));
        if (r < 0)
                return r;
        r = store_sweep_kept(m->store);
        if (r < 0)
                log_warning("cannot remove what an earlier daemon left in '%s/preserve': %s",
                            m->state_dir, strerror(-r));
        return 0;
}

static int listen_for_clients(Manager *m, int listen_fd) {
        int r;

        r = api_server_new(m->event, m->socket, listen_fd,
                           m->config->group ? m->config->group : "mountwatch", manager_methods,
                           manager_n_methods, m, &m->api);
        if (r == -EADDRINUSE)
                log_error("another mountwatchd listens on '%s'", m->socket);
        else if (r < 0)
                log_error("cannot listen on '%s': %s", m->socket, strerror(-r));
        return r;
}

int manager_new(const ManagerOptions *options, Manager **ret) {
        _cleanup_(manager_freep) Manager *m = calloc(1, sizeof *m);
        int r;

        if (!m)
                return -ENOMEM;
        m->mounts_fd = -1;
        m->config_file = strdup(options->config_file);
        m->socket = strdup(options->socket);
        m->state_dir = strdup(options->state_dir);
        if (!m->config_file || !m->socket || !m->state_dir)
                return -ENOMEM;
        r = load_first_config(m);
        if (r < 0)
                return r;
        r = sd_event_new(&m->event);
        if (r >= 0)
                r = add_sources(m);
        if (r < 0) {
                log_error("cannot set up the event loop: %s", strerror(-r));
                return r;
        }
        m->started = manager_now(m);
        r = process_table_new(on_session_empty, m, &m->processes);
        if (r < 0)
                return r;
        r = cgroup_find_root(&m->cgroup_root);
        if (r < 0)
                log_warning(
                        "no cgroup v2 hierarchy (%s): the process table alone carries the session tag",
                        strerror(-r));
        r = make_gates(m);
        if (r < 0)
                return r;
        r = open_store(m);
        if (r < 0)
                return r;
        r = alert_start(m);
        if (r < 0)
                return r;
        r = webhooks_new(m, &m->webhooks);
        if (r >= 0)
                r = apply_watches(m, m->config);
        if (r >= 0)
                r = recover_sessions(m);
        if (r < 0) {
                log_error("cannot start: %s", strerror(-r));
                return r;
        }
        r = listen_for_clients(m, options->listen_fd);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(m);
        return 0;
}

int manager_run(Manager *m) {
        int r;

        log_info("watching %zu paths, listening on '%s'", m->config->n_watches, m->socket);
        (void) sd_notify(false, "READY=1");
        r = sd_event_loop(m->event);
        (void) sd_notify(false, "STOPPING=1");
        live_suspend_all(m);
        (void) store_flush(m->store);
        return r;
}

Manager *manager_free(Manager *m) {
        Watched *w, *next;

        if (!m)
                return NULL;
        stream_free_all(m);
        alert_stop(m);
        barrier_free_all(m);
        held_free_all(m);
        keeping_free_all(m);
        undo_job_free_all(m);
        hashing_free_all(m);
        snapshot_free_all(m);
        webhook_test_free_all(m);
        (void) prospects_free(m->prospects);
        (void) gate_sites_free(m->gate_sites);
        (void) bars_free(m->bars);
        (void) api_server_free(m->api);
        DL_FOREACH_SAFE (m->watches, w, next) {
                DL_DELETE(m->watches, w);
                (void) watched_free(w);
        }
        m->connector_source = sd_event_source_disable_unref(m->connector_source);
        (void) connector_free(m->connector);
        (void) process_table_free(m->processes);
        (void) image_unref(m->stranger);
        live_free_all(m);
        (void) gatekeeper_free(m->gatekeeper);
        (void) jobs_free(m->jobs);
        (void) watchdog_free(m->watchdog);
        (void) webhooks_free(m->webhooks);
        (void) store_close(m->store);
        sd_event_source_disable_unref(m->mounts_source);
        (void) safe_close(m->mounts_fd);
        sd_event_source_disable_unref(m->flush_timer);
        sd_event_source_disable_unref(m->expire_timer);
        sd_event_source_disable_unref(m->check_source);
        sd_event_unref(m->event);
        (void) config_free(m->config);
        free(m->connector_error);
        free(m->cgroup_root);
        free(m->config_file);
        free(m->socket);
        free(m->state_dir);
        free(m);
        return NULL;
}
