/* SPDX-License-Identifier: MIT */
/*
 * The processes that an endless stream has named, in bounded memory: two generations, and what is asked for moves to the younger
 * one with all its ancestors, so a process that goes on working is never forgotten.
 */
#ifndef MOUNTWATCH_CLIENT_PROCESS_BOOK_H
#define MOUNTWATCH_CLIENT_PROCESS_BOOK_H

#include "client/process_source.h"

#define PROCESS_BOOK_MAX 50000 /* in one generation */

typedef struct ProcessBook ProcessBook;

int process_book_new(size_t max, ProcessBook **ret);
ProcessBook *process_book_free(ProcessBook *b);
DEFINE_CLEANUP(ProcessBook *, process_book_free)

/* Takes what is inside *p on success; an older entry of the same id is replaced. */
int process_book_take(ProcessBook *b, ProcessInfo *p);
/* To be called for the author of every operation, before it is looked up. */
void process_book_touch(ProcessBook *b, int64_t id);
ProcessSource process_book_source(ProcessBook *b);

#endif
