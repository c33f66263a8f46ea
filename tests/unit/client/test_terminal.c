/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "client/table.h"
#include "client/terminal.h"
#include "fixture.h"

static void width_counts_columns(void **state) {
        assert_int_equal(text_width(""), 0);
        assert_int_equal(text_width("abc"), 3);
        assert_int_equal(text_width("é"), 1);
        assert_int_equal(text_width("日本"), 4);
        assert_int_equal(text_width("e\u0301"), 1); /* a combining accent has none of its own */
        assert_int_equal(text_width("\xff"), 1);
}

static void shortening_keeps_to_the_width(void **state) {
        static const struct {
                const char *text;
                unsigned columns;
                const char *end, *middle;
        } cases[] = {
                {"short", 10, "short", "short"},
                {"short", 5, "short", "short"},
                {"anything", 0, "anything", "anything"},
                {"0123456789", 7, "012345…", "01…6789"},
                {"0123456789", 1, "0", "0"},
                {"日本日本日本", 7, "日本日…", "日…日本"},
                {"日本日本", 2, "…", "…"},
                {"", 3, "", ""},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *end = text_shorten_end(cases[i].text, cases[i].columns, "…"),
                                    *middle = text_shorten_middle(cases[i].text, cases[i].columns,
                                                                  "…");

                assert_string_equal(end, cases[i].end);
                assert_string_equal(middle, cases[i].middle);
                if (cases[i].columns > 0) {
                        assert_in_range(text_width(end), 0, cases[i].columns);
                        assert_in_range(text_width(middle), 0, cases[i].columns);
                }
        }
}

static void an_accent_is_never_left_alone(void **state) {
        _cleanup_free_ char *s = text_shorten_middle("abcdefgh"
                                                     "e\u0301"
                                                     "xyz",
                                                     5, "…");

        assert_string_equal(s, "a…xyz");
}

static void commands_are_quoted_as_a_shell_wants_them(void **state) {
        static const struct {
                const char *argv[4];
                const char *text;
        } cases[] = {
                {{NULL}, ""},
                {{"ls", "-l", NULL}, "ls -l"},
                {{"sh", "-c", "rm x", NULL}, "sh -c 'rm x'"},
                {{"echo", "", NULL}, "echo ''"},
                {{"echo", "it's", NULL}, "echo 'it'\\''s'"},
                {{"a", "é", NULL}, "a é"},
                {{"a", "x\ny\033[31m", NULL}, "a $'x\\x0ay\\x1b[31m'"},
                {{"a", "it's\n\\", NULL}, "a $'it\\x27s\\x0a\\x5c'"},
                {{"a", "$(b)", NULL}, "a '$(b)'"},
        };
        _cleanup_free_ char *none = text_of_command(NULL);

        assert_string_equal(none, "");
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *text = text_of_command((char *const *) cases[i].argv);

                assert_string_equal(text, cases[i].text);
        }
}

static void what_is_no_terminal_gets_no_colour(void **state) {
        FILE *f = tmpfile();
        Terminal t;

        assert_non_null(f);
        unsetenv("COLUMNS");
        terminal_init(&t, f);
        assert_false(t.is_tty);
        assert_false(t.colour);
        assert_int_equal(t.width, 0);
        assert_string_equal(terminal_style(&t, STYLE_BAD), "");
        assert_string_equal(terminal_reset(&t), "");
        setenv("COLUMNS", "72", 1);
        terminal_init(&t, f);
        assert_int_equal(t.width, 72);
        setenv("COLUMNS", "wide", 1);
        terminal_init(&t, f);
        assert_int_equal(t.width, 0);
        unsetenv("COLUMNS");
        fclose(f);
}

static void a_table_keeps_its_columns(void **state) {
        static const char *const head[] = {"NAME", "PATH"};
        Table table;
        char *text = NULL;
        size_t size;
        Terminal t = {.unicode = true, .width = 24};

        t.file = open_memstream(&text, &size);
        assert_int_equal(table_init(&table, 2, head), 0);
        assert_int_equal(table_add(&table, (const char *[]){"日本", "/a\n"}), 0);
        assert_int_equal(
                table_add(&table, (const char *[]){NULL, "/a/very/long/path/to/something"}), 0);
        assert_int_equal(table_print(&table, &t), 0);
        assert_int_equal(fclose(t.file), 0);
        assert_string_equal(text, "NAME  PATH\n日本  /a\\x0a\n-     /a/ve…to/something\n");
        table_done(&table);
        free(text);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(width_counts_columns),
                cmocka_unit_test(shortening_keeps_to_the_width),
                cmocka_unit_test(an_accent_is_never_left_alone),
                cmocka_unit_test(commands_are_quoted_as_a_shell_wants_them),
                cmocka_unit_test(what_is_no_terminal_gets_no_colour),
                cmocka_unit_test(a_table_keeps_its_columns),
        };

        return cmocka_run_group_tests(tests, fixture_set_up, NULL);
}
