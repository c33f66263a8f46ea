/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <sys/ioctl.h>

#include <curses.h>

#include "client/top_screen.h"

enum {
        PAIR_BAD = 1,
        PAIR_GOOD,
        PAIR_DOUBT,
};

/* ---- the terminal ---- */

static void measure(TopScreen *v) {
        v->lines = (unsigned) getmaxy(stdscr);
        v->columns = (unsigned) getmaxx(stdscr);
}

static void set_up_colours(void) {
        const char *no_color = getenv("NO_COLOR");

        if (!has_colors() || (no_color && *no_color))
                return;
        (void) start_color();
        (void) use_default_colors();
        (void) init_pair(PAIR_BAD, COLOR_RED, -1);
        (void) init_pair(PAIR_GOOD, COLOR_GREEN, -1);
        (void) init_pair(PAIR_DOUBT, COLOR_YELLOW, -1);
}

int top_screen_new(TopScreen **ret) {
        TopScreen *v = calloc(1, sizeof(*v));

        if (!v)
                return -ENOMEM;
        terminal_init(&v->terminal, stdout);
        v->handle = newterm(NULL, stdout, stdin); /* initscr() would exit() */
        if (!v->handle) {
                free(v);
                return -ENOTTY;
        }
        (void) cbreak();
        (void) noecho();
        (void) nonl();
        (void) keypad(stdscr, TRUE);
        (void) nodelay(stdscr, TRUE);
        (void) curs_set(0);
        (void) set_escdelay(25);
        set_up_colours();
        measure(v);
        *ret = v;
        return 0;
}

TopScreen *top_screen_free(TopScreen *v) {
        if (!v)
                return NULL;
        (void) endwin();
        delscreen(v->handle);
        free(v);
        return NULL;
}

void top_screen_leave(TopScreen *v) {
        (void) endwin();
}

void top_screen_return(TopScreen *v) {
        top_screen_resize(v);
        (void) clearok(curscr, TRUE);
        (void) refresh();
}

void top_screen_resize(TopScreen *v) {
        struct winsize size = {};

        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
                (void) resizeterm(size.ws_row, size.ws_col);
        measure(v);
}

int top_screen_key(TopScreen *v) {
        int c = getch();

        switch (c) {
        case ERR:
                return TOP_KEY_NONE;
        case KEY_UP:
                return TOP_KEY_UP;
        case KEY_DOWN:
                return TOP_KEY_DOWN;
        case KEY_PPAGE:
                return TOP_KEY_PAGE_UP;
        case KEY_NPAGE:
                return TOP_KEY_PAGE_DOWN;
        case KEY_HOME:
                return TOP_KEY_HOME;
        case KEY_END:
                return TOP_KEY_END;
        case 'L' - '@': /* Ctrl-L, as everywhere */
                (void) clearok(curscr, TRUE);
                return TOP_KEY_OTHER;
        default:
                return c > 0 && c < TOP_KEY_UP ? c : TOP_KEY_OTHER;
        }
}

/* ---- text on it ---- */

static attr_t attribute(Style s) {
        switch (s) {
        case STYLE_BOLD:
                return A_BOLD;
        case STYLE_DIM:
                return A_DIM;
        case STYLE_BAD:
                return A_BOLD | (attr_t) COLOR_PAIR(PAIR_BAD);
        case STYLE_GOOD:
                return (attr_t) COLOR_PAIR(PAIR_GOOD);
        case STYLE_DOUBT:
                return A_BOLD | (attr_t) COLOR_PAIR(PAIR_DOUBT);
        case STYLE_PLAIN:
        case _STYLE_MAX:
                break;
        }
        return A_NORMAL;
}

static attr_t base_of(const TopScreen *v) {
        return (v->reverse ? A_REVERSE : A_NORMAL) | (v->dim ? A_DIM : A_NORMAL);
}

/* In a locale without UTF-8 the library would show each of its bytes. */
static void to_ascii(char *s) {
        char *to = s;

        for (; *s; s++)
                if ((*s & 0xc0) != 0x80)
                        *to++ = *s & 0x80 ? '?' : *s;
        *to = '\0';
}

void top_screen_put(TopScreen *v, unsigned line, unsigned column, unsigned columns, Style s,
                    TopCut cut, const char *text) {
        const char *ellipsis = terminal_ellipsis(&v->terminal);
        _cleanup_free_ char *ascii = NULL, *fitting = NULL;

        if (column >= v->columns || line >= v->lines || columns == 0)
                return;
        columns = MIN(columns, v->columns - column);
        if (!v->terminal.unicode) {
                ascii = text ? strdup(text) : NULL;
                if (ascii)
                        to_ascii(ascii);
                text = ascii;
        }
        if (text)
                fitting = cut == TOP_CUT_MIDDLE ? text_shorten_middle(text, columns, ellipsis)
                                                : text_shorten_end(text, columns, ellipsis);
        (void) attrset(base_of(v) | attribute(s));
        (void) mvhline((int) line, (int) column, ' ' | base_of(v), (int) columns);
        (void) mvaddstr((int) line, (int) column, fitting ? fitting : "");
        (void) attrset(A_NORMAL);
}

void top_screen_put_line(TopScreen *v, unsigned line, Style s, const char *text) {
        top_screen_put(v, line, 0, v->columns, s, TOP_CUT_END, text);
}

void top_screen_put_right(TopScreen *v, unsigned line, unsigned column, unsigned columns, Style s,
                          const char *text) {
        unsigned width = text_width(text);

        if (width < columns) {
                top_screen_put(v, line, column, columns - width, STYLE_PLAIN, TOP_CUT_END, "");
                column += columns - width;
                columns = width;
        }
        top_screen_put(v, line, column, columns, s, TOP_CUT_END, text);
}

void top_screen_put_heading(TopScreen *v, unsigned line, Style s, const char *title) {
        _cleanup_free_ char *text = NULL;

        (void) attrset(base_of(v) | A_DIM);
        (void) mvhline((int) line, 0, v->terminal.unicode ? ACS_HLINE : '-', (int) v->columns);
        (void) attrset(A_NORMAL);
        if (v->columns < 8 || asprintf(&text, " %s ", title) < 0)
                return;
        top_screen_put(v, line, 2, MIN(text_width(text), v->columns - 4), s, TOP_CUT_END, text);
}

void top_screen_put_headingf(TopScreen *v, unsigned line, Style s, const char *format, ...) {
        _cleanup_free_ char *text = NULL;
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&text, format, ap);
        va_end(ap);
        if (r < 0)
                text = NULL;
        top_screen_put_heading(v, line, s, text ? text : "");
}

void top_screen_clear(TopScreen *v) {
        v->reverse = v->dim = false;
        (void) erase();
}

void top_screen_embolden(TopScreen *v, unsigned line, unsigned column, unsigned columns) {
        (void) mvchgat((int) line, (int) column, (int) columns, A_BOLD, 0, NULL);
}

void top_screen_show(TopScreen *v) {
        (void) refresh();
}
