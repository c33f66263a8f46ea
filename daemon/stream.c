/* SPDX-License-Identifier: MIT */
#include "daemon/stream.h"
#include "common/hash.h"
#include "common/operation_json.h"
#include "daemon/live.h"
#include "daemon/method.h"

#include <errno.h>
#include <utlist.h>

#define PAGE 256

typedef struct SentProcess {
        int64_t id;
        UT_hash_handle hh;
} SentProcess;

struct Stream {
        Stream *prev, *next;
        Manager *manager;
        ApiCall *call; /* reference */
        StreamRequest request;
        sd_event_source *pump; /* on while there are pages to read and the peer has room for them */
        SentProcess *sent;     /* what the peer has been told of already */
        int64_t after_seq;
        bool live;       /* the pages are through: operations are passed on as they come */
        bool last;       /* the session has ended: no more will come */
        uint64_t missed; /* not passed on because the peer was too slow */
};

void stream_request_done(StreamRequest *r) {
        free(r->session);
        free(r->watch);
        *r = (StreamRequest){};
}

static Stream *stream_free(Stream *s) {
        SentProcess *p, *next;

        if (!s)
                return NULL;
        HASH_ITER (hh, s->sent, p, next) {
                HASH_DEL(s->sent, p);
                free(p);
        }
        if (s->call)
                api_call_set_on_drained(s->call, NULL, NULL);
        (void) api_call_unref(s->call);
        sd_event_source_disable_unref(s->pump);
        stream_request_done(&s->request);
        free(s);
        return NULL;
}

static void stream_end(Stream *s) {
        DL_DELETE(s->manager->streams, s);
        (void) stream_free(s);
}

static void stream_fail(Stream *s, int error) {
        answer_errno(s->call, error);
        stream_end(s);
}

/* ---- one chunk ---- */

typedef struct Chunk {
        json_object *operations, *processes;
} Chunk;

static void chunk_done(Chunk *c) {
        json_object_put(c->operations);
        json_object_put(c->processes);
}

static int chunk_init(Chunk *c) {
        c->operations = json_object_new_array();
        c->processes = json_object_new_array();
        return c->operations && c->processes ? 0 : -ENOMEM;
}

static int chunk_add(json_object *array, json_object *item) {
        if (!item)
                return -ENOMEM;
        if (json_object_array_add(array, item) < 0) {
                json_object_put(item);
                return -ENOMEM;
        }
        return 0;
}

