/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "client/html_tree.h"
#include "client/report_html.h"
#include "fixture.h"

static char *render(const ReportModel *m) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        assert_int_equal(report_html_write(f, m), 0);
        assert_int_equal(fclose(f), 0);
        return text;
}

static size_t count(const char *text, const char *needle) {
        size_t n = 0;

        for (const char *p = text; (p = strstr(p, needle)); p++)
                n++;
        return n;
}

static void assert_has(const char *text, const char *needle) {
        if (!strstr(text, needle))
                fail_msg("the page has no '%s'", needle);
}

static void assert_order(const char *text, const char *const *needles, size_t n) {
        for (size_t i = 0; i < n; i++) {
                const char *p = strstr(text, needles[i]);

                if (!p)
                        fail_msg("no '%s' where it should be", needles[i]);
                text = p;
        }
}

static void the_verdict_comes_first_and_then_what_to_do(void **state) {
        static const char *const order[] = {
                "<body>",
                "verdict dirty\">DIRTY<",
                "The command succeeded, but it changed 23 paths on 2 watches",
                "6 of the 26 changes can be undone",
                "<code>mountwatch undo a1b2c3d4e5f60718</code>",
                "mountwatch blame /mnt/nas/backups/player/2026-11-01",
                "What was not seen",
                "the kernel dropped some on watch nas, from 2026-11-30 18:30:10 to 18:30:11 (at least 30)",
                "What changed",
                "Who did it",
                "rsync -a --delete build/ /mnt/nas/backups/player/",
                "19 changes",
                "<h2>When",
                "<svg",
                "tests/test_backup.py::test_mirror",
                "by processes outside every session",
                "The session",
                "What was watched",
                "report a1b2c3d4e5f60718 --json",
        };
        _cleanup_(report_model_freep) ReportModel *m = fixture_load("dirty");
        _cleanup_free_ char *text = render(m);

        assert_order(text, order, ELEMENTSOF(order));
}

static void each_verdict_has_its_next_step(void **state) {
        static const struct {
                const char *name, *word, *step;
        } cases[] = {
                {"clean", "verdict clean\">clean<", "There is nothing to do."},
                {"incomplete", "verdict incomplete\">INCOMPLETE<",
                 "<code>mountwatch doctor</code>"},
                {"refused", "verdict dirty\">DIRTY<",
                 "Nothing was changed: there is nothing to put back."},
                {"lingering", "The session still runs.", "<code>mountwatch session stop "},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(report_model_freep) ReportModel *m = fixture_load(cases[i].name);
                _cleanup_free_ char *text = render(m);

                assert_has(text, cases[i].word);
                assert_has(text, cases[i].step);
        }
}

static void nothing_runs_and_nothing_is_fetched(void **state) {
        static const char *const never[] = {"<script", "<link", "<img", "<a ",
                                            "src=",    "href=", "url(", "@import"};
        _cleanup_(report_model_freep) ReportModel *m = fixture_load("dirty");
        _cleanup_free_ char *text = render(m);

        assert_has(text, "default-src &#39;none&#39;");
        for (size_t i = 0; i < ELEMENTSOF(never); i++)
                assert_int_equal(count(text, never[i]), 0);
}

static void add_change(Report *r, int64_t seq, char *path) {
        Operation op = {
                .seq = seq,
                .process_id = 1,
                .op = OP_DELETE,
                .watch = strdup("nas"),
                .path = path,
                .count = 1,
                .first = 1764527400000000 + (usec_t) seq,
                .last = 1764527400000000 + (usec_t) seq,
                .violation = true,
                .action = ACTION_ALERTED,
                .attribution = SIGHT_EXACT,
        };

        assert_non_null(op.watch);
        assert_non_null(op.path);
        assert_int_equal(report_take_operation(r, &op), 0);
}

static char *make_path(const char *format, size_t a, size_t b) {
        char *path = NULL;

        assert_true(asprintf(&path, format, a, b) > 0);
        return path;
}

static ReportModel *make_model(void) {
        ReportModel *m = NULL;

        assert_int_equal(report_model_new(&m), 0);
        m->session.id = strdup("a1b2c3d4e5f60718");
        m->session.label = strdup("</title><script>alert(1)</script>");
        m->session.verdict = VERDICT_DIRTY;
        m->session.state = SESSION_STOPPED;
        m->session.complete = true;
        m->session.started = 1764527400000000;
        m->session.stopped = 1764527460000000;
        return m;
}

