/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/chain_text.h"
#include "client/html_processes.h"
#include "client/report_authors.h"
#include "client/report_changes.h"

static const Terminal plain = {.unicode = true};

typedef struct Node {
        int64_t id;
        const ProcessInfo *process; /* NULL: unknown */
        const Author *author;       /* NULL: only an ancestor */
        size_t parent;              /* index; SIZE_MAX: a root */
        size_t child, sibling;      /* index; SIZE_MAX: none */
        bool written;
} Node;

typedef struct ProcessTree {
        Html *html;
        const ReportModel *model;
        bool has_violations;
        Node *nodes; /* sorted by id */
        size_t n;
} ProcessTree;

static int by_id(const void *a, const void *b) {
        const Node *x = a, *y = b;

        if (x->id != y->id)
                return x->id < y->id ? -1 : 1;
        /* the one that did something comes first */
        return (y->author != NULL) - (x->author != NULL);
}

static size_t find(const ProcessTree *t, int64_t id) {
        const Node key = {.id = id}, *found;
        size_t low = 0, high = t->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (t->nodes[middle].id < key.id)
                        low = middle + 1;
                else
                        high = middle;
        }
        found = low < t->n ? &t->nodes[low] : NULL;
        return found && found->id == id ? low : SIZE_MAX;
}

/* What was there before the daemon looked has only a number. */
static bool is_known(const ProcessInfo *p) {
        return p->exe || (p->cmdline && p->cmdline[0]);
}

/* The author and its ancestors that something is known of. */
static void add_chain(ProcessTree *t, const Author *a) {
        const ProcessSource source = report_process_source(t->model->own);
        const ProcessInfo *chain[PROCESS_CHAIN_MAX];
        size_t n =
                process_source_ancestors(source, a->process_id, t->model->session.root_pid, chain);

        t->nodes[t->n++] = (Node){
                .id = a->process_id,
                .process = process_source_find(source, a->process_id),
                .author = a,
        };
        for (size_t i = 0; i < n; i++)
                if (is_known(chain[i]))
                        t->nodes[t->n++] = (Node){.id = chain[i]->id, .process = chain[i]};
}

static void remove_doubles(ProcessTree *t) {
        size_t kept = 0;

        qsort(t->nodes, t->n, sizeof(*t->nodes), by_id);
        for (size_t i = 0; i < t->n; i++)
                if (kept == 0 || t->nodes[kept - 1].id != t->nodes[i].id)
                        t->nodes[kept++] = t->nodes[i];
        t->n = kept;
}

/* The nodes are in the order in which the store got to know them, and so are the children of each. */
static void link_nodes(ProcessTree *t) {
        for (size_t i = 0; i < t->n; i++)
                t->nodes[i].parent = t->nodes[i].child = t->nodes[i].sibling = SIZE_MAX;
        for (size_t i = t->n; i > 0; i--) {
                Node *node = &t->nodes[i - 1];
                const ProcessInfo *p = node->process;
                const bool is_root = !p ||
                        (t->model->session.root_pid > 0 && p->pid == t->model->session.root_pid);

                node->parent = is_root ? SIZE_MAX : find(t, p->parent_id);
                if (node->parent == SIZE_MAX)
                        continue;
                node->sibling = t->nodes[node->parent].child;
                t->nodes[node->parent].child = i - 1;
        }
}

static void put_amount(const ProcessTree *t, const Author *a) {
        char class[32];

        snprintf(class, sizeof(class), "n %s", weight_to_string(a->worst));
        html_begin_class(t->html, "span", class);
        if (a->n_attempts == a->n_rows)
                html_format(t->html, "%zu refused", a->n_rows);
        else
                html_format(t->html, "%zu %s", a->n_rows, a->n_rows == 1 ? "change" : "changes");
        html_end(t->html);
        if (a->n_attempts > 0 && a->n_attempts < a->n_rows) {
                html_begin_class(t->html, "span", "remark");
                html_format(t->html, "%zu of them refused", a->n_attempts);
                html_end(t->html);
        }
        if (!t->has_violations || a->n_violations == a->n_rows)
                return;
        html_begin_class(t->html, "span", "remark");
        if (a->n_violations == 0)
                html_text(t->html, a->n_rows == 1 ? "allowed" : "all allowed");
        else
                html_format(t->html, "%zu of them allowed", a->n_rows - a->n_violations);
        html_end(t->html);
}

