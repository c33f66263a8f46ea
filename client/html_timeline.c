/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/html_timeline.h"
#include "client/report_groups.h"
#include "client/terminal.h"

/* units of the drawing, which is stretched to the width of the page */
#define SLICE_WIDTH 10
#define WIDTH (TIMELINE_SLICES * SLICE_WIDTH)
#define HEIGHT 110
#define BAR_HEIGHT_MIN 3

typedef enum Series {
        SERIES_GRAVE,
        SERIES_MODIFIED,
        SERIES_CREATED,
        SERIES_REFUSED,
        _SERIES_MAX,
} Series;

static const struct {
        const char *class, *text;
} series_table[_SERIES_MAX] = {
        [SERIES_GRAVE] = {"grave", "deleted or replaced"},
        [SERIES_MODIFIED] = {"modified", "modified, renamed or touched"},
        [SERIES_CREATED] = {"created", "created"},
        [SERIES_REFUSED] = {"refused", "refused"},
};

typedef struct Timeline {
        Html *html;
        const ReportModel *model;
        usec_t begin, end; /* begin < end */
        size_t slices[TIMELINE_SLICES][_SERIES_MAX];
        size_t tallest;
        size_t n[_SERIES_MAX];
} Timeline;

typedef struct TestMark {
        const char *name; /* borrowed */
        usec_t first;
        size_t n_rows;
} TestMark;

static Series series_of(const Operation *op) {
        if (!operation_has_happened(op))
                return SERIES_REFUSED;
        switch (operation_weight(op)) {
        case WEIGHT_DELETED:
        case WEIGHT_REPLACED:
                return SERIES_GRAVE;
        case WEIGHT_CREATED:
                return SERIES_CREATED;
        case WEIGHT_MODIFIED:
        case WEIGHT_RENAMED:
        case WEIGHT_METADATA:
        case _WEIGHT_MAX:
                break;
        }
        return SERIES_MODIFIED;
}

static usec_t clamp(const Timeline *t, usec_t at) {
        return at < t->begin ? t->begin : at > t->end ? t->end : at;
}

static size_t slice_of(const Timeline *t, usec_t at) {
        const double part = (double) (clamp(t, at) - t->begin) / (double) (t->end - t->begin);

        return MIN((size_t) (part * TIMELINE_SLICES), (size_t) TIMELINE_SLICES - 1);
}

/* From the start of the session to its end, or to its last change while it runs. */
static void find_span(Timeline *t) {
        const SessionView *s = &t->model->session;
        const Report *report = t->model->own;

        t->begin = s->started;
        t->end = s->stopped;
        for (size_t i = 0; i < report_n_rows(report); i++) {
                const Operation *op = report_row(report, i);

                t->begin = t->begin > 0 ? MIN(t->begin, op->first) : op->first;
                t->end = MAX(t->end, op->last);
        }
        if (t->end <= t->begin)
                t->end = t->begin + 1;
}

static void fill(Timeline *t) {
        const Report *report = t->model->own;

        for (size_t i = 0; i < report_n_rows(report); i++) {
                const Operation *op = report_row(report, i);
                const Series series = series_of(op);

                t->slices[slice_of(t, op->first)][series]++;
                t->n[series]++;
        }
        for (size_t i = 0; i < TIMELINE_SLICES; i++) {
                size_t sum = 0;

                for (Series s = 0; s < _SERIES_MAX; s++)
                        sum += t->slices[i][s];
                t->tallest = MAX(t->tallest, sum);
        }
}

static void format_time(const Timeline *t, usec_t at, char buffer[static 48]) {
        char text[TERMINAL_TIME_MAX];
        const char *clock = terminal_time(at, text);

        if (strlen(text) > 11)
                clock = text + 11;
        /* a session of a few seconds needs the fraction */
        if (t->end - t->begin < 60 * USEC_PER_SEC)
                snprintf(buffer, 48, "%s.%03u", clock, (unsigned) (at % USEC_PER_SEC / 1000));
        else
                snprintf(buffer, 48, "%s", clock);
}

