/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "client/loss_text.h"
#include "client/report_tally.h"
#include "client/report_text.h"
#include "fixture.h"

static char *render(const char *name, Terminal t, ReportTextOptions options) {
        _cleanup_(report_model_freep) ReportModel *m = fixture_load(name);
        char *text = NULL;
        size_t size;

        t.file = open_memstream(&text, &size);
        assert_int_equal(report_text_write(&t, m, &options), 0);
        assert_int_equal(fclose(t.file), 0);
        return text;
}

static void reports_look_as_they_did(void **state) {
        static const struct {
                const char *name, *golden;
                Terminal terminal;
                ReportTextOptions options;
        } cases[] = {
                {"dirty", "dirty.txt", {.unicode = true}, {.prefix = ""}},
                {"dirty",
                 "dirty-run-80.txt",
                 {.unicode = true, .width = 80},
                 {"mountwatch: ", .brief = true}},
                {"dirty", "dirty-all.txt", {.unicode = true, .width = 80}, {"", .all = true}},
                {"dirty", "dirty-colour.txt", {.colour = true, .width = 120}, {.prefix = ""}},
                {"clean", "clean.txt", {.unicode = true, .width = 80}, {.prefix = ""}},
                {"clean",
                 "clean-run.txt",
                 {.unicode = true, .width = 80},
                 {"mountwatch: ", .brief = true}},
                {"allowed", "allowed.txt", {.unicode = true, .width = 80}, {.prefix = ""}},
                {"allowed",
                 "allowed-run.txt",
                 {.unicode = true, .width = 80},
                 {"mountwatch: ", .brief = true}},
                {"incomplete", "incomplete.txt", {.unicode = true, .width = 80}, {.prefix = ""}},
                {"refused", "refused.txt", {.unicode = true, .width = 80}, {.prefix = ""}},
                {"lingering", "lingering.txt", {.unicode = true, .width = 80}, {.prefix = ""}},
                {"many", "many.txt", {.unicode = true, .width = 80}, {.prefix = ""}},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *text =
                        render(cases[i].name, cases[i].terminal, cases[i].options);

                fixture_assert_golden(cases[i].golden, text);
        }
}

static void no_name_speaks_to_the_terminal(void **state) {
        _cleanup_free_ char *text =
                render("dirty", (Terminal){.unicode = true}, (ReportTextOptions){"", .all = true});

        for (const char *p = text; *p; p++)
                assert_true((unsigned char) *p >= 0x20 || *p == '\n');
        assert_null(strstr(text, "\u202e"));
        assert_non_null(strstr(text, "bad-\\xff\\x0a\\x1b[2J.txt"));
}

static void lines_fit_the_width(void **state) {
        _cleanup_free_ char *text = render("dirty", (Terminal){.unicode = true, .width = 80},
                                           (ReportTextOptions){.prefix = ""});
        char *line, *rest = text;

        (void) strsep(&rest, "\n"); /* the verdict is a sentence: it may wrap */
        while ((line = strsep(&rest, "\n")))
                if (strstr(line, "deleted ") || strstr(line, "› "))
                        assert_in_range(text_width(line), 0, 80);
}

static void verdicts_are_sentences(void **state) {
        static const struct {
                const char *name, *text;
        } cases[] = {
                {"dirty",
                 "DIRTY - the command succeeded, but it changed 23 paths on 2 watches, 16 of them deleted, 1 replaced"},
                {"clean", "clean - nothing on 2 watched paths was changed"},
                {"allowed", "clean - 3 paths were changed, and the watches allow it"},
                {"incomplete",
                 "INCOMPLETE - nothing on 1 watched path was seen to change, but not everything could be seen"},
                {"refused",
                 "DIRTY - the command failed with status 1, and it tried to change 2 paths on watch nas "
                 "(/mnt/nas), and was refused"},
                {"lingering",
                 "DIRTY - the command ended with status 137 (SIGKILL), and it changed 1 path on watch "
                 "nas (/mnt/nas)"},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(report_model_freep) ReportModel *m = fixture_load(cases[i].name);
                _cleanup_free_ char *text = report_verdict_text(m);

                assert_string_equal(text, cases[i].text);
        }
}

static void each_path_counts_once(void **state) {
        _cleanup_(report_model_freep) ReportModel *m = fixture_load("dirty");
        Tally t;

        assert_int_equal(tally_report(m->own, &t), 0);
        assert_int_equal(t.changed, 23);
        assert_int_equal(t.deleted, 16);
        assert_int_equal(t.replaced, 1);
        assert_int_equal(t.refused, 0);
        assert_int_equal(t.allowed, 2);
        assert_int_equal(t.n_watches, 2);
}

static void losses_are_told_in_words(void **state) {
        static const struct {
                Loss loss;
                const char *text;
        } cases[] = {
                {{.reason = (char *) "unmounted", .watch = (char *) "nas"},
                 "the filesystem was unmounted on watch nas"},
                {{.reason = (char *) "store", .at = 1796063754 * USEC_PER_SEC},
                 "the daemon could not write down what it saw, from 2026-11-30 18:35:54 on"},
                {{.reason = (char *) "odd\n",
                  .at = 1796063754 * USEC_PER_SEC,
                  .until = 1796063754 * USEC_PER_SEC + 5},
                 "odd\\x0a, at 2026-11-30 18:35:54"},
                {{.reason = (char *) "memory",
                  .at = 1796063754 * USEC_PER_SEC,
                  .until = 1796063756 * USEC_PER_SEC,
                  .count = 3},
                 "the daemon had too little memory to note a change, from 2026-11-30 18:35:54 to 18:35:56 (at least 3)"},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *text = loss_to_text(&cases[i].loss);

                assert_string_equal(text, cases[i].text);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reports_look_as_they_did),
                cmocka_unit_test(no_name_speaks_to_the_terminal),
                cmocka_unit_test(lines_fit_the_width),
                cmocka_unit_test(verdicts_are_sentences),
                cmocka_unit_test(each_path_counts_once),
                cmocka_unit_test(losses_are_told_in_words),
        };

        return cmocka_run_group_tests(tests, fixture_set_up, NULL);
}
