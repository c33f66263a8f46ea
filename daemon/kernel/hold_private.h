/* SPDX-License-Identifier: MIT */
/*
 * The two threads of a hold share this. The answering thread reads events and answers; it touches nothing but /proc and what the
 * kernel has opened for it. The placing thread touches the filesystem: it probes, places marks, follows new directories
 * and takes away what refused creates have left.
 */
#ifndef MOUNTWATCH_KERNEL_HOLD_PRIVATE_H
#define MOUNTWATCH_KERNEL_HOLD_PRIVATE_H

#include "daemon/kernel/hold.h"
#include "daemon/kernel/hold_made.h"

#include <pthread.h>
#include <stdatomic.h>

/* An open that waits for hold_answer() or its deadline. */
typedef struct Pending {
        struct Pending *prev, *next;
        int fd; /* of the event: names it to the kernel */
        Made made;
        Attempt told; /* a copy for the deadline's word; owns the path, nothing else */
} Pending;

/* What a refused create has left behind. */
typedef struct Leftover {
        struct Leftover *next;
        Made made;
        char path[]; /* in our view */
} Leftover;

#define HOLD_CLOSING_MAX (2 * GATE_PENDING_MAX)

struct Hold {
        atomic_uint n_ref; /* the owner and the threads; a hung thread outlives the hold */
        char *watch, *path;
        WatchSites *sites;
        usec_t deadline;
        Pulses *pulses; /* or NULL */
        usec_t patience;
        int group;                   /* fanotify */
        int state_event;             /* readable when the state has changed */
        int answer_wake, place_wake; /* eventfds of the threads */
        atomic_bool stop;
        atomic_bool placed; /* the placing thread is over: no mark will come */
        atomic_uint_fast64_t lapses;
        pthread_t answer_thread;

        Creations creations;
        atomic_size_t n_made; /* files that may be removed again, of those that follow */

        pthread_mutex_t use;  /* held while one of these is used: not after hold_free() */
        Members *members;     /* borrowed; NULL once closed */
        Connector *connector; /* borrowed, may be NULL */
        GateHooks hooks;

        pthread_mutex_t lock; /* guards what follows */
        int state;
        char reason[256];
        Pending *pending; /* oldest first: so are the deadlines */
        atomic_size_t n_pending;
        size_t max_pending;
        uint64_t next_id;
        Leftover *leftovers;
        size_t n_leftovers;
        int closing[HOLD_CLOSING_MAX]; /* answered */
        size_t n_closing;
};

Hold *hold_unref(Hold *h);
DEFINE_CLEANUP(Hold *, hold_unref)
void hold_wake(int eventfd);
void hold_set_state(Hold *h, int state, const char *reason);
/* What hold_answer_main() is given, and frees; NULL: no memory. */
void *hold_answerer_new(Hold *h);
void *hold_answerer_free(void *answerer);
void *hold_answer_main(void *answerer);
void *hold_place_main(void *hold);

/* hold_pending.c */

/* Answers the kernel, no more: closing may hang (FUSE asks its server), and callers have locks. Then hold_close_later(). */
void hold_respond(Hold *h, int fd, bool let);
/* With `lock` held. */
void hold_close_later(Hold *h, int fd);
/* In the answering thread, without a lock. */
void hold_close_all(Hold *h);
/* Answers by refusal, has fd closed, and what the call has made taken away. `path` in our view. */
void hold_refuse(Hold *h, int fd, const Made *made, const char *path);
/* Takes a and fd. Answered at once, as a fallback, when too many wait. With `use` held. */
void hold_pend(Hold *h, Attempt *a, int fd, const Made *made);
/* Answers those whose time is over. Returns milliseconds until the next is, -1 for none. With `use` held. */
int hold_expire(Hold *h);
/* Somebody's open of fd has been let: if a waiting call has made that file, it is no longer that call's alone. */
void hold_keep_opened(Hold *h, int fd);
/* All of them are let. */
void hold_let_all(Hold *h);

#endif
