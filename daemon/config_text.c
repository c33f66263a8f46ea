/* SPDX-License-Identifier: MIT */
/*
 * libinih splits the assignments. It gets them from a reader of ours, one by one, because by itself it would (as built by
 * default, and the header does not tell how it was built)
 * - cut lines longer than 200 bytes, and go on with the rest as a new line,
 * - cut section names after 49 bytes, pass over what follows a ']', and not tell of a section without assignments,
 * - cut a value at " ;", take an indented line as more of the value above, and a colon for an equal sign,
 * - end at a NUL byte.
 */
#include <errno.h>
#include <ini.h>
#include <stdbool.h>
#include <string.h>

#include "common/macro.h"
#include "daemon/config_text.h"

/* Stands for a semicolon while a line is with libinih. The file cannot have it: control characters are refused. */
#define MASK '\x01'

/* A variable in Debian's libinih, a constant (200) elsewhere. Also honoured is what the reader is told. */
extern int ini_max_line __attribute__((weak)); // NOLINT(readability-redundant-declaration)

typedef struct Reader {
        const char *p, *end;
        unsigned line;
        config_line_t on_line;
        void *userdata;
        int error;
} Reader;

static bool is_blank(char c) {
        return c == ' ' || c == '\t' || c == '\r';
}

static void told(Reader *s, int r) {
        if (r < 0 && s->error == 0)
                s->error = r;
}

static void bad_line(Reader *s, const char *why) {
        told(s, s->on_line(s->userdata, s->line, CONFIG_LINE_BAD, why, NULL));
}

/* The next line, without blanks around; false at the end. */
static bool next_line(Reader *s, const char **ret, size_t *ret_size) {
        const char *line = s->p, *end;

        if (line == s->end)
                return false;
        end = memchr(line, '\n', (size_t) (s->end - line));
        s->p = end ? end + 1 : s->end;
        if (!end)
                end = s->end;
        s->line++;
        while (line < end && is_blank(*line))
                line++;
        while (line < end && is_blank(end[-1]))
                end--;
        *ret = line;
        *ret_size = (size_t) (end - line);
        return true;
}

/* Why a line cannot be used, or NULL. */
static const char *line_problem(const char *line, size_t size, size_t max) {
        if (memchr(line, 0, size))
                return "a NUL byte in the line: this is no text";
        for (size_t i = 0; i < size; i++)
                if ((line[i] > 0 && line[i] < ' ' && line[i] != '\t') || line[i] == 127)
                        return "a control character in the line: this is no text";
        return size > max ? "the line is too long" : NULL;
}

static void read_section(Reader *s, const char *line, size_t size) {
        _cleanup_free_ char *name = NULL;

        if (size < 2 || line[size - 1] != ']') {
                bad_line(s, "a section must end with ']'");
                return;
        }
        name = strndup(line + 1, size - 2);
        told(s, name ? s->on_line(s->userdata, s->line, CONFIG_LINE_SECTION, name, NULL) : -ENOMEM);
}

/* Is it KEY=VALUE? */
static bool is_assignment(const char *line, size_t size) {
        const char *equals = memchr(line, '=', size);

        return equals && equals > line && !memchr(line, ':', (size_t) (equals - line));
}

static void exchange(char *s, size_t size, char from, char to) {
        for (size_t i = 0; i < size; i++)
                if (s[i] == from)
                        s[i] = to;
}

/* fgets() as libinih wants it: gives it the next assignment, and deals with all other lines itself. */
static char *on_read(char *buffer, int size, void *userdata) {
        Reader *s = userdata;
        size_t max = MIN((size_t) size - 2, (size_t) CONFIG_LINE_MAX), n;
        const char *line, *problem;

        while (s->error == 0 && next_line(s, &line, &n)) {
                if (n == 0 || *line == '#' || *line == ';')
                        continue;
                problem = line_problem(line, n, max);
                if (problem)
                        bad_line(s, problem);
                else if (*line == '[')
                        read_section(s, line, n);
                else if (!is_assignment(line, n))
                        bad_line(s, "neither [SECTION] nor KEY=VALUE nor a comment");
                else {
                        memcpy(buffer, line, n);
                        buffer[n] = 0;
                        exchange(buffer, n, ';', MASK);
                        return buffer;
                }
        }
        return NULL;
}

static int on_assignment(void *userdata, const char *section, const char *key, const char *value) {
        Reader *s = userdata;
        _cleanup_free_ char *k = strdup(key), *v = strdup(value);

        if (!k || !v) {
                told(s, -ENOMEM);
                return 0;
        }
        exchange(k, strlen(k), MASK, ';');
        exchange(v, strlen(v), MASK, ';');
        told(s, s->on_line(s->userdata, s->line, CONFIG_LINE_ASSIGNMENT, k, v));
        return s->error == 0;
}

int config_text_parse(const char *text, size_t size, config_line_t on_line, void *userdata) {
        Reader s = {.p = text, .end = text + size, .on_line = on_line, .userdata = userdata};
        int r;

        /* a byte order mark */
        if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
                s.p += 3;
        if (&ini_max_line)
                ini_max_line = MAX(ini_max_line, CONFIG_LINE_MAX + 3);
        r = ini_parse_stream(on_read, &s, on_assignment, &s);
        if (s.error < 0)
                return s.error;
        /* > 0 would be the line of an error: none is possible, the reader lets only assignments pass */
        return r < 0 ? -ENOMEM : r > 0 ? -EBADMSG : 0;
}
