/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/operation_json.h"
#include "common/strv.h"

json_object *strv_to_json(char *const *strv) {
        _cleanup_json_ json_object *array = json_object_new_array();

        for (size_t i = 0; array && strv && strv[i]; i++) {
                _cleanup_free_ char *text = path_to_utf8(strv[i]);
                json_object *s = text ? json_object_new_string(text) : NULL;

                if (!s || json_object_array_add(array, s) < 0) {
                        json_object_put(s);
                        return NULL;
                }
        }
        return TAKE_PTR(array);
}

int strv_from_json(json_object *o, char ***ret) {
        _cleanup_(strv_freep) char **strv = NULL;
        size_t n;

        if (!json_object_is_type(o, json_type_array))
                return -EBADMSG;
        n = json_object_array_length(o);
        strv = calloc(n + 1, sizeof *strv);
        if (!strv)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                json_object *s = json_object_array_get_idx(o, i);

                if (!json_object_is_type(s, json_type_string))
                        return -EBADMSG;
                strv[i] = strdup(json_object_get_string(s));
                if (!strv[i])
                        return -ENOMEM;
                if (strlen(strv[i]) != (size_t) json_object_get_string_len(s))
                        return -EBADMSG;
        }
        *ret = TAKE_PTR(strv);
        return 0;
}

int json_get_strv(json_object *o, const char *key, char ***ret) {
        json_object *array;
        int r;

        r = json_need(json_get(o, key, json_type_array, &array));
        return r < 0 ? r : strv_from_json(array, ret);
}

static int fill_process(json_object *o, const ProcessInfo *p) {
        int r = json_add_int(o, "id", p->id);

        r = r < 0 || p->parent_id == 0 ? r : json_add_int(o, "parent", p->parent_id);
        r = r < 0 ? r : json_add_int(o, "pid", p->pid);
        r = r < 0 ? r : json_add_int(o, "ppid", p->ppid);
        r = r < 0 ? r : json_add_count(o, "startTime", p->start_ticks);
        r = r < 0 ? r : json_add_int(o, "uid", p->uid);
        r = r < 0 ? r : json_add_text(o, "exe", p->exe);
        r = r < 0 ? r : json_add(o, "cmdline", strv_to_json(p->cmdline));
        return r < 0 ? r : json_add_text(o, "cwd", p->cwd);
}

json_object *process_info_to_json(const ProcessInfo *p) {
        _cleanup_json_ json_object *o = json_object_new_object();

        return o && fill_process(o, p) == 0 ? TAKE_PTR(o) : NULL;
}

int process_info_from_json(json_object *o, ProcessInfo *ret) {
        _cleanup_(process_info_done) ProcessInfo p = {};
        int64_t pid = 0, ppid = 0, uid = 0;
        int r = json_need(json_get_int(o, "id", INT64_MIN, INT64_MAX, &p.id));

        r = r < 0 ? r : json_get_int(o, "parent", INT64_MIN, INT64_MAX, &p.parent_id);
        r = r < 0 ? r : json_need(json_get_int(o, "pid", 0, INT32_MAX, &pid));
        r = r < 0 ? r : json_need(json_get_int(o, "ppid", 0, INT32_MAX, &ppid));
        r = r < 0 ? r : json_need(json_get_count(o, "startTime", &p.start_ticks));
        r = r < 0 ? r : json_need(json_get_int(o, "uid", 0, UINT32_MAX, &uid));
        r = r < 0 ? r : json_get_text(o, "exe", &p.exe);
        r = r < 0 ? r : json_get_strv(o, "cmdline", &p.cmdline);
        r = r < 0 ? r : json_get_text(o, "cwd", &p.cwd);
        if (r < 0)
                return r;
        p.pid = (pid_t) pid;
        p.ppid = (pid_t) ppid;
        p.uid = (uid_t) uid;
        *ret = p;
        p = (ProcessInfo){};
        return 0;
}

static int fill_names(json_object *o, const Operation *op) {
        int r = json_add_path(o, "path", op->path);

        r = r < 0 ? r : json_add_path(o, "from", op->from);
        r = r < 0 ? r : json_add_path(o, "to", op->to);
        r = r < 0 || !op->attempt ? r : json_add_bool(o, "attempt", true);
        return r < 0 || !op->replaced ? r : json_add_bool(o, "replaced", true);
}

static int fill_operation(json_object *o, const Operation *op) {
        int r = json_add_int(o, "seq", op->seq);

        r = r < 0 ? r : json_add_text(o, "session", op->session);
        r = r < 0 ? r : json_add_word(o, "op", op_type_to_string(op->op));
        r = r < 0 ? r : json_add_word(o, "kind", object_kind_to_string(op->kind));
        r = r < 0 ? r : json_add_text(o, "watch", op->watch);
        r = r < 0 ? r : fill_names(o, op);
        r = r < 0 ? r : json_add_count(o, "count", op->count);
        r = r < 0 ? r : json_add_time(o, "first", op->first);
        r = r < 0 ? r : json_add_time(o, "last", op->last);
        r = r < 0 ? r : json_add_bool(o, "violation", op->violation);
        r = r < 0 ? r : json_add_text(o, "rule", op->rule);
        r = r < 0 ? r : json_add_word(o, "action", action_to_string(op->action));
        r = r < 0 ? r : json_add_word(o, "attribution", sight_to_string(op->attribution));
        r = r < 0 ? r : json_add_bool(o, "preserved", op->preserved);
        r = r < 0 ? r : json_add_text(o, "test", op->test);
        return r < 0 ? r : json_add_int(o, "process", op->process_id);
}

