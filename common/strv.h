/* SPDX-License-Identifier: MIT */
/* NULL-terminated vectors of strings. A NULL vector is an empty one. */
#ifndef MOUNTWATCH_COMMON_STRV_H
#define MOUNTWATCH_COMMON_STRV_H

#include "common/macro.h"

#include <stdbool.h>

static inline size_t strv_length(char *const *v) {
        size_t n = 0;

        while (v && v[n])
                n++;
        return n;
}

/* Frees the strings and the vector; returns NULL. */
static inline char **strv_free(char **v) {
        for (size_t i = 0; v && v[i]; i++)
                free(v[i]);
        free(v);
        return NULL;
}

DEFINE_CLEANUP(char **, strv_free)

static inline bool strv_contains(char *const *v, const char *s) {
        for (size_t i = 0; v && v[i]; i++)
                if (strcmp(v[i], s) == 0)
                        return true;
        return false;
}

/* The same strings in the same order. */
static inline bool strv_equal(char *const *a, char *const *b) {
        size_t n = strv_length(a);

        if (n != strv_length(b))
                return false;
        for (size_t i = 0; i < n; i++)
                if (strcmp(a[i], b[i]) != 0)
                        return false;
        return true;
}

/* Appends and takes `s` on success; false for lack of memory. */
static inline bool strv_take(char ***v, char *s) {
        size_t n = strv_length(*v);
        char **grown = realloc(*v, (n + 2) * sizeof *grown);

        if (!grown)
                return false;
        grown[n] = s;
        grown[n + 1] = NULL;
        *v = grown;
        return true;
}

static inline bool strv_append(char ***v, const char *s) {
        char *copy = strdup(s);

        if (copy && strv_take(v, copy))
                return true;
        free(copy);
        return false;
}

/* NULL for an empty one, and for lack of memory. */
static inline char **strv_copy(char *const *v) {
        char **copy = NULL;

        for (size_t i = 0; v && v[i]; i++)
                if (!strv_append(&copy, v[i]))
                        return strv_free(copy);
        return copy;
}

#endif
