/* SPDX-License-Identifier: MIT */
/* The methods of io.mountwatch: parameters to requests, answers to JSON. Parameters have been checked against the description. */
#ifndef MOUNTWATCH_METHOD_H
#define MOUNTWATCH_METHOD_H

#include "daemon/manager.h"

extern const ApiMethod manager_methods[];
extern const size_t manager_n_methods;

void method_start_session(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);
void method_finish_session(ApiCall *call, const Peer *peer, json_object *parameters,
                           void *userdata);
void method_stop_session(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);
void method_list_sessions(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);
void method_get_session(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);
void method_mark_session(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);
void method_freeze_session(ApiCall *call, const Peer *peer, json_object *parameters,
                           void *userdata);
void method_thaw_session(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);
void method_kill_session(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);
void method_get_operations(ApiCall *call, const Peer *peer, json_object *parameters,
                           void *userdata);
void method_blame(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);
void method_get_status(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);
void method_get_metrics(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);
void method_test_alert(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);
void method_list_watches(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);
void method_reload(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);

void method_attach_guard(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);
void method_list_held(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);
void method_decide(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);

void method_follow_alerts(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);

void method_undo(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata);
void method_list_quarantine(ApiCall *call, const Peer *peer, json_object *parameters,
                            void *userdata);
void method_restore_quarantine(ApiCall *call, const Peer *peer, json_object *parameters,
                               void *userdata);
void method_purge_quarantine(ApiCall *call, const Peer *peer, json_object *parameters,
                             void *userdata);

/* The live session that the call is about and that the peer may control; answers and returns NULL otherwise. id NULL: the one the peer
 * is in. */
Live *find_controlled(Manager *m, ApiCall *call, const Peer *peer, const char *id);
/* The session named, or (NULL, "last") the one started last; -ENOENT also for one that the peer may not know of. */
int find_stored(Manager *m, const Peer *peer, const char *id, StoredSession *ret);

/* NULL when absent or null. */
const char *parameter_string(json_object *parameters, const char *key);
bool parameter_bool(json_object *parameters, const char *key);
int64_t parameter_int(json_object *parameters, const char *key, int64_t absent);

/* Answers that many methods give. */
void answer(ApiCall *call, const char *key,
            json_object *value); /* {key: value}; Unavailable when value is NULL */
void answer_errno(ApiCall *call, int error);
void answer_invalid(ApiCall *call, const char *parameter);
void answer_denied(ApiCall *call, const char *reason);
void answer_limit(ApiCall *call, const char *limit, int64_t max);
void answer_no_session(ApiCall *call, const char *id);
void answer_no_process(ApiCall *call, pid_t pid);

#endif
