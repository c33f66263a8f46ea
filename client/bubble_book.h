/* SPDX-License-Identifier: MIT */
/*
 * Which bubble stands for what: takes what the daemon says, and marks bubbles as stale (to be shown), or over (to be closed).
 * Pure, as bubble.h. Whoever has carried a mark out says so in the bubble.
 */
#ifndef MOUNTWATCH_CLIENT_BUBBLE_BOOK_H
#define MOUNTWATCH_CLIENT_BUBBLE_BOOK_H

#include "client/bubble.h"

#define BOOK_ALERTS_MAX 32 /* beyond that the oldest is closed */
#define BOOK_HELD_MAX 5    /* bubbles of calls that wait; one more says how many others do */

/* Reasons of a NotificationClosed. */
enum {
        CLOSED_EXPIRED = 1,
        CLOSED_BY_PERSON = 2,
        CLOSED_BY_CALL = 3,
};

#define BOOK_ANSWERED_MAX 32 /* sessions that are remembered, the latest */

typedef struct BubbleBook {
        Bubble *bubbles; /* in order of their coming */
        char **frozen;   /* sessions */
        struct {
                char *session;
                uint64_t n; /* calls that a person has answered here */
        } answered[BOOK_ANSWERED_MAX];
        size_t next_answered;
} BubbleBook;

void bubble_book_done(BubbleBook *k);

/* These give 0, or -ENOMEM: then what came is not shown, or not as it is now. */
int bubble_book_take_alert(BubbleBook *k, const Alert *a);
/* All that wait, with the command line of each (NULL: unknown); cmdline_of() gives a vector that the book frees. */
int bubble_book_take_held(BubbleBook *k, const HeldView *held, size_t n,
                          char **(*cmdline_of)(pid_t pid));
/* All that are frozen. Takes the vector. */
int bubble_book_take_frozen(BubbleBook *k, char **sessions);
int bubble_book_take_missed(BubbleBook *k, uint64_t n);

/* The daemon is gone, and its calls no longer wait: the next one may give their ids again. */
void bubble_book_lose_daemon(BubbleBook *k);
/* The notification service is gone, and what it showed with it. What still waits is stale then. */
void bubble_book_lose_screen(BubbleBook *k);

Bubble *bubble_book_find(const BubbleBook *k, uint32_t id); /* NULL: none of ours */
void bubble_book_closed(BubbleBook *k, Bubble *b, unsigned reason);
/* The person answers the call of this bubble: what comes of it is no news. */
int bubble_book_answer(BubbleBook *k, const Bubble *b);
/* A button did not do it: NULL as `trouble` means that there is nothing to do any more. */
int bubble_book_answer_failed(BubbleBook *k, Bubble *b, const char *trouble);
/* Forgets what is neither on the screen nor will be. */
void bubble_book_sweep(BubbleBook *k);

#endif
