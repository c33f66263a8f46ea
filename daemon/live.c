/* SPDX-License-Identifier: MIT */
#include "daemon/live.h"
#include "common/strv.h"
#include "daemon/alert.h"
#include "daemon/barrier.h"
#include "daemon/core/policy.h"
#include "daemon/intake.h"
#include "daemon/kernel/cgroup.h"
#include "daemon/kernel/kill.h"
#include "daemon/kernel/proc.h"
#include "daemon/log.h"
#include "daemon/stream.h"
#include "daemon/watched.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <utlist.h>

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
        while (l->waiters) {
                LiveWaiter *w = l->waiters;

                l->waiters = w->next;
                free(w);
        }
        strv_free(l->alerted);
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
}

void live_add_loss_all(Manager *m, const char *reason, const char *watch, usec_t at, usec_t until,
                       uint64_t count) {
        Live *l, *next;

        HASH_ITER (hh, m->live, l, next)
                live_add_loss(l, reason, watch, at, until, count);
}

/* ---- tagging ---- */

static void tag(Live *l, pid_t pid) {
        Process *p = process_table_find(l->manager->processes, pid);

        if (!p || !p->image || !p->image->program)
                p = intake_learn(l->manager, pid);
        if (p && p->session != l->session)
                process_table_tag(l->manager->processes, p, l->session);
}

/* Every process whose chain of parents leads to one that is tagged. Forks go on meanwhile: what a tagged process forks is born
 * tagged, so the search ends when a round finds nobody new. */
static void tag_descendants(Live *l) {
        Manager *m = l->manager;
        bool more = true;

        for (unsigned round = 0; more && round < 100; round++) {
                _cleanup_free_ pid_t *pids = NULL;
                size_t n = 0;

                more = false;
                intake_processes(m);
                if (proc_list(&pids, &n) < 0)
                        return;
                for (size_t i = 0; i < n; i++) {
                        Process *known = process_table_find(m->processes, pids[i]), *parent;
                        ProcStat st;

                        if (known && known->session)
                                continue;
                        if (proc_read_stat(pids[i], &st) < 0 || st.ppid <= 1)
                                continue;
                        parent = process_table_find(m->processes, st.ppid);
                        if (!parent || parent->session != l->session)
                                continue;
                        if (l->session->cgroup)
                                (void) cgroup_add(l->session->cgroup, pids[i]);
                        tag(l, pids[i]);
                        more = true;
                }
        }
}

static int on_cgroup_events(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Live *l = userdata;
        char buffer[256];

        /* reading rearms the notification of kernfs */
        (void) pread(fd, buffer, sizeof buffer, 0);
        live_check_soon(l->manager);
        return 0;
}

static int follow_cgroup(Live *l) {
        _cleanup_close_ int fd = -1;
        int r;

        fd = cgroup_open_events(l->session->cgroup);
        if (fd < 0)
                return fd;
        r = sd_event_add_io(l->manager->event, &l->events_source, fd, EPOLLPRI, on_cgroup_events,
                            l);
        if (r < 0)
                return r;
        (void) sd_event_source_set_io_fd_own(l->events_source, true);
        TAKE_FD(fd);
        return 0;
}

