/* SPDX-License-Identifier: MIT */
/*
 * Undo and the quarantine. What a session did with its user's rights is put back with the daemon's, so its user may ask for it; but
 * over what others have done since, only those may who may act on everybody's sessions.
 */
#include "common/operation_json.h"
#include "common/strv.h"
#include "daemon/core/authorisation.h"
#include "daemon/job.h"
#include "daemon/live.h"
#include "daemon/log.h"
#include "daemon/method.h"
#include "daemon/store/quarantine.h"
#include "daemon/undo_job.h"
#include "daemon/watched.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#define PATHS_MAX 1000 /* of one undo */

static void answer_named(ApiCall *call, const char *error, const char *key, const char *value) {
        json_object *o = json_object_new_object();

        (void) json_add_text(o, key, value);
        (void) api_call_error(call, error, o);
}

static uid_t uid_of(const Peer *peer) {
        return peer->privileged ? (uid_t) -1 : peer->uid;
}

/* ---- Undo ---- */

/* The session itself, or one that was started in it: these are undone together. *ret_id is the one that lives. */
static bool is_live(Manager *m, const char *session, char ret_id[static 17]) {
        Live *l, *next;

        HASH_ITER (hh, m->live, l, next) {
                char at[17];

                (void) snprintf(at, sizeof at, "%s", l->session->id);
                while (at[0]) {
                        StoredSession s;

                        if (str_equal(at, session)) {
                                (void) snprintf(ret_id, 17, "%s", l->session->id);
                                return true;
                        }
                        if (store_get_session(m->store, at, &s) < 0)
                                break;
                        (void) snprintf(at, sizeof at, "%s", s.outer);
                        stored_session_done(&s);
                }
        }
        return false;
}

static int take_path(char ***paths, json_object *text, bool raw) {
        const char *s = json_object_get_string(text);
        char *path = NULL;
        size_t size;
        int r = 0;

        if (raw)
                r = base64_decode(s, &path, &size);
        else
                path = strdup(s);
        if (r < 0 || !path)
                return r < 0 ? -EINVAL : -ENOMEM;
        size = strlen(path);
        if (path[0] != '/' || size >= PATH_MAX)
                r = -EINVAL;
        while (r >= 0 && size > 1 && path[size - 1] == '/')
                path[--size] = 0;
        if (r >= 0 && !strv_take(paths, path))
                r = -ENOMEM;
        if (r < 0)
                free(path);
        return r;
}

/* `pathsRaw` in place of `paths`, as with every path. Answers and returns false for nonsense. */
static bool take_paths(ApiCall *call, json_object *parameters, char ***ret) {
        json_object *array = NULL;
        const char *key = "pathsRaw";

        if (json_get(parameters, key, json_type_array, &array) <= 0) {
                key = "paths";
                if (json_get(parameters, key, json_type_array, &array) <= 0)
                        return true;
        }
        if (json_object_array_length(array) > PATHS_MAX) {
                answer_limit(call, "paths of one undo", PATHS_MAX);
                return false;
        }
        for (size_t i = 0; i < json_object_array_length(array); i++) {
                int r = take_path(ret, json_object_array_get_idx(array, i),
                                  str_equal(key, "pathsRaw"));

                if (r == -ENOMEM)
                        answer_errno(call, r);
                else if (r < 0)
                        answer_invalid(call, key);
                if (r < 0)
                        return false;
        }
        return true;
}

/* Answers and returns false when it must not be. */
static bool may_undo(Manager *m, ApiCall *call, const Peer *peer, const StoredSession *s,
                     bool force) {
        char live[17];

        if (!authorise_control(peer->uid, peer->privileged, s->session->uid))
                answer_denied(call, "the session belongs to another user");
        else if (force && !peer->privileged)
                answer_denied(
                        call,
                        "over what others have changed since, only root and members of the configured group may undo");
        else if (is_live(m, s->session->id, live))
                answer_named(call, "SessionLive", "id", live);
        else
                return true;
        return false;
}

