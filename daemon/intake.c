/* SPDX-License-Identifier: MIT */
/*
 * Owns nothing: works on what hangs from the Manager. Must not touch a watched filesystem (the path of an operation is
 * text here), and must not wait.
 */
#include "daemon/intake.h"
#include "daemon/auto_session.h"
#include "daemon/barrier.h"
#include "daemon/core/attribution.h"
#include "daemon/enforce.h"
#include "daemon/gate_site.h"
#include "daemon/held.h"
#include "daemon/kernel/cgroup.h"
#include "daemon/kernel/proc.h"
#include "daemon/live.h"
#include "daemon/log.h"
#include "daemon/record.h"
#include "daemon/tag.h"
#include "daemon/watched.h"

#include <errno.h>
#include <stdio.h>

#define SLICE 2000       /* notes worked off before the loop gets its turn */
#define ANCESTORS_MAX 64 /* how far up a chain of parents is learned */

void intake_processes(Manager *m) {
        ProcEvents events = {};
        bool exits = false, lost = false;
        int r;

        if (!m->connector)
                return;
        r = connector_take(m->connector, &events);
        if (r < 0) {
                log_error("cannot read process events: %s", strerror(-r));
                return;
        }
        for (size_t i = 0; i < events.n && r >= 0; i++) {
                ProcEvent *e = &events.items[i];

                switch (e->type) {
                case PROC_FORK:
                        r = process_table_fork(m->processes, e->parent, e->pid, e->at,
                                               e->start_ticks);
                        break;
                case PROC_EXEC:
                        r = process_table_exec(m->processes, e->pid, e->at,
                                               e->has_details ? &e->details : NULL);
                        if (auto_session_is_wanted(m))
                                auto_session_consider(m, e);
                        break;
                case PROC_UID:
                        r = process_table_setuid(m->processes, e->pid, e->at, e->uid);
                        break;
                case PROC_EXIT:
                        process_table_exit(m->processes, e->pid, e->at);
                        held_drop_process(m, e->pid);
                        exits = true;
                        break;
                case PROC_LOST:
                        lost = true;
                        break;
                }
        }
        if (r < 0 || lost) {
                log_warning("process events were lost%s; looking the sessions' processes up again",
                            r < 0 ? " for lack of memory" : " (the kernel's buffer was full)");
                live_add_loss_all(m, "process-events", NULL, manager_now(m), manager_now(m), 0);
                live_resync(m);
        }
        proc_events_done(&events);
        if (exits)
                live_check_soon(m);
}

Process *intake_learn(Manager *m, pid_t pid) {
        ProcessDetails chain[ANCESTORS_MAX];
        size_t n = 0;
        Process *p = NULL;
        pid_t next = pid;

        while (n < ANCESTORS_MAX && next > 0) {
                if (n > 0 && process_table_find(m->processes, next))
                        break;
                if (proc_read_details(next, &chain[n]) < 0)
                        break;
                next = chain[n++].ppid;
        }
        /* parents first, so that each finds the image it hangs on */
        for (size_t i = n; i-- > 0;) {
                Process *learned = NULL;

                if (process_table_learn(m->processes, &chain[i], manager_now_mono(m), &learned) >=
                            0 &&
                    chain[i].pid == pid)
                        p = learned;
                (void) program_unref(chain[i].program);
        }
        return p;
}

/* Someone whose fork was never seen: it was there before us, or its message was lost. Its cgroup tells whose it is. */
static Process *author_learn(Manager *m, pid_t pid) {
        _cleanup_free_ char *cgroup = NULL;
        Process *p = intake_learn(m, pid);
        char id[17];

        if (!p || p->session || !m->live || !m->cgroup_root)
                return p;
        if (cgroup_of_pid(m->cgroup_root, pid, &cgroup) < 0)
                return p;
        for (char *c = cgroup; (c = strstr(c, "/mountwatch-")); c++)
                if (sscanf(c, "/mountwatch-%16[0-9a-f]", id) == 1) {
                        Live *l = live_find(m, id);

                        if (l)
                                (void) tag_member(l, p);
                }
        return p;
}

static Process *find_author(Manager *m, const Change *c) {
        Process *p;

        if (c->pid <= 0)
                return NULL;
        p = process_table_author(m->processes, c->pid, c->author_gone, c->not_before, c->read_at);
        if ((!p || !p->image || !p->image->program) && !c->author_gone) {
                Process *learned = author_learn(m, c->pid);

                p = learned ? learned : p;
        }
        return p;
}

