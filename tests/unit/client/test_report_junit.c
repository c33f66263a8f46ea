/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "client/report_junit.h"
#include "fixture.h"

static char *escape(const char *text) {
        char *xml = NULL;
        size_t size;
        FILE *f = open_memstream(&xml, &size);

        xml_put_text(f, text);
        assert_int_equal(fclose(f), 0);
        return xml;
}

static void text_cannot_leave_its_place(void **state) {
        static const struct {
                const char *text, *xml;
        } cases[] = {
                {"plain é 日本", "plain é 日本"},
                {"a<b>&\"c\"", "a&lt;b&gt;&amp;&quot;c&quot;"},
                {"]]>", "]]&gt;"},
                {"a\nb\tc\r", "a&#10;b&#9;c&#13;"},
                {"\x01\x1b[31m", "\xef\xbf\xbd\xef\xbf\xbd[31m"},
                {"\xff\xc3", "\xef\xbf\xbd\xef\xbf\xbd"},
                {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* a surrogate */
                {"\xef\xbf\xbe", "\xef\xbf\xbd"},                         /* U+FFFE */
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *xml = escape(cases[i].text);

                assert_string_equal(xml, cases[i].xml);
        }
}

static void documents_look_as_they_did(void **state) {
        static const char *const names[] = {"dirty", "clean", "incomplete", "refused", "lingering"};

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                _cleanup_(report_model_freep) ReportModel *m = fixture_load(names[i]);
                _cleanup_free_ char *text = NULL;
                char golden[64];
                size_t size;
                FILE *f = open_memstream(&text, &size);

                assert_int_equal(report_junit_write(f, m), 0);
                assert_int_equal(fclose(f), 0);
                snprintf(golden, sizeof(golden), "%s.junit.xml", names[i]);
                fixture_assert_golden(golden, text);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(text_cannot_leave_its_place),
                cmocka_unit_test(documents_look_as_they_did),
        };

        return cmocka_run_group_tests(tests, fixture_set_up, NULL);
}
