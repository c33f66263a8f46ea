/* SPDX-License-Identifier: MIT */
/* One call on an event loop: the connection is made for it, and its replies come to a handler. */
#ifndef MOUNTWATCH_CLIENT_CHANNEL_H
#define MOUNTWATCH_CLIENT_CHANNEL_H

#include <systemd/sd-event.h>

#include "client/connection.h"

typedef struct Channel Channel;

typedef struct ChannelReply {
        int result; /* 0; CONNECTION_E_REFUSED; or a negative errno, connection_explain() has the sentence */
        bool last; /* nothing comes after this one */
        json_object
                *parameters; /* of the reply, or of the refusal (there it may be NULL); borrowed */
        const char *refusal; /* full name of the error; borrowed */
} ChannelReply;

/* May free the channel at the last reply, and not before. */
typedef void (*ChannelHandler)(void *userdata, const ChannelReply *reply);

/* Calls. With `more` it is patient; else -ETIMEDOUT comes after half a minute. Consumes `parameters` (may be NULL). Errors as of
 * connection_new(). */
int channel_new(sd_event *event, const char *socket_path, const char *method,
                json_object *parameters, bool more, ChannelHandler handler, void *userdata,
                Channel **ret);
/* Hangs up. */
Channel *channel_free(Channel *c);
DEFINE_CLEANUP(Channel *, channel_free)

#endif
