/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "client/connection.h"
#include "client/refusal.h"
#include "client/top_link.h"
#include "common/time_text.h"

#define REFRESH_NSEC NSEC_PER_SEC
#define RETRY_NSEC NSEC_PER_SEC
#define SLOW_NSEC (3 * NSEC_PER_SEC)  /* then it is said */
#define DEAD_NSEC (30 * NSEC_PER_SEC) /* then it is tried again from the start */
/* somebody who runs through the list with a key does not ask for the operations of each session on the way */
#define SETTLE_NSEC (NSEC_PER_SEC / 5)
#define LOOK_BACK_USEC (600 * USEC_PER_SEC)
#define MESSAGES_MAX 500 /* of the stream, in one turn */

typedef enum Asked {
        ASKED_NOTHING,
        ASKED_SESSIONS,
        ASKED_HELD,
        ASKED_WISH,
} Asked;

struct TopLink {
        const char *socket;
        Connection *calls; /* NULL: not connected */
        Asked asked;
        nsec_t asked_at, refresh_at, connect_at;
        const char *trouble;

        char *method, *done; /* the wish; method NULL: none */
        json_object *parameters;
        char *notice;

        Connection *stream;
        char *streamed; /* id of the session it is for */
        nsec_t stream_at;
        bool stream_over; /* all of it has come */
        bool stream_full; /* there is more than one turn takes */
};

int top_link_new(const char *socket, TopLink **ret) {
        TopLink *l = calloc(1, sizeof(*l));

        if (!l)
                return -ENOMEM;
        l->socket = socket;
        *ret = l;
        return 0;
}

static void drop_wish(TopLink *l) {
        free(l->method);
        free(l->done);
        json_object_put(l->parameters);
        l->method = l->done = NULL;
        l->parameters = NULL;
}

static void close_stream(TopLink *l) {
        l->stream = connection_free(l->stream);
        l->stream_full = false;
}

TopLink *top_link_free(TopLink *l) {
        if (!l)
                return NULL;
        (void) connection_free(l->calls);
        close_stream(l);
        drop_wish(l);
        free(l->streamed);
        free(l->notice);
        free(l);
        return NULL;
}

void top_link_poll(const TopLink *l, struct pollfd fds[static TOP_LINK_FDS]) {
        fds[0] = (struct pollfd){.fd = l->calls ? connection_fd(l->calls) : -1, .events = POLLIN};
        fds[1] = (struct pollfd){.fd = l->stream ? connection_fd(l->stream) : -1, .events = POLLIN};
}

static int msec_until(nsec_t t, nsec_t now) {
        return t <= now ? 0 : (int) ((t - now) / 1000000) + 1;
}

int top_link_timeout(const TopLink *l, nsec_t now) {
        int msec;

        if (l->stream_full)
                return 0;
        if (!l->calls)
                return msec_until(l->connect_at, now);
        msec = l->asked == ASKED_NOTHING ? msec_until(l->refresh_at, now) : 1000;
        if (!l->stream && l->streamed && !l->stream_over)
                msec = MIN(msec, msec_until(l->stream_at, now));
        return msec;
}

const char *top_link_trouble(const TopLink *l) {
        return l->trouble;
}

char *top_link_take_notice(TopLink *l) {
        return TAKE_PTR(l->notice);
}

static void set_notice(TopLink *l, char *text) {
        free(l->notice);
        l->notice = text;
}

/* ---- calls ---- */

static void lose(TopLink *l, int error, nsec_t now) {
        l->calls = connection_free(l->calls);
        close_stream(l);
        if (l->method)
                set_notice(l, strdup("the daemon went away before it was done"));
        drop_wish(l);
        l->asked = ASKED_NOTHING;
        l->connect_at = now + RETRY_NSEC;
        switch (-error) {
        case EACCES:
        case EPERM:
                l->trouble = "no permission to use the socket";
                break;
        case ETIMEDOUT:
                l->trouble = "the daemon does not answer";
                break;
        case EBADMSG:
        case EMSGSIZE:
                l->trouble = "what answers speaks another protocol";
                break;
        default:
                l->trouble = "the daemon is gone, reconnecting";
        }
}

static void post(TopLink *l, Asked asked, const char *method, json_object *parameters, nsec_t now) {
        int r = connection_post(l->calls, method, parameters, /* more= */ false);

        if (r < 0) {
                lose(l, r, now);
                return;
        }
        l->asked = asked;
        l->asked_at = now;
}

static char *wish_text(const TopLink *l, json_object *reply) {
        int64_t n;
        char *text;

        if (json_get_int(reply, "processes", 0, INT64_MAX, &n) <= 0)
                return strdup(l->done);
        return asprintf(&text, "%s %" PRId64 " %s", l->done, n, n == 1 ? "process" : "processes") <
                        0
                ? NULL
                : text;
}

/* The reply to what was asked last; NULL for a refusal. */
static int take_reply(TopLink *l, TopModel *m, json_object *reply, nsec_t now, usec_t wall) {
        Asked asked = l->asked;

        l->asked = ASKED_NOTHING;
        switch (asked) {
        case ASKED_SESSIONS:
                l->trouble = reply ? NULL : "the daemon does not tell its sessions";
                l->refresh_at = now + REFRESH_NSEC;
                post(l, ASKED_HELD, "ListHeld", NULL, now);
                return reply ? top_model_take_sessions(m, reply, wall) : 0;
        case ASKED_HELD:
                return reply ? top_model_take_held(m, reply) : 0;
        case ASKED_WISH:
                set_notice(l, reply ? wish_text(l, reply) : NULL);
                drop_wish(l);
                l->refresh_at = now; /* to see what it did */
                break;
        case ASKED_NOTHING:
                break;
        }
        return 0;
}

