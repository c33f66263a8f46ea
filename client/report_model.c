/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/report_model.h"
#include "common/operation_json.h"

int report_model_new(ReportModel **ret) {
        _cleanup_(report_model_freep) ReportModel *m = calloc(1, sizeof(*m));
        int r;

        if (!m)
                return -ENOMEM;
        m->session.exit_status = -1;
        r = report_new(&m->own);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(m);
        return 0;
}

ReportModel *report_model_free(ReportModel *m) {
        if (!m)
                return NULL;
        session_view_done(&m->session);
        watch_views_done(&m->watches);
        report_free(m->own);
        report_free(m->untagged);
        free(m);
        return NULL;
}

Policy report_model_policy(const ReportModel *m, const WatchView *watch) {
        int own = m->session.policy ? policy_from_string(m->session.policy) : -EINVAL;

        return (Policy) MAX(own, (int) watch->policy);
}

static const ProcessInfo *find(void *userdata, int64_t id) {
        return report_process(userdata, id);
}

ProcessSource report_process_source(const Report *r) {
        return (ProcessSource){.find = find, .userdata = (void *) r};
}

int report_take_processes(Report *report, json_object *reply) {
        json_object *array;
        int need = json_need(json_get(reply, "processes", json_type_array, &array));

        if (need < 0)
                return need;
        for (size_t i = 0; i < json_object_array_length(array); i++) {
                ProcessInfo p = {};
                int r;

                r = process_info_from_json(json_object_array_get_idx(array, i), &p);
                if (r < 0)
                        return r;
                r = report_take_process(report, &p);
                if (r < 0) {
                        process_info_done(&p);
                        return r;
                }
        }
        return 0;
}

static int take_operations(Report *report, json_object *array) {
        for (size_t i = 0; i < json_object_array_length(array); i++) {
                Operation op = {};
                int r;

                r = operation_from_json(json_object_array_get_idx(array, i), &op);
                if (r < 0)
                        return r;
                r = report_take_operation(report, &op);
                if (r < 0) {
                        operation_done(&op);
                        return r;
                }
        }
        return 0;
}

int report_take_reply(Report *report, json_object *reply) {
        json_object *operations;
        int r;

        r = json_need(json_get(reply, "operations", json_type_array, &operations));
        r = r < 0 ? r : report_take_processes(report, reply);
        return r < 0 ? r : take_operations(report, operations);
}

static int make_parameters(const char *id, const char *of, bool follow, json_object **ret) {
        _cleanup_json_ json_object *o = json_object_new_object();
        int r = o ? json_add_text(o, "session", id) : -ENOMEM;

        r = r < 0 ? r : json_add_text(o, "of", of);
        r = r < 0 || !follow ? r : json_add_bool(o, "follow", true);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(o);
        return 0;
}

/* How many operations the daemon says it could not hand over. */
static int take_missed(json_object *reply, uint64_t *missed) {
        int64_t n = 0;
        int r = json_get_int(reply, "missed", 0, INT64_MAX, &n);

        *missed += (uint64_t) n;
        return r;
}

static int fetch_operations(Connection *c, const char *id, const char *of, bool follow,
                            Report *report, uint64_t *ret_missed) {
        json_object *parameters;
        bool continues = true;
        uint64_t missed = 0;
        int r;

        r = make_parameters(id, of, follow, &parameters);
        if (r < 0)
                return r;
        r = connection_call_more(c, "GetOperations", parameters, /* patient= */ follow);
        if (r < 0)
                return r;
        while (continues) {
                json_object *reply;

                r = connection_next(c, &reply, &continues);
                if (r != 0)
                        return r;
                r = take_missed(reply, &missed);
                if (r >= 0)
                        r = report_take_reply(report, reply);
                json_object_put(reply);
                if (r < 0)
                        return r;
        }
        *ret_missed = missed;
        return 0;
}

/* What was told while the session ran is as good as what the store has, unless we were too slow for it. */
static int fetch_own(Connection *c, const char *id, bool wait, ReportModel *m, bool *ret_whole) {
        uint64_t missed;
        int r;

        *ret_whole = true;
        r = fetch_operations(c, id, "session", wait, m->own, &missed);
        if (r != 0 || missed == 0)
                return r;
        m->own = report_free(m->own);
        r = report_new(&m->own);
        if (r < 0)
                return r;
        r = fetch_operations(c, id, "session", /* follow= */ false, m->own, &missed);
        *ret_whole = missed == 0;
        return r;
}

static int fetch_session(Connection *c, const char *id, ReportModel *m) {
        _cleanup_json_ json_object *parameters = json_object_new_object(), *reply = NULL;
        json_object *session;
        int r;

        if (!parameters || json_add_text(parameters, "id", id) < 0)
                return -ENOMEM;
        r = connection_call(c, "GetSession", TAKE_PTR(parameters), &reply);
        if (r != 0)
                return r;
        r = json_need(json_get(reply, "session", json_type_object, &session));
        r = r < 0 ? r : session_view_from_json(session, &m->session);
        r = r < 0 ? r : watch_views_from_json(reply, &m->watches);
        return r < 0 ? r : 0;
}

static bool wants_untagged(const ReportModel *m) {
        for (size_t i = 0; i < m->watches.n; i++)
                if (!str_equal(m->watches.items[i].untagged, "ignore"))
                        return true;
        return false;
}

static int fetch_untagged(Connection *c, ReportModel *m) {
        uint64_t missed;
        int r;

        if (!wants_untagged(m))
                return 0;
        r = report_new(&m->untagged);
        if (r < 0)
                return r;
        return fetch_operations(c, m->session.id, "untagged", /* follow= */ false, m->untagged,
                                &missed);
}

int report_model_fetch(Connection *c, const char *id, bool wait, ReportModel **ret) {
        _cleanup_(report_model_freep) ReportModel *m = NULL;
        bool whole = true;
        int r;

        r = report_model_new(&m);
        if (r < 0)
                return r;
        if (wait) {
                /* the stream ends with the session, so the state that counts is the one after it */
                r = fetch_own(c, id, /* wait= */ true, m, &whole);
                if (r == 0)
                        r = fetch_session(c, id, m);
        } else {
                /* in this order: GetSession waits until everything that happened before it has arrived */
                r = fetch_session(c, id, m);
                if (r == 0)
                        r = fetch_own(c, m->session.id, /* wait= */ false, m, &whole);
        }
        if (r == 0 && !whole)
                r = session_view_add_loss(&m->session, "slow-reader", m->session.started);
        if (r == 0)
                r = fetch_untagged(c, m);
        if (r != 0)
                return r;
        *ret = TAKE_PTR(m);
        return 0;
}