static void put_tests(const ProcessTree *t, const Author *a) {
        size_t n = MIN(a->n_tests, (size_t) AUTHOR_TESTS_MAX);

        for (size_t i = 0; i < n; i++) {
                html_begin_class(t->html, "div", "by");
                html_format(t->html, "test %s", a->tests[i]);
                html_end(t->html);
        }
        if (n == a->n_tests)
                return;
        html_begin_class(t->html, "div", "by");
        html_format(t->html, "and %zu more tests", a->n_tests - n);
        html_end(t->html);
}

static int put_process(const ProcessTree *t, const Node *node) {
        const ProcessInfo *p = node->process;
        _cleanup_free_ char *command = process_to_text(&plain, p, PROCESSES_COMMAND_MAX);

        if (!command)
                return -ENOMEM;
        html_element(t->html, "code", node->author ? "author" : NULL, command);
        if (p) {
                html_begin_class(t->html, "span", "by");
                html_format(t->html, " pid %d", (int) p->pid);
                if (p->cwd && !str_equal(p->cwd, t->model->session.cwd))
                        html_format(t->html, ", in %s", p->cwd);
                html_end(t->html);
        }
        if (node->author) {
                if (node->author->n_processes > 1)
                        html_format(t->html, " and %zu more like it",
                                    node->author->n_processes - 1);
                html_text(t->html, " ");
                put_amount(t, node->author);
                put_tests(t, node->author);
        }
        return 0;
}

/* No deeper than PROCESS_CHAIN_MAX: that is how far the chains go that the nodes come from. A circle in a broken reply ends where
 * it began. */
static int put_node(ProcessTree *t, Node *node, unsigned depth) {
        int r;

        node->written = true;
        html_begin(t->html, "li");
        r = put_process(t, node);
        if (r >= 0 && node->child != SIZE_MAX && depth < PROCESS_CHAIN_MAX) {
                html_begin(t->html, "ul");
                for (size_t i = node->child; r >= 0 && i != SIZE_MAX; i = t->nodes[i].sibling)
                        r = t->nodes[i].written ? 0 : put_node(t, &t->nodes[i], depth + 1);
                html_end(t->html);
        }
        html_end(t->html);
        return r;
}

static int put_forest(ProcessTree *t) {
        int r = 0;

        html_begin_class(t->html, "ul", "processes");
        for (size_t i = 0; r >= 0 && i < t->n; i++)
                if (t->nodes[i].parent == SIZE_MAX)
                        r = put_node(t, &t->nodes[i], 0);
        /* what hangs on no root, such as a circle, is told as well */
        for (size_t i = 0; r >= 0 && i < t->n; i++)
                if (!t->nodes[i].written && t->nodes[i].author)
                        r = put_node(t, &t->nodes[i], 0);
        html_end(t->html);
        return r;
}

int html_processes_write(Html *h, const ReportModel *m) {
        _cleanup_(authors_done) Authors authors = {};
        _cleanup_free_ Node *nodes = NULL;
        ProcessTree t = {.html = h, .model = m, .has_violations = report_has_violations(m->own)};
        size_t n;
        int r;

        r = authors_new(m->own, /* violations_only= */ false, &authors);
        if (r < 0)
                return r;
        authors_fold(&authors, report_process_source(m->own));
        n = MIN(authors.n, (size_t) PROCESSES_AUTHORS_MAX);
        t.nodes = nodes = calloc(n + 1, (PROCESS_CHAIN_MAX + 1) * sizeof(*nodes));
        if (!nodes)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                add_chain(&t, &authors.items[i]);
        remove_doubles(&t);
        link_nodes(&t);
        r = put_forest(&t);
        if (r < 0 || n == authors.n)
                return r;
        html_begin_class(h, "div", "more");
        html_format(h, "and %zu more processes, see report --json", authors.n - n);
        html_end(h);
        return 0;
}
