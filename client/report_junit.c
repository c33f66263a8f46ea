/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/chain_text.h"
#include "client/loss_text.h"
#include "client/report_groups.h"
#include "client/report_junit.h"
#include "common/path_text.h"
#include "common/strv.h"
#include "common/time_text.h"
#include "common/utf8.h"

#define ROWS_IN_CASE_MAX 1000
#define CHAIN_COLUMNS 120 /* for each process of a chain */

typedef enum Outcome {
        OUTCOME_PASSED,
        OUTCOME_FAILED,
        OUTCOME_ERROR,
        OUTCOME_SKIPPED,
        _OUTCOME_MAX,
} Outcome;

/* One testcase: the rows of one test, or of one watch that belong to no test. */
typedef struct Case {
        const char *test;  /* NULL: by watch */
        const char *watch; /* NULL: by test, or the session as a whole */
        const WatchView *view;
        Outcome outcome;
        size_t first_row, n_rows; /* its violations among those of the suite */
} Case;

typedef struct Suite {
        const ReportModel *model;
        const Operation **rows; /* violations, sorted by test and watch */
        size_t n_rows;
        Case *cases;
        size_t n_cases;
        size_t n[_OUTCOME_MAX];
} Suite;

static bool is_xml_character(uint32_t c) {
        return c == '\t' || c == '\n' || c == '\r' ||
                (c >= 0x20 && c != 0xfffe && c != 0xffff && c != 0x7f);
}

static const char *reference_of(uint32_t c) {
        switch (c) {
        case '&':
                return "&amp;";
        case '<':
                return "&lt;";
        case '>':
                return "&gt;";
        case '"':
                return "&quot;";
        case '\t':
                return "&#9;";
        case '\n':
                return "&#10;";
        case '\r':
                return "&#13;";
        default:
                return NULL;
        }
}

void xml_put_text(FILE *f, const char *text) {
        size_t left = strlen(text);

        while (left > 0) {
                uint32_t c = 0;
                size_t n = utf8_sequence(text, left, &c);
                const char *reference = n > 0 ? reference_of(c) : NULL;

                if (reference)
                        fputs(reference, f);
                else if (n > 0 && is_xml_character(c))
                        fwrite(text, 1, n, f);
                else
                        fputs("\xef\xbf\xbd", f);
                n = MAX(n, (size_t) 1);
                text += n;
                left -= n;
        }
}

static int compare_text(const char *a, const char *b) {
        return strcmp(a ? a : "", b ? b : "");
}

static int compare_rows(const void *a, const void *b) {
        const Operation *x = *(const Operation *const *) a, *y = *(const Operation *const *) b;
        int c = compare_text(x->test, y->test);

        c = c ? c : compare_text(x->watch, y->watch);
        return c ? c : (x->seq > y->seq) - (x->seq < y->seq);
}