static usec_t slice_time(const Timeline *t, size_t i) {
        return t->begin + (usec_t) ((double) (t->end - t->begin) * (double) i / TIMELINE_SLICES);
}

static void put_rectangle(Html *h, const char *class, double x, double y, double width,
                          double height) {
        html_begin_class(h, "rect", class);
        html_attribute_format(h, "x", "%.1f", x);
        html_attribute_format(h, "y", "%.1f", y);
        html_attribute_format(h, "width", "%.1f", width);
        html_attribute_format(h, "height", "%.1f", height);
        html_end(h);
}

/* What a pointer that rests on a bar is told. */
static void put_slice_title(const Timeline *t, size_t i) {
        char time[48];
        bool any = false;

        format_time(t, slice_time(t, i), time);
        html_begin(t->html, "title");
        html_format(t->html, "%s: ", time);
        for (Series s = 0; s < _SERIES_MAX; s++) {
                if (t->slices[i][s] == 0)
                        continue;
                html_format(t->html, "%s%zu %s", any ? ", " : "", t->slices[i][s],
                            series_table[s].text);
                any = true;
        }
        html_end(t->html);
}

static void put_slice(const Timeline *t, size_t i) {
        double top = HEIGHT;

        html_begin(t->html, "g");
        put_slice_title(t, i);
        for (Series s = 0; s < _SERIES_MAX; s++) {
                double height = (double) t->slices[i][s] * (HEIGHT - 2 * BAR_HEIGHT_MIN) /
                        (double) t->tallest;

                if (t->slices[i][s] == 0)
                        continue;
                height = MAX(height, (double) BAR_HEIGHT_MIN);
                top = MAX(top - height, 0.0);
                put_rectangle(t->html, series_table[s].class, (double) (i * SLICE_WIDTH) + 1, top,
                              SLICE_WIDTH - 2, height);
        }
        html_end(t->html);
}

static void put_losses(const Timeline *t) {
        const SessionView *s = &t->model->session;

        for (size_t i = 0; i < s->n_losses; i++) {
                const Loss *l = &s->losses[i];
                const double scale = WIDTH / (double) (t->end - t->begin);
                const usec_t from = clamp(t, l->at),
                             to = clamp(t, l->until > 0 ? l->until : t->end);
                const double x = (double) (from - t->begin) * scale,
                             width = (double) (to - from) * scale;

                if (l->at > 0 && to >= from)
                        put_rectangle(t->html, "loss", x, 0, MAX(width, 4.0), HEIGHT);
        }
}

static void put_drawing(const Timeline *t) {
        Html *h = t->html;

        html_begin(h, "svg");
        html_attribute_format(h, "viewBox", "0 0 %d %d", WIDTH, HEIGHT);
        html_attribute(h, "preserveAspectRatio", "none");
        html_attribute(h, "role", "img");
        html_attribute(h, "aria-label", "changes over the time of the session");
        put_losses(t);
        for (size_t i = 0; i < TIMELINE_SLICES; i++)
                put_slice(t, i);
        html_end(h);
}

static void put_axis(const Timeline *t) {
        char from[48], to[48];

        format_time(t, t->begin, from);
        format_time(t, t->end, to);
        html_begin_class(t->html, "div", "axis");
        html_element(t->html, "span", NULL, from);
        html_begin(t->html, "span");
        html_format(t->html, "highest bar: %zu %s", t->tallest,
                    t->tallest == 1 ? "change" : "changes");
        html_end(t->html);
        html_element(t->html, "span", NULL, to);
        html_end(t->html);
}

