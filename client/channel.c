/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/epoll.h>
#include <time.h>

#include "client/channel.h"
#include "common/json_member.h"

#define CHANNEL_TIMEOUT_USEC (30 * USEC_PER_SEC)

struct Channel {
        Connection *connection;
        sd_event_source *io, *timeout; /* NULL: patient */
        ChannelHandler handler;
        void *userdata;
};

Channel *channel_free(Channel *c) {
        if (!c)
                return NULL;
        (void) sd_event_source_disable_unref(c->io);
        (void) sd_event_source_disable_unref(c->timeout);
        (void) connection_free(c->connection);
        free(c);
        return NULL;
}

/* The handler may free the channel: nothing of it is touched afterwards. */
static void finish(Channel *c, int result) {
        ChannelReply reply = {.result = result, .last = true};

        if (result > 0)
                reply.refusal = connection_refusal(c->connection, &reply.parameters);
        (void) sd_event_source_set_enabled(c->io, SD_EVENT_OFF);
        if (c->timeout)
                (void) sd_event_source_set_enabled(c->timeout, SD_EVENT_OFF);
        c->handler(c->userdata, &reply);
}

static int on_readable(sd_event_source *s, int fd, uint32_t events, void *userdata) {
        Channel *c = userdata;

        for (;;) {
                _cleanup_json_ json_object *parameters = NULL;
                bool continues;
                int r;

                r = connection_try_next(c->connection, &parameters, &continues);
                if (r == -EAGAIN)
                        return 0;
                if (r != 0) {
                        finish(c, r);
                        return 0;
                }
                if (!continues) {
                        (void) sd_event_source_set_enabled(c->io, SD_EVENT_OFF);
                        if (c->timeout)
                                (void) sd_event_source_set_enabled(c->timeout, SD_EVENT_OFF);
                }
                c->handler(c->userdata,
                           &(ChannelReply){.last = !continues, .parameters = parameters});
                if (!continues)
                        return 0;
        }
}

static int on_timeout(sd_event_source *s, uint64_t usec, void *userdata) {
        finish(userdata, -ETIMEDOUT);
        return 0;
}

int channel_new(sd_event *event, const char *socket_path, const char *method,
                json_object *parameters, bool more, ChannelHandler handler, void *userdata,
                Channel **ret) {
        _cleanup_json_ json_object *held = parameters;
        _cleanup_(channel_freep) Channel *c = calloc(1, sizeof *c);
        int r;

        if (!c)
                return -ENOMEM;
        c->handler = handler;
        c->userdata = userdata;
        r = connection_new(socket_path, &c->connection);
        if (r < 0)
                return r;
        r = connection_post(c->connection, method, TAKE_PTR(held), more);
        if (r < 0)
                return r;
        r = sd_event_add_io(event, &c->io, connection_fd(c->connection), EPOLLIN, on_readable, c);
        if (r >= 0 && !more)
                r = sd_event_add_time_relative(event, &c->timeout, CLOCK_MONOTONIC,
                                               CHANNEL_TIMEOUT_USEC, 0, on_timeout, c);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(c);
        return 0;
}
