/* SPDX-License-Identifier: MIT */
/*
 * Prospects: what could be refused on the watches, for whoever asks while no session runs. Whether opens can be held is found by
 * jobs, since looking may hang; whether the kernel has what a guard needs, at once.
 */
#ifndef MOUNTWATCH_PROSPECT_H
#define MOUNTWATCH_PROSPECT_H

#include "common/matrix.h"
#include "daemon/watched.h"

int prospects_new(Manager *m, Prospects **ret);
Prospects *prospects_free(Prospects *p);
DEFINE_CLEANUP(Prospects *, prospects_free)

/* Looks at every watch again; `done` comes once, when all is known or after `deadline`. */
typedef void (*prospects_done_t)(Manager *m, void *userdata);
int prospects_look(Prospects *p, usec_t deadline, prospects_done_t done, void *userdata);

/* As far as is known. */
void prospects_facts(const Watched *w, MatrixFacts *ret);
const char *prospect_hold_to_string(HoldProspect h);

#endif
