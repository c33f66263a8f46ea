/* SPDX-License-Identifier: MIT */
#include "common/operation_json.h"
#include "daemon/core/authorisation.h"
#include "daemon/live.h"
#include "daemon/method.h"
#include "daemon/stream.h"

#include <errno.h>

#define BLAME_LIMIT_DEFAULT 10
#define BLAME_LIMIT_MAX 1000

int find_stored(Manager *m, const Peer *peer, const char *id, StoredSession *ret) {
        StoredSession s;
        int r;

        if (!id || str_equal(id, "last"))
                r = store_get_last_session(m->store, peer->privileged ? (uid_t) -1 : peer->uid, &s);
        else
                r = store_get_session(m->store, id, &s);
        if (r < 0)
                return r;
        if (!authorise_see(peer->uid, peer->privileged, s.session->uid)) {
                stored_session_done(&s);
                return -ENOENT;
        }
        *ret = s;
        return 0;
}

void method_get_operations(ApiCall *call, const Peer *peer, json_object *parameters,
                           void *userdata) {
        Manager *m = userdata;
        const char *session = parameter_string(parameters, "session"),
                   *since = parameter_string(parameters, "since");
        const char *watch = parameter_string(parameters, "watch");
        StreamRequest q = {
                .untagged = str_equal(parameter_string(parameters, "of"), "untagged"),
                .follow = parameter_bool(parameters, "follow"),
                .uid = peer->privileged ? (uid_t) -1 : peer->uid,
        };
        int r = 0;

        if (since && time_from_text(since, &q.since) < 0) {
                answer_invalid(call, "since");
                return;
        }
        if (session || q.untagged) {
                StoredSession s;

                r = find_stored(m, peer, session, &s);
                if (r == -ENOENT) {
                        answer_no_session(call, session ? session : "last");
                        return;
                }
                if (r >= 0) {
                        q.session = strdup(s.session->id);
                        stored_session_done(&s);
                        if (!q.session)
                                r = -ENOMEM;
                }
        }
        if (r >= 0 && watch && !(q.watch = strdup(watch)))
                r = -ENOMEM;
        if (r >= 0)
                r = stream_start(m, call, &q);
        stream_request_done(&q);
        if (r < 0)
                answer_errno(call, r);
}

static int add_process_chain(Manager *m, json_object *processes, int64_t id) {
        while (id > 0) {
                ProcessInfo p;
                int r;

                r = store_get_process(m->store, id, &p);
                if (r == -ENOENT)
                        return 0;
                if (r < 0)
                        return r;
                json_object_array_add(processes, process_info_to_json(&p));
                id = p.parent_id;
                process_info_done(&p);
        }
        return 0;
}

/* Ordinary users see what their own sessions did, and what processes of the same uid did outside sessions. */
static bool may_see_operation(Manager *m, const Peer *peer, const Operation *o) {
        bool may = peer->privileged;

        if (!may && o->session) {
                StoredSession s;

                if (store_get_session(m->store, o->session, &s) >= 0) {
                        may = authorise_see(peer->uid, false, s.session->uid);
                        stored_session_done(&s);
                }
        } else if (!may) {
                ProcessInfo p;

                if (store_get_process(m->store, o->process_id, &p) >= 0) {
                        may = p.uid == peer->uid;
                        process_info_done(&p);
                }
        }
        return may;
}

void method_blame(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        Manager *m = userdata;
        int64_t limit = parameter_int(parameters, "limit", BLAME_LIMIT_DEFAULT);
        json_object *o, *operations, *processes;
        _cleanup_free_ char *path = NULL;
        Operation *found = NULL;
        size_t n = 0;
        int r;

        if (json_get_path(parameters, "path", &path) < 0 || !path || path[0] != '/') {
                answer_invalid(call, "path");
                return;
        }
        if (limit < 1 || limit > BLAME_LIMIT_MAX) {
                answer_invalid(call, "limit");
                return;
        }
        r = store_blame(m->store, path, &found, &n, (size_t) limit);
        if (r < 0) {
                answer_errno(call, r);
                return;
        }
        o = json_object_new_object();
        operations = json_object_new_array();
        processes = json_object_new_array();
        for (size_t i = 0; i < n; i++) {
                if (may_see_operation(m, peer, &found[i])) {
                        json_object_array_add(operations, operation_to_json(&found[i]));
                        (void) add_process_chain(m, processes, found[i].process_id);
                }
                operation_done(&found[i]);
        }
        free(found);
        json_object_object_add(o, "operations", operations);
        json_object_object_add(o, "processes", processes);
        (void) api_call_reply(call, o, /* continues= */ false);
}