static int tag_root(Live *l, bool automatic) {
        Session *s = l->session;
        Manager *m = l->manager;
        Process *p;
        ProcStat st;
        int r;

        intake_processes(m);
        p = intake_learn(m, s->root_pid);
        if (!p)
                return -ESRCH;
        if (proc_read_stat(s->root_pid, &st) < 0 || st.start_ticks != s->root_start_ticks)
                return -ESRCH;
        if (p->session && automatic)
                return -EALREADY;
        if (p->session) {
                s->outer = p->session;
                if (s->outer->has_policy) {
                        s->policy = s->has_policy ? policy_stricter(s->policy, s->outer->policy)
                                                  : s->outer->policy;
                        s->has_policy = true;
                }
        }
        if (m->cgroup_root) {
                r = cgroup_create_for(m->cgroup_root, s->root_pid, s->id, &s->cgroup);
                if (r == -ESRCH)
                        return r;
                if (r < 0)
                        log_warning(
                                "session %s: no cgroup of its own (%s); the process table alone carries the tag",
                                s->id, strerror(-r));
        }
        r = process_table_tag(m->processes, p, s);
        if (r < 0)
                return r;
        /* asked after the tag is on: what is forked from now on inherits it */
        if (proc_has_children(s->root_pid))
                tag_descendants(l);
        if (s->cgroup) {
                r = follow_cgroup(l);
                if (r < 0)
                        log_warning("session %s: cannot follow its cgroup: %s", s->id,
                                    strerror(-r));
        }
        return 0;
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

static int live_begin(Manager *m, LiveRequest *q, Live **ret) {
        _cleanup_(live_freep) Live *l = NULL;
        Watched *w;
        int r;

        r = live_make(m, q, &l);
        if (r < 0)
                return r;
        HASH_ADD_STR(m->live, session->id, l);
        r = tag_root(l, q->automatic);
        if (r < 0) {
                process_table_untag_all(m->processes, l->session, l->session->outer);
                if (l->session->cgroup)
                        (void) cgroup_dissolve(l->session->cgroup);
                HASH_DEL(m->live, l);
                return r;
        }
        live_store(l);
        DL_FOREACH (m->watches, w) {
                r = store_put_session_watch(m->store, l->session->id, w->spec, w->status.scope,
                                            &w->status.coverage);
                if (r < 0)
                        manager_store_failed(m, r);
                if (w->status.state == WATCHER_FAILED)
                        live_add_loss(l, "not-watched", w->spec->name, l->session->started, 0, 0);
        }
        if (!m->connector)
                live_add_loss(l, "no-process-events", NULL, l->session->started, 0, 0);
        r = store_flush(m->store);
        if (r < 0)
                manager_store_failed(m, r);
        log_debug("session %s: started for process %d", l->session->id, (int) l->session->root_pid);
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

        s->state = l->killed ? SESSION_KILLED : SESSION_STOPPED;
        s->stopped = l->ended;
        live_store(l);
        r = store_flush(m->store);
        if (r < 0)
                manager_store_failed(m, r);
        alert_ended(m, s);

        process_table_untag_all(m->processes, s, s->outer);
        HASH_ITER (hh, m->live, inner, next)
                if (inner->session->outer == s)
                        inner->session->outer = s->outer;
        HASH_DEL(m->live, l);
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

/* The table says nobody is left. The kernel may know of somebody: a member whose fork message was lost, or one that is just
 * dying (then cgroup.events comes once more). */
static bool cgroup_has_members(Live *l) {
        _cleanup_free_ pid_t *pids = NULL;
        size_t n = 0;

        if (!l->session->cgroup || cgroup_is_populated(l->session->cgroup) != 1)
                return false;
        if (cgroup_list(l->session->cgroup, &pids, &n) < 0)
                return false;
        for (size_t i = 0; i < n; i++)
                tag(l, pids[i]);
        return true;
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
            cgroup_has_members(l)) {
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

/* ---- members ---- */

typedef struct Signal {
        int sig;
        int n;
} Signal;

static void signal_member(Process *p, void *userdata) {
        Signal *s = userdata;

        if (kill_process(p->pid, p->image ? p->image->start_ticks : 0, s->sig) >= 0)
                s->n++;
}

/* The session and those inside it; without a cgroup of its own each member is signalled by pidfd. */
static int signal_members(Live *l, int sig) {
        Signal s = {.sig = sig};
        Live *inner, *next;

        process_table_foreach(l->manager->processes, l->session, signal_member, &s);
        HASH_ITER (hh, l->manager->live, inner, next)
                if (inner->session->outer == l->session)
                        s.n += signal_members(inner, sig);
        return s.n;
}

static int count_members(Live *l) {
        Live *inner, *next;
        int n = (int) process_table_count(l->manager->processes, l->session);

        HASH_ITER (hh, l->manager->live, inner, next)
                if (inner->session->outer == l->session)
                        n += count_members(inner);
        return n;
}

int live_kill(Live *l) {
        int n;

        intake_processes(l->manager);
        l->killed = true;
        n = count_members(l);
        if (l->session->cgroup && cgroup_kill(l->session->cgroup) >= 0)
                return n;
        return signal_members(l, SIGKILL);
}

int live_freeze(Live *l, bool freeze) {
        int n;

        intake_processes(l->manager);
        n = count_members(l);
        if (l->session->cgroup && cgroup_freeze(l->session->cgroup, freeze) >= 0)
                return n;
        return signal_members(l, freeze ? SIGSTOP : SIGCONT);
}

void live_resync(Manager *m) {
        Live *l, *next;

        HASH_ITER (hh, m->live, l, next) {
                _cleanup_free_ pid_t *pids = NULL;
                size_t n = 0;

                if (l->session->cgroup && cgroup_list(l->session->cgroup, &pids, &n) >= 0)
                        for (size_t i = 0; i < n; i++)
                                tag(l, pids[i]);
                else
                        tag_descendants(l);
        }
        live_check_soon(m);
}

/* ---- restart ---- */

static int recover_one(Manager *m, StoredSession *stored) {
        _cleanup_(live_freep) Live *l = calloc(1, sizeof *l);
        _cleanup_free_ pid_t *pids = NULL;
        size_t n = 0;

        if (!l)
                return -ENOMEM;
        l->manager = m;
        l->session = TAKE_PTR(stored->session);
        HASH_ADD_STR(m->live, session->id, l);
        manager_update_demand(m);

        if (l->session->cgroup && cgroup_list(l->session->cgroup, &pids, &n) >= 0) {
                for (size_t i = 0; i < n; i++)
                        tag(l, pids[i]);
                (void) follow_cgroup(l);
        } else {
                ProcStat st;

                if (proc_read_stat(l->session->root_pid, &st) >= 0 &&
                    st.start_ticks == l->session->root_start_ticks)
                        tag(l, l->session->root_pid);
                tag_descendants(l);
        }
        live_add_loss(l, "daemon-restart", NULL, stored->last_seen, manager_now(m), 0);
        log_info("session %s: found again with %zu processes; what happened meanwhile was not seen",
                 l->session->id, process_table_count(m->processes, l->session));
        l = NULL;
        return 0;
}

static void reconnect_outer(Manager *m, const StoredSession *stored, const char *id) {
        Live *l = live_find(m, id);
        Live *outer = stored->outer[0] ? live_find(m, stored->outer) : NULL;

        if (l && outer)
                l->session->outer = outer->session;
}

int live_recover(Manager *m) {
        StoredSession *sessions = NULL;
        char(*ids)[17] = NULL;
        size_t n = 0;
        int r;

        r = store_list_sessions(m->store, (uid_t) -1, true, SIZE_MAX, &sessions, &n);
        if (r < 0)
                return r;
        ids = calloc(n + 1, sizeof *ids);
        if (!ids)
                r = -ENOMEM;
        /* oldest first: a member of an inner session is tagged last by the inner one */
        for (size_t i = n; i-- > 0 && r >= 0;) {
                memcpy(ids[i], sessions[i].session->id, sizeof ids[i]);
                r = recover_one(m, &sessions[i]);
        }
        for (size_t i = 0; i < n && r >= 0; i++)
                reconnect_outer(m, &sessions[i], ids[i]);
        for (size_t i = 0; i < n; i++)
                stored_session_done(&sessions[i]);
        free(sessions);
        free(ids);
        live_check_soon(m);
        return r;
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
