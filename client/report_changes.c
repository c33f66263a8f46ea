/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "client/chain_text.h"
#include "client/report_authors.h"
#include "client/report_changes.h"
#include "common/path_text.h"

#define CHAIN_COLUMNS 48        /* for each process of a chain */
#define COMMAND_COLUMNS_MAX 160 /* also where the width has no limit */
/* what a line needs beside the text that may be shortened */
#define ROW_COLUMNS 30
#define DIRECTORY_COLUMNS 40
#define COMMAND_COLUMNS 30
#define CHAIN_INDENT 4

/* The room for a text; 0: no limit. A terminal that is too narrow may as well wrap. */
static unsigned columns_left(const Terminal *t, unsigned taken, bool all) {
        return all || t->width < taken + 20 ? 0 : t->width - taken;
}

bool report_has_violations(const Report *report) {
        for (size_t i = 0; i < report_n_rows(report); i++)
                if (report_row(report, i)->violation)
                        return true;
        return false;
}

static const char *below(const char *path, const char *root) {
        size_t n = root ? strlen(root) : 0;

        if (n == 0 || strncmp(path, root, n) != 0 || path[n] != '/')
                return path;
        return path + n + 1;
}

static bool is_in_directory(const Group *g, const char *path) {
        return strncmp(path, g->directory, g->n_directory) == 0 && path[g->n_directory] == '/' &&
                path[g->n_directory + 1] && !strchr(path + g->n_directory + 1, '/');
}

/* `local`: in its own group a name needs no directory. */
static char *name_to_text(const Group *g, const char *watch_path, const char *path, bool local) {
        return path_to_text(local ? path + g->n_directory + 1 : below(path, watch_path));
}

static const char *action_remark(Action action) {
        switch (action) {
        case ACTION_DENIED:
                return " (refused)";
        case ACTION_HELD:
                return " (held)";
        case ACTION_FROZEN:
                return " (frozen for it)";
        case ACTION_KILLED:
                return " (killed for it)";
        case ACTION_RECORDED:
        case ACTION_ALERTED:
        case _ACTION_MAX:
                break;
        }
        return "";
}

/* "name", "old → new", or for what left the watch "name → outside". */
static char *row_to_text(const Terminal *t, const Group *g, const char *watch_path,
                         const Operation *op) {
        const char *first = op->from ? op->from : op->path;
        const char *second = op->from ? op->path : op->to;
        /* a group of one has no line of its own for the directory */
        bool local = g->n_rows > 1 && is_in_directory(g, first) &&
                (!second || is_in_directory(g, second));
        _cleanup_free_ char *left = name_to_text(g, watch_path, first, local),
                            *right = second ? name_to_text(g, watch_path, second, local) : NULL;
        char *text;

        if (!left || (second && !right))
                return NULL;
        if (!second)
                return TAKE_PTR(left);
        return asprintf(&text, "%s %s %s", left, terminal_arrow(t), right) < 0 ? NULL : text;
}

static const char *row_remark(const Operation *op) {
        if (op->action == ACTION_RECORDED || op->action == ACTION_ALERTED)
                return !op->violation && op->rule ? " (allowed)" : "";
        return action_remark(op->action);
}

static int put_row(const Terminal *t, const Group *g, const char *watch_path, const GroupRow *row,
                   bool all) {
        const Operation *op = row->op;
        Weight weight = operation_weight(op);
        bool grave = op->violation && weight <= WEIGHT_REPLACED;
        _cleanup_free_ char *text = row_to_text(t, g, watch_path, op), *shown = NULL;
        char count[32] = "";

        if (!text)
                return -ENOMEM;
        /* how often a file was written says something, how often a name was made does not */
        if (row->count > 1 && op->op == OP_MODIFY)
                snprintf(count, sizeof(count), " %s%" PRIu64, terminal_times(t), row->count);
        shown = text_shorten_middle(text, columns_left(t, ROW_COLUMNS, all), terminal_ellipsis(t));
        if (!shown)
                return -ENOMEM;
        /* a row that is a group of its own stands where the directories stand */
        fprintf(t->file, "%s%s%-9s%s %s%s%s%s\n", g->n_rows > 1 ? "    " : "  ",
                terminal_style(t, grave ? STYLE_BAD : STYLE_PLAIN), weight_to_string(weight),
                terminal_reset(t), shown, op->kind == KIND_DIR ? "/" : "", count, row_remark(op));
        return 0;
}

static void put_counts(FILE *f, const Group *g) {
        bool any = false;

        for (Weight w = 0; w < _WEIGHT_MAX; w++) {
                if (g->n_weight[w] == 0)
                        continue;
                fprintf(f, "%s%zu %s", any ? ", " : "", g->n_weight[w], weight_to_string(w));
                any = true;
        }
        if (g->n_refused == g->n_rows)
                fputs(", all refused", f);
        else if (g->n_refused > 0)
                fprintf(f, ", %zu of them refused", g->n_refused);
}

