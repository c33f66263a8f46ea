/* SPDX-License-Identifier: MIT */
#include "daemon/barrier.h"
#include "daemon/core/authorisation.h"
#include "daemon/held.h"
#include "daemon/live.h"
#include "daemon/log.h"
#include "daemon/method.h"
#include "daemon/restrain.h"
#include "daemon/view.h"

#include <errno.h>
#include <stdio.h>

Live *find_controlled(Manager *m, ApiCall *call, const Peer *peer, const char *id) {
        StoredSession ended;
        Live *l = id ? live_find(m, id) : live_of_pid(m, peer->pid);

        if (l && authorise_control(peer->uid, peer->privileged, l->session->uid))
                return l;
        if (l && authorise_see(peer->uid, peer->privileged, l->session->uid))
                answer_denied(call, "the session belongs to another user");
        else if (!id)
                (void) api_call_error(call, "NotInSession", NULL);
        else if (!l && store_get_session(m->store, id, &ended) >= 0) {
                bool visible = authorise_see(peer->uid, peer->privileged, ended.session->uid);
                json_object *o = json_object_new_object();

                stored_session_done(&ended);
                json_object_object_add(o, "id", json_object_new_string(id));
                (void) api_call_error(call, visible ? "SessionEnded" : "NoSuchSession", o);
        } else
                answer_no_session(call, id);
        return NULL;
}

static void answer_session(ApiCall *call, StoredSession *s) {
        answer(call, "session", view_session(s->session, s->outer));
}

/* The command may have ended together with the whole session: then the status is added to what is stored. */
static void finish_ended(Manager *m, ApiCall *call, const Peer *peer, const char *id, int status) {
        StoredSession s;
        int r;

        r = store_get_session(m->store, id, &s);
        if (r < 0) {
                if (r == -ENOENT)
                        answer_no_session(call, id);
                else
                        answer_errno(call, r);
                return;
        }
        if (!authorise_control(peer->uid, peer->privileged, s.session->uid))
                answer_no_session(call, id);
        else {
                if (s.session->exit_status < 0) {
                        s.session->exit_status = status;
                        r = store_put_session(m->store, s.session);
                        if (r >= 0)
                                r = store_flush(m->store);
                        if (r < 0)
                                log_error("session %s: cannot store its exit status: %s", id,
                                          strerror(-r));
                }
                answer_session(call, &s);
        }
        stored_session_done(&s);
}

typedef struct Wait {
        ApiCall *call; /* reference */
        char id[17];
} Wait;

static Wait *wait_new(ApiCall *call, const char *id) {
        Wait *w = calloc(1, sizeof *w);

        if (w) {
                w->call = api_call_ref(call);
                (void) snprintf(w->id, sizeof w->id, "%s", id);
        }
        return w;
}

static Wait *wait_free(Wait *w) {
        if (w)
                (void) api_call_unref(w->call);
        free(w);
        return NULL;
}

DEFINE_CLEANUP(Wait *, wait_free)

static void answer_by_id(Manager *m, ApiCall *call, const char *id) {
        Live *l = live_find(m, id);
        StoredSession s;
        int r;

        if (l) {
                answer(call, "session", view_live(l));
                return;
        }
        r = store_get_session(m->store, id, &s);
        if (r < 0) {
                answer_errno(call, r);
                return;
        }
        answer_session(call, &s);
        stored_session_done(&s);
}

static void on_stopped(Manager *m, const char *id, void *userdata) {
        _cleanup_(api_call_unrefp) ApiCall *call = userdata;

        answer_by_id(m, call, id);
}

static void on_caught_up(Manager *m, Watched *const *missing, size_t n_missing, void *userdata) {
        _cleanup_(wait_freep) Wait *w = userdata;
        Live *l;

        live_check_all(m);
        l = live_find(m, w->id);
        if (l && l->ending && live_stop(l, on_stopped, w->call) >= 0)
                w->call = NULL;
        else
                answer_by_id(m, w->call, w->id);
}

/* Its last operations are still on their way: the answer comes behind them. */
void method_finish_session(ApiCall *call, const Peer *peer, json_object *parameters,
                           void *userdata) {
        const char *id = parameter_string(parameters, "id");
        int64_t status = parameter_int(parameters, "exitStatus", 0);
        Manager *m = userdata;
        Live *l = live_find(m, id);
        Wait *w;

        if (status < 0 || status > 255) {
                answer_invalid(call, "exitStatus");
                return;
        }
        if (!l) {
                finish_ended(m, call, peer, id, (int) status);
                return;
        }
        l = find_controlled(m, call, peer, id);
        if (!l)
                return;
        live_command_ended(l, (int) status);
        w = wait_new(call, id);
        if (!w || barrier_start(m, BARRIER_READ_USEC, on_caught_up, w) < 0) {
                (void) wait_free(w);
                answer_by_id(m, call, id);
        }
}

void method_stop_session(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        Live *l = find_controlled(userdata, call, peer, parameter_string(parameters, "id"));
        int r;

        if (!l)
                return;
        r = live_stop(l, on_stopped, api_call_ref(call));
        if (r < 0) {
                (void) api_call_unref(call);
                answer_errno(call, r);
        }
}

#define LIST_MAX 1000

