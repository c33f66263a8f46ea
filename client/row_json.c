/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/row_json.h"
#include "common/operation_json.h"

int json_add_text_or_null(json_object *o, const char *key, const char *text) {
        if (text)
                return json_add_text(o, key, text);
        return json_object_object_add(o, key, NULL) < 0 ? -ENOMEM : 0;
}

static int add_image(json_object *o, const ProcessInfo *p) {
        int r = json_add_int(o, "pid", p->pid);

        r = r < 0 ? r : json_add_text_or_null(o, "exe", p->exe);
        return r < 0 ? r : json_add(o, "cmdline", strv_to_json(p->cmdline));
}

static json_object *ancestors_to_json(ProcessSource processes, int64_t id) {
        const ProcessInfo *chain[PROCESS_CHAIN_MAX];
        size_t n = process_source_ancestors(processes, id, /* root_pid= */ 0, chain);
        _cleanup_json_ json_object *array = json_object_new_array();

        for (size_t i = 0; array && i < n; i++) {
                json_object *o = json_object_new_object();

                if (!o || add_image(o, chain[i]) < 0 || json_object_array_add(array, o) < 0) {
                        json_object_put(o);
                        return NULL;
                }
        }
        return TAKE_PTR(array);
}

static json_object *process_to_json(ProcessSource processes, int64_t id) {
        static const ProcessInfo unknown = {};
        const ProcessInfo *p = process_source_find(processes, id);
        _cleanup_json_ json_object *o = json_object_new_object();
        int r;

        if (!p)
                p = &unknown;
        r = o ? add_image(o, p) : -ENOMEM;
        r = r < 0 ? r : json_add_int(o, "startTime", (int64_t) p->start_ticks);
        r = r < 0 ? r : json_add_int(o, "ppid", p->ppid);
        r = r < 0 ? r : json_add_int(o, "uid", p->uid);
        r = r < 0 ? r : json_add_text_or_null(o, "cwd", p->cwd);
        r = r < 0 ? r : json_add(o, "ancestors", ancestors_to_json(processes, id));
        return r < 0 ? NULL : TAKE_PTR(o);
}

/* Consumes `o`. The same value, which is written as the text that it has now. */
static json_object *freeze_text(json_object *o) {
        char *text = NULL;

        if (!o)
                return NULL;
        text = strdup(json_object_to_json_string_ext(
                o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
        if (!text) {
                json_object_put(o);
                return NULL;
        }
        json_object_set_serializer(o, json_object_userdata_to_json_string, text,
                                   json_object_free_userdata);
        return o;
}

static json_object *process_again(ProcessSource processes, int64_t id, RowProcess *last) {
        if (!last->text || last->id != id) {
                row_process_done(last);
                last->text = freeze_text(process_to_json(processes, id));
                last->id = id;
        }
        return json_object_get(last->text);
}

void row_process_done(RowProcess *p) {
        json_object_put(p->text);
        p->text = NULL;
}

static json_object *make_row(const Operation *op, bool with_session, json_object *process) {
        _cleanup_json_ json_object *o = operation_to_json(op);

        if (!o) {
                json_object_put(process);
                return NULL;
        }
        if (!with_session) {
                json_object_object_del(o, "seq");
                json_object_object_del(o, "session");
        }
        /* in place of the id */
        json_object_object_del(o, "process");
        if (json_add(o, "process", process) < 0)
                return NULL;
        return TAKE_PTR(o);
}

json_object *row_to_json(const Operation *op, ProcessSource processes, bool with_session) {
        return make_row(op, with_session, process_to_json(processes, op->process_id));
}

json_object *row_to_json_again(const Operation *op, ProcessSource processes, bool with_session,
                               RowProcess *last) {
        return make_row(op, with_session, process_again(processes, op->process_id, last));
}
