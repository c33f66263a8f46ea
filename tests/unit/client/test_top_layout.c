/* SPDX-License-Identifier: MIT */
#include "client/top_layout.h"
#include "client/top_text.h"
#include "fixture.h"

/* Bands stand below one another, each with its heading, and leave the last line alone. */
static void check_bands(unsigned lines, const TopLayout *l) {
        const TopBand *bands[] = {&l->sessions, &l->held, &l->processes, &l->operations};
        unsigned free = 1;

        for (size_t i = 0; i < ELEMENTSOF(bands); i++) {
                if (bands[i]->lines == 0)
                        continue;
                assert_true(bands[i]->top >= free + 1);
                free = bands[i]->top + bands[i]->lines;
                if (i == 0 && l->selected > 0) {
                        assert_int_equal(l->selected, free);
                        free++;
                }
        }
        assert_true(free <= lines - 1);
}

static void everything_fits_at_every_size(void **state) {
        static const size_t amounts[] = {0, 1, 2, 5, 40, 1000};
        TopLayout l;

        for (unsigned lines = TOP_LINES_MIN; lines < 80; lines++)
                for (size_t i = 0; i < 6 * 6 * 6 * 6; i++) {
                        TopContent c = {amounts[i % 6], amounts[i / 6 % 6], amounts[i / 36 % 6],
                                        amounts[i / 216]};

                        assert_true(top_layout(lines, 80, &c, &l));
                        assert_true(l.sessions.lines > 0);
                        assert_int_equal(l.held.lines > 0, c.held > 0);
                        assert_true(l.held.lines <= c.held);
                        assert_true(l.processes.lines <= c.processes);
                        assert_true(l.operations.lines <= c.operations);
                        check_bands(lines, &l);
                }
}

static void a_small_screen_is_refused(void **state) {
        const TopContent c = {.sessions = 1};
        TopLayout l;

        assert_false(top_layout(9, 80, &c, &l));
        assert_false(top_layout(24, 39, &c, &l));
        assert_true(top_layout(10, 40, &c, &l));
}

static void columns_fit_at_every_width(void **state) {
        for (unsigned columns = TOP_COLUMNS_MIN; columns < 300; columns++) {
                unsigned widths[_TOP_COLUMN_MAX], sum = 0;

                top_columns(columns, widths);
                for (TopColumn c = 0; c < _TOP_COLUMN_MAX; c++)
                        sum += widths[c] + (widths[c] > 0 && sum > 0 ? 1 : 0);
                assert_int_equal(sum, columns);
                assert_true(widths[TOP_NAME] >= 11);
                assert_true(widths[TOP_STATE] > 0 && widths[TOP_VIOLATIONS] > 0);
                assert_true(columns < 90 || (widths[TOP_ID] == 16 && widths[TOP_PROCESSES] > 0));
        }
}

static void the_selected_line_is_always_to_be_seen(void **state) {
        size_t first = 0;

        assert_int_equal(top_scroll(7, 2, 5, 10), 0);
        for (size_t selected = 0; selected < 100; selected++) {
                first = top_scroll(first, selected, 100, 10);
                assert_true(first <= selected && selected < first + 10 && first <= 90);
        }
        assert_int_equal(top_scroll(90, 89, 100, 10), 89);
        assert_int_equal(top_scroll(90, 89, 90, 10), 80);
}

static void numbers_fit_into_their_columns(void **state) {
        static const struct {
                double rate;
                const char *text;
        } rates[] = {{0, ""},       {0.01, "0.1"},   {0.44, "0.4"},   {9.94, "9.9"},
                     {9.96, "10"},  {999.4, "999"},  {999.6, "1.0k"}, {27000, "27k"},
                     {1e6, "1.0M"}, {9.99e8, "999M"}};
        static const struct {
                uint64_t n;
                unsigned digits;
                const char *text;
        } counts[] = {{0, 4, "0"},          {9999, 4, "9999"},
                      {10000, 4, "10k"},    {1234567, 7, "1234567"},
                      {12345678, 7, "12M"}, {UINT64_MAX, 4, "18E"}};
        static const struct {
                usec_t age;
                const char *text;
        } ages[] = {{0, "0s"},
                    {99 * USEC_PER_SEC, "99s"},
                    {100 * USEC_PER_SEC, "1m"},
                    {6000 * USEC_PER_SEC, "1h"},
                    {47 * 3600 * USEC_PER_SEC, "47h"},
                    {48 * 3600 * USEC_PER_SEC, "2d"}};
        char buffer[TOP_NUMBER_MAX];

        for (size_t i = 0; i < ELEMENTSOF(rates); i++)
                assert_string_equal(top_rate_text(rates[i].rate, buffer), rates[i].text);
        for (size_t i = 0; i < ELEMENTSOF(counts); i++)
                assert_string_equal(top_count_text(counts[i].n, counts[i].digits, buffer),
                                    counts[i].text);
        for (size_t i = 0; i < ELEMENTSOF(ages); i++)
                assert_string_equal(top_age_text(ages[i].age, buffer), ages[i].text);
}

static void names_have_no_control_characters(void **state) {
        const Terminal t = {.unicode = true};
        char label[] = "a\033[2Jb\n", path[] = "/x\r", *command[] = {(char[]){"a b"}, NULL};
        SessionView s = {.label = label};
        Operation op = {.path = path, .kind = KIND_DIR, .count = 3};
        char *text = top_session_name(&s);

        assert_string_equal(text, "a\\x1b[2Jb\\x0a");
        free(text);
        s = (SessionView){.command = command};
        text = top_session_name(&s);
        assert_string_equal(text, "'a b'");
        free(text);
        s = (SessionView){};
        text = top_session_name(&s);
        assert_string_equal(text, "-");
        free(text);
        text = top_operation_names(&t, &op);
        assert_string_equal(text, "/x\\x0d/ ×3");
        free(text);
        op.from = path;
        op.to = path;
        op.kind = KIND_FILE;
        op.count = 1;
        text = top_operation_names(&t, &op);
        assert_string_equal(text, "/x\\x0d → /x\\x0d → /x\\x0d");
        free(text);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(everything_fits_at_every_size),
                cmocka_unit_test(a_small_screen_is_refused),
                cmocka_unit_test(columns_fit_at_every_width),
                cmocka_unit_test(the_selected_line_is_always_to_be_seen),
                cmocka_unit_test(numbers_fit_into_their_columns),
                cmocka_unit_test(names_have_no_control_characters),
        };

        return cmocka_run_group_tests(tests, fixture_set_up, NULL);
}
