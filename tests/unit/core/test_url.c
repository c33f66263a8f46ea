/* SPDX-License-Identifier: MIT */
#include "daemon/core/url.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void only_http_with_a_host_is_taken(void **state) {
        static const char *const good[] = {"http://x", "https://x:8443/a?b=c#d", "https://u:p@x/",
                                           "https://[::1]:80/a"};
        static const char *const bad[] = {"",           "ftp://x",          "file:///etc/shadow",
                                          "https://",   "https:///x",       "https://u@/x",
                                          "http://x y", "http://x\n",       "https://:80",
                                          "HTTP://x",   "http://x\xc3\xa4", "gopher://x"};

        for (size_t i = 0; i < ELEMENTSOF(good); i++)
                assert_true(url_is_http(good[i]));
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                assert_false(url_is_http(bad[i]));
}

static void origin_has_no_secrets(void **state) {
        static const char *const cases[][2] = {
                {"https://hooks.example.org/services/T0/B0/xyz", "https://hooks.example.org"},
                {"http://user:pass@host:81/a?token=1", "http://host:81"},
                {"https://host?token=1", "https://host"},
                {"https://a@b@host/", "https://host"},
                {"https://host/a@b", "https://host"},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *origin = url_origin(cases[i][0]);

                assert_string_equal(origin, cases[i][1]);
        }
        assert_true(url_has_user("https://u@h/"));
        assert_false(url_has_user("https://h/@"));
}

static void what_a_server_quotes_is_concealed(void **state) {
        static const char *const cases[][3] = {
                {"https://h/services/T0/secret", "no /services/T0/secret here", "no ... here"},
                {"https://h/services/T0/secret", "token secret?", "token ...?"},
                {"https://h/a?key=12345", "GET /a?key=12345 and ?key=12345", "GET ... and ..."},
                {"https://bob:word@h/path", "bob:word or word at /path", "... or ... at ..."},
                {"https://h/", "a / b", "a / b"},
                {"https://h", "nothing", "nothing"},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *text = url_conceal(cases[i][0], cases[i][1]);

                assert_string_equal(text, cases[i][2]);
        }
}

static void topic_is_the_last_part_of_the_path(void **state) {
        static const char *const bad[] = {"https://h", "https://h/", "https://h/a/",
                                          "https://h/a.b", "https://h?topic"};
        char *server, *topic;

        assert_int_equal(url_split_topic("https://h:80/base/my_topic-1?x#y", &server, &topic), 0);
        assert_string_equal(server, "https://h:80/base/");
        assert_string_equal(topic, "my_topic-1");
        free(server);
        free(topic);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                assert_int_equal(url_split_topic(bad[i], &server, &topic), -EINVAL);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(only_http_with_a_host_is_taken),
                cmocka_unit_test(origin_has_no_secrets),
                cmocka_unit_test(what_a_server_quotes_is_concealed),
                cmocka_unit_test(topic_is_the_last_part_of_the_path),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
