/* SPDX-License-Identifier: MIT */
/*
 * The plan belongs to the thread while it runs; but a step is not touched any more once the thread has counted it as finished. So
 * the loop reads finished steps where they are: it stores them at once, and tells them as fast as the peer reads.
 */
#include "daemon/undo_job.h"
#include "common/operation_json.h"
#include "common/strv.h"
#include "daemon/job.h"
#include "daemon/log.h"
#include "daemon/method.h"
#include "daemon/store/undo.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <utlist.h>

struct UndoJob {
        UndoJob *prev, *next;
        Manager *manager; /* NULL: the loop has let go, the thread's end frees it */
        ApiCall *call;    /* reference */
        UndoRequest request;
        UndoPlanner *planner;
        UndoPlan *plan;
        char *state_dir;
        bool *earlier;       /* steps that an earlier run has done */
        int64_t checked_seq; /* operations up to here were done by the user's own processes */
        int64_t checked_process;
        sd_event_source *plan_source, *tell_source;
        int fd; /* eventfd: steps have been finished */
        atomic_size_t finished;
        atomic_bool cancel;
        bool running; /* the thread has it */
        bool ended;
        int result; /* of the run */
        int store_error;
        size_t stored, told; /* steps */
        uint64_t count[_UNDO_STATE_MAX];
};

void undo_request_done(UndoRequest *q) {
        (void) strv_free(q->paths);
        *q = (UndoRequest){};
}

static void undo_job_free(UndoJob *u) {
        u->plan_source = sd_event_source_disable_unref(u->plan_source);
        u->tell_source = sd_event_source_disable_unref(u->tell_source);
        if (u->call)
                api_call_set_on_drained(u->call, NULL, NULL);
        u->call = api_call_unref(u->call);
        if (u->manager)
                DL_DELETE(u->manager->undos, u);
        u->manager = NULL;
        if (u->running) {
                atomic_store(&u->cancel, true);
                return; /* on_run_ended() comes back */
        }
        (void) undo_planner_free(u->planner);
        (void) undo_plan_free(u->plan);
        undo_request_done(&u->request);
        (void) safe_close(u->fd);
        free(u->earlier);
        free(u->state_dir);
        free(u);
}

static void undo_job_fail(UndoJob *u, int error) {
        if (error == -ENOSPC)
                (void) api_call_error(u->call, "StoreFull", NULL);
        else
                answer_errno(u->call, error);
        undo_job_free(u);
}

/* ---- replies ---- */

static int step_to_json(const UndoStep *s, bool earlier, json_object **ret) {
        _cleanup_json_ json_object *o = json_object_new_object();
        int r = o ? json_add_text(o, "action", undo_action_to_string(s->action)) : -ENOMEM;

        r = r < 0 ? r : json_add_text(o, "kind", object_kind_to_string(s->kind));
        r = r < 0 ? r : json_add_text(o, "watch", s->watch);
        r = r < 0 ? r : json_add_path(o, "path", s->path);
        r = r < 0 ? r : json_add_path(o, "from", s->from);
        r = r < 0 ? r
                  : json_add_text(o, "state",
                                  undo_state_to_string(earlier ? UNDO_NOTHING : s->state));
        r = r < 0 ? r : json_add_text(o, "reason", earlier ? "by an earlier undo" : s->reason);
        r = r < 0 || !s->item[0] ? r : json_add_text(o, "item", s->item);
        r = r < 0 ? r : json_add_int(o, "bytes", (int64_t) s->bytes);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(o);
        return 0;
}

static int add_counts(const UndoJob *u, json_object *reply) {
        json_object *o = json_object_new_object();
        int r = json_add(reply, "result", o);

        for (UndoState s = 0; r >= 0 && s < _UNDO_STATE_MAX; s++)
                r = json_add_int(o, undo_state_to_string(s), (int64_t) u->count[s]);
        return r;
}

/* `step` is consumed, and NULL in the first reply and the last one. */
static int reply(UndoJob *u, json_object *step, bool last) {
        _cleanup_json_ json_object *o = json_object_new_object(), *s = step;
        int r = o ? json_add_text(o, "session", u->request.session) : -ENOMEM;

        if (r >= 0 && s)
                r = json_add(o, "step", TAKE_PTR(s));
        r = r < 0 ? r : json_add_int(o, "done", (int64_t) u->told);
        r = r < 0 ? r : json_add_int(o, "total", (int64_t) u->plan->n);
        if (r >= 0 && last)
                r = add_counts(u, o);
        return r < 0 ? r : api_call_reply(u->call, TAKE_PTR(o), !last);
}