json_object *operation_to_json(const Operation *op) {
        _cleanup_json_ json_object *o = json_object_new_object();

        return o && fill_operation(o, op) == 0 ? TAKE_PTR(o) : NULL;
}

static int read_words(json_object *o, Operation *op) {
        int type = 0, kind = 0, action = 0, attribution = 0;
        int r = json_need(json_get_word(o, "op", op_type_from_string, &type));

        r = r < 0 ? r : json_need(json_get_word(o, "kind", object_kind_from_string, &kind));
        r = r < 0 ? r : json_need(json_get_word(o, "action", action_from_string, &action));
        r = r < 0 ? r : json_need(json_get_word(o, "attribution", sight_from_string, &attribution));
        if (r < 0)
                return r;
        op->op = (OpType) type;
        op->kind = (ObjectKind) kind;
        op->action = (Action) action;
        op->attribution = (Sight) attribution;
        return op->attribution == SIGHT_NONE ? -EBADMSG : 0;
}

static int read_names(json_object *o, Operation *op) {
        int r = json_get_path(o, "path", &op->path);

        r = r < 0 ? r : json_get_path(o, "from", &op->from);
        r = r < 0 ? r : json_get_path(o, "to", &op->to);
        r = r < 0 ? r : json_get_bool(o, "replaced", &op->replaced);
        r = r < 0 ? r : json_get_bool(o, "attempt", &op->attempt);
        return r < 0 ? r : op->path ? 0 : -EBADMSG;
}

int operation_from_json(json_object *o, Operation *ret) {
        _cleanup_(operation_done) Operation op = {};
        int r = json_need(json_get_int(o, "seq", 0, INT64_MAX, &op.seq));

        r = r < 0 ? r : json_get_text(o, "session", &op.session);
        r = r < 0 ? r : read_words(o, &op);
        r = r < 0 ? r : json_need(json_get_text(o, "watch", &op.watch));
        r = r < 0 ? r : read_names(o, &op);
        r = r < 0 ? r : json_need(json_get_count(o, "count", &op.count));
        r = r < 0 ? r : json_need(json_get_time(o, "first", &op.first));
        r = r < 0 ? r : json_need(json_get_time(o, "last", &op.last));
        r = r < 0 ? r : json_need(json_get_bool(o, "violation", &op.violation));
        r = r < 0 ? r : json_get_text(o, "rule", &op.rule);
        r = r < 0 ? r : json_need(json_get_bool(o, "preserved", &op.preserved));
        r = r < 0 ? r : json_get_text(o, "test", &op.test);
        r = r < 0 ? r : json_need(json_get_int(o, "process", INT64_MIN, INT64_MAX, &op.process_id));
        if (r < 0)
                return r;
        *ret = op;
        op = (Operation){};
        return 0;
}

static int fill_loss(json_object *o, const Loss *l) {
        int r = json_add_text(o, "reason", l->reason);

        r = r < 0 ? r : json_add_text(o, "watch", l->watch);
        r = r < 0 ? r : json_add_time(o, "at", l->at);
        r = r < 0 || l->until == 0 ? r : json_add_time(o, "until", l->until);
        return r < 0 || l->count == 0 ? r : json_add_count(o, "count", l->count);
}

json_object *loss_to_json(const Loss *l) {
        _cleanup_json_ json_object *o = json_object_new_object();

        return o && fill_loss(o, l) == 0 ? TAKE_PTR(o) : NULL;
}

int loss_from_json(json_object *o, Loss *ret) {
        _cleanup_(loss_done) Loss l = {};
        int r = json_need(json_get_text(o, "reason", &l.reason));

        r = r < 0 ? r : json_get_text(o, "watch", &l.watch);
        r = r < 0 ? r : json_need(json_get_time(o, "at", &l.at));
        r = r < 0 ? r : json_get_time(o, "until", &l.until);
        r = r < 0 ? r : json_get_count(o, "count", &l.count);
        if (r < 0)
                return r;
        *ret = l;
        l = (Loss){};
        return 0;
}

json_object *coverage_to_json(const Coverage *c) {
        _cleanup_json_ json_object *o = json_object_new_object();
        json_object *deny = json_object_new_array();
        int r = o && deny ? 0 : -ENOMEM;

        for (int op = 0; r == 0 && op < _OP_MAX; op++)
                r = json_add_word(o, op_type_to_string(op), sight_to_string(c->op[op]));
        for (int op = 0; r == 0 && op < _OP_MAX; op++) {
                json_object *s;

                if (!c->deny[op])
                        continue;
                s = json_object_new_string(op_type_to_string(op));
                if (!s || json_object_array_add(deny, s) < 0) {
                        json_object_put(s);
                        r = -ENOMEM;
                }
        }
        if (r < 0) {
                json_object_put(deny);
                return NULL;
        }
        return json_add(o, "deny", deny) == 0 ? TAKE_PTR(o) : NULL;
}

int coverage_from_json(json_object *o, Coverage *ret) {
        _cleanup_(strv_freep) char **deny = NULL;
        Coverage c = {};
        int r = json_get_strv(o, "deny", &deny);

        for (int op = 0; r >= 0 && op < _OP_MAX; op++) {
                int sight = 0;

                r = json_need(json_get_word(o, op_type_to_string(op), sight_from_string, &sight));
                c.op[op] = (Sight) sight;
        }
        if (r < 0)
                return r;
        /* a newer daemon may be able to refuse what this client has no word for */
        for (size_t i = 0; deny[i]; i++) {
                int op = op_type_from_string(deny[i]);

                if (op >= 0)
                        c.deny[op] = true;
        }
        *ret = c;
        return 0;
}
