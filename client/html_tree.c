/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "client/html_tree.h"
#include "client/terminal.h"

typedef struct Tree {
        Html *html;
        const ReportModel *model;
        const Report *report;
        const char *watch_path; /* NULL: unknown */
        const Group *
                groups; /* sorted by watch and directory, what lies below a directory right behind it */
        size_t rows_left, folders_left, sight_left;
        bool in_open; /* what is being written is below a folder that is open */
} Tree;

/* Groups that stand side by side: all of a directory and below. */
typedef struct Span {
        size_t begin, end;
        Weight worst;
} Span;

/* "3 deleted, 1 created", each with the colour of its weight. */
static void put_weights(Html *h, const size_t n_weight[static _WEIGHT_MAX]) {
        for (Weight w = 0; w < _WEIGHT_MAX; w++) {
                char class[32];

                if (n_weight[w] == 0)
                        continue;
                snprintf(class, sizeof(class), "n %s", weight_to_string(w));
                html_begin_class(h, "span", class);
                html_format(h, "%zu %s", n_weight[w], weight_to_string(w));
                html_end(h);
        }
}

/* As strcmp() would order them if '/' came before all other letters: then a directory is followed by all that is below it. */
static int compare_directories(const Group *x, const Group *y) {
        size_t n = MIN(x->n_directory, y->n_directory);

        for (size_t i = 0; i < n; i++) {
                unsigned char a = (unsigned char) x->directory[i],
                              b = (unsigned char) y->directory[i];

                if (a == b)
                        continue;
                return a == '/' ? -1 : b == '/' ? 1 : (int) a - (int) b;
        }
        return (x->n_directory > y->n_directory) - (x->n_directory < y->n_directory);
}

static int compare_groups(const void *a, const void *b) {
        const Group *x = a, *y = b;
        int c = (int) x->watch_worst - (int) y->watch_worst;

        c = c ? c : strcmp(x->watch, y->watch);
        return c ? c : compare_directories(x, y);
}

static Weight worst_of(const Tree *t, size_t begin, size_t end) {
        Weight worst = _WEIGHT_MAX;

        for (size_t i = begin; i < end; i++)
                worst = MIN(worst, t->groups[i].worst);
        return worst;
}

static size_t count_rows(const Tree *t, const Span *s) {
        size_t n = 0;

        for (size_t i = s->begin; i < s->end; i++)
                n += t->groups[i].n_rows;
        return n;
}

static void put_counts(const Tree *t, const Span *s) {
        size_t n[_WEIGHT_MAX] = {}, refused = 0;

        for (size_t i = s->begin; i < s->end; i++) {
                for (Weight w = 0; w < _WEIGHT_MAX; w++)
                        n[w] += t->groups[i].n_weight[w];
                refused += t->groups[i].n_refused;
        }
        put_weights(t->html, n);
        if (refused == 0)
                return;
        html_begin_class(t->html, "span", "remark");
        if (refused == count_rows(t, s))
                html_text(t->html, "all refused");
        else
                html_format(t->html, "%zu of them refused", refused);
        html_end(t->html);
}

/* How much of the directory of the first group all groups of the span are in. Sorted as they are, the last one differs most. */
static size_t common_directory(const Tree *t, const Span *s) {
        const Group *x = &t->groups[s->begin], *y = &t->groups[s->end - 1];
        size_t n = MIN(x->n_directory, y->n_directory), i = 0, whole = 0;

        for (; i < n && x->directory[i] == y->directory[i]; i++)
                if (x->directory[i] == '/')
                        whole = i;
        if (i == n && (x->n_directory == n || x->directory[n] == '/') &&
            (y->n_directory == n || y->directory[n] == '/'))
                return n;
        return whole;
}