static int put_directory(const Terminal *t, const Group *g, const char *watch_path, bool all) {
        _cleanup_free_ char *directory = strndup(g->directory, g->n_directory), *text = NULL,
                            *shown = NULL;

        if (!directory)
                return -ENOMEM;
        if (watch_path && str_equal(directory, watch_path))
                text = strdup(".");
        else
                text = path_to_text(below(directory, watch_path));
        if (!text)
                return -ENOMEM;
        shown = text_shorten_middle(text, columns_left(t, DIRECTORY_COLUMNS, all),
                                    terminal_ellipsis(t));
        if (!shown)
                return -ENOMEM;
        fprintf(t->file, "  %s%s/%s  %s", terminal_style(t, STYLE_BOLD), shown, terminal_reset(t),
                terminal_style(t, STYLE_DIM));
        put_counts(t->file, g);
        fprintf(t->file, "%s\n", terminal_reset(t));
        return 0;
}

static int put_watch(const Terminal *t, const ReportModel *m, const char *name,
                     const WatchView *watch) {
        _cleanup_free_ char *text = path_to_text(name),
                            *path = watch ? path_to_text(watch->path) : NULL;

        if (!text || (watch && !path))
                return -ENOMEM;
        fprintf(t->file, "\n%swatch %s%s", terminal_style(t, STYLE_BOLD), text, terminal_reset(t));
        if (path)
                fprintf(t->file, "  %s  (policy %s)", path,
                        policy_to_string(report_model_policy(m, watch)));
        fputc('\n', t->file);
        return 0;
}

/* How many rows of the group are shown, out of the `room` that is left. */
static size_t rows_to_show(const Group *g, size_t room, bool all) {
        if (all)
                return g->n_rows;
        /* one row more costs no more lines than saying that it is there */
        return MIN(g->n_rows <= CHANGES_IN_GROUP_MAX + 1 ? g->n_rows : CHANGES_IN_GROUP_MAX, room);
}

static int put_group(const Terminal *t, const Group *g, const char *watch_path, size_t n,
                     bool all) {
        int r;

        r = g->n_rows > 1 ? put_directory(t, g, watch_path, all) : 0;
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = put_row(t, g, watch_path, &g->rows[i], all);
        if (r < 0)
                return r;
        if (n < g->n_rows)
                fprintf(t->file, "    %s%s and %zu more (--all shows them)%s\n",
                        terminal_style(t, STYLE_DIM), terminal_ellipsis(t), g->n_rows - n,
                        terminal_reset(t));
        return 0;
}

static void put_rest(const Terminal *t, const Groups *groups, size_t next) {
        size_t rows = 0;

        for (size_t i = next; i < groups->n; i++)
                rows += groups->items[i].n_rows;
        if (rows > 0)
                fprintf(t->file,
                        "  %s%s and %zu more in %zu other directories (--all shows them)%s\n",
                        terminal_style(t, STYLE_DIM), terminal_ellipsis(t), rows, groups->n - next,
                        terminal_reset(t));
        if (groups->n_left_out > 0)
                fprintf(t->file, "\nalso %zu %s that the watches allow (--all shows them)\n",
                        groups->n_left_out, groups->n_left_out == 1 ? "change" : "changes");
}

int report_changes_write(const Terminal *t, const ReportModel *m, bool all, bool *ret_left_out) {
        _cleanup_(groups_done) Groups groups = {};
        const char *last_watch = NULL;
        size_t room = CHANGES_MAX, i;
        bool left_out;
        int r;

        r = groups_new(m->own,
                       !all && report_has_violations(m->own) ? GROUPS_VIOLATIONS : GROUPS_ALL,
                       &groups);
        if (r < 0)
                return r;
        left_out = groups.n_left_out > 0;
        for (i = 0; i < groups.n && room > 0; i++) {
                const Group *g = &groups.items[i];
                const WatchView *watch = watch_views_find(&m->watches, g->watch);
                size_t n = rows_to_show(g, room, all);

                r = str_equal(g->watch, last_watch) ? 0 : put_watch(t, m, g->watch, watch);
                if (r < 0)
                        return r;
                last_watch = g->watch;
                r = put_group(t, g, watch ? watch->path : NULL, n, all);
                if (r < 0)
                        return r;
                left_out |= n < g->n_rows;
                if (!all)
                        room -= MIN(room, g->n_rows > 1 ? n + 1 : n);
        }
        left_out |= i < groups.n;
        put_rest(t, &groups, i);
        *ret_left_out |= left_out;
        return 0;
}