void method_list_sessions(ApiCall *call, const Peer *peer, json_object *parameters,
                          void *userdata) {
        Manager *m = userdata;
        json_object *array = json_object_new_array();
        StoredSession *sessions = NULL;
        size_t n = 0;
        int r;

        r = store_list_sessions(m->store, peer->privileged ? (uid_t) -1 : peer->uid,
                                !parameter_bool(parameters, "all"), LIST_MAX, &sessions, &n);
        if (r < 0) {
                json_object_put(array);
                answer_errno(call, r);
                return;
        }
        for (size_t i = 0; i < n; i++) {
                Live *l = live_find(m, sessions[i].session->id);

                if (array)
                        json_object_array_add(array,
                                              l ? view_live(l)
                                                : view_session(sessions[i].session,
                                                               sessions[i].outer));
                stored_session_done(&sessions[i]);
        }
        free(sessions);
        answer(call, "sessions", array);
}

static void answer_get_session(Manager *m, ApiCall *call, const char *id) {
        json_object *o = json_object_new_object(), *watches = json_object_new_array();
        Live *l = live_find(m, id);
        StoredWatch *stored = NULL;
        StoredSession s;
        size_t n = 0;
        int r;

        r = store_get_session(m->store, id, &s);
        if (r >= 0) {
                r = store_get_session_watches(m->store, id, &stored, &n);
                if (r >= 0)
                        json_object_object_add(o, "session",
                                               l ? view_live(l) : view_session(s.session, s.outer));
                stored_session_done(&s);
        }
        if (r < 0) {
                json_object_put(o);
                json_object_put(watches);
                answer_errno(call, r);
                return;
        }
        for (size_t i = 0; i < n; i++) {
                json_object_array_add(watches, view_stored_watch(m, &stored[i]));
                stored_watch_done(&stored[i]);
        }
        free(stored);
        json_object_object_add(o, "watches", watches);
        (void) api_call_reply(call, o, /* continues= */ false);
}

static void on_read_up_to_now(Manager *m, Watched *const *missing, size_t n_missing,
                              void *userdata) {
        _cleanup_(wait_freep) Wait *w = userdata;
        int r;

        live_check_all(m);
        /* what a client has been told outlives us */
        r = store_flush(m->store);
        if (r < 0)
                manager_store_failed(m, r);
        answer_get_session(m, w->call, w->id);
}

void method_get_session(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        const char *id = parameter_string(parameters, "id");
        bool last = !id || str_equal(id, "last");
        Manager *m = userdata;
        StoredSession s;
        Wait *w;
        int r;

        r = last ? store_get_last_session(m->store, peer->privileged ? (uid_t) -1 : peer->uid, &s)
                 : store_get_session(m->store, id, &s);
        if (r >= 0 && !authorise_see(peer->uid, peer->privileged, s.session->uid)) {
                stored_session_done(&s);
                r = -ENOENT;
        }
        if (r < 0) {
                if (r == -ENOENT)
                        answer_no_session(call, last ? "last" : id);
                else
                        answer_errno(call, r);
                return;
        }
        w = wait_new(call, s.session->id);
        stored_session_done(&s);
        if (!w) {
                answer_errno(call, -ENOMEM);
                return;
        }
        if (live_find(m, w->id) && barrier_start(m, BARRIER_READ_USEC, on_read_up_to_now, w) >= 0)
                return;
        answer_get_session(m, call, w->id);
        (void) wait_free(w);
}

typedef struct Mark {
        ApiCall *call; /* reference */
        char id[17];
        char *text;
} Mark;

/* What happened before the mark belongs to the test before: the new one begins when the queues have been read. */
static void on_mark(Manager *m, Watched *const *missing, size_t n_missing, void *userdata) {
        _cleanup_free_ Mark *mark = userdata;
        _cleanup_(api_call_unrefp) ApiCall *call = mark->call;
        Live *l = live_find(m, mark->id);

        if (!l) {
                free(mark->text);
                answer_no_session(call, mark->id);
                return;
        }
        free(l->session->test);
        l->session->test = mark->text;
        (void) api_call_reply(call, NULL, /* continues= */ false);
}

void method_mark_session(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        const char *text = parameter_string(parameters, "text");
        Live *l = find_controlled(userdata, call, peer, parameter_string(parameters, "id"));
        Mark *mark;
        int r;

        if (!l)
                return;
        if (strlen(text) > MARK_MAX) {
                answer_limit(call, "bytes of a mark", MARK_MAX);
                return;
        }
        mark = calloc(1, sizeof *mark);
        if (!mark || (text[0] && !(mark->text = strdup(text)))) {
                free(mark);
                answer_errno(call, -ENOMEM);
                return;
        }
        mark->call = api_call_ref(call);
        memcpy(mark->id, l->session->id, sizeof mark->id);
        r = barrier_start(userdata, BARRIER_READ_USEC, on_mark, mark);
        if (r < 0) {
                (void) api_call_unref(call);
                free(mark->text);
                free(mark);
                answer_errno(call, r);
        }
}

static void answer_count(ApiCall *call, int n) {
        answer(call, "processes", json_object_new_int(n));
}

void method_freeze_session(ApiCall *call, const Peer *peer, json_object *parameters,
                           void *userdata) {
        Live *l = find_controlled(userdata, call, peer, parameter_string(parameters, "id"));

        if (l)
                answer_count(call, restrain_freeze(l, /* freeze= */ true));
}

void method_thaw_session(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        Live *l = find_controlled(userdata, call, peer, parameter_string(parameters, "id"));

        if (!l)
                return;
        l->thawed = true;
        (void) gatekeeper_put_session(l->manager->gatekeeper, l);
        answer_count(call, restrain_freeze(l, /* freeze= */ false));
        held_let_session(userdata, l->session->id);
}

void method_kill_session(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        Live *l = find_controlled(userdata, call, peer, parameter_string(parameters, "id"));

        if (l)
                answer_count(call, restrain_kill(l));
}
