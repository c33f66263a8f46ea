/* SPDX-License-Identifier: MIT */
/*
 * A change: what a watch thread makes of kernel events. It has names and a pid, and knows nothing of sessions.
 * The attribution (attribution.h) turns it into an Operation.
 */
#ifndef MOUNTWATCH_CORE_CHANGE_H
#define MOUNTWATCH_CORE_CHANGE_H

#include "common/operation.h"

typedef struct Change {
        OpType op;
        ObjectKind kind;
        char *path; /* owned; absolute, below the watch's configured path */
        char *from; /* owned or NULL */
        char *to;   /* owned or NULL */
        uint64_t
                object; /* identity of the changed object (a hash of its file handle); 0 is "unknown" */
        bool replaced;
        bool linked;   /* OP_CREATE: a hard link, the object was there before under another name */
        bool inferred; /* the author was concluded, not told by the kernel */
        pid_t pid;     /* thread group id from the event; 0 is "unknown" */
        bool author_gone; /* the author had been reaped before the event was read: a living process with this
                             number is somebody else */
        nsec_t not_before; /* the event happened between these two moments: the queue was last seen empty, */
        nsec_t read_at; /* and the event was read */
        usec_t at; /* wall clock at reading; later than that of the change before it, but for the second half of an
                      exchange, which shares that of the first (common/net.h) */
} Change;

void change_done(Change *c);

#endif
