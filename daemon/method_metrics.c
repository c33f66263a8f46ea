/* SPDX-License-Identifier: MIT */
#include "common/json_member.h"
#include "common/version.h"
#include "daemon/held.h"
#include "daemon/keeping.h"
#include "daemon/live.h"
#include "daemon/method.h"
#include "daemon/store/kept.h"
#include "daemon/stream.h"
#include "daemon/watched.h"
#include "daemon/webhooks.h"

#include <utlist.h>

static json_object *sessions_to_json(Manager *m) {
        _cleanup_json_ json_object *o = json_object_new_object();
        int64_t active = 0, lingering = 0, frozen = 0;
        Live *l, *next;
        int r = o ? 0 : -ENOMEM;

        HASH_ITER (hh, m->live, l, next) {
                active += l->session->state == SESSION_ACTIVE;
                lingering += l->session->state == SESSION_LINGERING;
                frozen += l->frozen;
        }
        r = r < 0 ? r : json_add_int(o, "active", active);
        r = r < 0 ? r : json_add_int(o, "lingering", lingering);
        r = r < 0 ? r : json_add_int(o, "frozen", frozen);
        return r < 0 ? NULL : TAKE_PTR(o);
}

static int64_t count_processes(Manager *m) {
        Live *l, *next;
        size_t n = 0;

        HASH_ITER (hh, m->live, l, next)
                n += process_table_count(m->processes, l->session);
        return (int64_t) n;
}

typedef const char *(*name_of_t)(int value);

static const char *verdict_name(int v) {
        return verdict_to_string((Verdict) v);
}

static const char *kind_name(int k) {
        return alert_kind_to_string((AlertKind) k);
}

static json_object *counts_to_json(const uint64_t *counts, int n, name_of_t name_of) {
        _cleanup_json_ json_object *o = json_object_new_object();

        for (int i = 0; i < n; i++) {
                json_object *number = json_object_new_int64((int64_t) counts[i]);

                if (!o || !number || json_object_object_add(o, name_of(i), number) < 0) {
                        json_object_put(number);
                        return NULL;
                }
        }
        return TAKE_PTR(o);
}

static json_object *losses_to_json(const Counters *c) {
        _cleanup_json_ json_object *array = json_object_new_array();

        for (size_t i = 0; array && i < c->n_losses; i++) {
                json_object *o = json_object_new_object();

                if (!o || json_add_text(o, "reason", c->losses[i].reason) < 0 ||
                    json_add_int(o, "count", (int64_t) c->losses[i].n) < 0 ||
                    json_object_array_add(array, o) < 0) {
                        json_object_put(o);
                        return NULL;
                }
        }
        return TAKE_PTR(array);
}

static int64_t count_backlog(const Watched *w) {
        int64_t n = 0;

        for (const Note *note = w->backlog; note; note = note->next)
                n++;
        return n;
}

static json_object *watch_to_json(const Watched *w) {
        _cleanup_json_ json_object *o = json_object_new_object();
        int r = o ? 0 : -ENOMEM;

        r = r < 0 ? r : json_add_text(o, "name", w->spec->name);
        r = r < 0 ? r : json_add_text(o, "state", watcher_state_to_string(w->status.state));
        r = r < 0 ? r : json_add_int(o, "operations", (int64_t) w->counters.operations);
        r = r < 0 ? r : json_add_int(o, "violations", (int64_t) w->counters.violations);
        r = r < 0 ? r : json_add_int(o, "refused", (int64_t) w->counters.refused);
        r = r < 0 ? r : json_add_int(o, "backlog", count_backlog(w));
        return r < 0 ? NULL : TAKE_PTR(o);
}

static json_object *watches_to_json(Manager *m) {
        _cleanup_json_ json_object *array = json_object_new_array();
        Watched *w;

        DL_FOREACH (m->watches, w) {
                json_object *o = array ? watch_to_json(w) : NULL;

                if (!o || json_object_array_add(array, o) < 0) {
                        json_object_put(o);
                        return NULL;
                }
        }
        return TAKE_PTR(array);
}

static int add_sizes(Manager *m, json_object *o) {
        uint64_t store = 0, kept = 0;
        int r;

        (void) store_size(m->store, &store);
        (void) store_kept_bytes(m->store, &kept);
        r = json_add_int(o, "storeBytes", (int64_t) store);
        return r < 0 ? r : json_add_int(o, "preservedBytes", (int64_t) kept);
}

static int add_queues(Manager *m, json_object *o) {
        int64_t held = 0;
        Held *h;
        int r;

        DL_COUNT(m->held, h, held);
        r = json_add_int(o, "held", held);
        r = r < 0 ? r : json_add_int(o, "copying", (int64_t) keeping_count(m));
        r = r < 0 ? r : json_add_int(o, "hashing", (int64_t) m->n_hashing);
        return r < 0 ? r : json_add_int(o, "streams", (int64_t) stream_count(m));
}

static json_object *metrics_to_json(Manager *m) {
        _cleanup_json_ json_object *o = json_object_new_object();
        const Counters *c = &m->counters;
        int r = o ? 0 : -ENOMEM;

        r = r < 0 ? r : json_add_text(o, "version", MOUNTWATCH_VERSION);
        r = r < 0 ? r : json_add_time(o, "started", m->started);
        r = r < 0 ? r : json_add(o, "sessions", sessions_to_json(m));
        r = r < 0 ? r : json_add_int(o, "sessionsStarted", (int64_t) c->started);
        r = r < 0 ? r
                  : json_add(o, "sessionsEnded",
                             counts_to_json(c->ended, _VERDICT_MAX, verdict_name));
        r = r < 0 ? r : json_add_int(o, "processes", count_processes(m));
        r = r < 0 ? r : json_add(o, "watches", watches_to_json(m));
        r = r < 0 ? r : json_add(o, "losses", losses_to_json(c));
        r = r < 0 ? r
                  : json_add(o, "alerts", counts_to_json(c->alerts, _ALERT_KIND_MAX, kind_name));
        r = r < 0 ? r : add_queues(m, o);
        r = r < 0 ? r : add_sizes(m, o);
        r = r < 0 ? r : json_add(o, "webhooks", webhooks_to_json(m->webhooks));
        return r < 0 ? NULL : TAKE_PTR(o);
}

void method_get_metrics(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        json_object *o = metrics_to_json(userdata);

        if (o)
                (void) api_call_reply(call, o, /* continues= */ false);
        else
                answer_errno(call, -ENOMEM);
}
