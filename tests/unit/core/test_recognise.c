/* SPDX-License-Identifier: MIT */
#include "common/macro.h"
#include "daemon/core/recognise.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

typedef struct Case {
        const char *pattern, *exe;
        const char *cmdline[6];
        bool matches;
} Case;

static void runners_are_recognised_and_others_are_not(void **state) {
        const Case cases[] = {
                {"pytest",
                 "/usr/bin/python3.11",
                 {"/usr/bin/python3", "/usr/bin/pytest", "tests/"},
                 true},
                {"**/pytest", "/usr/bin/python3.11", {"python3", "/home/a/venv/bin/pytest"}, true},
                {"**/pytest", "/opt/pytest", {"pytest"}, true},
                {"python* -m pytest*",
                 "/usr/bin/python3.11",
                 {"/usr/bin/python3", "-m", "pytest", "tests/a b"},
                 true},
                {"python* -m pytest*", "/usr/bin/python3.11", {"python3", "-m", "pip"}, false},
                /* a word in an argument is not the program */
                {"pytest", "/usr/bin/vim", {"vim", "pytest"}, false},
                {"pytest", "/usr/bin/python3", {"python3", "-c", "pytest"}, false},
                {"pytest", "/usr/bin/python3", {"python3", "-u", "/x/pytest"}, true},
                {"cargo test*", "/root/.cargo/bin/cargo", {"cargo", "test", "--all"}, true},
                {"cargo test*", "/root/.cargo/bin/cargo", {"cargo", "build"}, false},
                {"go", NULL, {"go", "test"}, true},
                {"go", NULL, {NULL}, false},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char *const patterns[] = {(char *) "no such thing", (char *) cases[i].pattern,
                                          NULL};
                const char *found =
                        recognise_command(patterns, cases[i].exe, (char *const *) cases[i].cmdline);

                if (cases[i].matches)
                        assert_ptr_equal(found, patterns[1]);
                else
                        assert_null(found);
        }
}

static void nothing_known_matches_nothing(void **state) {
        char *const patterns[] = {(char *) "*", (char *) "* *", NULL};

        assert_null(recognise_command(patterns, NULL, NULL));
}

static void endless_command_lines_are_cut(void **state) {
        char *huge = malloc(1 << 20);
        char *const patterns[] = {(char *) "a b*z", NULL};

        assert_non_null(huge);
        memset(huge, 'b', (1 << 20) - 1);
        huge[(1 << 20) - 2] = 'z';
        huge[(1 << 20) - 1] = 0;
        char *cmdline[] = {(char *) "a", huge, NULL};
        assert_null(recognise_command(patterns, "a", cmdline));
        free(huge);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(runners_are_recognised_and_others_are_not),
                cmocka_unit_test(nothing_known_matches_nothing),
                cmocka_unit_test(endless_command_lines_are_cut),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
