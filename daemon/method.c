/* SPDX-License-Identifier: MIT */
#include "daemon/method.h"

#include <errno.h>

const ApiMethod manager_methods[] = {
        {"StartSession", method_start_session},
        {"AttachGuard", method_attach_guard},
        {"ListHeld", method_list_held},
        {"Decide", method_decide},
        {"FollowAlerts", method_follow_alerts, .needs_more = true},
        {"Undo", method_undo, .needs_more = true},
        {"ListQuarantine", method_list_quarantine},
        {"RestoreQuarantine", method_restore_quarantine},
        {"PurgeQuarantine", method_purge_quarantine},
        {"FinishSession", method_finish_session},
        {"StopSession", method_stop_session},
        {"ListSessions", method_list_sessions},
        {"GetSession", method_get_session},
        {"MarkSession", method_mark_session},
        {"FreezeSession", method_freeze_session},
        {"ThawSession", method_thaw_session},
        {"KillSession", method_kill_session},
        {"GetOperations", method_get_operations, .needs_more = true},
        {"Blame", method_blame},
        {"GetStatus", method_get_status},
        {"GetMetrics", method_get_metrics},
        {"ListWatches", method_list_watches},
        {"TestAlert", method_test_alert},
        {"Reload", method_reload},
};
const size_t manager_n_methods = ELEMENTSOF(manager_methods);

static json_object *parameter(json_object *parameters, const char *key) {
        json_object *o = NULL;

        if (!parameters || !json_object_object_get_ex(parameters, key, &o))
                return NULL;
        return o;
}

const char *parameter_string(json_object *parameters, const char *key) {
        json_object *o = parameter(parameters, key);

        return o ? json_object_get_string(o) : NULL;
}

bool parameter_bool(json_object *parameters, const char *key) {
        json_object *o = parameter(parameters, key);

        return o && json_object_get_boolean(o);
}

int64_t parameter_int(json_object *parameters, const char *key, int64_t absent) {
        json_object *o = parameter(parameters, key);

        return o ? json_object_get_int64(o) : absent;
}

static json_object *object_with(const char *key, json_object *value) {
        json_object *o = value ? json_object_new_object() : NULL;

        if (o)
                json_object_object_add(o, key, value);
        else
                json_object_put(value);
        return o;
}

void answer(ApiCall *call, const char *key, json_object *value) {
        json_object *o = object_with(key, value);

        if (o)
                (void) api_call_reply(call, o, /* continues= */ false);
        else
                answer_errno(call, -ENOMEM);
}

void answer_errno(ApiCall *call, int error) {
        (void) api_call_error(call, "Unavailable",
                              object_with("reason", json_object_new_string(strerror(-error))));
}

void answer_invalid(ApiCall *call, const char *name) {
        (void) api_call_error(call, "org.varlink.service.InvalidParameter",
                              object_with("parameter", json_object_new_string(name)));
}

void answer_denied(ApiCall *call, const char *reason) {
        (void) api_call_error(call, "NotPermitted",
                              object_with("reason", json_object_new_string(reason)));
}

void answer_limit(ApiCall *call, const char *limit, int64_t max) {
        json_object *o = object_with("limit", json_object_new_string(limit));

        if (o)
                json_object_object_add(o, "max", json_object_new_int64(max));
        (void) api_call_error(call, "LimitReached", o);
}

void answer_no_session(ApiCall *call, const char *id) {
        (void) api_call_error(call, "NoSuchSession", object_with("id", json_object_new_string(id)));
}

void answer_no_process(ApiCall *call, pid_t pid) {
        (void) api_call_error(call, "NoSuchProcess",
                              object_with("pid", json_object_new_int64(pid)));
}
