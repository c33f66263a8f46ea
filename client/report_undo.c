/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/report_undo.h"

static int compare(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* With what was made goes what was done to it. */
static bool is_undoable(const Operation *op, const char *const *created, size_t n) {
        const char *path = op->path;

        if (op->preserved || op->op == OP_CREATE || (op->op == OP_RENAME && !op->replaced))
                return true;
        return bsearch(&path, created, n, sizeof *created, compare) != NULL;
}

int report_count_undoable(const Report *r, size_t *ret_undoable, size_t *ret_all) {
        const size_t n_rows = report_n_rows(r);
        _cleanup_free_ const char **created = calloc(n_rows + 1, sizeof *created);
        size_t n_created = 0, undoable = 0, all = 0;

        if (!created)
                return -ENOMEM;
        for (size_t i = 0; i < n_rows; i++) {
                const Operation *op = report_row(r, i);

                if (op->op == OP_CREATE && operation_has_happened(op))
                        created[n_created++] = op->path;
        }
        qsort(created, n_created, sizeof *created, compare);
        for (size_t i = 0; i < n_rows; i++) {
                const Operation *op = report_row(r, i);

                if (!operation_has_happened(op))
                        continue;
                all++;
                undoable += is_undoable(op, created, n_created);
        }
        *ret_undoable = undoable;
        *ret_all = all;
        return 0;
}
