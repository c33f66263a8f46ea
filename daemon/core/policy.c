/* SPDX-License-Identifier: MIT */
/*
 * A pattern becomes a row of tokens, and all places in it that the path may have reached are followed at once: the time is
 * the length of the path times the number of tokens, whatever the pattern. (Trying one way after the other, as fnmatch(3)
 * does, takes exponential time for patterns such as **a**a**a.)
 */
#include "daemon/core/policy.h"

#define WORD_BITS 64
#define WORDS(n) (((n) + WORD_BITS - 1) / WORD_BITS)

typedef enum TokenType {
        TOKEN_BYTE,
        TOKEN_ANY, /* ? */
        TOKEN_SET, /* [...] */
        TOKEN_STAR,
        TOKEN_GLOBSTAR, /* ** */
        TOKEN_OPTION, /* stands before the globstar and the '/' of "**" "/": both may be left out */
        TOKEN_END,
} TokenType;

typedef struct Token {
        uint8_t type;
        uint8_t byte;        /* TOKEN_BYTE */
        uint16_t start, end; /* TOKEN_SET: what is between the brackets, in the pattern */
} Token;

/* Places are numbers of tokens; the one of TOKEN_END means that the pattern is used up. */
typedef struct Glob {
        const char *pattern;
        size_t n; /* TOKEN_END included */
        Token tokens[GLOB_PATTERN_MAX + 1];
} Glob;

typedef struct Places {
        uint64_t words[WORDS(GLOB_PATTERN_MAX + 1)];
} Places;

/* ---- pattern ---- */

/* "[:alpha:]" at p, within a set: its length, or 0 when it is no class. */
static size_t class_length(const char *p) {
        size_t n;

        if (p[0] != '[' || p[1] != ':')
                return 0;
        n = 2 + strspn(p + 2, "abcdefghijklmnopqrstuvwxyz");
        return p[n] == ':' && p[n + 1] == ']' ? n + 2 : 0;
}

/* Where the set that begins after the '[' at `start` ends (the place of its ']'), or 0 when nothing closes it. */
static size_t set_end(const char *pattern, size_t start) {
        size_t i = start;

        if (pattern[i] == '!' || pattern[i] == '^')
                i++;
        if (pattern[i] == ']')
                i++;
        while (pattern[i] && pattern[i] != ']') {
                size_t n = class_length(pattern + i);

                i += n > 0 ? n : 1;
        }
        return pattern[i] ? i : 0;
}

/* Any token but stars. */
static Token next_token(const char *pattern, size_t at, size_t *length) {
        size_t end;

        *length = 1;
        switch (pattern[at]) {
        case '?':
                return (Token){.type = TOKEN_ANY};
        case '[':
                end = set_end(pattern, at + 1);
                if (end == 0)
                        break;
                *length = end + 1 - at;
                return (Token){.type = TOKEN_SET,
                               .start = (uint16_t) (at + 1),
                               .end = (uint16_t) end};
        case '\\':
                if (!pattern[at + 1])
                        break;
                *length = 2;
                return (Token){.type = TOKEN_BYTE, .byte = (uint8_t) pattern[at + 1]};
        }
        return (Token){.type = TOKEN_BYTE, .byte = (uint8_t) pattern[at]};
}

/* Appends the token or tokens of the stars at `at`, no more than there are bytes; returns how many bytes. */
static size_t parse_stars(Glob *g, size_t at) {
        const char *p = g->pattern + at;
        size_t length = strspn(p, "*");
        bool whole = p[length] == '/' && (at == 0 || p[-1] == '/');

        if (length == 1) {
                g->tokens[g->n++] = (Token){.type = TOKEN_STAR};
                return length;
        }
        if (whole)
                g->tokens[g->n++] = (Token){.type = TOKEN_OPTION};
        g->tokens[g->n++] = (Token){.type = TOKEN_GLOBSTAR};
        return length;
}

static bool glob_parse(const char *pattern, Glob *ret) {
        size_t size = strnlen(pattern, GLOB_PATTERN_MAX + 1), length;

        if (size > GLOB_PATTERN_MAX)
                return false;
        ret->pattern = pattern;
        ret->n = 0;
        for (size_t at = 0; at < size; at += length)
                if (pattern[at] == '*')
                        length = parse_stars(ret, at);
                else
                        ret->tokens[ret->n++] = next_token(pattern, at, &length);
        ret->tokens[ret->n++] = (Token){.type = TOKEN_END};
        return true;
}

/* ---- sets ---- */

static bool between(uint8_t c, uint8_t first, uint8_t last) {
        return c >= first && c <= last;
}

/* The classes of the POSIX locale: the daemon's answer must not hang on somebody's environment. */
static bool in_class(const char *name, size_t size, uint8_t c) {
        bool upper = between(c, 'A', 'Z'), lower = between(c, 'a', 'z'),
             digit = between(c, '0', '9');
        bool graph = between(c, '!', '~');
        const struct {
                const char *name;
                bool in;
        } classes[] = {
                {"alpha", upper || lower},
                {"alnum", upper || lower || digit},
                {"upper", upper},
                {"lower", lower},
                {"digit", digit},
                {"xdigit", digit || between(c, 'a', 'f') || between(c, 'A', 'F')},
                {"space", c == ' ' || between(c, '\t', '\r')},
                {"blank", c == ' ' || c == '\t'},
                {"punct", graph && !upper && !lower && !digit},
                {"graph", graph},
                {"print", graph || c == ' '},
                {"cntrl", c < ' ' || c == 0x7f},
        };

        for (size_t i = 0; i < ELEMENTSOF(classes); i++)
                if (strlen(classes[i].name) == size && memcmp(classes[i].name, name, size) == 0)
                        return classes[i].in;
        return false;
}

