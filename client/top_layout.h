/* SPDX-License-Identifier: MIT */
/* How the lines and columns of the screen of `mountwatch top` are shared out. Pure. */
#ifndef MOUNTWATCH_CLIENT_TOP_LAYOUT_H
#define MOUNTWATCH_CLIENT_TOP_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#define TOP_LINES_MIN 10
#define TOP_COLUMNS_MIN 40

typedef struct TopBand {
        unsigned top, lines; /* lines without the heading, which stands at top - 1; 0: not shown */
} TopBand;

/* From top to bottom. Line 0 is about the daemon, the last one has the keys. */
typedef struct TopLayout {
        TopBand sessions;
        unsigned selected; /* line that names the selected session; 0: there is none */
        TopBand held, processes, operations;
} TopLayout;

typedef struct TopContent {
        size_t sessions, held, processes, operations;
} TopContent;

/* False: the screen is too small for anything. */
bool top_layout(unsigned lines, unsigned columns, const TopContent *content, TopLayout *ret);

typedef enum TopColumn {
        TOP_NAME, /* label, or command */
        TOP_ID,
        TOP_USER,
        TOP_AGE,
        TOP_STATE,
        TOP_PROCESSES,
        TOP_CHANGES,
        TOP_RATE,
        TOP_VIOLATIONS,
        TOP_HELD,
        _TOP_COLUMN_MAX,
} TopColumn;

/* Widths of the columns of the table; 0: not shown. They and a blank between each two fit into `columns`. */
void top_columns(unsigned columns, unsigned ret[static _TOP_COLUMN_MAX]);

/* The first line to show, so that line `selected` of `count` is among the `lines` that fit. `first`: as it was. */
size_t top_scroll(size_t first, size_t selected, size_t count, size_t lines);

#endif