static void put_legend(const Timeline *t) {
        html_begin_class(t->html, "div", "legend");
        for (Series s = 0; s < _SERIES_MAX; s++) {
                if (t->n[s] == 0)
                        continue;
                html_begin(t->html, "span");
                html_begin_class(t->html, "i", series_table[s].class);
                html_end(t->html);
                html_text(t->html, series_table[s].text);
                html_end(t->html);
        }
        if (t->model->session.n_losses > 0) {
                html_begin(t->html, "span");
                html_begin_class(t->html, "i", "loss");
                html_end(t->html);
                html_text(t->html, "not everything was seen");
                html_end(t->html);
        }
        html_end(t->html);
}

static int by_name(const void *a, const void *b) {
        return strcmp(((const TestMark *) a)->name, ((const TestMark *) b)->name);
}

static int by_time(const void *a, const void *b) {
        const TestMark *x = a, *y = b;

        return x->first != y->first ? (x->first < y->first ? -1 : 1) : strcmp(x->name, y->name);
}

/* The tests that changed something, each once, the earliest first. */
static int collect_tests(const Report *report, TestMark **ret, size_t *ret_n) {
        TestMark *marks = calloc(report_n_rows(report) + 1, sizeof(*marks));
        size_t n = 0, kept = 0;

        if (!marks)
                return -ENOMEM;
        for (size_t i = 0; i < report_n_rows(report); i++) {
                const Operation *op = report_row(report, i);

                if (op->test)
                        marks[n++] = (TestMark){.name = op->test, .first = op->first, .n_rows = 1};
        }
        qsort(marks, n, sizeof(*marks), by_name);
        for (size_t i = 0; i < n; i++) {
                if (kept > 0 && str_equal(marks[kept - 1].name, marks[i].name)) {
                        marks[kept - 1].n_rows++;
                        marks[kept - 1].first = MIN(marks[kept - 1].first, marks[i].first);
                } else
                        marks[kept++] = marks[i];
        }
        qsort(marks, kept, sizeof(*marks), by_time);
        *ret = marks;
        *ret_n = kept;
        return 0;
}

static void put_mark(const Timeline *t, const TestMark *mark) {
        char time[48];

        format_time(t, mark->first, time);
        html_begin(t->html, "li");
        html_element(t->html, "span", "clock", time);
        html_element(t->html, "bdi", "name", mark->name);
        html_begin_class(t->html, "span", "by");
        html_format(t->html, " %zu %s", mark->n_rows, mark->n_rows == 1 ? "change" : "changes");
        html_end(t->html);
        html_end(t->html);
}

static void put_marks(const Timeline *t, const TestMark *marks, size_t n) {
        html_begin_class(t->html, "ul", "tests");
        for (size_t i = 0; i < n; i++)
                put_mark(t, &marks[i]);
        html_end(t->html);
}

static int put_tests(const Timeline *t) {
        _cleanup_free_ TestMark *marks = NULL;
        size_t n = 0, shown, all;
        int r;

        r = collect_tests(t->model->own, &marks, &all);
        if (r < 0 || all == 0)
                return r;
        n = MIN(all, (size_t) TIMELINE_TESTS_MAX);
        shown = n <= TIMELINE_TESTS_SHOWN + 1 ? n : TIMELINE_TESTS_SHOWN;
        html_element(t->html, "h3", NULL, "Tests, by their first change");
        put_marks(t, marks, shown);
        if (shown == all)
                return 0;
        html_begin(t->html, "details");
        html_begin(t->html, "summary");
        html_format(t->html, "%zu more tests", all - shown);
        html_end(t->html);
        put_marks(t, marks + shown, n - shown);
        if (n < all) {
                html_begin_class(t->html, "div", "more");
                html_format(t->html, "and %zu more, see report --json", all - n);
                html_end(t->html);
        }
        html_end(t->html);
        return 0;
}

int html_timeline_write(Html *h, const ReportModel *m) {
        Timeline t = {.html = h, .model = m};

        find_span(&t);
        fill(&t);
        if (t.tallest > 0) {
                put_drawing(&t);
                put_axis(&t);
                put_legend(&t);
        }
        return put_tests(&t);
}
