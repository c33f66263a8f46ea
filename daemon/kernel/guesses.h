/* SPDX-License-Identifier: MIT */
/*
 * What the ground shows to have happened, with no event for it yet. It is kept until the events that wait have been read: what they
 * tell, with its author, is taken off; the rest is told as a conclusion.
 */
#ifndef MOUNTWATCH_KERNEL_GUESSES_H
#define MOUNTWATCH_KERNEL_GUESSES_H

#include "daemon/core/change.h"

typedef struct Guesses Guesses;

int guesses_new(Guesses **ret);
Guesses *guesses_free(Guesses *g);
DEFINE_CLEANUP(Guesses *, guesses_free)

bool guesses_is_empty(const Guesses *g);
/* Takes what is inside, always; instead of an earlier one of that operation and path. The path may be NULL: -ENOMEM. */
int guesses_consume(Guesses *g, Change *c);
void guesses_drop(Guesses *g, OpType op, const char *path);
/* This was told by an event. */
void guesses_explain(Guesses *g, const Change *told);
/* The creation of the path or of a directory above it, upper ones first: it must have come before what is told of the path
 * now. False when there is none. The caller owns what is inside. */
bool guesses_take_creation(Guesses *g, const char *path, Change *ret);
/* The oldest. */
bool guesses_take(Guesses *g, Change *ret);

#endif