static int put_tests(const Terminal *t, const Author *a) {
        for (size_t i = 0; i < MIN(a->n_tests, (size_t) AUTHOR_TESTS_MAX); i++) {
                _cleanup_free_ char *test = path_to_text(a->tests[i]);

                if (!test)
                        return -ENOMEM;
                fprintf(t->file, "    test %s\n", test);
        }
        if (a->n_tests > AUTHOR_TESTS_MAX)
                fprintf(t->file, "    %s and %zu more tests\n", terminal_ellipsis(t),
                        a->n_tests - AUTHOR_TESTS_MAX);
        return 0;
}

/* The chain in one line: the longer it is, the less of each process. */
static char *fit_chain(const Terminal *t, const ReportModel *m, int64_t id, bool all) {
        static const unsigned columns[] = {CHAIN_COLUMNS, CHAIN_COLUMNS / 2, CHAIN_COLUMNS / 3};
        unsigned room = columns_left(t, CHAIN_INDENT, all);
        ProcessSource processes = report_process_source(m->own);
        _cleanup_free_ char *chain = NULL;

        for (size_t i = 0; i < ELEMENTSOF(columns); i++) {
                free(chain);
                chain = chain_to_text(t, processes, id, m->session.root_pid, all ? 0 : columns[i]);
                if (!chain || room == 0 || text_width(chain) <= room)
                        return TAKE_PTR(chain);
        }
        return text_shorten_middle(chain, room, terminal_ellipsis(t));
}

static int put_chain(const Terminal *t, const ReportModel *m, const Author *a, bool all) {
        const ProcessInfo *ancestors[PROCESS_CHAIN_MAX];
        _cleanup_free_ char *chain = NULL;

        if (process_source_ancestors(report_process_source(m->own), a->process_id,
                                     m->session.root_pid, ancestors) == 0)
                return 0;
        chain = fit_chain(t, m, a->process_id, all);
        if (!chain)
                return -ENOMEM;
        fprintf(t->file, "    %s\n", chain);
        return 0;
}

/* Where it worked, when that is not where the session began. */
static int put_cwd(const Terminal *t, const SessionView *s, const ProcessInfo *p) {
        _cleanup_free_ char *text = NULL;

        if (!p || !p->cwd || str_equal(p->cwd, s->cwd))
                return 0;
        text = path_to_text(p->cwd);
        if (!text)
                return -ENOMEM;
        fprintf(t->file, "    in %s\n", text);
        return 0;
}

static int put_author(const Terminal *t, const ReportModel *m, const Author *a, bool all) {
        const ProcessInfo *p = process_source_find(report_process_source(m->own), a->process_id);
        unsigned room = columns_left(t, COMMAND_COLUMNS, all);
        _cleanup_free_ char *command = NULL;
        int r;

        if (!all && (room == 0 || room > COMMAND_COLUMNS_MAX))
                room = COMMAND_COLUMNS_MAX;
        command = process_to_text(t, p, room);
        if (!command)
                return -ENOMEM;
        fprintf(t->file, "  %s%s%s", terminal_style(t, STYLE_BOLD), command, terminal_reset(t));
        if (p && a->n_processes == 1)
                fprintf(t->file, "  (pid %d)", (int) p->pid);
        else if (a->n_processes > 1)
                fprintf(t->file, "  and %zu more like it", a->n_processes - 1);
        fprintf(t->file, "  %zu %s\n", a->n_rows, a->n_rows == 1 ? "change" : "changes");
        r = put_chain(t, m, a, all);
        r = r < 0 ? r : put_cwd(t, &m->session, p);
        return r < 0 ? r : put_tests(t, a);
}

int report_authors_write(const Terminal *t, const ReportModel *m, bool all, bool *ret_left_out) {
        _cleanup_(authors_done) Authors authors = {};
        size_t n;
        int r;

        r = authors_new(m->own, !all && report_has_violations(m->own), &authors);
        if (r < 0)
                return r;
        if (authors.n == 0)
                return 0;
        if (!all)
                authors_fold(&authors, report_process_source(m->own));
        fprintf(t->file, "\n%sdone by%s\n", terminal_style(t, STYLE_BOLD), terminal_reset(t));
        n = all ? authors.n : MIN(authors.n, (size_t) AUTHORS_MAX);
        for (size_t i = 0; i < n; i++) {
                r = put_author(t, m, &authors.items[i], all);
                if (r < 0)
                        return r;
        }
        if (n < authors.n) {
                fprintf(t->file, "  %s and %zu more processes (--all shows them)\n",
                        terminal_ellipsis(t), authors.n - n);
                *ret_left_out = true;
        }
        return 0;
}
