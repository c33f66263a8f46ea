/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "client/held_view.h"
#include "client/table.h"
#include "common/operation.h"
#include "common/path_text.h"

void held_view_done(HeldView *h) {
        free(h->session);
        free(h->watch);
        free(h->policy);
        free(h->op);
        free(h->path);
        *h = (HeldView){};
}

int held_view_from_json(json_object *o, HeldView *ret) {
        _cleanup_(held_view_done) HeldView h = {};
        int64_t pid = 0;
        int r = json_need(json_get_int(o, "id", 1, INT64_MAX, &h.id));

        r = r < 0 ? r : json_need(json_get_text(o, "session", &h.session));
        r = r < 0 ? r : json_need(json_get_text(o, "watch", &h.watch));
        r = r < 0 ? r : json_need(json_get_text(o, "policy", &h.policy));
        r = r < 0 ? r : json_need(json_get_text(o, "op", &h.op));
        r = r < 0 ? r : json_need(json_get_int(o, "pid", 0, INT32_MAX, &pid));
        r = r < 0 ? r : json_need(json_get_time(o, "since", &h.since));
        r = r < 0 ? r : json_get_path(o, "path", &h.path);
        if (r < 0 || !h.path)
                return r < 0 ? r : -EBADMSG;
        h.pid = (pid_t) pid;
        *ret = h;
        h = (HeldView){};
        return 0;
}

static int add_held(Table *table, const HeldView *h) {
        char id[24], pid[24], since[TERMINAL_TIME_MAX];

        (void) snprintf(id, sizeof id, "%" PRId64, h->id);
        (void) snprintf(pid, sizeof pid, "%d", (int) h->pid);
        return table_add(table,
                         (const char *[]){id, h->policy, h->op, h->watch, pid,
                                          terminal_time(h->since, since), h->session, h->path});
}

static int array_of(json_object *reply, json_object **ret) {
        return json_need(json_get(reply, "held", json_type_array, ret));
}

int held_count(json_object *reply, size_t *ret) {
        json_object *array;
        int r = array_of(reply, &array);

        if (r >= 0)
                *ret = json_object_array_length(array);
        return MIN(r, 0);
}

/* An example of each answer that there is, for the first of each kind; id 0 and NULL: there is none. */
static void put_next(FILE *f, int64_t asked, const char *frozen) {
        fputs("\nnext\n", f);
        if (asked > 0)
                fprintf(f,
                        "  mountwatch decide %" PRId64
                        " allow-once      (or allow-session, deny, kill)\n",
                        asked);
        if (frozen)
                fprintf(f, "  mountwatch session thaw %s      (or session kill)\n", frozen);
}

int held_print(FILE *f, json_object *reply) {
        static const char *const head[] = {"ID",  "POLICY", "OPERATION", "WATCH",
                                           "PID", "SINCE",  "SESSION",   "PATH"};
        _cleanup_(table_done) Table table = {};
        _cleanup_free_ char *frozen = NULL;
        json_object *array;
        int64_t asked = 0;
        Terminal t;
        int r = array_of(reply, &array);

        if (r < 0 || json_object_array_length(array) == 0)
                return MIN(r, 0);
        r = table_init(&table, ELEMENTSOF(head), head);
        for (size_t i = 0; r >= 0 && i < json_object_array_length(array); i++) {
                _cleanup_(held_view_done) HeldView h = {};

                r = held_view_from_json(json_object_array_get_idx(array, i), &h);
                r = r < 0 ? r : add_held(&table, &h);
                if (r < 0)
                        break;
                if (!str_equal(h.policy, "freeze"))
                        asked = asked ? asked : h.id;
                else if (!frozen)
                        frozen = TAKE_PTR(h.session);
        }
        if (r < 0)
                return r;
        terminal_init(&t, f);
        r = table_print(&table, &t);
        if (r >= 0)
                put_next(f, asked, frozen);
        return r;
}