static bool in_set(const char *p, const char *end, uint8_t c) {
        bool negated = *p == '!' || *p == '^', found = false;

        if (c == '/')
                return false;
        p += negated;
        while (p < end && !found) {
                size_t n = class_length(p);

                if (n > 0) {
                        found = in_class(p + 2, n - 4, c);
                        p += n;
                } else if (p + 2 < end && p[1] == '-') {
                        found = between(c, (uint8_t) p[0], (uint8_t) p[2]);
                        p += 3;
                } else
                        found = (uint8_t) *p++ == c;
        }
        return found != negated;
}

/* ---- match ---- */

/* Adds place i and those that are reached from it by nothing. */
static void reach(const Glob *g, Places *p, size_t i) {
        for (;;) {
                uint64_t bit = 1ULL << i % WORD_BITS;

                if (p->words[i / WORD_BITS] & bit)
                        return;
                p->words[i / WORD_BITS] |= bit;
                switch (g->tokens[i].type) {
                case TOKEN_OPTION:
                        reach(g, p, i + 1);
                        i += 3;
                        break;
                case TOKEN_STAR:
                case TOKEN_GLOBSTAR:
                        i++;
                        break;
                default:
                        return;
                }
        }
}

static void step(const Glob *g, size_t i, uint8_t c, Places *next) {
        const Token *t = &g->tokens[i];

        switch ((TokenType) t->type) {
        case TOKEN_BYTE:
                if (t->byte == c)
                        reach(g, next, i + 1);
                break;
        case TOKEN_ANY:
                if (c != '/')
                        reach(g, next, i + 1);
                break;
        case TOKEN_SET:
                if (in_set(g->pattern + t->start, g->pattern + t->end, c))
                        reach(g, next, i + 1);
                break;
        case TOKEN_STAR:
                if (c != '/')
                        reach(g, next, i);
                break;
        case TOKEN_GLOBSTAR:
                reach(g, next, i);
                break;
        case TOKEN_OPTION:
        case TOKEN_END:
                break;
        }
}

/* Nothing is left of the pattern but, at most, a "/" and two stars. */
static bool is_end(const Glob *g, size_t i) {
        const Token *t = &g->tokens[i];

        if (t->type == TOKEN_END)
                return true;
        return i > 0 && i + 3 == g->n && t[0].type == TOKEN_BYTE && t[0].byte == '/' &&
                t[1].type == TOKEN_GLOBSTAR;
}

/* Patterns mostly end in plain bytes, and most paths in others: the cheap answer for nearly all of them. Stops at a '/',
 * which two stars before it may swallow. */
static bool ends_differ(const char *pattern, const char *path) {
        const char *p = pattern + strlen(pattern), *s = path + strlen(path);

        for (; p > pattern && !strchr("*?[]\\/", p[-1]); p--, s--)
                if (s == path || s[-1] != p[-1])
                        return true;
        return false;
}

bool glob_match(const char *pattern, const char *path) {
        Places now, next;
        size_t n_words;
        Glob g;

        if (ends_differ(pattern, path) || !glob_parse(pattern, &g))
                return false;
        n_words = WORDS(g.n);
        memset(now.words, 0, n_words * sizeof *now.words);
        reach(&g, &now, 0);
        for (; *path; path++) {
                uint64_t any = 0;

                memset(next.words, 0, n_words * sizeof *next.words);
                for (size_t w = 0; w < n_words; w++)
                        for (uint64_t bits = now.words[w]; bits; bits &= bits - 1)
                                step(&g, w * WORD_BITS + (size_t) __builtin_ctzll(bits),
                                     (uint8_t) *path, &next);
                for (size_t w = 0; w < n_words; w++)
                        any |= now.words[w] = next.words[w];
                if (!any)
                        return false;
        }
        for (size_t i = 0; i < g.n; i++)
                if (now.words[i / WORD_BITS] >> i % WORD_BITS & 1 && is_end(&g, i))
                        return true;
        return false;
}

const char *glob_find(char *const *patterns, const char *path) {
        for (; *patterns; patterns++)
                if (glob_match(*patterns, path))
                        return *patterns;
        return NULL;
}

const char *watch_relative(const WatchSpec *w, const char *path) {
        size_t n = strlen(w->path);

        if (n > 0 && w->path[n - 1] == '/')
                n--; /* the root directory */
        if (strncmp(path, w->path, n) != 0)
                return NULL;
        if (path[n] == '/')
                return path + n + 1;
        return path[n] == '\0' ? path + n : NULL;
}

const char *watch_relative_name(const WatchSpec *w, const char *path) {
        const char *below = watch_relative(w, path);
        size_t n = strlen(w->path);

        if (below || strncmp(path, w->path, n) != 0)
                return below;
        return path + n;
}