void method_undo(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        const char *id = parameter_string(parameters, "session");
        UndoRequest q = {
                .dry_run = parameter_bool(parameters, "dryRun"),
                .force = parameter_bool(parameters, "force"),
                .uid = uid_of(peer),
        };
        Manager *m = userdata;
        StoredSession s;
        int r = find_stored(m, peer, id, &s);

        if (r < 0) {
                if (r == -ENOENT)
                        answer_no_session(call, id ? id : "last");
                else
                        answer_errno(call, r);
                return;
        }
        memcpy(q.session, s.session->id, sizeof q.session);
        if (may_undo(m, call, peer, &s, q.force) && take_paths(call, parameters, &q.paths)) {
                r = undo_job_start(m, call, &q);
                if (r == -EBUSY)
                        answer_named(call, "UndoBusy", "id", q.session);
                else if (r < 0)
                        answer_errno(call, r);
        }
        undo_request_done(&q);
        stored_session_done(&s);
}

/* ---- quarantine ---- */

static void free_items(Quarantined *list, size_t n) {
        for (size_t i = 0; i < n; i++)
                quarantined_done(&list[i]);
        free(list);
}

static int item_to_json(const Quarantined *q, json_object **ret) {
        _cleanup_json_ json_object *o = json_object_new_object();
        int r = o ? json_add_text(o, "item", q->item) : -ENOMEM;

        r = r < 0 ? r : json_add_text(o, "session", q->session);
        r = r < 0 ? r : json_add_text(o, "watch", q->watch);
        r = r < 0 ? r : json_add_path(o, "path", q->path);
        r = r < 0 ? r : json_add_text(o, "kind", object_kind_to_string(q->kind));
        r = r < 0 ? r : json_add_int(o, "bytes", (int64_t) q->bytes);
        r = r < 0 ? r : json_add_time(o, "at", q->at);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(o);
        return 0;
}

void method_list_quarantine(ApiCall *call, const Peer *peer, json_object *parameters,
                            void *userdata) {
        const char *session = parameter_string(parameters, "session");
        json_object *array = json_object_new_array();
        Manager *m = userdata;
        Quarantined *list = NULL;
        size_t n = 0;
        int r = array ? store_list_quarantined(m->store, session, uid_of(peer), &list, &n)
                      : -ENOMEM;

        for (size_t i = 0; i < n && r >= 0; i++) {
                json_object *o = NULL;

                r = item_to_json(&list[i], &o);
                if (r >= 0 && json_object_array_add(array, o) < 0)
                        r = -ENOMEM;
        }
        free_items(list, n);
        if (r < 0) {
                json_object_put(array);
                answer_errno(call, r);
        } else
                answer(call, "items", array);
}

/* Of this item, or of the session's, or all of the peer's. -ENOENT: no such item that the peer may touch. */
static int find_items(Manager *m, const Peer *peer, const char *item, const char *session,
                      Quarantined **ret, size_t *ret_n) {
        Quarantined *list = NULL;
        size_t n = 0, kept = 0;
        int r = store_list_quarantined(m->store, session, uid_of(peer), &list, &n);

        if (r < 0)
                return r;
        for (size_t i = 0; i < n; i++)
                if (!item || str_equal(item, list[i].item))
                        list[kept++] = list[i];
                else
                        quarantined_done(&list[i]);
        if (item && kept == 0) {
                free(list);
                return -ENOENT;
        }
        *ret = list;
        *ret_n = kept;
        return 0;
}

/* Files are moved or removed by a job. */
typedef struct ItemsJob {
        ApiCall *call; /* reference */
        char *state_dir;
        char *root; /* of the one that is restored */
        Quarantined *items;
        size_t n;
        size_t done; /* that many of them are */
        int r;
} ItemsJob;

static void items_job_free(ItemsJob *j) {
        free_items(j->items, j->n);
        (void) api_call_unref(j->call);
        free(j->state_dir);
        free(j->root);
        free(j);
}

static void restore_run(void *userdata) {
        ItemsJob *j = userdata;

        j->r = quarantine_restore(j->state_dir, j->root, &j->items[0], NULL);
        j->done = j->r >= 0;
}

