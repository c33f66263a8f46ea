/* SPDX-License-Identifier: MIT */
/*
 * What the output can show: colour only on a terminal and without NO_COLOR, a width to keep to, Unicode where the locale has
 * it; and text measured and shortened in columns. Text here is valid UTF-8 without control characters (path_to_text()).
 */
#ifndef MOUNTWATCH_CLIENT_TERMINAL_H
#define MOUNTWATCH_CLIENT_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

#include "common/macro.h"

typedef enum Style {
        STYLE_PLAIN,
        STYLE_BOLD,
        STYLE_DIM,
        STYLE_GOOD,
        STYLE_BAD,
        STYLE_DOUBT,
        _STYLE_MAX,
} Style;

typedef struct Terminal {
        FILE *file;
        bool is_tty;
        bool colour;
        bool unicode;
        unsigned width; /* columns; 0: no limit */
} Terminal;

/* Looks at the descriptor behind `f`, at NO_COLOR, TERM, COLUMNS and the locale. Does not own `f`. */
void terminal_init(Terminal *t, FILE *f);

/* "" when there is no colour; the second ends what the first began. */
const char *terminal_style(const Terminal *t, Style style);
const char *terminal_reset(const Terminal *t);

const char *terminal_ellipsis(const Terminal *t);
const char *terminal_arrow(const Terminal *t);
const char *terminal_chevron(const Terminal *t);
const char *terminal_times(const Terminal *t);

/* Columns that `s` takes. */
unsigned text_width(const char *s);
/* Copies that take no more than `columns`; 0 columns is no limit. What is cut shows as `ellipsis`. NULL: no memory. */
char *text_shorten_end(const char *s, unsigned columns, const char *ellipsis);
char *text_shorten_middle(const char *s, unsigned columns, const char *ellipsis);

/* argv as a person would type it, quotes where a shell wants them, everything odd escaped. "" for none. NULL: no memory. */
char *text_of_command(char *const *argv);

/* "2026-11-30 18:35:54", local time. */
#define TERMINAL_TIME_MAX 32
char *terminal_time(usec_t t, char buffer[static TERMINAL_TIME_MAX]);

#endif
