/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/report_groups.h"

Weight operation_weight(const Operation *op) {
        switch (op->op) {
        case OP_DELETE:
                return WEIGHT_DELETED;
        case OP_RENAME:
                return op->replaced ? WEIGHT_REPLACED : WEIGHT_RENAMED;
        case OP_MODIFY:
                return WEIGHT_MODIFIED;
        case OP_CREATE:
                return op->replaced ? WEIGHT_REPLACED : WEIGHT_CREATED;
        case OP_METADATA:
        case _OP_MAX:
                break;
        }
        return WEIGHT_METADATA;
}

const char *weight_to_string(Weight weight) {
        static const char *const table[_WEIGHT_MAX] = {
                [WEIGHT_DELETED] = "deleted",   [WEIGHT_REPLACED] = "replaced",
                [WEIGHT_MODIFIED] = "modified", [WEIGHT_CREATED] = "created",
                [WEIGHT_RENAMED] = "renamed",   [WEIGHT_METADATA] = "metadata",
        };

        return weight < _WEIGHT_MAX ? table[weight] : "?";
}

static size_t directory_length(const char *path) {
        const char *slash = strrchr(path, '/');

        return slash ? (size_t) (slash - path) : 0;
}

static int compare_directory(const char *a, size_t n_a, const char *b, size_t n_b) {
        int c = memcmp(a, b, MIN(n_a, n_b));

        return c ? c : (n_a > n_b) - (n_a < n_b);
}

static int compare_text(const char *a, const char *b) {
        return strcmp(a ? a : "", b ? b : "");
}

/* Same watch and directory together; in it by weight and path; what can be folded side by side. */
static int compare_rows(const void *a, const void *b) {
        const Operation *x = ((const GroupRow *) a)->op, *y = ((const GroupRow *) b)->op;
        int c = strcmp(x->watch, y->watch);

        c = c ? c
              : compare_directory(x->path, directory_length(x->path), y->path,
                                  directory_length(y->path));
        c = c ? c : (int) operation_weight(x) - (int) operation_weight(y);
        c = c ? c : strverscmp(x->path, y->path); /* f2 before f10 */
        c = c ? c : compare_text(x->from, y->from);
        c = c ? c : (int) x->action - (int) y->action;
        c = c ? c : (x->first > y->first) - (x->first < y->first);
        return c ? c : (x->seq > y->seq) - (x->seq < y->seq);
}

static bool is_same_change(const Operation *x, const Operation *y) {
        return operation_weight(x) == operation_weight(y) && x->action == y->action &&
                x->violation == y->violation && str_equal(x->watch, y->watch) &&
                str_equal(x->path, y->path) && str_equal(x->from, y->from);
}

static size_t fold(GroupRow *rows, size_t n) {
        size_t kept = 0;

        for (size_t i = 0; i < n; i++) {
                if (kept > 0 && is_same_change(rows[kept - 1].op, rows[i].op))
                        rows[kept - 1].count += rows[i].count;
                else
                        rows[kept++] = rows[i];
        }
        return kept;
}

static bool belongs(const Group *g, const Operation *op) {
        return str_equal(g->watch, op->watch) &&
                compare_directory(g->directory, g->n_directory, op->path,
                                  directory_length(op->path)) == 0;
}

static void split(Groups *g) {
        for (size_t i = 0; i < g->n_rows; i++) {
                const Operation *op = g->rows[i].op;
                Weight weight = operation_weight(op);
                Group *group;

                if (g->n == 0 || !belongs(&g->items[g->n - 1], op))
                        g->items[g->n++] = (Group){
                                .watch = op->watch,
                                .directory = op->path,
                                .n_directory = directory_length(op->path),
                                .rows = &g->rows[i],
                                .worst = weight, /* the first row is the gravest */
                        };
                group = &g->items[g->n - 1];
                group->n_rows++;
                group->n_weight[weight]++;
                group->n_refused += !operation_has_happened(op);
        }
}

/* The groups of a watch stand side by side here. */
static void weigh_watches(Groups *g) {
        for (size_t i = 0, end; i < g->n; i = end) {
                Weight worst = g->items[i].worst;

                for (end = i; end < g->n && str_equal(g->items[end].watch, g->items[i].watch);
                     end++)
                        worst = MIN(worst, g->items[end].worst);
                for (size_t k = i; k < end; k++)
                        g->items[k].watch_worst = worst;
        }
}

static int compare_groups(const void *a, const void *b) {
        const Group *x = a, *y = b;
        int c = (int) x->watch_worst - (int) y->watch_worst;

        c = c ? c : strcmp(x->watch, y->watch);

        c = c ? c : (int) x->worst - (int) y->worst;
        return c ? c
                 : compare_directory(x->directory, x->n_directory, y->directory, y->n_directory);
}

static bool is_picked(GroupsPick pick, const Operation *op) {
        return pick == GROUPS_ALL || op->violation == (pick == GROUPS_VIOLATIONS);
}

int groups_new(const Report *report, GroupsPick pick, Groups *ret) {
        _cleanup_(groups_done) Groups g = {};
        size_t n = report_n_rows(report);

        g.rows = calloc(n + 1, sizeof(*g.rows));
        g.items = calloc(n + 1, sizeof(*g.items));
        if (!g.rows || !g.items)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                const Operation *op = report_row(report, i);

                if (is_picked(pick, op))
                        g.rows[g.n_rows++] = (GroupRow){.op = op, .count = op->count};
                else
                        g.n_left_out++;
        }
        qsort(g.rows, g.n_rows, sizeof(*g.rows), compare_rows);
        g.n_rows = fold(g.rows, g.n_rows);
        split(&g);
        weigh_watches(&g);
        qsort(g.items, g.n, sizeof(*g.items), compare_groups);
        *ret = g;
        g = (Groups){};
        return 0;
}

void groups_done(Groups *g) {
        free(g->items);
        free(g->rows);
        *g = (Groups){};
}
