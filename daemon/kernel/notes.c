/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/notes.h"

#include <errno.h>
#include <stddef.h>
#include <sys/eventfd.h>

#define NOTES_MAX 200000
#define BATCH_MAX 512 /* then the loop gets something to do */

Note *note_new(NoteType type) {
        Note *n = calloc(1, type == NOTE_STATE ? sizeof(Note) : offsetof(Note, status));

        if (n)
                n->type = type;
        return n;
}

Note *note_free(Note *n) {
        if (!n)
                return NULL;
        change_done(&n->change);
        free(n);
        return NULL;
}

int notes_init(Notes *q) {
        *q = (Notes){.eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
        if (q->eventfd < 0)
                return -errno;
        (void) pthread_mutex_init(&q->lock, NULL);
        (void) pthread_cond_init(&q->taken, NULL);
        return 0;
}

static void list_free(Note *n) {
        Note *next;

        for (; n; n = next) {
                next = n->next;
                note_free(n);
        }
}

void notes_done(Notes *q) {
        list_free(q->head);
        list_free(q->batch_head);
        q->head = q->tail = q->batch_head = q->batch_tail = NULL;
        q->eventfd = safe_close(q->eventfd);
        (void) pthread_cond_destroy(&q->taken);
        (void) pthread_mutex_destroy(&q->lock);
}

void notes_put(Notes *q, Note *n) {
        n->next = NULL;
        if (q->batch_tail)
                q->batch_tail->next = n;
        else
                q->batch_head = n;
        q->batch_tail = n;
        if (++q->batch_n >= BATCH_MAX)
                notes_publish(q);
}

void notes_publish(Notes *q) {
        uint64_t one = 1;
        bool wake;

        if (!q->batch_head)
                return;
        (void) pthread_mutex_lock(&q->lock);
        while (q->n >= NOTES_MAX && !q->closed)
                (void) pthread_cond_wait(&q->taken, &q->lock);
        if (q->closed) {
                (void) pthread_mutex_unlock(&q->lock);
                list_free(q->batch_head);
                q->batch_head = q->batch_tail = NULL;
                q->batch_n = 0;
                return;
        }
        wake = !q->head;
        if (q->tail)
                q->tail->next = q->batch_head;
        else
                q->head = q->batch_head;
        q->tail = q->batch_tail;
        q->n += q->batch_n;
        q->batch_head = q->batch_tail = NULL;
        q->batch_n = 0;
        (void) pthread_mutex_unlock(&q->lock);
        if (wake && write(q->eventfd, &one, sizeof(one)) < 0) {
                /* The counter is full: then it is readable as well. */
        }
}

Note *notes_take(Notes *q) {
        uint64_t count;
        Note *n;

        (void) pthread_mutex_lock(&q->lock);
        if (read(q->eventfd, &count, sizeof(count)) < 0) {
                /* Nothing was signalled; there may be notes all the same. */
        }
        n = q->head;
        q->head = q->tail = NULL;
        q->n = 0;
        (void) pthread_cond_broadcast(&q->taken);
        (void) pthread_mutex_unlock(&q->lock);
        return n;
}

void notes_close(Notes *q) {
        (void) pthread_mutex_lock(&q->lock);
        q->closed = true;
        (void) pthread_cond_broadcast(&q->taken);
        (void) pthread_mutex_unlock(&q->lock);
}
