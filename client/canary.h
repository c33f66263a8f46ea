/* SPDX-License-Identifier: MIT */
/* The proof of what doctor says: a canary file on the watch that sessions try to change, and undo puts back. */
#ifndef MOUNTWATCH_CLIENT_CANARY_H
#define MOUNTWATCH_CLIENT_CANARY_H

#include "client/terminal.h"
#include "client/watch_view.h"

/* Makes the file, lets sessions of its own try, says what became of it, removes all of it. *ret_proved: it was as the matrix says.
 * 0, or a negative errno: there could be no canary, which has been said. */
int canary_prove(const Terminal *t, const char *socket, const WatchView *w, bool *ret_proved);

#endif
