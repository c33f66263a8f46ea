/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/guesses.h"
#include "common/hash.h"

#include <errno.h>

typedef struct Guess {
        UT_hash_handle hh; /* by key; the list is in the order of arrival */
        Change change;
        char key[]; /* the letter of the operation, then the path */
} Guess;

struct Guesses {
        Guess *table;
};

static const char letters[_OP_MAX] = {
        [OP_CREATE] = 'c', [OP_MODIFY] = 'm',   [OP_DELETE] = 'd',
        [OP_RENAME] = 'r', [OP_METADATA] = 'a',
};

int guesses_new(Guesses **ret) {
        *ret = calloc(1, sizeof(Guesses));
        return *ret ? 0 : -ENOMEM;
}

static void guess_free(Guesses *g, Guess *guess) {
        HASH_DEL(g->table, guess);
        change_done(&guess->change);
        free(guess);
}

Guesses *guesses_free(Guesses *g) {
        if (!g)
                return NULL;
        while (g->table)
                guess_free(g, g->table);
        free(g);
        return NULL;
}

bool guesses_is_empty(const Guesses *g) {
        return !g->table;
}

/* key[1] is the path, of n bytes. */
static Guess *find_key(Guesses *g, OpType op, char *key, size_t n) {
        Guess *found = NULL;

        key[0] = letters[op];
        HASH_FIND(hh, g->table, key, n + 1, found);
        return found;
}

static char *new_key(const char *path) {
        size_t n = strlen(path) + 1;
        char *key = malloc(n + 1);

        if (key)
                memcpy(key + 1, path, n);
        return key;
}

void guesses_drop(Guesses *g, OpType op, const char *path) {
        _cleanup_free_ char *key = NULL;
        Guess *found;

        if (!g->table || !path)
                return;
        key = new_key(path);
        found = key ? find_key(g, op, key, strlen(path)) : NULL;
        if (found)
                guess_free(g, found);
}

int guesses_consume(Guesses *g, Change *c) {
        size_t n = c->path ? strlen(c->path) + 1 : 0;
        Guess *guess = n ? calloc(1, sizeof(Guess) + n + 1) : NULL;

        if (!guess) {
                change_done(c);
                return -ENOMEM;
        }
        guesses_drop(g, c->op, c->path);
        guess->key[0] = letters[c->op];
        memcpy(guess->key + 1, c->path, n);
        guess->change = *c;
        *c = (Change){};
        HASH_ADD_KEYPTR(hh, g->table, guess->key, n, guess);
        if (!guess->hh.tbl) {
                change_done(&guess->change);
                free(guess);
                return -ENOMEM;
        }
        return 0;
}

void guesses_explain(Guesses *g, const Change *told) {
        if (told->op == OP_RENAME) {
                guesses_drop(g, OP_DELETE, told->from);
                guesses_drop(g, OP_CREATE, told->path);
        }
        guesses_drop(g, told->op, told->path);
}

static void take(Guesses *g, Guess *guess, Change *ret) {
        *ret = guess->change;
        guess->change = (Change){};
        guess_free(g, guess);
}

bool guesses_take_creation(Guesses *g, const char *path, Change *ret) {
        _cleanup_free_ char *key = NULL;
        Guess *found;
        const char *p;

        if (!g->table)
                return false;
        key = new_key(path);
        for (p = path; key && *p;) {
                p = p[1] ? strchr(p + 1, '/') : NULL;
                if (!p)
                        p = path + strlen(path);
                found = find_key(g, OP_CREATE, key, (size_t) (p - path));
                if (found) {
                        take(g, found, ret);
                        return true;
                }
        }
        return false;
}

bool guesses_take(Guesses *g, Change *ret) {
        if (!g->table)
                return false;
        take(g, g->table, ret);
        return true;
}
