/* SPDX-License-Identifier: MIT */
/* The cells of `mountwatch top` as text: numbers that fit into a few columns, and names without control characters. Pure. */
#ifndef MOUNTWATCH_CLIENT_TOP_TEXT_H
#define MOUNTWATCH_CLIENT_TOP_TEXT_H

#include "client/terminal.h"
#include "client/top_model.h"

#define TOP_NUMBER_MAX 32

/* "7s", "12m", "5h", "3d": three columns for the first hundred days. */
char *top_age_text(usec_t age, char buffer[static TOP_NUMBER_MAX]);
/* "", "0.4", "12", "1.2k", "27k": "" for nothing. Five columns. */
char *top_rate_text(double rate, char buffer[static TOP_NUMBER_MAX]);
/* The number, or where it has more than `digits` of them, "27k", "1.2M". */
char *top_count_text(uint64_t n, unsigned digits, char buffer[static TOP_NUMBER_MAX]);
/* "18:35:54", local time. */
char *top_clock_text(usec_t t, char buffer[static TOP_NUMBER_MAX]);

/* These are the caller's to free; NULL: no memory. */

/* What a session is called: its label, or its command, or "-". */
char *top_session_name(const SessionView *s);
/* "from → path", "path ×3". */
char *top_operation_names(const Terminal *t, const Operation *op);

#endif
