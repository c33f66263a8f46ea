/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/report_tally.h"

/* What happened to one path, over all its rows. */
typedef struct Fate {
        bool changed, deleted, replaced, refused, allowed;
} Fate;

static int by_path(const void *a, const void *b) {
        const Operation *x = *(const Operation *const *) a, *y = *(const Operation *const *) b;

        return strcmp(x->path, y->path);
}

static void add_row(Fate *fate, const Operation *op) {
        if (!operation_has_happened(op))
                fate->refused = true;
        else if (op->violation) {
                fate->changed = true;
                fate->deleted |= op->op == OP_DELETE;
                fate->replaced |= op->replaced;
        } else
                fate->allowed = true;
}

static void add_fate(Tally *t, const Fate *fate) {
        if (fate->changed) {
                t->changed++;
                t->deleted += fate->deleted;
                t->replaced += fate->replaced && !fate->deleted;
        } else if (fate->refused)
                t->refused++;
        else if (fate->allowed)
                t->allowed++;
}

static void count_paths(const Operation **rows, size_t n, Tally *t) {
        for (size_t i = 0; i < n;) {
                const char *path = rows[i]->path;
                Fate fate = {};

                for (; i < n && str_equal(rows[i]->path, path); i++)
                        add_row(&fate, rows[i]);
                add_fate(t, &fate);
        }
}

static int by_watch(const void *a, const void *b) {
        const Operation *x = *(const Operation *const *) a, *y = *(const Operation *const *) b;

        return strcmp(x->watch, y->watch);
}

static void count_watches(const Operation **rows, size_t n, Tally *t) {
        const char *last = NULL;

        for (size_t i = 0; i < n; i++) {
                if (!rows[i]->violation || str_equal(rows[i]->watch, last))
                        continue;
                last = rows[i]->watch;
                if (t->n_watches++ == 0)
                        t->watch = last;
        }
}

int tally_report(const Report *report, Tally *ret) {
        size_t n = report_n_rows(report);
        _cleanup_free_ const Operation **rows = calloc(n + 1, sizeof(*rows));
        Tally t = {};

        if (!rows)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                rows[i] = report_row(report, i);
        qsort(rows, n, sizeof(*rows), by_path);
        count_paths(rows, n, &t);
        qsort(rows, n, sizeof(*rows), by_watch);
        count_watches(rows, n, &t);
        *ret = t;
        return 0;
}
