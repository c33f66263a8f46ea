/* SPDX-License-Identifier: MIT */
#include "common/operation_json.h"
#include "common/version.h"
#include "daemon/barrier.h"
#include "daemon/live.h"
#include "daemon/method.h"
#include "daemon/prospect.h"
#include "daemon/view.h"
#include "daemon/watched.h"
#include "daemon/webhooks.h"

#include <errno.h>
#include <utlist.h>

/* Looking again takes the watch threads a moment, or for ever on a dead share. */
#define PROBE_USEC USEC_PER_SEC

static json_object *watches_to_json(Manager *m) {
        json_object *array = json_object_new_array();
        Watched *w;

        DL_FOREACH (m->watches, w)
                if (array)
                        json_object_array_add(array, view_watched(w));
        return array;
}

static json_object *live_to_json(Manager *m, const Peer *peer) {
        json_object *array = json_object_new_array();
        Live *l, *next;

        HASH_ITER (hh, m->live, l, next)
                if (array && (peer->privileged || peer->uid == l->session->uid))
                        json_object_array_add(array, view_live(l));
        return array;
}

static json_object *warnings_to_json(Manager *m) {
        json_object *array = json_object_new_array();

        if (array && m->connector_error)
                json_object_array_add(array, json_object_new_string(m->connector_error));
        if (array && !m->cgroup_root)
                json_object_array_add(
                        array,
                        json_object_new_string(
                                "no writable cgroup v2: the process table alone carries the tag, so a restart of the daemon may "
                                "lose members"));
        return array;
}

static json_object *status_to_json(Manager *m, const Peer *peer) {
        json_object *o = json_object_new_object();
        char started[TIME_TEXT_MAX];
        uint64_t size = 0;

        if (!o)
                return NULL;
        (void) store_size(m->store, &size);
        json_object_object_add(o, "version", json_object_new_string(MOUNTWATCH_VERSION));
        json_object_object_add(o, "pid", json_object_new_int64(getpid()));
        json_object_object_add(o, "started",
                               json_object_new_string(time_to_text(m->started, started)));
        json_object_object_add(o, "config", json_object_new_string(m->config_file));
        json_object_object_add(o, "socket", json_object_new_string(m->socket));
        json_object_object_add(o, "stateDir", json_object_new_string(m->state_dir));
        json_object_object_add(o, "tagging",
                               json_object_new_string(m->cgroup_root ? "cgroup" : "table"));
        json_object_object_add(o, "tagged", json_object_new_int64(HASH_COUNT(m->live)));
        json_object_object_add(o, "storeBytes", json_object_new_int64((int64_t) size));
        json_object_object_add(o, "warnings", warnings_to_json(m));
        json_object_object_add(o, "sessions", live_to_json(m, peer));
        json_object_object_add(o, "watches", watches_to_json(m));
        json_object_object_add(o, "webhooks", webhooks_to_json(m->webhooks));
        return o;
}

typedef struct Question {
        ApiCall *call; /* reference */
        Peer peer;
        json_object *(*answer)(Manager *m, const Peer *peer);
} Question;

static void on_looked(Manager *m, Watched *const *missing, size_t n_missing, void *userdata) {
        _cleanup_free_ Question *q = userdata;
        _cleanup_(api_call_unrefp) ApiCall *call = q->call;
        json_object *o = q->answer(m, &q->peer);

        if (o)
                (void) api_call_reply(call, o, /* continues= */ false);
        else
                answer_errno(call, -ENOMEM);
}

static void question_fail(Question *q, int error) {
        answer_errno(q->call, error);
        (void) api_call_unref(q->call);
        free(q);
}

static void look_at_watches(Manager *m, void *userdata) {
        Question *q = userdata;
        Watched *w;
        int r;

        DL_FOREACH (m->watches, w)
                if (!w->armed)
                        watcher_probe(w->watcher);
        r = barrier_start(m, PROBE_USEC, on_looked, q);
        if (r < 0)
                question_fail(q, r);
}

/* Answers when the watches have said how they are, or after a second without those that hang. `prospects`: and what could be
 * refused on them. */
static void answer_after_look(Manager *m, ApiCall *call, const Peer *peer, bool prospects,
                              json_object *(*answer_with)(Manager *m, const Peer *peer)) {
        Question *q = calloc(1, sizeof *q);
        int r;

        if (!q) {
                answer_errno(call, -ENOMEM);
                return;
        }
        *q = (Question){api_call_ref(call), *peer, answer_with};
        if (!prospects) {
                look_at_watches(m, q);
                return;
        }
        r = prospects_look(m->prospects, PROBE_USEC, look_at_watches, q);
        if (r < 0)
                question_fail(q, r);
}

void method_get_status(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        answer_after_look(userdata, call, peer, /* prospects= */ false, status_to_json);
}

static json_object *watch_list_to_json(Manager *m, const Peer *peer) {
        json_object *o = json_object_new_object();

        if (o)
                json_object_object_add(o, "watches", watches_to_json(m));
        return o;
}

void method_list_watches(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        if (parameter_bool(parameters, "probe"))
                answer_after_look(userdata, call, peer, /* prospects= */ true, watch_list_to_json);
        else
                answer(call, "watches", watches_to_json(userdata));
}

void method_reload(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        Manager *m = userdata;
        ConfigProblems problems = {};
        json_object *o;
        int r;

        if (!peer->privileged) {
                answer_denied(call, "only root and members of the configured group may reload");
                return;
        }
        r = manager_reload(m, &problems);
        if (r >= 0) {
                o = json_object_new_array();
                for (size_t i = 0; o && i < problems.n; i++)
                        json_object_array_add(o, json_object_new_string(problems.items[i].reason));
                answer(call, "warnings", o);
        } else if (problems.n > 0) {
                const ConfigProblem *p = problems.items;

                while (!p->fatal && p < problems.items + problems.n - 1)
                        p++;
                o = json_object_new_object();
                json_object_object_add(o, "file",
                                       json_object_new_string(p->file ? p->file : m->config_file));
                json_object_object_add(o, "line", json_object_new_int64(p->line));
                json_object_object_add(o, "reason", json_object_new_string(p->reason));
                (void) api_call_error(call, "ConfigInvalid", o);
        } else
                answer_errno(call, r);
        config_problems_done(&problems);
}