static int compare_tests(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static int compare_case(const Case *c, const Operation *op) {
        int r = compare_text(c->test, op->test);

        return r ? r : c->test ? 0 : compare_text(c->watch, op->watch);
}

/* The rows of a case stand side by side: the first that is not before it, and the first that is behind it. */
static void find_rows(const Suite *suite, Case *c) {
        size_t low = 0, high = suite->n_rows;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (compare_case(c, suite->rows[middle]) > 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        c->first_row = low;
        while (low < suite->n_rows && compare_case(c, suite->rows[low]) == 0)
                low++;
        c->n_rows = low - c->first_row;
}

static bool loss_concerns(const Case *c, const Loss *l) {
        return c->watch ? !l->watch || str_equal(l->watch, c->watch) : !c->test;
}

static Outcome outcome_of(const Case *c, const SessionView *s) {
        if (c->n_rows > 0)
                return OUTCOME_FAILED;
        for (size_t i = 0; i < s->n_losses; i++)
                if (loss_concerns(c, &s->losses[i]))
                        return OUTCOME_ERROR;
        if (c->view && !watch_view_is_ready(c->view))
                return OUTCOME_SKIPPED;
        return OUTCOME_PASSED;
}

static void add_case(Suite *suite, Case c) {
        find_rows(suite, &c);
        c.outcome = outcome_of(&c, &suite->model->session);
        suite->cases[suite->n_cases++] = c;
        suite->n[c.outcome]++;
}

/* The tests that changed anything, sorted, each once. */
static size_t collect_tests(const Report *report, const char **tests) {
        size_t n = 0, kept = 0;

        for (size_t i = 0; i < report_n_rows(report); i++)
                if (report_row(report, i)->test)
                        tests[n++] = report_row(report, i)->test;
        qsort(tests, n, sizeof(*tests), compare_tests);
        for (size_t i = 0; i < n; i++)
                if (kept == 0 || !str_equal(tests[kept - 1], tests[i]))
                        tests[kept++] = tests[i];
        return kept;
}

static bool has_unmarked_violation(const Suite *suite, const char *watch) {
        Case c = {.watch = watch};

        find_rows(suite, &c);
        return c.n_rows > 0;
}

static int make_cases(Suite *suite) {
        const ReportModel *m = suite->model;
        _cleanup_free_ const char **tests = calloc(report_n_rows(m->own) + 1, sizeof(*tests));
        size_t n_tests;

        if (!tests)
                return -ENOMEM;
        n_tests = collect_tests(m->own, tests);
        suite->cases = calloc(n_tests + m->watches.n + 1, sizeof(*suite->cases));
        if (!suite->cases)
                return -ENOMEM;
        for (size_t i = 0; i < n_tests; i++)
                add_case(suite, (Case){.test = tests[i]});
        for (size_t i = 0; i < m->watches.n; i++) {
                const WatchView *w = &m->watches.items[i];

                if (n_tests == 0 || has_unmarked_violation(suite, w->name))
                        add_case(suite, (Case){.watch = w->name, .view = w});
        }
        /* somebody must carry the losses when no watch does */
        if (m->session.n_losses > 0 && (n_tests > 0 || m->watches.n == 0))
                add_case(suite, (Case){});
        return 0;
}

static int collect_violations(Suite *suite) {
        const Report *report = suite->model->own;

        suite->rows = calloc(report_n_rows(report) + 1, sizeof(*suite->rows));
        if (!suite->rows)
                return -ENOMEM;
        for (size_t i = 0; i < report_n_rows(report); i++)
                if (report_row(report, i)->violation)
                        suite->rows[suite->n_rows++] = report_row(report, i);
        qsort(suite->rows, suite->n_rows, sizeof(*suite->rows), compare_rows);
        return 0;
}

static int put_violation(FILE *f, const ReportModel *m, const Operation *op) {
        static const Terminal plain = {.unicode = true};
        _cleanup_free_ char *path = path_to_text(op->path),
                            *from = op->from ? path_to_text(op->from) : NULL,
                            *chain = chain_to_text(&plain, report_process_source(m->own),
                                                   op->process_id, m->session.root_pid,
                                                   CHAIN_COLUMNS);

        if (!path || !chain || (op->from && !from))
                return -ENOMEM;
        xml_put_text(f, weight_to_string(operation_weight(op)));
        fputs(" ", f);
        if (from) {
                xml_put_text(f, from);
                fputs(" → ", f);
        }
        xml_put_text(f, path);
        fputs(op->action == ACTION_DENIED ? " (refused)  by " : "  by ", f);
        xml_put_text(f, chain);
        fputs("\n", f);
        return 0;
}

static int put_failure(FILE *f, const Suite *suite, const Case *c) {
        size_t n = MIN(c->n_rows, (size_t) ROWS_IN_CASE_MAX);

        fprintf(f, "      <failure type=\"violation\" message=\"%zu %s\">", c->n_rows,
                c->n_rows == 1 ? "violation" : "violations");
        for (size_t i = 0; i < n; i++) {
                int r = put_violation(f, suite->model, suite->rows[c->first_row + i]);

                if (r < 0)
                        return r;
        }
        if (n < c->n_rows)
                fprintf(f, "and %zu more\n", c->n_rows - n);
        fputs("</failure>\n", f);
        return 0;
}

static int put_error(FILE *f, const SessionView *s, const Case *c) {
        fputs("      <error type=\"incomplete\" message=\"not everything could be seen\">", f);
        for (size_t i = 0; i < s->n_losses; i++) {
                _cleanup_free_ char *text = NULL;

                if (!loss_concerns(c, &s->losses[i]))
                        continue;
                text = loss_to_text(&s->losses[i]);
                if (!text)
                        return -ENOMEM;
                xml_put_text(f, text);
                fputs("\n", f);
        }
        fputs("</error>\n", f);
        return 0;
}

static void put_skipped(FILE *f, const WatchView *w) {
        fputs("      <skipped message=\"not watched: ", f);
        if (w)
                xml_put_text(f, w->reason ? w->reason : w->state);
        fputs("\"/>\n", f);
}

static int put_case(FILE *f, const Suite *suite, const Case *c) {
        int r = 0;

        fputs("    <testcase classname=\"mountwatch\" name=\"", f);
        if (c->test)
                xml_put_text(f, c->test);
        else if (c->view) {
                xml_put_text(f, c->view->name);
                fputs(" (", f);
                xml_put_text(f, c->view->path);
                fputs(")", f);
        } else
                fputs("completeness", f);
        fputs(c->outcome == OUTCOME_PASSED ? "\"/>\n" : "\">\n", f);
        switch (c->outcome) {
        case OUTCOME_PASSED:
        case _OUTCOME_MAX:
                return 0;
        case OUTCOME_FAILED:
                r = put_failure(f, suite, c);
                break;
        case OUTCOME_ERROR:
                r = put_error(f, &suite->model->session, c);
                break;
        case OUTCOME_SKIPPED:
                put_skipped(f, c->view);
                break;
        }
        fputs("    </testcase>\n", f);
        return r;
}

static int put_suite(FILE *f, const Suite *suite) {
        const SessionView *s = &suite->model->session;
        char started[TIME_TEXT_MAX];
        double seconds = s->stopped > s->started ? (double) (s->stopped - s->started) / 1e6 : 0;

        time_to_text(s->started, started);
        started[strcspn(started, ".")] = '\0'; /* the schema wants neither a fraction nor a zone */
        fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", f);
        fprintf(f,
                "  <testsuite name=\"mountwatch\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" "
                "time=\"%.3f\" timestamp=\"%s\">\n    <properties>\n      <property name=\"session\" value=\"",
                suite->n_cases, suite->n[OUTCOME_FAILED], suite->n[OUTCOME_ERROR],
                suite->n[OUTCOME_SKIPPED], seconds, started);
        xml_put_text(f, s->id);
        fprintf(f, "\"/>\n      <property name=\"verdict\" value=\"%s\"/>\n    </properties>\n",
                verdict_to_string(s->verdict));
        for (size_t i = 0; i < suite->n_cases; i++) {
                int r = put_case(f, suite, &suite->cases[i]);

                if (r < 0)
                        return r;
        }
        fputs("  </testsuite>\n</testsuites>\n", f);
        return 0;
}

int report_junit_write(FILE *f, const ReportModel *m) {
        Suite suite = {.model = m};
        int r;

        r = collect_violations(&suite);
        r = r < 0 ? r : make_cases(&suite);
        r = r < 0 ? r : put_suite(f, &suite);
        free(suite.rows);
        free(suite.cases);
        return r;
}