static const char *below(const char *path, const char *root) {
        size_t n = root ? strlen(root) : 0;

        return n > 0 && strncmp(path, root, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

/* The name in its folder, or with the directory behind the first `skip` bytes where it has no folder of its own. */
static void put_path(const Tree *t, const Operation *op, size_t skip) {
        html_begin_class(t->html, "bdi", "name");
        html_text(t->html, op->path + (skip > 0 && op->path[skip] == '/' ? skip + 1 : skip));
        if (op->kind == KIND_DIR)
                html_text(t->html, "/");
        html_end(t->html);
}

static void put_name(const Tree *t, const Operation *op, size_t skip) {
        const char *slash = strrchr(op->path, '/');
        const size_t n = slash ? (size_t) (slash - op->path) + 1 : 0;

        if (op->from) {
                /* in the same directory a name needs none */
                bool local = strncmp(op->from, op->path, n) == 0 && !strchr(op->from + n, '/');

                html_element(t->html, "bdi", "name",
                             local ? op->from + n : below(op->from, t->watch_path));
                html_text(t->html, " → ");
        }
        put_path(t, op, skip);
        if (!op->from && op->to) {
                html_text(t->html, " → ");
                html_element(t->html, "bdi", "name", op->to);
        }
}

static const char *action_remark(const Operation *op) {
        switch (op->action) {
        case ACTION_DENIED:
                return "refused";
        case ACTION_HELD:
                return "held";
        case ACTION_FROZEN:
                return "frozen for it";
        case ACTION_KILLED:
                return "killed for it";
        case ACTION_RECORDED:
        case ACTION_ALERTED:
        case _ACTION_MAX:
                break;
        }
        return NULL;
}

/* "rsync": the whole command line stands with the processes. */
static const char *program_name(const ProcessInfo *p) {
        const char *program = p && p->cmdline && p->cmdline[0] ? p->cmdline[0] : p ? p->exe : NULL;
        const char *slash = program ? strrchr(program, '/') : NULL;

        if (!program)
                return "unknown process";
        return slash && slash[1] ? slash + 1 : program;
}

static void put_author(const Tree *t, const Operation *op) {
        const ProcessInfo *p =
                process_source_find(report_process_source(t->report), op->process_id);
        char when[TERMINAL_TIME_MAX];
        const char *clock;

        terminal_time(op->first, when);
        clock = strlen(when) > 11 ? when + 11 : when;
        html_begin_class(t->html, "span", "by");
        if (op->test)
                html_attribute_format(t->html, "title", "test %s", op->test);
        html_format(t->html, "%s %s", clock, program_name(p));
        if (p)
                html_format(t->html, " (%d)", (int) p->pid);
        if (op->test)
                html_format(t->html, " · %s", op->test);
        html_end(t->html);
}

static void put_row(const Tree *t, const GroupRow *row, size_t skip) {
        const Operation *op = row->op;
        const char *weight = weight_to_string(operation_weight(op)), *remark = action_remark(op);
        char class[32];

        snprintf(class, sizeof(class), "w %s", weight);
        html_begin(t->html, "li");
        html_element(t->html, "span", class, weight);
        html_begin_class(t->html, "span", "what");
        put_name(t, op, skip);
        if (row->count > 1 && op->op == OP_MODIFY) {
                html_begin_class(t->html, "span", "remark");
                html_format(t->html, "×%" PRIu64, row->count);
                html_end(t->html);
        }
        if (remark)
                html_element(t->html, "span", "remark", remark);
        if (op->attribution == SIGHT_INFERRED)
                html_element(t->html, "span", "remark", "author by inference");
        html_end(t->html);
        put_author(t, op);
        html_end(t->html);
}

/* How many of `n` that lie side by side are in sight at once: one more costs no more than saying that it is there. */
static size_t in_sight(size_t n) {
        return n <= TREE_SIBLINGS_MAX + 1 ? n : TREE_SIBLINGS_MAX;
}

static void begin_rest(const Tree *t, size_t n, const char *what) {
        html_begin_class(t->html, "details", "rest");
        html_begin(t->html, "summary");
        html_format(t->html, "%zu %s", n, what);
        html_end(t->html);
}

static void put_rows(Tree *t, const Group *g) {
        const size_t n = MIN(MIN(g->n_rows, (size_t) TREE_ROWS_IN_FOLDER_MAX), t->rows_left);
        const size_t shown = in_sight(n);

        t->rows_left -= n;
        html_begin_class(t->html, "ul", "rows");
        for (size_t i = 0; i < shown; i++)
                put_row(t, &g->rows[i], g->n_directory);
        html_end(t->html);
        if (shown < n) {
                begin_rest(t, g->n_rows - shown, "more here");
                html_begin_class(t->html, "ul", "rows");
                for (size_t i = shown; i < n; i++)
                        put_row(t, &g->rows[i], g->n_directory);
                html_end(t->html);
        }
        if (n < g->n_rows) {
                html_begin_class(t->html, "div", "more");
                html_format(t->html, "and %zu more here, see report --json", g->n_rows - n);
                html_end(t->html);
        }
        if (shown < n)
                html_end(t->html);
}

/* A folder for one change is a line too much. */
static bool is_lonely(const Tree *t, const Span *s) {
        return s->end - s->begin == 1 && t->groups[s->begin].n_rows == 1;
}

static void put_lonely(Tree *t, const Span *s, size_t skip) {
        html_begin_class(t->html, "ul", "rows");
        put_row(t, &t->groups[s->begin].rows[0], skip);
        html_end(t->html);
        t->rows_left--;
}

static int compare_spans(const void *a, const void *b) {
        const Span *x = a, *y = b;

        return x->worst != y->worst ? (int) x->worst - (int) y->worst
                                    : (x->begin > y->begin) - (x->begin < y->begin);
}

/* The directories right below the first `skip` bytes, or with `flat` each that has rows; the gravest first. */
static int split(const Tree *t, const Span *s, size_t skip, bool flat, Span **ret, size_t *ret_n) {
        Span *parts = calloc(s->end - s->begin + 1, sizeof(*parts));
        size_t n = 0;

        if (!parts)
                return -ENOMEM;
        for (size_t i = s->begin, end; i < s->end; i = end) {
                const Group *first = &t->groups[i];
                const char *from = first->directory + skip + 1;
                const char *slash = memchr(from, '/', first->n_directory - skip - 1);
                size_t length = slash ? (size_t) (slash - first->directory) : first->n_directory;

                for (end = i + 1; !flat && end < s->end; end++) {
                        const Group *g = &t->groups[end];

                        if (g->n_directory < length ||
                            memcmp(g->directory, first->directory, length) != 0 ||
                            (g->n_directory > length && g->directory[length] != '/'))
                                break;
                }
                parts[n++] = (Span){.begin = i, .end = end, .worst = worst_of(t, i, end)};
        }
        qsort(parts, n, sizeof(*parts), compare_spans);
        *ret = parts;
        *ret_n = n;
        return 0;
}

static int put_folder(Tree *t, const Span *s, size_t skip, unsigned depth);

static void put_rest(const Tree *t, const Span *parts, size_t n) {
        size_t rows = 0, folders = 0;

        for (size_t i = 0; i < n; i++) {
                rows += count_rows(t, &parts[i]);
                folders += parts[i].end - parts[i].begin;
        }
        html_begin_class(t->html, "div", "more");
        html_format(t->html, "and %zu more in %zu %s, see report --json", rows, folders,
                    folders == 1 ? "folder" : "folders");
        html_end(t->html);
}

/* What is in the directory of the first `length` bytes that all of them share, and the directories below it. */
static int put_inside(Tree *t, Span s, size_t length, unsigned depth) {
        _cleanup_free_ Span *parts = NULL;
        size_t n = 0, shown, i;
        int r;

        if (t->groups[s.begin].n_directory == length)
                put_rows(t, &t->groups[s.begin++]);
        r = split(t, &s, length, depth >= TREE_DEPTH_MAX, &parts, &n);
        shown = in_sight(n);
        for (i = 0; r >= 0 && i < n && t->rows_left > 0 && t->folders_left > 0; i++) {
                if (i == shown)
                        begin_rest(t, n - i, "more folders");
                r = put_folder(t, &parts[i], length, depth + 1);
        }
        if (r >= 0 && i < n)
                put_rest(t, &parts[i], n - i);
        if (i > shown)
                html_end(t->html);
        return r;
}

/* Directories with nothing but one directory in them are one line. */
static int put_folder(Tree *t, const Span *s, size_t skip, unsigned depth) {
        const size_t length = common_directory(t, s);
        const size_t rows = count_rows(t, s);
        const bool was_open = t->in_open;
        const bool open = was_open || (rows <= TREE_OPEN_MAX && rows <= t->sight_left);
        _cleanup_free_ char *name = NULL;
        int r;

        if (is_lonely(t, s) && t->rows_left > 0) {
                put_lonely(t, s, skip);
                return 0;
        }
        if (open && !was_open)
                t->sight_left -= rows;
        name = strndup(t->groups[s->begin].directory + skip, length - skip);
        if (!name)
                return -ENOMEM;
        t->folders_left -= MIN(t->folders_left, (size_t) 1);
        html_begin(t->html, "details");
        if (open)
                html_attribute(t->html, "open", "");
        html_begin(t->html, "summary");
        html_begin_class(t->html, "bdi", "name");
        html_format(t->html, "%s/", skip > 0 && *name == '/' ? name + 1 : name);
        html_end(t->html);
        put_counts(t, s);
        html_end(t->html);
        t->in_open = open;
        r = put_inside(t, *s, length, depth);
        t->in_open = was_open;
        html_end(t->html);
        return r;
}

static int put_watch(Tree *t, const Span *s) {
        const char *name = t->groups[s->begin].watch;
        const WatchView *watch = watch_views_find(&t->model->watches, name);
        size_t length = common_directory(t, s), root = 0;
        int r;

        t->watch_path = watch ? watch->path : NULL;
        html_begin_class(t->html, "div", "watch");
        html_begin(t->html, "h3");
        html_format(t->html, "watch %s", name);
        if (watch) {
                html_element(t->html, "bdi", "name", watch->path);
                html_begin_class(t->html, "span", "remark");
                html_format(t->html, "policy %s",
                            policy_to_string(report_model_policy(t->model, watch)));
                html_end(t->html);
                root = strlen(watch->path);
        }
        html_end(t->html);
        /* what lies in the watched folder itself needs no folder around it */
        if (root > 1 && length == root &&
            memcmp(t->groups[s->begin].directory, watch->path, root) == 0)
                r = put_inside(t, *s, length, 0);
        else if (root > 1 && length > root && t->groups[s->begin].directory[root] == '/' &&
                 memcmp(t->groups[s->begin].directory, watch->path, root) == 0)
                r = put_folder(t, s, root, 0);
        else
                r = put_folder(t, s, 0, 0);
        html_end(t->html);
        return r;
}

int html_tree_write(Html *h, const ReportModel *m, const Report *report, GroupsPick pick) {
        _cleanup_(groups_done) Groups groups = {};
        Tree t = {
                .html = h,
                .model = m,
                .report = report,
                .rows_left = TREE_ROWS_MAX,
                .folders_left = TREE_FOLDERS_MAX,
                .sight_left = TREE_IN_SIGHT_MAX,
        };
        int r;

        r = groups_new(report, pick, &groups);
        if (r < 0)
                return r;
        qsort(groups.items, groups.n, sizeof(*groups.items), compare_groups);
        t.groups = groups.items;
        for (size_t i = 0, end; r >= 0 && i < groups.n; i = end) {
                for (end = i + 1;
                     end < groups.n && str_equal(groups.items[end].watch, groups.items[i].watch);)
                        end++;
                r = put_watch(&t, &(Span){.begin = i, .end = end});
        }
        return r;
}
