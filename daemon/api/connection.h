/* SPDX-License-Identifier: MIT */
/*
 * One peer: its bytes in, its bytes out, one call at a time.
 *
 * A connection is freed by its own event handlers and by the server, never below a method: whatever a method does, it comes
 * back to a connection that is still there. Nothing is read while a call runs or while the peer owes itself much output, so
 * that pipelined calls wait in the peer's socket buffer and not in our memory.
 */
#ifndef MOUNTWATCH_API_CONNECTION_H
#define MOUNTWATCH_API_CONNECTION_H

#include "daemon/api/server.h"

typedef struct Output {
        struct Output *next;
        size_t size, sent;
        char *data;
} Output;

struct Connection {
        Connection *prev, *next;
        ApiServer *server;
        int fd;
        sd_event_source *on_io;
        sd_event_source *on_more; /* goes on with calls that have been read already */
        Peer peer;
        VarlinkReader reader;
        Output *output, *output_last;
        size_t n_pending;
        ApiCall *
                call; /* running; a reference of the dispatcher's or the method's keeps it, not this one */
        bool above_low; /* n_pending has been above API_STREAM_LOW */
        bool unread;    /* the reader may hold complete calls */
        bool at_end;    /* the peer sends nothing more */
        bool closing;   /* nothing more is read; closed as soon as the output is out */
        bool broken;    /* shut down; closed by the hang-up event that follows */
        bool dispatching;
};

/* Takes the descriptor on success. */
int connection_new(ApiServer *s, int fd, const Peer *peer, Connection **ret);
Connection *connection_free(Connection *c);

/* Queues the bytes (taken, on failure too). `may_drop`: -ENOBUFS when the peer owes too much; otherwise it is then cut off. */
int connection_send(Connection *c, char *data, size_t size, bool may_drop);
/* The running call has got its last answer. */
void connection_call_done(Connection *c);

#endif
