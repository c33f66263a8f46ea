/* SPDX-License-Identifier: MIT */
/* One call, from its message to its last answer. */
#ifndef MOUNTWATCH_API_CALL_H
#define MOUNTWATCH_API_CALL_H

#include "daemon/api/connection.h"

struct ApiCall {
        unsigned n_ref;
        Connection *connection; /* NULL: answered, or the peer has gone */
        Peer peer;              /* a copy: methods may look at it after the connection's end */
        json_object *message;   /* what the parameters are borrowed from */
        bool oneway, more, gone;
        void (*on_drained)(ApiCall *c, void *userdata);
        void *userdata;
};

/* Runs the call in `message` (taken). -EBADMSG: it is none. */
int call_dispatch(Connection *c, json_object *message);
/* The peer takes no answer any more. */
void call_detach(ApiCall *c);
/* Some output is out. */
void call_drained(ApiCall *c);

#endif