/* What is to be known of a change before its author's session takes it. */
static void prepare(Manager *m, const WatchSpec *spec, const Change *c, const Process *author) {
        nsec_t horizon = process_table_horizon(m->processes);
        Live *l, *next;

        if (!author && c->pid > 0 && horizon > 0 && c->not_before <= horizon)
                live_add_loss_all(m, "process-limit", spec->name, c->at, c->at, 1);
        HASH_ITER (hh, m->live, l, next)
                attribution_forget(c, author, l->session);
}

/* The empty file of a create that was refused: its row is there already. */
static bool is_leftover(Live *l, const Operation *op, pid_t pid) {
        if (op->op != OP_CREATE || !leftovers_take_refused(&l->leftovers, op->path, pid))
                return false;
        l->session->operations--;
        l->session->violations -= op->violation;
        session_forget_created(l->session, op->path);
        return true;
}

static void take_change(Watched *w, Change *change) {
        Manager *m = w->manager;
        Operation op = {};
        Live *live;
        Process *author = find_author(m, change);
        int r;

        prepare(m, w->spec, change, author);
        r = attribute(change, w->spec, author, &op);
        if (r <= 0) {
                if (r < 0)
                        live_add_loss_all(m, "memory", w->spec->name, change->at, change->at, 1);
                return;
        }
        live = op.session ? live_find(m, op.session) : NULL;
        if (live && is_leftover(live, &op, change->pid)) {
                operation_done(&op);
                return;
        }
        if (live)
                enforce(live, w->spec, &op, change->pid);
        record_operation(m, &op, author ? process_image_at(author, change->read_at) : NULL,
                         change->pid);
        if (live && op.op == OP_CREATE)
                (void) leftovers_note_made(&live->leftovers, op.path, change->pid, op.seq);
        operation_done(&op);
}

static void take_loss(Watched *w, const Note *n) {
        log_warning("watch '%s': changes may have been missed (%s)", w->spec->name, n->loss);
        live_add_loss_all(w->manager, n->loss, w->spec->name, n->at, n->until, n->count);
}

static void take_state(Watched *w, const WatcherStatus *status) {
        WatcherState before = w->status.state;
        Live *l, *next;

        w->status = *status;
        if (status->state == before)
                return;
        if (status->state == WATCHER_FAILED) {
                log_error("watch '%s': cannot watch '%s': %s", w->spec->name, w->spec->path,
                          status->reason);
                if (w->armed)
                        live_add_loss_all(w->manager, "not-watched", w->spec->name,
                                          manager_now(w->manager), 0, 0);
        } else
                log_debug("watch '%s': %s%s%s", w->spec->name,
                          watcher_state_to_string(status->state), status->reason[0] ? ": " : "",
                          status->reason);
        /* its path has come, or gone: so does what is held there */
        if (w->manager->live && (before == WATCHER_WAITING || status->state == WATCHER_WAITING))
                (void) gate_sites_refresh(w->manager->gate_sites);
        HASH_ITER (hh, w->manager->live, l, next)
                (void) store_put_session_watch(w->manager->store, l->session->id, w->spec,
                                               status->scope, &status->coverage);
}

void intake_take(Watched *w) {
        Note **end = &w->backlog;

        while (*end)
                end = &(*end)->next;
        *end = watcher_take(w->watcher);
        intake_work(w);
}

void intake_work(Watched *w) {
        Manager *m = w->manager;

        intake_processes(m);
        for (unsigned i = 0; i < SLICE && w->backlog; i++) {
                Note *n = w->backlog;

                w->backlog = n->next;
                switch (n->type) {
                case NOTE_CHANGE:
                        take_change(w, &n->change);
                        break;
                case NOTE_LOSS:
                        take_loss(w, n);
                        break;
                case NOTE_STATE:
                        take_state(w, &n->status);
                        break;
                case NOTE_SYNC:
                        barrier_arrived(m, n->count, w);
                        break;
                }
                (void) note_free(n);
        }
        if (!w->backlog)
                process_table_expire(m->processes, manager_now_mono(m));
        (void) sd_event_source_set_enabled(w->backlog_source,
                                           w->backlog ? SD_EVENT_ON : SD_EVENT_OFF);
}
