/* SPDX-License-Identifier: MIT */
/*
 * A terminal that is the program's alone, through ncurses, which nobody else here knows: text in exact columns, keys, the size, and
 * the way back. Text is UTF-8 without control characters (path_to_text()); NULL, for lack of memory, shows as nothing.
 */
#ifndef MOUNTWATCH_CLIENT_TOP_SCREEN_H
#define MOUNTWATCH_CLIENT_TOP_SCREEN_H

#include "client/terminal.h"

typedef struct TopScreen {
        void *handle; /* ncurses' */
        Terminal terminal;
        unsigned lines, columns;
        bool reverse, dim; /* all that is drawn from now on */
} TopScreen;

typedef enum TopCut {
        TOP_CUT_END,
        TOP_CUT_MIDDLE, /* for paths */
} TopCut;

typedef enum TopKey {
        TOP_KEY_NONE = 0, /* nothing typed; letters are themselves */
        TOP_KEY_ESCAPE = 27,
        TOP_KEY_UP = 256,
        TOP_KEY_DOWN,
        TOP_KEY_PAGE_UP,
        TOP_KEY_PAGE_DOWN,
        TOP_KEY_HOME,
        TOP_KEY_END,
        TOP_KEY_OTHER,
} TopKey;

/* The terminal is the program's from here to top_screen_free(), which leaves it as it was. -ENOTTY: this kind of terminal
 * cannot do it. */
int top_screen_new(TopScreen **ret);
TopScreen *top_screen_free(TopScreen *v);
DEFINE_CLEANUP(TopScreen *, top_screen_free)
/* Gives the terminal away for a while, and takes it back: everything is drawn anew. */
void top_screen_leave(TopScreen *v);
void top_screen_return(TopScreen *v);
/* The terminal has another size. */
void top_screen_resize(TopScreen *v);

/* A key (TopKey, or the character) without waiting. */
int top_screen_key(TopScreen *v);

void top_screen_clear(TopScreen *v);
/* Into exactly `columns` columns. */
void top_screen_put(TopScreen *v, unsigned line, unsigned column, unsigned columns, Style s,
                    TopCut cut, const char *text);
void top_screen_put_right(TopScreen *v, unsigned line, unsigned column, unsigned columns, Style s,
                          const char *text);
void top_screen_put_line(TopScreen *v, unsigned line, Style s, const char *text);
/* A rule with a title in it. */
void top_screen_put_heading(TopScreen *v, unsigned line, Style s, const char *title);
void top_screen_put_headingf(TopScreen *v, unsigned line, Style s, const char *format, ...)
        _printf_(4, 5);
void top_screen_embolden(TopScreen *v, unsigned line, unsigned column, unsigned columns);
void top_screen_show(TopScreen *v);

#endif
