/* SPDX-License-Identifier: MIT */
/*
 * The leftover of a refused create: a held open is asked about when the file has been made already, so the watch thread sees it come
 * into being, and the refusal is told beside it, sooner or later than that. It is one attempt, and becomes one row.
 */
#ifndef MOUNTWATCH_LEFTOVER_H
#define MOUNTWATCH_LEFTOVER_H

#include "common/macro.h"

#include <stdbool.h>
#include <sys/types.h>

#define LEFTOVERS_MAX 64 /* remembered of each kind; the oldest goes first */

typedef struct Leftover {
        char *path;
        pid_t pid;
        int64_t seq; /* of the row; 0: no row has been made of it */
} Leftover;

typedef struct Leftovers {
        Leftover made[LEFTOVERS_MAX], refused[LEFTOVERS_MAX];
        unsigned n_made, n_refused;
} Leftovers;

void leftovers_done(Leftovers *l);
/* A create was seen and has this row: 0, or -ENOMEM. */
int leftovers_note_made(Leftovers *l, const char *path, pid_t pid, int64_t seq);
/* A create was refused. The row that was made of it, or 0: it has not been seen yet, and will be expected. */
int64_t leftovers_refuse(Leftovers *l, const char *path, pid_t pid);
/* A create is seen: was it refused? Asked once for each. */
bool leftovers_take_refused(Leftovers *l, const char *path, pid_t pid);

#endif