static void purge_run(void *userdata) {
        ItemsJob *j = userdata;

        while (j->done < j->n && j->r >= 0) {
                j->r = quarantine_purge(j->state_dir, &j->items[j->done]);
                if (j->r == -ENOENT)
                        j->r = 0;
                if (j->r >= 0)
                        j->done++;
        }
}

static int forget_items(Manager *m, const ItemsJob *j, uint64_t *ret_bytes) {
        int r = 0;

        *ret_bytes = 0;
        for (size_t i = 0; i < j->done && r >= 0; i++) {
                r = store_remove_quarantined(m->store, j->items[i].item);
                if (r == -ENOENT)
                        r = 0;
                *ret_bytes += j->items[i].bytes;
        }
        if (r >= 0)
                r = store_flush(m->store);
        return r;
}

static void answer_restore(ItemsJob *j) {
        if (j->r == -EEXIST)
                answer_named(j->call, "PathExists", "path", j->items[0].path);
        else if (j->r == -ENOENT)
                answer_named(j->call, "NoDirectory", "path", j->items[0].path);
        else if (j->r < 0)
                answer_errno(j->call, j->r);
        else
                (void) api_call_reply(j->call, NULL, /* continues= */ false);
}

static void restore_done(Manager *m, void *userdata) {
        ItemsJob *j = userdata;
        uint64_t bytes;

        if (m && j->r >= 0)
                j->r = forget_items(m, j, &bytes);
        if (m)
                answer_restore(j);
        items_job_free(j);
}

static void purge_done(Manager *m, void *userdata) {
        ItemsJob *j = userdata;
        uint64_t bytes = 0;
        int r = m ? forget_items(m, j, &bytes) : 0;

        if (m && j->r >= 0 && r >= 0) {
                json_object *o = json_object_new_object();

                (void) json_add_int(o, "items", (int64_t) j->done);
                (void) json_add_int(o, "bytes", (int64_t) bytes);
                (void) api_call_reply(j->call, o, /* continues= */ false);
        } else if (m)
                answer_errno(j->call, j->r < 0 ? j->r : r);
        items_job_free(j);
}

/* Takes the items. */
static int start_items_job(Manager *m, ApiCall *call, Quarantined *items, size_t n, bool restore) {
        ItemsJob *j = calloc(1, sizeof *j);
        const Watched *w = n > 0 && items[0].watch ? watched_find(m, items[0].watch) : NULL;
        int r = 0;

        if (!j) {
                free_items(items, n);
                return -ENOMEM;
        }
        j->call = api_call_ref(call);
        j->items = items;
        j->n = n;
        j->state_dir = strdup(m->state_dir);
        j->root = w ? strdup(w->spec->path) : NULL;
        if (!j->state_dir || (w && !j->root))
                r = -ENOMEM;
        if (r >= 0)
                r = job_start_background(m->jobs, restore ? restore_run : purge_run,
                                         restore ? restore_done : purge_done, j);
        if (r < 0)
                items_job_free(j);
        return r;
}

static void on_items(ApiCall *call, const Peer *peer, Manager *m, const char *item,
                     const char *session, bool restore) {
        Quarantined *items = NULL;
        size_t n = 0;
        int r = find_items(m, peer, item, session, &items, &n);

        if (r == -ENOENT) {
                answer_named(call, "NoSuchItem", "item", item);
                return;
        }
        if (r >= 0)
                r = start_items_job(m, call, items, n, restore);
        if (r < 0)
                answer_errno(call, r);
}

void method_restore_quarantine(ApiCall *call, const Peer *peer, json_object *parameters,
                               void *userdata) {
        on_items(call, peer, userdata, parameter_string(parameters, "item"), NULL,
                 /* restore= */ true);
}

void method_purge_quarantine(ApiCall *call, const Peer *peer, json_object *parameters,
                             void *userdata) {
        on_items(call, peer, userdata, parameter_string(parameters, "item"),
                 parameter_string(parameters, "session"), /* restore= */ false);
}
