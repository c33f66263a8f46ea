/* SPDX-License-Identifier: MIT */
/* The rulebook: the watches' specs for gate threads, which look them up by name while the event loop may replace them. */
#ifndef MOUNTWATCH_RULEBOOK_H
#define MOUNTWATCH_RULEBOOK_H

#include "daemon/core/access.h"

typedef struct Rulebook Rulebook;

int rulebook_new(Rulebook **ret);
Rulebook *rulebook_free(Rulebook *b);
DEFINE_CLEANUP(Rulebook *, rulebook_free)
/* Replaces all; keeps references of its own. From the loop. */
int rulebook_set(Rulebook *b, WatchSpec *const *specs, size_t n);
/* From any thread. false: no such watch (any more). `rule` of the decision is not filled: it would dangle. */
bool rulebook_decide(Rulebook *b, const char *watch, const Access *a, const SessionRule *rule,
                     Decision *ret);

#endif
