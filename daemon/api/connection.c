/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utlist.h>

#include "daemon/api/call.h"

#define READ_SIZE (64 * 1024)
#define IOVEC_MAX 16
#define CALLS_PER_TURN 32 /* a long pipeline takes turns with the other sources of the loop */

static bool connection_reads(const Connection *c) {
        return !c->call && !c->at_end && !c->closing && !c->broken && !c->unread &&
                c->n_pending < API_STREAM_LOW;
}

/* Can calls that have been read already be run? */
static bool connection_runs(const Connection *c) {
        return c->unread && !c->call && !c->closing && !c->broken && c->n_pending < API_STREAM_LOW;
}

/* All is said: the peer sends nothing more, or nothing that we would read, and has got its answers. */
static bool connection_is_over(const Connection *c) {
        return !c->call && !c->output && (c->closing || (c->at_end && !c->unread));
}

/* Sets what the loop waits for to what the connection can use; hang-ups are always told. */
static int connection_update(Connection *c) {
        uint32_t events =
                (connection_reads(c) ? EPOLLIN : 0) | (c->output && !c->broken ? EPOLLOUT : 0);
        bool more = connection_runs(c) || connection_is_over(c);
        int r;

        r = sd_event_source_set_enabled(c->on_more, more ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
        if (r < 0)
                return r;
        return sd_event_source_set_io_events(c->on_io, events);
}

/* Ends the connection from below a method: the hang-up event does the rest. */
static void connection_break(Connection *c) {
        c->broken = true;
        (void) shutdown(c->fd, SHUT_RDWR);
}

static void output_free(Output *o) {
        free(o->data);
        free(o);
}

int connection_send(Connection *c, char *data, size_t size, bool may_drop) {
        _cleanup_free_ char *taken = data;
        Output *o;

        if (c->broken)
                return 0;
        if (c->n_pending + size > API_QUEUE_MAX) {
                if (!may_drop)
                        connection_break(c);
                return -ENOBUFS;
        }
        o = data ? calloc(1, sizeof *o) : NULL;
        if (!o) {
                if (!may_drop)
                        connection_break(c);
                return -ENOMEM;
        }
        *o = (Output){.size = size, .data = TAKE_PTR(taken)};
        if (c->output)
                c->output_last->next = o;
        else
                c->output = o;
        c->output_last = o;
        c->n_pending += size;
        c->above_low = c->above_low || c->n_pending >= API_STREAM_LOW;
        if (!c->dispatching && connection_update(c) < 0)
                connection_break(c);
        return 0;
}

void connection_call_done(Connection *c) {
        c->call = NULL;
        if (!c->dispatching && connection_update(c) < 0)
                connection_break(c);
}

static void connection_sent(Connection *c, size_t n) {
        Output *o = c->output;

        c->n_pending -= n;
        while (o && n >= o->size - o->sent) {
                n -= o->size - o->sent;
                c->output = o->next;
                output_free(o);
                o = c->output;
        }
        if (o)
                o->sent += n;
        else
                c->output_last = NULL;
}

/* Writes what the socket takes without waiting. */
static int connection_write(Connection *c) {
        while (c->output) {
                struct iovec iov[IOVEC_MAX];
                struct msghdr header = {.msg_iov = iov};
                ssize_t n;

                for (Output *o = c->output; o && header.msg_iovlen < IOVEC_MAX; o = o->next)
                        iov[header.msg_iovlen++] = (struct iovec){.iov_base = o->data + o->sent,
                                                                  .iov_len = o->size - o->sent};
                n = sendmsg(c->fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
                if (n < 0)
                        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
                connection_sent(c, (size_t) n);
        }
        return 0;
}

/* The one answer that belongs to no call. */
static void connection_refuse_size(Connection *c) {
        json_object *p = json_object_new_object();
        char *data = NULL;
        size_t size = 0;

        if (p) {
                json_object_object_add(p, "limit", json_object_new_string("message size"));
                json_object_object_add(p, "max", json_object_new_int64(VARLINK_MESSAGE_MAX));
        }
        if (varlink_format_error(MOUNTWATCH_INTERFACE ".LimitReached", p, &data, &size) == 0)
                (void) connection_send(c, data, size, /* may_drop= */ false);
        c->closing = true;
}

static int connection_read(Connection *c) {
        char buffer[READ_SIZE];
        ssize_t n = recv(c->fd, buffer, sizeof buffer, MSG_DONTWAIT);
        int r;

        if (n < 0)
                return errno == EAGAIN || errno == EINTR ? 0 : -errno;
        if (n == 0) {
                c->at_end = true;
                return 0;
        }
        r = varlink_reader_feed(&c->reader, buffer, (size_t) n);
        if (r == -EMSGSIZE) {
                connection_refuse_size(c);
                return 0;
        }
        c->unread = true;
        return r;
}

/* Runs calls that have been read, until one of them takes its time. */
static int connection_run(Connection *c) {
        for (unsigned n = 0; n < CALLS_PER_TURN; n++) {
                json_object *message = NULL;
                int r;

                if (!connection_runs(c))
                        return 0;
                r = varlink_reader_next(&c->reader, &message);
                if (r > 0)
                        r = call_dispatch(c, message);
                else if (r == 0)
                        c->unread = false;
                if (r == -EBADMSG) /* what was asked before is answered still */
                        c->closing = true;
                else if (r < 0)
                        return r;
        }
        return 0;
}

/* Everything that can be done now, in the order that lets each step profit from the one before. Negative: the connection is of
 * no use any more. */
static int connection_turn(Connection *c, uint32_t events) {
        int r;

        if (events & EPOLLOUT) {
                r = connection_write(c);
                if (r < 0)
                        return r;
                if (c->above_low && c->n_pending < API_STREAM_LOW) {
                        c->above_low = false;
                        if (c->call)
                                call_drained(c->call);
                }
        }
        /* a hang-up also counts as readable: what the peer sent before it went away is carried out */
        if (connection_reads(c) && events & (EPOLLIN | EPOLLHUP)) {
                r = connection_read(c);
                if (r < 0)
                        return r;
        }
        r = connection_run(c);
        if (r < 0)
                return r;
        /* after a hang-up nobody reads answers, but what was sent before it is carried out as far as it goes */
        if (events & (EPOLLHUP | EPOLLERR) && !connection_reads(c) && !connection_runs(c))
                return -EPIPE;
        return connection_is_over(c) ? -EPIPE : 0;
}

static void connection_dispatch(Connection *c, uint32_t events) {
        int r;

        c->dispatching = true;
        r = connection_turn(c, events);
        c->dispatching = false;
        if (r >= 0)
                r = connection_update(c);
        if (r < 0)
                (void) connection_free(c);
}

static int connection_on_io(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        connection_dispatch(userdata, events);
        return 0;
}

static int connection_on_more(sd_event_source *source, void *userdata) {
        connection_dispatch(userdata, 0);
        return 0;
}

int connection_new(ApiServer *s, int fd, const Peer *peer, Connection **ret) {
        Connection *c = calloc(1, sizeof *c);
        int r;

        if (!c)
                return -ENOMEM;
        *c = (Connection){.server = s, .fd = -1, .peer = *peer};
        varlink_reader_init(&c->reader, VARLINK_MESSAGE_MAX);
        DL_APPEND(s->connections, c);
        s->n_connections++;
        r = sd_event_add_io(s->event, &c->on_io, fd, EPOLLIN, connection_on_io, c);
        if (r >= 0)
                r = sd_event_add_defer(s->event, &c->on_more, connection_on_more, c);
        if (r >= 0)
                r = sd_event_source_set_enabled(c->on_more, SD_EVENT_OFF);
        if (r < 0) {
                (void) connection_free(c);
                return r;
        }
        (void) sd_event_source_set_description(c->on_io, "api-connection");
        c->fd = fd;
        *ret = c;
        return 0;
}

Connection *connection_free(Connection *c) {
        if (!c)
                return NULL;
        DL_DELETE(c->server->connections, c);
        c->server->n_connections--;
        if (c->call)
                call_detach(TAKE_PTR(c->call));
        sd_event_source_disable_unref(c->on_io);
        sd_event_source_disable_unref(c->on_more);
        for (Output *o = c->output, *next; o; o = next) {
                next = o->next;
                output_free(o);
        }
        varlink_reader_done(&c->reader);
        safe_close(c->fd);
        free(c);
        return NULL;
}
