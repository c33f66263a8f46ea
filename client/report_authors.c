/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/report_authors.h"

static int by_process(const void *a, const void *b) {
        const Operation *x = *(const Operation *const *) a, *y = *(const Operation *const *) b;
        int c = (x->process_id > y->process_id) - (x->process_id < y->process_id);

        c = c ? c : strcmp(x->test ? x->test : "", y->test ? y->test : "");
        return c ? c : (x->first > y->first) - (x->first < y->first);
}

static int by_weight(const void *a, const void *b) {
        const Author *x = a, *y = b;
        int c = (int) x->worst - (int) y->worst;

        c = c ? c : (y->n_rows > x->n_rows) - (y->n_rows < x->n_rows);
        c = c ? c : (x->first > y->first) - (x->first < y->first);
        return c ? c : (x->process_id > y->process_id) - (x->process_id < y->process_id);
}

static void add_row(Author *a, const Operation *op) {
        a->n_rows++;
        a->n_violations += op->violation;
        a->n_attempts += !operation_has_happened(op);
        a->worst = MIN(a->worst, operation_weight(op));
        a->first = MIN(a->first, op->first);
        if (!op->test || str_equal(op->test, a->last_test))
                return;
        a->last_test = op->test;
        if (a->n_tests < AUTHOR_TESTS_MAX)
                a->tests[a->n_tests] = op->test;
        a->n_tests++;
}

static void collect(const Operation **rows, size_t n, Authors *authors) {
        for (size_t i = 0; i < n; i++) {
                if (i == 0 || rows[i]->process_id != rows[i - 1]->process_id)
                        authors->items[authors->n++] = (Author){
                                .process_id = rows[i]->process_id,
                                .n_processes = 1,
                                .worst = operation_weight(rows[i]),
                                .first = rows[i]->first,
                        };
                add_row(&authors->items[authors->n - 1], rows[i]);
        }
}

int authors_new(const Report *report, bool violations_only, Authors *ret) {
        size_t n = report_n_rows(report), n_rows = 0;
        _cleanup_free_ const Operation **rows = calloc(n + 1, sizeof(*rows));
        Authors authors = {};

        if (!rows)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                const Operation *op = report_row(report, i);

                if (op->violation || !violations_only)
                        rows[n_rows++] = op;
        }
        qsort(rows, n_rows, sizeof(*rows), by_process);
        authors.items = calloc(n_rows + 1, sizeof(*authors.items));
        if (!authors.items)
                return -ENOMEM;
        collect(rows, n_rows, &authors);
        qsort(authors.items, authors.n, sizeof(*authors.items), by_weight);
        *ret = authors;
        return 0;
}

static const char *program_name(const ProcessInfo *p) {
        return p->cmdline && p->cmdline[0] ? p->cmdline[0] : "";
}

/* What is not known of one process is not the same as what is not known of another. */
static bool has_program(const ProcessInfo *p) {
        return p && p->parent_id > 0 && p->exe;
}

static int by_program(const void *a, const void *b, void *userdata) {
        const ProcessSource *processes = userdata;
        const Author *x = a, *y = b;
        const ProcessInfo *p = process_source_find(*processes, x->process_id),
                          *q = process_source_find(*processes, y->process_id);
        int c = (int) has_program(p) - (int) has_program(q);

        if (c || !has_program(p))
                return c ? c : (x->process_id > y->process_id) - (x->process_id < y->process_id);
        c = (p->parent_id > q->parent_id) - (p->parent_id < q->parent_id);
        c = c ? c : strcmp(p->exe, q->exe);
        return c ? c : strcmp(program_name(p), program_name(q));
}

static void add_author(Author *to, const Author *from) {
        if (by_weight(from, to) < 0)
                to->process_id = from->process_id;
        to->n_processes += from->n_processes;
        to->n_rows += from->n_rows;
        to->n_violations += from->n_violations;
        to->n_attempts += from->n_attempts;
        to->worst = MIN(to->worst, from->worst);
        to->first = MIN(to->first, from->first);
        for (size_t i = 0; i < MIN(from->n_tests, (size_t) AUTHOR_TESTS_MAX); i++) {
                if (str_equal(from->tests[i], to->last_test))
                        continue;
                to->last_test = from->tests[i];
                if (to->n_tests < AUTHOR_TESTS_MAX)
                        to->tests[to->n_tests] = from->tests[i];
                to->n_tests++;
        }
}

void authors_fold(Authors *a, ProcessSource processes) {
        size_t n = 0;

        if (a->n == 0)
                return;
        qsort_r(a->items, a->n, sizeof(*a->items), by_program, &processes);
        for (size_t i = 1; i < a->n; i++) {
                if (by_program(&a->items[n], &a->items[i], &processes) == 0)
                        add_author(&a->items[n], &a->items[i]);
                else
                        a->items[++n] = a->items[i];
        }
        a->n = n + 1;
        qsort(a->items, a->n, sizeof(*a->items), by_weight);
}

void authors_done(Authors *a) {
        free(a->items);
        *a = (Authors){};
}