/* Adds the process and the ancestors that the peer has not been told of. */
static int chunk_add_process(Stream *s, Chunk *c, int64_t id) {
        while (id > 0) {
                ProcessInfo info;
                SentProcess *sent;
                int r;

                HASH_FIND(hh, s->sent, &id, sizeof id, sent);
                if (sent)
                        return 0;
                r = store_get_process(s->manager->store, id, &info);
                if (r < 0)
                        return r == -ENOENT ? 0 : r;
                sent = calloc(1, sizeof *sent);
                if (sent) {
                        sent->id = id;
                        HASH_ADD(hh, s->sent, id, sizeof sent->id, sent);
                        if (!sent->hh.tbl) /* then it is told twice */
                                free(sent);
                        r = chunk_add(c->processes, process_info_to_json(&info));
                } else
                        r = -ENOMEM;
                id = info.parent_id;
                process_info_done(&info);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int chunk_send(Stream *s, Chunk *c, bool continues) {
        json_object *parameters = json_object_new_object();

        if (!parameters)
                return -ENOMEM;
        json_object_object_add(parameters, "operations", TAKE_PTR(c->operations));
        json_object_object_add(parameters, "processes", TAKE_PTR(c->processes));
        if (s->missed > 0)
                json_object_object_add(parameters, "missed",
                                       json_object_new_int64((int64_t) s->missed));
        s->missed = 0;
        return api_call_reply(s->call, parameters, continues);
}

/* Untagged operations show other people's command lines: a user sees those of processes of the same uid. */
static int may_see(Stream *s, const Operation *o, bool *ret) {
        ProcessInfo info;
        int r;

        *ret = true;
        if (s->request.uid == (uid_t) -1 || o->session)
                return 0;
        r = store_get_process(s->manager->store, o->process_id, &info);
        if (r == -ENOENT) {
                *ret = false;
                return 0;
        }
        if (r < 0)
                return r;
        *ret = info.uid == s->request.uid;
        process_info_done(&info);
        return 0;
}

/* ---- pages from the store ---- */

static int stream_page(Stream *s, size_t *ret_n) {
        const StoreQuery q = {
                .session = s->request.session,
                .with_inner = !s->request.untagged,
                .untagged = s->request.untagged,
                .watch = s->request.watch,
                .since = s->request.since,
                .after_seq = s->after_seq,
                .uid = s->request.session ? (uid_t) -1 : s->request.uid,
        };
        _cleanup_(chunk_done) Chunk c = {};
        Operation operations[PAGE];
        size_t n = 0;
        int r;

        r = chunk_init(&c);
        if (r < 0)
                return r;
        r = store_read_operations(s->manager->store, &q, operations, PAGE, &n);
        if (r < 0)
                return r;
        for (size_t i = 0; i < n; i++) {
                bool visible;

                s->after_seq = operations[i].seq;
                if (r >= 0)
                        r = may_see(s, &operations[i], &visible);
                if (r >= 0 && visible)
                        r = chunk_add_process(s, &c, operations[i].process_id);
                if (r >= 0 && visible)
                        r = chunk_add(c.operations, operation_to_json(&operations[i]));
                operation_done(&operations[i]);
        }
        if (r < 0)
                return r;
        *ret_n = n;
        if (n == 0)
                return 0;
        return chunk_send(s, &c, true);
}

static void stream_finish(Stream *s) {
        _cleanup_(chunk_done) Chunk c = {};

        if (chunk_init(&c) < 0) {
                stream_fail(s, -ENOMEM);
                return;
        }
        (void) chunk_send(s, &c, false);
        stream_end(s);
}

static int stream_on_pump(sd_event_source *source, void *userdata) {
        Stream *s = userdata;
        size_t n = 0;
        int r;

        if (api_call_is_gone(s->call)) {
                stream_end(s);
                return 0;
        }
        if (api_call_pending(s->call) > API_STREAM_LOW) {
                (void) sd_event_source_set_enabled(s->pump, SD_EVENT_OFF);
                return 0;
        }
        r = stream_page(s, &n);
        if (r < 0) {
                stream_fail(s, r);
                return 0;
        }
        if (n > 0)
                return 0;
        (void) sd_event_source_set_enabled(s->pump, SD_EVENT_OFF);
        if (s->request.follow && !s->last)
                s->live = true;
        else
                stream_finish(s);
        return 0;
}

static void stream_on_drained(ApiCall *call, void *userdata) {
        Stream *s = userdata;

        if (!s->live || api_call_is_gone(call))
                (void) sd_event_source_set_enabled(s->pump, SD_EVENT_ON);
}

int stream_start(Manager *m, ApiCall *call, StreamRequest *request) {
        Stream *s = calloc(1, sizeof *s);
        int r;

        if (!s)
                return -ENOMEM;
        s->manager = m;
        r = sd_event_add_defer(m->event, &s->pump, stream_on_pump, s);
        if (r >= 0)
                r = sd_event_source_set_enabled(s->pump, SD_EVENT_ON);
        if (r < 0) {
                (void) stream_free(s);
                return r;
        }
        s->call = api_call_ref(call);
        s->request = *request;
        *request = (StreamRequest){};
        s->last = s->request.session && !live_find(m, s->request.session);
        api_call_set_on_drained(call, stream_on_drained, s);
        DL_APPEND(m->streams, s);
        return 0;
}

/* ---- live ---- */

static bool stream_wants(Stream *s, const Operation *op, const Image *author) {
        const StreamRequest *q = &s->request;

        if (!s->live)
                return false; /* it comes with a page */
        if (q->watch && !str_equal(q->watch, op->watch))
                return false;
        if (q->session) {
                Live *l;

                if (q->untagged)
                        return !op->session && (q->uid == (uid_t) -1 || q->uid == author->uid);
                for (l = op->session ? live_find(s->manager, op->session) : NULL; l;
                     l = l->session->outer ? live_find(s->manager, l->session->outer->id) : NULL)
                        if (str_equal(l->session->id, q->session))
                                return true;
                return false;
        }
        if (q->uid == (uid_t) -1)
                return true;
        if (op->session) {
                Live *l = live_find(s->manager, op->session);

                return l && l->session->uid == q->uid;
        }
        return author->uid == q->uid;
}

static int stream_pass_on(Stream *s, const Operation *op) {
        _cleanup_(chunk_done) Chunk c = {};
        int r;

        r = chunk_init(&c);
        if (r >= 0)
                r = chunk_add_process(s, &c, op->process_id);
        if (r >= 0)
                r = chunk_add(c.operations, operation_to_json(op));
        if (r >= 0)
                r = chunk_send(s, &c, true);
        return r;
}

void stream_publish(Manager *m, const Operation *op, const Image *author) {
        Stream *s, *next;

        DL_FOREACH_SAFE (m->streams, s, next) {
                if (!stream_wants(s, op, author))
                        continue;
                if (api_call_is_gone(s->call))
                        stream_end(s);
                else if (api_call_pending(s->call) > API_QUEUE_MAX / 2 || stream_pass_on(s, op) < 0)
                        s->missed++;
        }
}

void stream_session_ended(Manager *m, const char *id) {
        Stream *s, *next;

        DL_FOREACH_SAFE (m->streams, s, next) {
                if (!str_equal(s->request.session, id))
                        continue;
                s->last = true;
                if (s->live)
                        stream_finish(s);
        }
}

size_t stream_count(Manager *m) {
        size_t n = 0;
        Stream *s;

        DL_COUNT(m->streams, s, n);
        return n;
}

void stream_free_all(Manager *m) {
        Stream *s, *next;

        DL_FOREACH_SAFE (m->streams, s, next)
                stream_end(s);
}
