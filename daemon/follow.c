/* SPDX-License-Identifier: MIT */
#include "daemon/follow.h"
#include "common/alert_json.h"
#include "common/hash.h"
#include "common/json_member.h"
#include "daemon/held.h"
#include "daemon/live.h"
#include "daemon/view.h"

#include <errno.h>
#include <utlist.h>

struct Follower {
        Follower *prev, *next;
        Manager *manager;
        ApiCall *call; /* reference */
        uid_t uid;
        bool stale;      /* has not got the lists as they are now */
        bool behind;     /* reads slowly: gets nothing until it has caught up */
        uint64_t missed; /* alerts that were not sent */
};

static void follower_end(Follower *f) {
        DL_DELETE(f->manager->followers, f);
        api_call_set_on_drained(f->call, NULL, NULL);
        (void) api_call_unref(f->call);
        free(f);
}

static bool may_see(const Follower *f, uid_t uid) {
        return f->uid == (uid_t) -1 || f->uid == uid;
}

/* ---- what is sent ---- */

static int add_missed(Follower *f, json_object *o) {
        int r = f->missed > 0 ? json_add_count(o, "missed", f->missed) : 0;

        if (r >= 0)
                f->missed = 0;
        return r;
}

static json_object *held_list(const Follower *f) {
        _cleanup_json_ json_object *array = json_object_new_array();
        Held *h;

        DL_FOREACH (f->manager->held, h) {
                const Live *l = live_find(f->manager, h->attempt->session);
                json_object *o;

                if (!array || !l || !may_see(f, l->session->uid))
                        continue;
                o = view_held(h);
                if (!o || json_object_array_add(array, o) < 0) {
                        json_object_put(o);
                        return NULL;
                }
        }
        return TAKE_PTR(array);
}

static json_object *frozen_list(const Follower *f) {
        _cleanup_json_ json_object *array = json_object_new_array();
        Live *l, *next;

        HASH_ITER (hh, f->manager->live, l, next) {
                json_object *id;

                if (!array || !l->frozen_by_policy || !may_see(f, l->session->uid))
                        continue;
                id = json_object_new_string(l->session->id);
                if (!id || json_object_array_add(array, id) < 0) {
                        json_object_put(id);
                        return NULL;
                }
        }
        return TAKE_PTR(array);
}

static int send_lists(Follower *f) {
        _cleanup_json_ json_object *o = json_object_new_object();
        int r = o ? json_add(o, "held", held_list(f)) : -ENOMEM;

        r = r < 0 ? r : json_add(o, "frozen", frozen_list(f));
        r = r < 0 ? r : add_missed(f, o);
        r = r < 0 ? r : api_call_reply(f->call, TAKE_PTR(o), /* continues= */ true);
        f->stale = r < 0;
        return r;
}

static int send_alert(Follower *f, const Alert *a) {
        _cleanup_json_ json_object *o = json_object_new_object();
        int r = o ? json_add(o, "alert", alert_to_json(a)) : -ENOMEM;

        r = r < 0 ? r : add_missed(f, o);
        return r < 0 ? r : api_call_reply(f->call, TAKE_PTR(o), /* continues= */ true);
}

static bool is_slow(Follower *f) {
        f->behind |= api_call_pending(f->call) > API_STREAM_LOW;
        return f->behind;
}

void follow_publish(Manager *m, const Alert *a) {
        Follower *f, *next;

        DL_FOREACH_SAFE (m->followers, f, next) {
                if (api_call_is_gone(f->call))
                        follower_end(f);
                else if (!may_see(f, a->session ? a->uid : (uid_t) -1))
                        continue;
                else if (is_slow(f) || send_alert(f, a) < 0)
                        f->missed++;
        }
}

static int on_lists(sd_event_source *source, void *userdata) {
        Manager *m = userdata;
        Follower *f, *next;

        DL_FOREACH_SAFE (m->followers, f, next) {
                if (api_call_is_gone(f->call))
                        follower_end(f);
                else if (f->stale && !is_slow(f))
                        (void) send_lists(f);
        }
        return 0;
}

static void send_soon(Manager *m) {
        (void) sd_event_source_set_enabled(m->lists_source, SD_EVENT_ONESHOT);
}

void follow_lists_changed(Manager *m) {
        Follower *f;

        DL_FOREACH (m->followers, f)
                f->stale = true;
        if (m->followers)
                send_soon(m);
}

/* ---- life ---- */

static void on_drained(ApiCall *call, void *userdata) {
        Follower *f = userdata;

        /* what it missed is told with the lists */
        f->stale |= f->behind;
        f->behind = false;
        send_soon(f->manager);
}

int follow_begin(Manager *m, ApiCall *call, uid_t uid) {
        Follower *f = calloc(1, sizeof *f);
        int r;

        if (!f)
                return -ENOMEM;
        f->manager = m;
        f->uid = uid;
        f->call = api_call_ref(call);
        DL_APPEND(m->followers, f);
        r = send_lists(f);
        if (r < 0) {
                follower_end(f);
                return r;
        }
        api_call_set_on_drained(call, on_drained, f);
        return 0;
}

int follow_start(Manager *m) {
        int r;

        r = sd_event_add_defer(m->event, &m->lists_source, on_lists, m);
        return r < 0 ? r : sd_event_source_set_enabled(m->lists_source, SD_EVENT_OFF);
}

void follow_stop(Manager *m) {
        Follower *f, *next;

        DL_FOREACH_SAFE (m->followers, f, next)
                follower_end(f);
        m->lists_source = sd_event_source_disable_unref(m->lists_source);
}
