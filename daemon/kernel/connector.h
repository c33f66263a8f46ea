/* SPDX-License-Identifier: MIT */
/*
 * The process events connector (cn_proc): fork, exec, uid and exit of every process of the machine, in order.
 *
 * The kernel queues the fork message before the child runs, so whoever drains the connector before looking up the author
 * of a file event always finds it. A thread of raised priority drains the socket and reads /proc at each exec, because a
 * short-lived process is gone a millisecond later; connector_take() drains what is left itself and hands all over.
 *
 * What the kernel's words mean: with CLONE_PARENT the parent of a fork is the caller's parent, not the caller. An exec of
 * another thread than the main one ends the main thread first, and is reported here as the exec alone. A main thread
 * that ends before the others is no exit: PROC_EXIT comes when the last thread has gone, stamped when that was noticed.
 */
#ifndef MOUNTWATCH_KERNEL_CONNECTOR_H
#define MOUNTWATCH_KERNEL_CONNECTOR_H

#include "daemon/core/process.h"
#include "daemon/kernel/members.h"

typedef struct Connector Connector;

typedef enum ProcEventType {
        PROC_FORK, /* pid is the child, parent its parent; threads are filtered out */
        PROC_EXEC,
        PROC_UID,
        PROC_EXIT,
        PROC_LOST, /* messages were dropped here (ENOBUFS, or a limit of ours); rebuild from /proc */
} ProcEventType;

typedef struct ProcEvent {
        ProcEventType type;
        pid_t pid, parent;
        nsec_t at;
        /* PROC_FORK, computed from `at`: the one in /proc or, when the kernel was interrupted in between, a little later. */
        uint64_t start_ticks;
        uid_t uid;              /* PROC_UID */
        bool has_details;       /* PROC_EXEC: the process was still there */
        ProcessDetails details; /* PROC_EXEC; the program reference is owned by the event */
} ProcEvent;

typedef struct ProcEvents {
        ProcEvent *items;
        size_t n;
} ProcEvents;

void proc_events_done(ProcEvents *e);

/* Parses one datagram (pure; used by the fuzz target). Returns the number of events appended to `ret` (at most one for each
 * message in it), 0 for messages of no interest, -EBADMSG for garbage. Details and start_ticks are not filled in here. */
int connector_parse(const void *data, size_t size, ProcEvent *ret, size_t n_max);
/* The kernel's answer to the request with `token` (pure): 0 when it was accepted, its negative errno when not, -ENODATA when this
 * datagram is something else. */
int connector_parse_ack(const void *data, size_t size, uint32_t token);

/* Subscribes and starts the thread. -EPERM without CAP_NET_ADMIN, -ENOENT when the kernel has no connector, -ETIMEDOUT when
 * it does not answer (outside the initial pid or user namespace). Does not return before the kernel has confirmed
 * the subscription. */
int connector_new(Connector **ret);
Connector *connector_free(Connector *c);
DEFINE_CLEANUP(Connector *, connector_free)

/* Has forks, execs and exits told to them as they are drained, before anyone else hears of them. NULL ends it. Borrowed. */
void connector_set_members(Connector *c, Members *m);
/* Whatever was in the socket when this was called has been drained, and told to the members, when it returns. From any thread. */
void connector_poke(Connector *c);

/* An eventfd, readable when events wait. */
int connector_fd(const Connector *c);
/* Drains the socket, then hands over everything in order. On failure what waited is kept for the next call. */
int connector_take(Connector *c, ProcEvents *ret);

#endif
