/* SPDX-License-Identifier: MIT */
/* Between columns and structs. */
#include "daemon/store/store_internal.h"

#include "common/strv.h"

#include <errno.h>

ssize_t path_split(const char *path) {
        const char *slash = path ? strrchr(path, '/') : NULL;

        return slash ? slash - path : -1;
}

/* Columns dir and name, that is the text before the last slash and what follows it. */
static int column_path(Statement *st, int column, char **ret) {
        const char *dir, *name;
        size_t dir_size, name_size;
        char *path;

        statement_bytes(st, column, &dir, &dir_size);
        statement_bytes(st, column + 1, &name, &name_size);
        if (!name) {
                *ret = NULL;
                return 0;
        }
        path = malloc(dir_size + name_size + 2);
        if (!path)
                return -ENOMEM;
        if (dir) {
                memcpy(path, dir, dir_size);
                path[dir_size++] = '/';
        }
        memcpy(path + dir_size, name, name_size);
        path[dir_size + name_size] = '\0';
        *ret = path;
        return 0;
}

static int column_enum(Statement *st, int column, int max, int *ret) {
        int64_t v = statement_int(st, column);

        if (v < 0 || v >= max)
                return -EUCLEAN;
        *ret = (int) v;
        return 0;
}

static int read_enums(Statement *st, Operation *o) {
        int op, kind, action;
        int r = column_enum(st, 3, _OP_MAX, &op);

        if (r >= 0)
                r = column_enum(st, 4, _KIND_MAX, &kind);
        if (r >= 0)
                r = column_enum(st, 5, _ACTION_MAX, &action);
        if (r < 0)
                return r;
        o->op = (OpType) op;
        o->kind = (ObjectKind) kind;
        o->action = (Action) action;
        return 0;
}

static int read_strings(Statement *st, Operation *o) {
        int r = statement_string(st, 1, &o->session);

        if (r >= 0)
                r = statement_string(st, 7, &o->watch);
        if (r >= 0)
                r = column_path(st, 8, &o->path);
        if (r >= 0)
                r = column_path(st, 10, &o->from);
        if (r >= 0)
                r = column_path(st, 12, &o->to);
        if (r >= 0)
                r = statement_string(st, 17, &o->test);
        return r < 0 ? r : statement_string(st, 18, &o->rule);
}

int row_to_operation(Statement *st, Operation *ret) {
        int64_t flags = statement_int(st, 6);
        Operation o = {
                .seq = statement_int(st, 0),
                .process_id = statement_int(st, 2),
                .replaced = (flags & FLAG_REPLACED) != 0,
                .attempt = (flags & FLAG_ATTEMPT) != 0,
                .violation = (flags & FLAG_VIOLATION) != 0,
                .preserved = (flags & FLAG_PRESERVED) != 0,
                .attribution = (flags & FLAG_INFERRED) ? SIGHT_INFERRED : SIGHT_EXACT,
                .first = (usec_t) statement_int(st, 14),
                .last = (usec_t) (statement_int(st, 14) + statement_int(st, 15)),
                .count = (uint64_t) statement_int(st, 16),
        };
        int r = read_enums(st, &o);

        if (r >= 0)
                r = read_strings(st, &o);
        if (r < 0) {
                operation_done(&o);
                return r;
        }
        *ret = o;
        return 0;
}

int strv_encode(char *const *v, char **ret, size_t *ret_size) {
        size_t size = 0;
        char *p, *end;

        if (!v) {
                *ret = NULL;
                *ret_size = 0;
                return 0;
        }
        for (size_t i = 0; v[i]; i++)
                size += strlen(v[i]) + 1;
        p = end = malloc(size ? size : 1);
        if (!p)
                return -ENOMEM;
        for (size_t i = 0; v[i]; i++)
                end = stpcpy(end, v[i]) + 1;
        *ret = p;
        *ret_size = size;
        return 0;
}

int strv_decode(const char *p, size_t size, char ***ret) {
        char **v;
        size_t n = 0;

        if (!p) {
                *ret = NULL;
                return 0;
        }
        if (size > 0 && p[size - 1] != '\0')
                return -EUCLEAN;
        for (size_t i = 0; i < size; i++)
                n += p[i] == '\0';
        v = calloc(n + 1, sizeof *v);
        if (!v)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++, p += strlen(p) + 1) {
                v[i] = strdup(p);
                if (!v[i]) {
                        strv_free(v);
                        return -ENOMEM;
                }
        }
        *ret = v;
        return 0;
}