static void refuse(TopLink *l, nsec_t now) {
        json_object *parameters;
        const char *name = connection_refusal(l->calls, &parameters);
        bool wish = l->asked == ASKED_WISH;
        char *text = wish ? refusal_to_text(name, parameters) : NULL;

        (void) take_reply(l, NULL, NULL, now, 0);
        if (wish)
                set_notice(l, text);
}

static int read_replies(TopLink *l, TopModel *m, nsec_t now, usec_t wall) {
        while (l->calls && l->asked != ASKED_NOTHING) {
                _cleanup_json_ json_object *reply = NULL;
                bool continues;
                int r = connection_try_next(l->calls, &reply, &continues);

                if (r == -EAGAIN)
                        break;
                if (r > 0) {
                        refuse(l, now);
                        continue;
                }
                r = r < 0 ? r : take_reply(l, m, reply, now, wall);
                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        lose(l, r, now);
        }
        if (!l->calls || l->asked == ASKED_NOTHING)
                return 0;
        if (now - l->asked_at > DEAD_NSEC)
                lose(l, -ETIMEDOUT, now);
        else if (now - l->asked_at > SLOW_NSEC)
                l->trouble = "the daemon does not answer";
        return 0;
}

static void ask(TopLink *l, nsec_t now) {
        if (!l->calls || l->asked != ASKED_NOTHING)
                return;
        if (l->method)
                post(l, ASKED_WISH, l->method, TAKE_PTR(l->parameters), now);
        else if (now >= l->refresh_at)
                post(l, ASKED_SESSIONS, "ListSessions", NULL, now);
}

static void reconnect(TopLink *l, nsec_t now) {
        int r;

        if (l->calls || now < l->connect_at)
                return;
        r = connection_new(l->socket, &l->calls);
        if (r < 0) {
                lose(l, r, now);
                return;
        }
        l->refresh_at = l->stream_at = now;
        l->stream_over = false;
}

int top_link_call(TopLink *l, const char *method, json_object *parameters, const char *done) {
        if (l->method || !l->calls) {
                json_object_put(parameters);
                return l->method ? -EBUSY : -ENOTCONN;
        }
        l->method = strdup(method);
        l->done = strdup(done);
        l->parameters = parameters;
        if (!l->method || !l->done) {
                drop_wish(l);
                return -ENOMEM;
        }
        return 0;
}

/* ---- the stream ---- */

static int follow_selection(TopLink *l, const TopModel *m, nsec_t now) {
        const TopSession *s = top_model_selected(m);
        char *id = NULL;

        if (str_equal(l->streamed, s ? s->view.id : NULL))
                return 0;
        if (s && !(id = strdup(s->view.id)))
                return -ENOMEM;
        close_stream(l);
        free(l->streamed);
        l->streamed = id;
        l->stream_over = false;
        l->stream_at = now + SETTLE_NSEC;
        return 0;
}

static int open_stream(TopLink *l, nsec_t now, usec_t wall) {
        _cleanup_json_ json_object *o = NULL;
        int r;

        if (!l->calls || l->stream || !l->streamed || l->stream_over || now < l->stream_at)
                return 0;
        o = json_object_new_object();
        if (!o || json_add_text(o, "session", l->streamed) < 0 ||
            json_add_bool(o, "follow", true) < 0 ||
            json_add_time(o, "since", wall > LOOK_BACK_USEC ? wall - LOOK_BACK_USEC : 0) < 0)
                return -ENOMEM;
        l->stream_at = now + RETRY_NSEC;
        r = connection_new(l->socket, &l->stream);
        r = r < 0 ? r : connection_post(l->stream, "GetOperations", TAKE_PTR(o), /* more= */ true);
        if (r < 0)
                close_stream(l);
        return r == -ENOMEM ? r : 0;
}

static int read_stream(TopLink *l, TopModel *m) {
        l->stream_full = false;
        for (unsigned i = 0; l->stream; i++) {
                _cleanup_json_ json_object *reply = NULL;
                bool continues = true;
                int r;

                if (i == MESSAGES_MAX) {
                        l->stream_full = true;
                        return 0;
                }
                r = connection_try_next(l->stream, &reply, &continues);
                if (r == -EAGAIN)
                        return 0;
                l->stream_over = r > 0 || (r == 0 && !continues);
                r = r != 0 ? r : top_model_take_operations(m, reply);
                if (r == -ENOMEM)
                        return r;
                if (r < 0 || l->stream_over)
                        close_stream(l);
        }
        return 0;
}

int top_link_work(TopLink *l, TopModel *m, nsec_t now, usec_t wall) {
        int r;

        reconnect(l, now);
        ask(l, now);
        r = read_replies(l, m, now, wall);
        ask(l, now);
        r = r < 0 ? r : follow_selection(l, m, now);
        r = r < 0 ? r : open_stream(l, now, wall);
        return r < 0 ? r : read_stream(l, m);
}
