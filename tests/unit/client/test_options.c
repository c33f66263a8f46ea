/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "client/options.h"
#include "fixture.h"

#define TAKEN                                                                  \
        (OPTIONS_COMMON | OPTION_BIT(OPTION_LABEL) | OPTION_BIT(OPTION_WAIT) | \
         OPTION_BIT(OPTION_JSON))
#define ARGV(...) ((char *[]){(char *) "verb", __VA_ARGS__, NULL})

/* Parses and expects success. */
static Options parse(unsigned taken, bool ends_at_argument, char **argv) {
        Options o = {};
        char *problem = NULL;
        int argc = 0;

        while (argv[argc])
                argc++;
        if (options_parse(&o, taken, ends_at_argument, argc, argv, &problem) < 0)
                fail_msg("%s", problem);
        return o;
}

static void expect_problem(unsigned taken, char **argv, const char *expected) {
        Options o = {};
        char *problem = NULL;
        int argc = 0;

        while (argv[argc])
                argc++;
        assert_int_equal(options_parse(&o, taken, false, argc, argv, &problem), -EINVAL);
        assert_string_equal(problem, expected);
        free(problem);
}

static void values_and_flags_are_told_apart(void **state) {
        Options o =
                parse(TAKEN, false, ARGV((char *) "--label", (char *) "x y", (char *) "--wait"));

        assert_string_equal(o.value[OPTION_LABEL], "x y");
        assert_true(options_has(&o, OPTION_WAIT));
        assert_false(options_has(&o, OPTION_JSON));
        assert_int_equal(o.n_arguments, 0);
        assert_null(o.arguments[0]);
}

static void options_may_follow_arguments(void **state) {
        Options o = parse(TAKEN, false, ARGV((char *) "last", (char *) "--json"));

        assert_true(options_has(&o, OPTION_JSON));
        assert_int_equal(o.n_arguments, 1);
        assert_string_equal(o.arguments[0], "last");
}

static void the_options_of_a_command_are_its_own(void **state) {
        Options o = parse(TAKEN, true,
                          ARGV((char *) "--wait", (char *) "ls", (char *) "--label",
                               (char *) "--help"));

        assert_true(options_has(&o, OPTION_WAIT));
        assert_false(options_has(&o, OPTION_LABEL));
        assert_false(options_has(&o, OPTION_HELP));
        assert_int_equal(o.n_arguments, 3);
        assert_string_equal(o.arguments[0], "ls");
}

static void two_dashes_end_the_options(void **state) {
        Options o = parse(TAKEN, true, ARGV((char *) "--", (char *) "--wait"));

        assert_false(options_has(&o, OPTION_WAIT));
        assert_int_equal(o.n_arguments, 1);
        assert_string_equal(o.arguments[0], "--wait");
}

static void a_value_given_before_the_verb_stays(void **state) {
        Options o = {};
        char *problem = NULL;

        o.value[OPTION_SOCKET] = "/a";
        assert_int_equal(options_parse(&o, TAKEN, false, 1, ARGV(NULL), &problem), 0);
        assert_string_equal(o.value[OPTION_SOCKET], "/a");
        assert_int_equal(options_parse(&o, TAKEN, false, 3,
                                       ARGV((char *) "--socket", (char *) "/b"), &problem),
                         0);
        assert_string_equal(o.value[OPTION_SOCKET], "/b");
}

static void mistakes_are_named(void **state) {
        expect_problem(TAKEN, ARGV((char *) "--bad"), "unknown option '--bad'");
        expect_problem(TAKEN, ARGV((char *) "--bad=1"), "unknown option '--bad=1'");
        expect_problem(TAKEN, ARGV((char *) "--label"), "option '--label' needs an argument");
        expect_problem(TAKEN, ARGV((char *) "--wait=1"), "option '--wait' takes no argument");
        expect_problem(TAKEN, ARGV((char *) "-x"), "unknown option '-x'");
        expect_problem(TAKEN, ARGV((char *) "--junit", (char *) "f"), "unknown option '--junit'");
}

static void help_lists_what_is_taken(void **state) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        options_print_help(f, TAKEN);
        assert_int_equal(fclose(f), 0);
        assert_non_null(strstr(text, "--label TEXT"));
        assert_non_null(strstr(text, "-h, --help"));
        assert_null(strstr(text, "--junit"));
        free(text);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(values_and_flags_are_told_apart),
                cmocka_unit_test(options_may_follow_arguments),
                cmocka_unit_test(the_options_of_a_command_are_its_own),
                cmocka_unit_test(two_dashes_end_the_options),
                cmocka_unit_test(a_value_given_before_the_verb_stays),
                cmocka_unit_test(mistakes_are_named),
                cmocka_unit_test(help_lists_what_is_taken),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
