/* SPDX-License-Identifier: MIT */
/* What the buttons of a bubble ask of the daemon, each on a connection of its own, without waiting. */
#ifndef MOUNTWATCH_CLIENT_AGENT_CALLS_H
#define MOUNTWATCH_CLIENT_AGENT_CALLS_H

#include <systemd/sd-event.h>

#include "client/bubble.h"

typedef struct AgentCalls AgentCalls;

typedef struct AgentCall {
        int64_t held;  /* > 0: the call that was decided on */
        char *session; /* else: the session that was thawed or killed */
} AgentCall;

/* Only when it was not done. `trouble` is the sentence; NULL: there was nothing to do any more. */
typedef void (*AgentCallsHandler)(void *userdata, const AgentCall *call, const char *trouble);

/* `socket_path` must outlive it. */
int agent_calls_new(sd_event *event, const char *socket_path, AgentCallsHandler handler,
                    void *userdata, AgentCalls **ret);
AgentCalls *agent_calls_free(AgentCalls *s);

/* Carries a button of a bubble out: any but BUTTON_REPORT. The handler may be called before this returns. */
int agent_calls_make(AgentCalls *s, Button button, const Bubble *b);

#endif