static int tell_step(UndoJob *u, const UndoStep *s) {
        json_object *o = NULL;
        int r = step_to_json(s, u->earlier[u->told], &o);

        u->count[u->earlier[u->told] ? UNDO_NOTHING : s->state]++;
        u->told++;
        return r < 0 ? r : reply(u, o, /* last= */ false);
}

/* What is finished goes to the store before anybody hears of it. */
static void store_finished(UndoJob *u) {
        const size_t finished = atomic_load(&u->finished);
        Manager *m = u->manager;
        int r = 0;

        for (; u->stored < finished; u->stored++) {
                const UndoStep *s = &u->plan->steps[u->stored];

                if (!u->request.dry_run && !u->earlier[u->stored] && r >= 0)
                        r = store_put_undo_step(m->store, u->request.session, s, manager_now(m));
        }
        if (r < 0) {
                u->store_error = r;
                atomic_store(&u->cancel, true);
                log_error("session %s: cannot store what has been undone: %s", u->request.session,
                          strerror(-r));
        }
        manager_store_written(m);
}

/* Returns false when the undo is over and gone. */
static bool undo_job_pump(UndoJob *u) {
        store_finished(u);
        if (api_call_is_gone(u->call))
                atomic_store(&u->cancel, true);
        while (u->told < u->stored && api_call_pending(u->call) <= API_STREAM_LOW)
                if (tell_step(u, &u->plan->steps[u->told]) < 0)
                        atomic_store(&u->cancel, true);
        if (!u->ended || (u->told < u->stored && !api_call_is_gone(u->call)))
                return true;
        (void) store_flush(u->manager->store);
        if (u->store_error < 0)
                undo_job_fail(u, u->store_error);
        else if (u->result < 0)
                undo_job_fail(u, u->result);
        else {
                (void) reply(u, NULL, /* last= */ true);
                undo_job_free(u);
        }
        return false;
}

static int on_finished(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        eventfd_t n;

        (void) eventfd_read(fd, &n);
        (void) undo_job_pump(userdata);
        return 0;
}

/* The peer has read what it was told, or has gone. Never below a method: connections may be freed after this. */
static void on_drained(ApiCall *call, void *userdata) {
        UndoJob *u = userdata;

        if (api_call_is_gone(call))
                atomic_store(&u->cancel, true);
        (void) eventfd_write(u->fd, 1);
}

/* ---- the run ---- */

/* In the thread. */
static void on_progress(const UndoPlan *plan, const UndoStep *step, void *userdata) {
        UndoJob *u = userdata;

        (void) atomic_fetch_add(&u->finished, 1);
        (void) eventfd_write(u->fd, 1);
}

static void run(void *userdata) {
        UndoJob *u = userdata;
        const UndoOptions options = {
                .state_dir = u->state_dir,
                .dry_run = u->request.dry_run,
                .force = u->request.force,
                .cancel = &u->cancel,
                .progress = on_progress,
                .userdata = u,
        };

        u->result = undo_run(u->plan, &options);
}

static void on_run_ended(Manager *m, void *userdata) {
        UndoJob *u = userdata;

        u->running = false;
        if (!m || !u->manager) {
                undo_job_free(u);
                return;
        }
        u->ended = true;
        (void) undo_job_pump(u);
}

static int start_run(UndoJob *u) {
        int r;

        u->earlier = calloc(u->plan->n + 1, sizeof *u->earlier);
        if (!u->earlier)
                return -ENOMEM;
        for (size_t i = 0; i < u->plan->n; i++)
                u->earlier[i] = u->plan->steps[i].state == UNDO_DONE;
        r = sd_event_add_io(u->manager->event, &u->tell_source, u->fd, EPOLLIN, on_finished, u);
        if (r >= 0)
                r = reply(u, NULL, /* last= */ false);
        if (r >= 0)
                r = job_start_background(u->manager->jobs, run, on_run_ended, u);
        if (r >= 0)
                u->running = true;
        return r;
}

