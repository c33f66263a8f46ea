/* SPDX-License-Identifier: MIT */
/* A report in the person's pager. */
#ifndef MOUNTWATCH_CLIENT_TOP_PAGER_H
#define MOUNTWATCH_CLIENT_TOP_PAGER_H

#include <signal.h>

/* Shows the report of session `id`, `columns` wide, and returns when the pager has ended. `mask`: the signals that the pager is to
 * have blocked. Negative errno. */
int top_pager_show(const char *socket, const char *id, unsigned columns, const sigset_t *mask);

#endif