static void a_hundred_thousand_rows_are_counted_and_not_listed(void **state) {
        _cleanup_(report_model_freep) ReportModel *m = make_model();
        _cleanup_free_ char *text = NULL;

        for (size_t i = 0; i < 100000; i++)
                add_change(m->own, (int64_t) i + 1, make_path("/mnt/nas/d%03zu/f%zu", i / 1000, i));
        text = render(m);
        assert_true(strlen(text) < 2000000);
        assert_has(text, "<b>100000</b>paths changed");
        assert_has(text, "100000 deleted");
        assert_has(text, "and 800 more here, see report --json");
        assert_has(text, "more in 80 folders, see report --json");
        assert_int_equal(count(text, "<span class=\"w deleted\">"), TREE_ROWS_MAX);
}

/* How deeply <details> are nested at most. */
static size_t nesting(const char *text) {
        size_t depth = 0, deepest = 0;

        for (const char *p = text; (p = strchr(p, '<')); p++) {
                if (strncmp(p, "<details", strlen("<details")) == 0)
                        depth++;
                else if (strncmp(p, "</details", strlen("</details")) == 0)
                        depth--;
                deepest = MAX(deepest, depth);
        }
        assert_int_equal(depth, 0);
        return deepest;
}

static void a_deep_tree_does_not_nest_without_end(void **state) {
        _cleanup_(report_model_freep) ReportModel *m = make_model();
        _cleanup_free_ char *text = NULL;
        char path[4096] = "/mnt/nas";

        for (size_t i = 0; i < 400; i++) {
                size_t n = strlen(path);

                snprintf(path + n, sizeof(path) - n, "/d%zu", i);
                add_change(m->own, 2 * (int64_t) i + 1, strdup(path));
                snprintf(path + n, sizeof(path) - n, "/x");
                add_change(m->own, 2 * (int64_t) i + 2, strdup(path));
                snprintf(path + n, sizeof(path) - n, "/d%zu", i);
        }
        text = render(m);
        assert_in_range(nesting(text), 2, 2 * TREE_DEPTH_MAX + 4);
        assert_int_equal(count(text, "<span class=\"w deleted\">"), 800);
}

static void hostile_names_are_text(void **state) {
        _cleanup_(report_model_freep) ReportModel *m = make_model();
        _cleanup_free_ char *text = NULL;

        add_change(m->own, 1, strdup("/mnt/nas/<script>alert(1)</script>/\"x\" onclick='y'"));
        add_change(m->own, 2, strdup("/mnt/nas/\xff\n<details open>\xe2\x80\xae"));
        text = render(m);
        assert_int_equal(count(text, "<script"), 0);
        assert_int_equal(count(text, "onclick='"), 0);
        assert_int_equal(count(text, "\xe2\x80\xae"), 0);
        assert_in_range(nesting(text), 0, 2);
        assert_has(text, "\\xff\\x0a&lt;details open&gt;\\xe2\\x80\\xae");
        assert_has(text, "<title>dirty: &lt;/title&gt;&lt;script&gt;");
}

/* A broken reply must not keep the client busy for ever. */
static void processes_in_a_circle_are_told_once(void **state) {
        _cleanup_(report_model_freep) ReportModel *m = make_model();
        _cleanup_free_ char *text = NULL;

        for (int64_t i = 1; i <= 2; i++) {
                ProcessInfo p = {.id = i,
                                 .parent_id = 3 - i,
                                 .pid = (pid_t) (100 + i),
                                 .exe = strdup("/bin/circle")};

                assert_int_equal(report_take_process(m->own, &p), 0);
        }
        add_change(m->own, 1, strdup("/mnt/nas/a"));
        text = render(m);
        assert_int_equal(count(text, ">/bin/circle<"), 2);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_verdict_comes_first_and_then_what_to_do),
                cmocka_unit_test(each_verdict_has_its_next_step),
                cmocka_unit_test(nothing_runs_and_nothing_is_fetched),
                cmocka_unit_test(a_hundred_thousand_rows_are_counted_and_not_listed),
                cmocka_unit_test(a_deep_tree_does_not_nest_without_end),
                cmocka_unit_test(hostile_names_are_text),
                cmocka_unit_test(processes_in_a_circle_are_told_once),
        };

        return cmocka_run_group_tests(tests, fixture_set_up, NULL);
}
