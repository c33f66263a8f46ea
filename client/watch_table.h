/* SPDX-License-Identifier: MIT */
/* Watches as a table for people. */
#ifndef MOUNTWATCH_CLIENT_WATCH_TABLE_H
#define MOUNTWATCH_CLIENT_WATCH_TABLE_H

#include "client/terminal.h"
#include "client/watch_view.h"

/* -ENOMEM. */
int watch_table_print(const Terminal *t, const WatchViews *watches);

#endif
