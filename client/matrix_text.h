/* SPDX-License-Identifier: MIT */
/* The matrix of a watch (common/matrix.h) for people and for programs. */
#ifndef MOUNTWATCH_CLIENT_MATRIX_TEXT_H
#define MOUNTWATCH_CLIENT_MATRIX_TEXT_H

#include "client/terminal.h"
#include "client/watch_view.h"

/* Nothing for a watch whose daemon does not tell. */
int matrix_print(const Terminal *t, const WatchView *w);
/* An array; NULL for lack of memory. */
json_object *matrix_to_json(const WatchView *w);

#endif
