/* SPDX-License-Identifier: MIT */
/* Who touched a path: the trace of each block, newest first, and then the rows it names. */
#include "daemon/store/store_internal.h"

#include <errno.h>

#define SEEKS_MAX 500000 /* look-ups in the trace for one question: about half a second */

/* The path and, longest first, the directories it is in. */
typedef struct Names {
        uint64_t *hashes;
        size_t n;
} Names;

static void names_done(Names *n) {
        free(n->hashes);
}

static int names_init(Names *names, const Store *s, const char *path) {
        size_t n = 1;

        for (const char *p = path; *p; p++)
                n += *p == '/';
        names->hashes = calloc(n, sizeof *names->hashes);
        if (!names->hashes)
                return -ENOMEM;
        names->hashes[names->n++] = hash_bytes(&s->hash_key, path, strlen(path));
        for (size_t size = strlen(path); size-- > 1;)
                if (path[size] == '/')
                        names->hashes[names->n++] = hash_bytes(&s->hash_key, path, size);
        return 0;
}

static bool is_inside(const char *path, const char *dir) {
        size_t n = strlen(dir);

        return strncmp(path, dir, n) == 0 && path[n] == '/';
}

/* A directory that came, went or was renamed took with it what is below its names. */
static bool concerns(const Operation *o, const char *path) {
        const char *names[] = {o->path, o->from, o->to};
        bool moves = o->kind == KIND_DIR &&
                (o->op == OP_CREATE || o->op == OP_DELETE || o->op == OP_RENAME);

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (names[i] &&
                    (strcmp(names[i], path) == 0 || (moves && is_inside(path, names[i]))))
                        return true;
        return false;
}

static int read_one(Store *s, int64_t seq, Operation *ret) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, STATEMENT_OPERATION_READ_ONE,
                               "SELECT " OPERATION_COLUMNS " FROM operation o WHERE o.seq = ?",
                               &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, seq);
        r = statement_step(&st);
        if (r <= 0)
                return r;
        r = row_to_operation(&st, ret);
        return r < 0 ? r : 1;
}

typedef struct Found {
        Operation *list;
        size_t n, allocated, limit;
} Found;

static void found_done(Found *f) {
        for (size_t i = 0; i < f->n; i++)
                operation_done(&f->list[i]);
        free(f->list);
}

/* Consumes what is inside of `o` on success. */
static int found_add(Found *f, Operation *o) {
        if (f->n == f->allocated) {
                size_t n = f->allocated ? f->allocated * 2 : 8;
                Operation *grown = reallocarray(f->list, n, sizeof *grown);
                if (!grown)
                        return -ENOMEM;
                f->list = grown;
                f->allocated = n;
        }
        f->list[f->n++] = *o;
        *o = (Operation){0};
        return 0;
}

static int newest_first(const void *a, const void *b) {
        const int64_t *x = a, *y = b;

        return (*x < *y) - (*x > *y);
}

static int search_block(Store *s, int64_t block, const Names *names, const char *path,
                        Found *found) {
        _cleanup_(seq_list_done) SeqList list = {0};

        for (size_t i = 0; i < names->n; i++) {
                int r = trace_find(s, block, names->hashes[i], &list);
                if (r < 0)
                        return r;
        }
        if (list.n > 1)
                qsort(list.seqs, list.n, sizeof *list.seqs, newest_first);
        for (size_t i = 0; i < list.n && found->n < found->limit; i++) {
                _cleanup_(operation_done) Operation o = {0};
                int r;

                if (i > 0 && list.seqs[i] == list.seqs[i - 1])
                        continue;
                r = read_one(s, list.seqs[i], &o);
                if (r > 0 && concerns(&o, path))
                        r = found_add(found, &o);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* 1, or 0 when no block comes before that one. */
static int block_before(Store *s, int64_t block, int64_t *ret) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, STATEMENT_BLOCK_BEFORE,
                               "SELECT id FROM block WHERE id < ? ORDER BY id DESC LIMIT 1", &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, block);
        r = statement_step(&st);
        if (r > 0)
                *ret = statement_int(&st, 0);
        return r;
}

static int search(Store *s, const Names *names, const char *path, Found *found) {
        int64_t block = BLOCK_MAX;
        size_t seeks = 0;

        while (found->n < found->limit) {
                int r = block_before(s, block, &block);

                if (r <= 0)
                        return r;
                if (seeks > SEEKS_MAX)
                        return 1;
                seeks += names->n;
                r = search_block(s, block, names, path, found);
                if (r < 0)
                        return r;
        }
        return 0;
}

int store_blame(Store *s, const char *path, Operation **ret, size_t *ret_n, size_t limit) {
        _cleanup_(names_done) Names names = {0};
        _cleanup_(found_done) Found found = {.limit = limit};
        int r;

        store_settle(s);
        r = names_init(&names, s, path);
        if (r >= 0)
                r = search(s, &names, path, &found);
        if (r < 0)
                return r;
        *ret = found.list;
        *ret_n = found.n;
        found = (Found){0};
        return r;
}
