/* SPDX-License-Identifier: MIT */
/*
 * What was read from a fanotify descriptor and is being worked on: the records of one read(), and of further ones while
 * somebody needs to look ahead. Pidfds are looked at and closed here; a descriptor of an object stays in its record and is
 * closed by batch_read() and batch_done().
 */
#ifndef MOUNTWATCH_KERNEL_BATCH_H
#define MOUNTWATCH_KERNEL_BATCH_H

#include "daemon/kernel/fan_decode.h"

/* A read that brings so many records is one of a burst: what each of them costs is taken from the process that is watched. */
#define BATCH_BURST 8

typedef struct Record {
        FanRecord fan;
        uint64_t at_id, to_id, child_id; /* fan_handle_id() of the three handles */
        bool author_gone;                /* reaped before the record was read */
        bool done;                       /* was worked on together with an earlier one */
        bool burst;                      /* many came with it */
        uint32_t
                put_off; /* one more than the index of a record whose deletion comes after this one; 0 none */
        uint32_t put_off_next; /* the same, of the record that was put off: what comes after that */
        nsec_t not_before, read_at;
        usec_t at;
} Record;

/* A power of two; more records than that are rarely in one batch. */
#define BATCH_SLOTS 4096

typedef struct Batch {
        int fd; /* not owned */
        unsigned char *buffer;
        size_t used;
        Record *records;
        size_t n, allocated;
        nsec_t empty_at; /* CLOCK_MONOTONIC, before a read that found the queue's end */
        usec_t empty_at_wall;
        bool drained; /* the last read left nothing behind */
        bool burst;   /* the last read brought at least BATCH_BURST */
        uint32_t *
                mentioned; /* one more than the last record with such an id, of the object or of a directory */
} Batch;

nsec_t clock_nsec(void); /* CLOCK_MONOTONIC */
usec_t clock_usec(void); /* CLOCK_REALTIME */

int batch_init(Batch *b, int fd);
void batch_done(Batch *b);
/* Forgets the records and reads once. Returns 1 when there is something, 0 when the queue is empty, or what read() failed
 * with (one event is lost then, the next call goes on); -EBADMSG: what came was no sequence of records. */
int batch_read(Batch *b);
/* The same, but adds to the records. 0 as well when there is no room. Records move: indices stay, pointers do not. */
int batch_read_more(Batch *b);

/* Adds one that was decoded elsewhere, and takes its descriptor of the object. The pointer is good until the next is added. -ENOMEM. */
int batch_add(Batch *b, const FanRecord *fan, Record **ret);

/*
 * The last record after this one that is about the same object under the same name, or about a name in it; 0 when there is none.
 * Reads on when there is more in the queue.
 */
size_t batch_find_later(Batch *b, size_t i);
/* The deletion of record i comes after record k. What is in a directory goes before the directory. */
void batch_put_off(Batch *b, size_t i, size_t k);

#endif
