/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <time.h>
#include <wchar.h>

#include "client/terminal.h"
#include "common/path_text.h"

static unsigned columns_of(int fd) {
        struct winsize size = {};
        const char *env = getenv("COLUMNS");

        if (fd >= 0 && isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
                return size.ws_col;
        if (env) {
                char *end;
                unsigned long n = strtoul(env, &end, 10);

                if (*end == '\0' && n >= 20 && n <= 10000)
                        return (unsigned) n;
        }
        return fd >= 0 && isatty(fd) ? 80 : 0;
}

void terminal_init(Terminal *t, FILE *f) {
        const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
        int fd = fileno(f);

        *t = (Terminal){
                .file = f,
                .is_tty = fd >= 0 && isatty(fd),
                .unicode = str_equal(nl_langinfo(CODESET), "UTF-8"),
                .width = columns_of(fd),
        };
        t->colour = t->is_tty && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

const char *terminal_style(const Terminal *t, Style style) {
        static const char *const table[_STYLE_MAX] = {
                [STYLE_PLAIN] = "",         [STYLE_BOLD] = "\033[1m",
                [STYLE_DIM] = "\033[2m",    [STYLE_GOOD] = "\033[1;32m",
                [STYLE_BAD] = "\033[1;31m", [STYLE_DOUBT] = "\033[1;33m",
        };

        return t->colour && style < _STYLE_MAX ? table[style] : "";
}

const char *terminal_reset(const Terminal *t) {
        return t->colour ? "\033[0m" : "";
}

const char *terminal_ellipsis(const Terminal *t) {
        return t->unicode ? "…" : "...";
}

const char *terminal_arrow(const Terminal *t) {
        return t->unicode ? "→" : "->";
}

const char *terminal_chevron(const Terminal *t) {
        return t->unicode ? "›" : ">";
}

const char *terminal_times(const Terminal *t) {
        return t->unicode ? "×" : "x";
}

/* Length in bytes of the character at s, and its columns. In a locale without UTF-8 a byte is a column. */
static size_t character_at(const char *s, unsigned *ret_columns) {
        mbstate_t state = {};
        wchar_t c;
        size_t n = mbrtowc(&c, s, strlen(s), &state);
        int w;

        if (n == 0 || n > (size_t) -3) {
                *ret_columns = 1;
                return 1;
        }
        w = wcwidth(c);
        *ret_columns = w < 0 ? 1 : (unsigned) w;
        return n;
}

unsigned text_width(const char *s) {
        unsigned sum = 0;

        while (*s) {
                unsigned columns;

                s += character_at(s, &columns);
                sum += columns;
        }
        return sum;
}

/* Bytes of the longest beginning of `s` that fits. */
static size_t head_that_fits(const char *s, unsigned columns) {
        const char *p = s;
        unsigned sum = 0;

        while (*p) {
                unsigned w;
                size_t n = character_at(p, &w);

                if (sum + w > columns)
                        break;
                sum += w;
                p += n;
        }
        return (size_t) (p - s);
}

/* The longest end of `s` that fits. */
static const char *tail_that_fits(const char *s, unsigned columns) {
        unsigned left = text_width(s);

        while (left > columns) {
                unsigned w;

                s += character_at(s, &w);
                left -= w;
        }
        /* what has no width of its own belongs to the character that was cut off */
        while (*s) {
                unsigned w;
                size_t n = character_at(s, &w);

                if (w > 0)
                        break;
                s += n;
        }
        return s;
}

static char *join(const char *head, size_t n_head, const char *middle, const char *tail) {
        char *p;

        return asprintf(&p, "%.*s%s%s", (int) n_head, head, middle, tail) < 0 ? NULL : p;
}

char *text_shorten_end(const char *s, unsigned columns, const char *ellipsis) {
        unsigned w = text_width(ellipsis);

        if (columns == 0 || text_width(s) <= columns)
                return strdup(s);
        if (columns <= w)
                return join(s, head_that_fits(s, columns), "", "");
        return join(s, head_that_fits(s, columns - w), ellipsis, "");
}

char *text_shorten_middle(const char *s, unsigned columns, const char *ellipsis) {
        unsigned w = text_width(ellipsis), left;

        if (columns == 0 || text_width(s) <= columns)
                return strdup(s);
        if (columns <= w)
                return join(s, head_that_fits(s, columns), "", "");
        left = columns - w;
        /* the end of a path says more than its beginning */
        return join(s, head_that_fits(s, left / 3), ellipsis, tail_that_fits(s, left - left / 3));
}

static bool needs_quotes(const char *s) {
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "_-+=./:,@%^";

        if (!*s)
                return true;
        for (; *s; s++)
                if (!((unsigned char) *s >= 0x80 || strchr(plain, *s)))
                        return true;
        return false;
}

/* 'it'\''s' */
static void put_quoted(FILE *f, const char *word) {
        fputc('\'', f);
        for (; *word; word++)
                if (*word == '\'')
                        fputs("'\\''", f);
                else
                        fputc(*word, f);
        fputc('\'', f);
}

/* $'a\x0ab': the escapes of path_to_text(), which also escapes the backslash itself then, are those of the shell. */
static void put_escaped(FILE *f, const char *text) {
        fputs("$'", f);
        for (; *text; text++)
                if (*text == '\'')
                        fputs("\\x27", f);
                else
                        fputc(*text, f);
        fputc('\'', f);
}

static int put_word(FILE *f, const char *word) {
        _cleanup_free_ char *text = path_to_text(word);

        if (!text)
                return -ENOMEM;
        if (!str_equal(text, word))
                put_escaped(f, text);
        else if (needs_quotes(word))
                put_quoted(f, word);
        else
                fputs(word, f);
        return 0;
}

char *text_of_command(char *const *argv) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);
        int r = 0;

        if (!f)
                return NULL;
        for (size_t i = 0; r >= 0 && argv && argv[i]; i++) {
                if (i > 0)
                        fputc(' ', f);
                r = put_word(f, argv[i]);
        }
        if (fclose(f) != 0 || r < 0) {
                free(text);
                return NULL;
        }
        return text;
}

char *terminal_time(usec_t t, char buffer[static TERMINAL_TIME_MAX]) {
        time_t seconds = (time_t) (t / USEC_PER_SEC);
        struct tm tm;

        if (!localtime_r(&seconds, &tm) ||
            strftime(buffer, TERMINAL_TIME_MAX, "%Y-%m-%d %H:%M:%S", &tm) == 0)
                strcpy(buffer, "?");
        return buffer;
}
