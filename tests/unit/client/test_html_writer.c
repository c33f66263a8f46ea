/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "client/html_writer.h"
#include "fixture.h"

#define DOCTYPE "<!DOCTYPE html>\n"

static char *finish(Html *h, FILE *f, char **text, int result) {
        assert_int_equal(html_finish(h), result);
        assert_int_equal(fclose(f), 0);
        return *text;
}

static void text_and_attributes_cannot_leave_their_place(void **state) {
        static const struct {
                const char *text, *html;
        } cases[] = {
                {"plain é 日本", "plain é 日本"},
                {"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
                {"\" onmouseover=\"x", "&quot; onmouseover=&quot;x"},
                {"' onmouseover='x", "&#39; onmouseover=&#39;x"},
                {"&lt;", "&amp;lt;"},
                {"]]>--></style>", "]]&gt;--&gt;&lt;/style&gt;"},
                {"a\nb\tc\r", "a\\x0ab\\x09c\\x0d"},
                {"\x01\x1b[31m\x7f", "\\x01\\x1b[31m\\x7f"},
                {"\xff<\xc3", "\\xff&lt;\\xc3"},
                {"\xe2\x80\xae"
                 "txt.exe",
                 "\\xe2\\x80\\xaetxt.exe"},
                {"\xe2\x81\xa6"
                 "a\xe2\x81\xa9",
                 "\\xe2\\x81\\xa6a\\xe2\\x81\\xa9"},
                {"\xc2\x85", "\\xc2\\x85"},
                {"", ""},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *text = NULL, *expected = NULL;
                size_t size;
                FILE *f = open_memstream(&text, &size);
                Html h;

                html_init(&h, f);
                html_begin(&h, "p");
                html_attribute(&h, "title", cases[i].text);
                html_text(&h, cases[i].text);
                finish(&h, f, &text, 0);
                assert_true(asprintf(&expected, DOCTYPE "<p title=\"%s\">%s</p>\n", cases[i].html,
                                     cases[i].html) > 0);
                assert_string_equal(text, expected);
        }
}

static void what_is_escaped_once_is_not_escaped_again(void **state) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);
        Html h;

        html_init(&h, f);
        html_element(&h, "b", NULL, "a\\x0ab");
        finish(&h, f, &text, 0);
        assert_string_equal(text, DOCTYPE "<b>a\\x0ab</b>\n");
}

static void elements_end_in_reverse_order(void **state) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);
        Html h;

        html_init(&h, f);
        html_begin_class(&h, "b", "x");
        html_begin(&h, "i");
        html_attribute_format(&h, "title", "%d", 7);
        html_end(&h);
        html_void(&h, "br");
        html_begin_class(&h, "i", NULL);
        html_format(&h, "%d<%d", 1, 2);
        finish(&h, f, &text, 0);
        assert_string_equal(text,
                            DOCTYPE "<b class=\"x\"><i title=\"7\"></i>\n<br><i>1&lt;2</i></b>\n");
}

static void too_deep_is_told_and_stays_balanced(void **state) {
        _cleanup_free_ char *text = NULL;
        size_t size, begun = 0, ended = 0;
        FILE *f = open_memstream(&text, &size);
        Html h;

        html_init(&h, f);
        for (size_t i = 0; i <= HTML_DEPTH_MAX; i++)
                html_begin(&h, "b");
        finish(&h, f, &text, -E2BIG);
        for (const char *p = text; (p = strstr(p, "<b>")); p++)
                begun++;
        for (const char *p = text; (p = strstr(p, "</b>")); p++)
                ended++;
        assert_int_equal(begun, HTML_DEPTH_MAX);
        assert_int_equal(ended, begun);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(text_and_attributes_cannot_leave_their_place),
                cmocka_unit_test(what_is_escaped_once_is_not_escaped_again),
                cmocka_unit_test(elements_end_in_reverse_order),
                cmocka_unit_test(too_deep_is_told_and_stays_balanced),
        };

        return cmocka_run_group_tests(tests, fixture_set_up, NULL);
}
