/* SPDX-License-Identifier: MIT */
/*
 * A stream: one GetOperations call that is being answered. First what the store has, page by page as fast as the peer reads;
 * then, with `follow`, each new operation as it comes. A peer that reads too slowly is told how many it missed.
 */
#ifndef MOUNTWATCH_STREAM_H
#define MOUNTWATCH_STREAM_H

#include "daemon/manager.h"

typedef struct StreamRequest {
        char *session; /* NULL: of all that the peer may see. Owned by the stream, like watch */
        char *watch;
        bool untagged; /* of the session's time, instead of its own */
        usec_t since;
        bool follow;
        uid_t uid; /* only what belongs to this user; (uid_t) -1: everything */
} StreamRequest;

/* Takes what is inside the request; answers the call to its end. */
int stream_start(Manager *m, ApiCall *call, StreamRequest *request);
void stream_request_done(StreamRequest *r);

void stream_publish(Manager *m, const Operation *op, const Image *author);
/* The session has ended: who follows it gets the last reply. */
void stream_session_ended(Manager *m, const char *id);
size_t stream_count(Manager *m);
void stream_free_all(Manager *m);

#endif
