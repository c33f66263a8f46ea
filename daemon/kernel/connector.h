/* SPDX-License-Identifier: MIT */
/*
 * The process events connector (cn_proc): fork, exec, uid and exit of every process of the machine, in order.
 *
 * The kernel queues the fork message before the child runs, so whoever drains the connector before looking up the author
 * of a file event always finds it. A thread of raised priority drains the socket and reads /proc at each exec, because a
 * short-lived process is gone a millisecond later; connector_take() drains what is left itself and hands all over.
 */
#ifndef MOUNTWATCH_KERNEL_CONNECTOR_H
#define MOUNTWATCH_KERNEL_CONNECTOR_H

#include "daemon/core/process.h"

typedef struct Connector Connector;

typedef enum ProcEventType {
        PROC_FORK, /* pid is the child, parent its parent; threads are filtered out */
        PROC_EXEC,
        PROC_UID,
        PROC_EXIT,
        PROC_LOST, /* ENOBUFS: messages were dropped; rebuild from /proc */
} ProcEventType;

typedef struct ProcEvent {
        ProcEventType type;
        pid_t pid, parent;
        nsec_t at;
        uint64_t start_ticks;   /* PROC_FORK, computed from `at` */
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
 * message in it), 0 for messages of no interest, -EBADMSG for garbage. Details are not read here. */
int connector_parse(const void *data, size_t size, ProcEvent *ret, size_t n_max);

/* Subscribes and starts the thread. -EPERM without CAP_NET_ADMIN, -ENOENT when the kernel has no connector. Does
 * not return before the kernel has confirmed the subscription. */
int connector_new(Connector **ret);
Connector *connector_free(Connector *c);
DEFINE_CLEANUP(Connector *, connector_free)

/* An eventfd, readable when events wait. */
int connector_fd(const Connector *c);
/* Drains the socket, then hands over everything in order. */
int connector_take(Connector *c, ProcEvents *ret);

#endif
