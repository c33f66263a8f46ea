/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/alert_json.h"
#include "common/operation_json.h"
#include "common/strv.h"

/* ---- to ---- */

static json_object *process_to_json(const AlertProcess *p) {
        _cleanup_json_ json_object *o = json_object_new_object();
        int r = o ? json_add_int(o, "pid", p->pid) : -ENOMEM;

        r = r < 0 ? r : json_add_text(o, "exe", p->exe);
        r = r < 0 ? r : json_add(o, "cmdline", strv_to_json(p->cmdline));
        return r < 0 ? NULL : TAKE_PTR(o);
}

static json_object *chain_to_json(const Alert *a) {
        _cleanup_json_ json_object *array = json_object_new_array();

        for (size_t i = 0; array && i < a->n_chain; i++) {
                json_object *p = process_to_json(&a->chain[i]);

                if (!p || json_object_array_add(array, p) < 0) {
                        json_object_put(p);
                        return NULL;
                }
        }
        return TAKE_PTR(array);
}

static json_object *counts_to_json(const Alert *a) {
        _cleanup_json_ json_object *o = json_object_new_object();
        int r = o ? 0 : -ENOMEM;

        for (OpType op = 0; r == 0 && op < _OP_MAX; op++)
                r = json_add_count(o, op_type_to_string(op), a->count[op]);
        return r < 0 ? NULL : TAKE_PTR(o);
}

static int fill_origin(json_object *o, const Alert *a) {
        int r = json_add_text(o, "session", a->session);

        r = r < 0 ? r : json_add_text(o, "label", a->label);
        r = r < 0 || a->uid == (uid_t) -1 ? r : json_add_int(o, "uid", a->uid);
        r = r < 0 ? r : json_add_text(o, "user", a->user);
        return r < 0 ? r : json_add_text(o, "watch", a->watch);
}

static int fill_evidence(json_object *o, const Alert *a) {
        int r = json_add_count(o, "total", a->total);

        r = r < 0 ? r : json_add_count(o, "fresh", a->fresh);
        r = r < 0 ? r : json_add(o, "counts", counts_to_json(a));
        r = r < 0 ? r : json_add_count(o, "refused", a->refused);
        r = r < 0 ? r : json_add_count(o, "preserved", a->preserved);
        r = r < 0 ? r : json_add(o, "paths", strv_to_json(a->paths));
        r = r < 0 ? r : json_add(o, "processes", chain_to_json(a));
        r = r < 0 ? r : json_add_text(o, "cwd", a->cwd);
        r = r < 0 ? r : json_add_text(o, "test", a->test);
        return r < 0 ? r : json_add_word(o, "action", action_to_string(a->action));
}

static int fill_alert(json_object *o, const Alert *a) {
        int r = json_add_text(o, "id", a->id);

        r = r < 0 ? r : json_add_word(o, "kind", alert_kind_to_string(a->kind));
        r = r < 0 ? r : json_add_word(o, "severity", severity_to_string(a->severity));
        r = r < 0 ? r : json_add_time(o, "time", a->at);
        r = r < 0 ? r : fill_origin(o, a);
        r = r < 0 ? r : fill_evidence(o, a);
        r = r < 0 ? r : json_add_text(o, "reason", a->reason);
        if (r >= 0 && a->kind == ALERT_SUMMARY)
                r = json_add_word(o, "verdict", verdict_to_string(a->verdict));
        if (r >= 0 && a->kind == ALERT_SUMMARY && a->exit_status >= 0)
                r = json_add_int(o, "exitStatus", a->exit_status);
        r = r < 0 ? r : json_add_bool(o, "complete", a->complete);
        return r < 0 ? r : json_add_text(o, "next", a->next);
}

json_object *alert_to_json(const Alert *a) {
        _cleanup_json_ json_object *o = json_object_new_object();

        return o && fill_alert(o, a) == 0 ? TAKE_PTR(o) : NULL;
}

/* ---- from ---- */

static int read_id(json_object *o, Alert *a) {
        const char *s;
        int r = json_need(json_get_string(o, "id", &s));

        if (r < 0)
                return r;
        if (!*s || strlen(s) >= sizeof a->id || strchr(s, '.'))
                return -EBADMSG;
        memcpy(a->id, s, strlen(s) + 1);
        return 0;
}