/* ---- whose changes they are ---- */

#define CHECK_SLICE 256

/* -EPERM: somebody else's process did it, by sudo for instance. */
static int check_author(UndoJob *u, const Operation *op) {
        ProcessInfo p = {};
        int r;

        if (op->process_id == 0 || op->process_id == u->checked_process)
                return 0;
        r = store_get_process(u->manager->store, op->process_id, &p);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        u->checked_process = op->process_id;
        r = p.uid == u->request.uid || op->action == ACTION_DENIED ? 0 : -EPERM;
        process_info_done(&p);
        return r;
}

/* 1: there is more to check. */
static int check_authors(UndoJob *u) {
        const StoreQuery q = {
                .session = u->request.session,
                .with_inner = true,
                .after_seq = u->checked_seq,
                .uid = (uid_t) -1,
        };
        _cleanup_free_ Operation *list = calloc(CHECK_SLICE, sizeof *list);
        size_t n = 0;
        int r;

        if (!list)
                return -ENOMEM;
        r = store_read_operations(u->manager->store, &q, list, CHECK_SLICE, &n);
        for (size_t i = 0; i < n; i++) {
                if (r >= 0)
                        r = check_author(u, &list[i]);
                u->checked_seq = list[i].seq;
                operation_done(&list[i]);
        }
        return r < 0 ? r : n > 0;
}

static int on_plan(sd_event_source *source, void *userdata) {
        UndoJob *u = userdata;
        int r;

        if (api_call_is_gone(u->call)) {
                undo_job_free(u);
                return 0;
        }
        r = undo_planner_step(u->planner);
        if (r == 0) {
                u->plan = undo_planner_take(u->planner);
                u->planner = undo_planner_free(u->planner);
                u->plan_source = sd_event_source_disable_unref(u->plan_source);
                r = start_run(u);
        }
        if (r < 0)
                undo_job_fail(u, r);
        return 0;
}

static int plan(UndoJob *u) {
        u->plan_source = sd_event_source_disable_unref(u->plan_source);
        return sd_event_add_defer(u->manager->event, &u->plan_source, on_plan, u) < 0
                ? -ENOMEM
                : sd_event_source_set_enabled(u->plan_source, SD_EVENT_ON);
}

static int on_check(sd_event_source *source, void *userdata) {
        UndoJob *u = userdata;
        int r;

        if (api_call_is_gone(u->call)) {
                undo_job_free(u);
                return 0;
        }
        r = check_authors(u);
        if (r == 0)
                r = plan(u);
        if (r == -EPERM) {
                answer_denied(
                        u->call,
                        "processes of another user took part in the session; root and members of the configured group may undo it");
                undo_job_free(u);
        } else if (r < 0)
                undo_job_fail(u, r);
        return 0;
}

bool undo_job_is_running(Manager *m, const char *session) {
        UndoJob *u;

        DL_FOREACH (m->undos, u)
                if (str_equal(u->request.session, session))
                        return true;
        return false;
}

int undo_job_start(Manager *m, ApiCall *call, UndoRequest *q) {
        UndoJob *u;
        int r = 0;

        if (undo_job_is_running(m, q->session))
                return -EBUSY;
        u = calloc(1, sizeof *u);
        if (!u)
                return -ENOMEM;
        u->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        u->state_dir = strdup(m->state_dir);
        u->manager = m;
        DL_APPEND(m->undos, u);
        if (u->fd < 0)
                r = -errno;
        else if (!u->state_dir)
                r = -ENOMEM;
        if (r >= 0)
                r = undo_planner_new(m->store, q->session, q->paths, &u->planner);
        if (r >= 0)
                r = sd_event_add_defer(m->event, &u->plan_source,
                                       q->uid == (uid_t) -1 ? on_plan : on_check, u);
        if (r >= 0)
                r = sd_event_source_set_enabled(u->plan_source, SD_EVENT_ON);
        if (r < 0) {
                undo_job_free(u);
                return r;
        }
        u->call = api_call_ref(call);
        api_call_set_on_drained(call, on_drained, u);
        u->request = *q;
        *q = (UndoRequest){};
        return 0;
}

void undo_job_free_all(Manager *m) {
        UndoJob *u, *next;

        DL_FOREACH_SAFE (m->undos, u, next)
                undo_job_free(u);
}
