/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include <utlist.h>

#include "client/agent_calls.h"
#include "client/channel.h"
#include "client/refusal.h"

typedef struct Running Running;

struct AgentCalls {
        sd_event *event;
        const char *socket_path;
        AgentCallsHandler handler;
        void *userdata;
        Running *running;
};

struct Running {
        Running *prev, *next;
        AgentCalls *calls;
        Channel *channel;
        AgentCall call;
};

static void running_free(Running *w) {
        DL_DELETE(w->calls->running, w);
        (void) channel_free(w->channel);
        free(w->call.session);
        free(w);
}

AgentCalls *agent_calls_free(AgentCalls *s) {
        if (!s)
                return NULL;
        while (s->running)
                running_free(s->running);
        (void) sd_event_unref(s->event);
        free(s);
        return NULL;
}

int agent_calls_new(sd_event *event, const char *socket_path, AgentCallsHandler handler,
                    void *userdata, AgentCalls **ret) {
        AgentCalls *s = calloc(1, sizeof *s);

        if (!s)
                return -ENOMEM;
        s->event = sd_event_ref(event);
        s->socket_path = socket_path;
        s->handler = handler;
        s->userdata = userdata;
        *ret = s;
        return 0;
}

/* Somebody else was faster, or the process is gone. */
static bool is_moot(const char *refusal) {
        return str_equal(refusal, MOUNTWATCH_INTERFACE ".NoSuchHeld") ||
                str_equal(refusal, MOUNTWATCH_INTERFACE ".NoSuchSession") ||
                str_equal(refusal, MOUNTWATCH_INTERFACE ".SessionEnded");
}

static void tell(const AgentCalls *s, const Running *w, const ChannelReply *reply) {
        _cleanup_free_ char *trouble = NULL;

        if (reply->result == 0)
                return;
        if (!is_moot(reply->refusal)) {
                trouble = reply->result > 0 ? refusal_to_text(reply->refusal, reply->parameters)
                                            : connection_explain(s->socket_path, reply->result);
                if (!trouble)
                        return;
        }
        s->handler(s->userdata, &w->call, trouble);
}

static void on_reply(void *userdata, const ChannelReply *reply) {
        Running *w = userdata;

        if (!reply->last)
                return;
        tell(w->calls, w, reply);
        running_free(w);
}

static const char *answer_of(Button button) {
        switch (button) {
        case BUTTON_ALLOW:
                return "allow_once";
        case BUTTON_KILL:
                return "kill";
        default: /* what is no answer must not let anything pass */
                return "deny";
        }
}

static int make_parameters(Button button, const Bubble *b, json_object **ret) {
        _cleanup_json_ json_object *o = json_object_new_object();
        int r;

        if (!o)
                return -ENOMEM;
        if (b->kind == BUBBLE_HELD) {
                r = json_add_int(o, "id", b->held);
                r = r < 0 ? r : json_add_text(o, "answer", answer_of(button));
        } else
                r = json_add_text(o, "id", b->session);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(o);
        return 0;
}

static const char *method_of(Button button, const Bubble *b) {
        switch (button) {
        case BUTTON_ALLOW:
        case BUTTON_DENY:
        case BUTTON_KILL:
                return b->kind == BUBBLE_HELD ? "Decide" : NULL;
        case BUTTON_THAW:
                return b->session ? "ThawSession" : NULL;
        case BUTTON_KILL_SESSION:
                return b->session ? "KillSession" : NULL;
        case BUTTON_REPORT:
        case _BUTTON_MAX:
                break;
        }
        return NULL;
}

int agent_calls_make(AgentCalls *s, Button button, const Bubble *b) {
        const char *method = method_of(button, b);
        json_object *parameters;
        ChannelReply failed = {.last = true};
        Running *w;
        int r;

        if (!method)
                return -EINVAL;
        r = make_parameters(button, b, &parameters);
        if (r < 0)
                return r;
        w = calloc(1, sizeof *w);
        if (w) {
                w->calls = s;
                w->call.held = b->kind == BUBBLE_HELD ? b->held : 0;
                w->call.session = b->session ? strdup(b->session) : NULL;
                DL_APPEND(s->running, w);
        }
        if (!w || (b->session && !w->call.session)) {
                json_object_put(parameters);
                if (w)
                        running_free(w);
                return -ENOMEM;
        }
        failed.result = channel_new(s->event, s->socket_path, method, parameters, /* more= */ false,
                                    on_reply, w, &w->channel);
        if (failed.result < 0)
                on_reply(w, &failed);
        return 0;
}