static int read_words(json_object *o, Alert *a) {
        int kind = 0, severity = 0, action = 0, verdict = VERDICT_CLEAN;
        int r = json_need(json_get_word(o, "kind", alert_kind_from_string, &kind));

        r = r < 0 ? r : json_need(json_get_word(o, "severity", severity_from_string, &severity));
        r = r < 0 ? r : json_need(json_get_word(o, "action", action_from_string, &action));
        r = r < 0 ? r : json_get_word(o, "verdict", verdict_from_string, &verdict);
        if (r < 0)
                return r;
        if (r == 0 && kind == ALERT_SUMMARY)
                return -EBADMSG;
        a->kind = (AlertKind) kind;
        a->severity = (Severity) severity;
        a->action = (Action) action;
        a->verdict = (Verdict) verdict;
        return 0;
}

static int read_origin(json_object *o, Alert *a) {
        int64_t uid = 0;
        int r = json_get_text(o, "session", &a->session);

        r = r < 0 ? r : json_get_text(o, "label", &a->label);
        r = r < 0 ? r : json_get_int(o, "uid", 0, UINT32_MAX - 1, &uid);
        a->uid = r > 0 ? (uid_t) uid : (uid_t) -1;
        r = r < 0 ? r : json_get_text(o, "user", &a->user);
        return r < 0 ? r : json_get_text(o, "watch", &a->watch);
}

static int read_counts(json_object *o, Alert *a) {
        json_object *counts;
        int r = json_need(json_get(o, "counts", json_type_object, &counts));

        for (OpType op = 0; r >= 0 && op < _OP_MAX; op++)
                r = json_need(json_get_count(counts, op_type_to_string(op), &a->count[op]));
        return r;
}

static int read_process(json_object *o, AlertProcess *p) {
        int64_t pid = 0;
        int r = json_need(json_get_int(o, "pid", 0, INT32_MAX, &pid));

        r = r < 0 ? r : json_get_text(o, "exe", &p->exe);
        r = r < 0 ? r : json_get_strv(o, "cmdline", &p->cmdline);
        p->pid = (pid_t) pid;
        return r;
}

static int read_chain(json_object *o, Alert *a) {
        json_object *array;
        size_t n;
        int r = json_need(json_get(o, "processes", json_type_array, &array));

        if (r < 0)
                return r;
        n = json_object_array_length(array);
        if (n > ALERT_CHAIN_MAX)
                return -EBADMSG;
        a->chain = calloc(n + 1, sizeof *a->chain);
        if (!a->chain)
                return -ENOMEM;
        for (; r >= 0 && a->n_chain < n; a->n_chain++)
                r = read_process(json_object_array_get_idx(array, a->n_chain),
                                 &a->chain[a->n_chain]);
        return r;
}

static int read_paths(json_object *o, Alert *a) {
        int r = json_get_strv(o, "paths", &a->paths);

        if (r < 0)
                return r;
        return strv_length(a->paths) > ALERT_PATHS_MAX ? -EBADMSG : 0;
}

static int read_evidence(json_object *o, Alert *a) {
        int r = json_need(json_get_count(o, "total", &a->total));

        r = r < 0 ? r : json_need(json_get_count(o, "fresh", &a->fresh));
        r = r < 0 ? r : read_counts(o, a);
        r = r < 0 ? r : json_need(json_get_count(o, "refused", &a->refused));
        r = r < 0 ? r : json_need(json_get_count(o, "preserved", &a->preserved));
        r = r < 0 ? r : read_paths(o, a);
        r = r < 0 ? r : read_chain(o, a);
        r = r < 0 ? r : json_get_text(o, "cwd", &a->cwd);
        return r < 0 ? r : json_get_text(o, "test", &a->test);
}

int alert_from_json(json_object *o, Alert *ret) {
        _cleanup_(alert_done) Alert a = {};
        int64_t exit_status = -1;
        int r = read_id(o, &a);

        r = r < 0 ? r : read_words(o, &a);
        r = r < 0 ? r : json_need(json_get_time(o, "time", &a.at));
        r = r < 0 ? r : read_origin(o, &a);
        r = r < 0 ? r : read_evidence(o, &a);
        r = r < 0 ? r : json_get_text(o, "reason", &a.reason);
        r = r < 0 ? r : json_get_int(o, "exitStatus", 0, INT32_MAX, &exit_status);
        r = r < 0 ? r : json_need(json_get_bool(o, "complete", &a.complete));
        r = r < 0 ? r : json_get_text(o, "next", &a.next);
        if (r < 0)
                return r;
        a.exit_status = (int) exit_status;
        *ret = a;
        a = (Alert){};
        return 0;
}
