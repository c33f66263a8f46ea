/* SPDX-License-Identifier: MIT */
/*
 * The queue of notes between a watch thread, which puts, and the event loop, which takes. Bounded: a thread that is too far
 * ahead waits, and what it does not read stays in the kernel's queue. Nothing is dropped here.
 */
#ifndef MOUNTWATCH_KERNEL_NOTES_H
#define MOUNTWATCH_KERNEL_NOTES_H

#include "daemon/kernel/watcher.h"

#include <pthread.h>

typedef struct Notes {
        pthread_mutex_t lock;
        pthread_cond_t taken;
        int eventfd; /* readable when notes wait */
        Note *head, *tail;
        size_t n;
        bool closed; /* nobody takes any more: what is put is freed */
        /* The thread's own, not yet published. */
        Note *batch_head, *batch_tail;
        size_t batch_n;
} Notes;

int notes_init(Notes *q);
void notes_done(Notes *q);

/* All but NOTE_STATE are allocated without the status at their end. NULL when out of memory. */
Note *note_new(NoteType type);
/* By the thread: collects, and hands over what was collected. notes_publish() may wait. Takes n. */
void notes_put(Notes *q, Note *n);
void notes_publish(Notes *q);
/* By the loop. */
Note *notes_take(Notes *q);
void notes_close(Notes *q);

#endif
