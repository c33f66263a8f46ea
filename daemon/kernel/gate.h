/* SPDX-License-Identifier: MIT */
/*
 * What both gates share: the seccomp guard of a run (guard.h) and the held opens of a watch (hold.h). A gate thread describes each
 * held call as an Attempt and asks `judge`, in its own thread; what is decided there is answered at once. What needs a
 * person, a copy or a kill goes to the event loop as an attempt "to be answered", and comes back by gate_answer().
 *
 * Every held call is answered exactly once: by the judge, by gate_answer(), or by the deadline, whichever is first; the
 * others find that it has been answered and do nothing. If all else fails the kernel lets the call go when the descriptor
 * is closed.
 */
#ifndef MOUNTWATCH_KERNEL_GATE_H
#define MOUNTWATCH_KERNEL_GATE_H

#include "daemon/core/access.h"

#define GATE_PENDING_MAX \
        1024 /* calls held at a time for one gate; one more is answered by the fallback at once, and told */

typedef struct Attempt {
        struct Attempt *next;
        uint64_t id; /* unique in this daemon */
        pid_t pid;   /* thread group id */
        pid_t tid;   /* the waiting thread */
        char session[17];
        char watch[65];
        Access access;
        Decision decision;
        bool pending; /* waits for gate_answer(); else it has been answered as decision.verb says */
        bool fell_back; /* answered without a decision: the queue was full, or the caller could not be read */
        /* The server may have emptied the file before we were asked: SMB and NFS send "open, create, truncate" as one request. That it
         * is refused, or kept, is then not to be claimed. */
        bool too_late;
        nsec_t since; /* CLOCK_MONOTONIC */
        usec_t at;
} Attempt;

Attempt *attempt_free(Attempt *a);

/* Called in a gate thread: must not block, log, or open a file outside /proc. Fills a->session (when the caller is in one),
 * a->watch, a->decision. Returns false when the caller is in no session or the path in no watch: then it is let, and nobody is told. */
typedef bool (*gate_judge_t)(Attempt *a, void *userdata);
/* Called in a gate thread: takes ownership. Every attempt that was not simply let is told, pending ones first of all. */
typedef void (*gate_tell_t)(Attempt *a, void *userdata);

typedef struct GateHooks {
        gate_judge_t judge;
        gate_tell_t tell;
        void *userdata;
} GateHooks;

#endif
