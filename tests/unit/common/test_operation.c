/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/operation.h"

/* Every word of a noun goes to its value and back; neighbours on both sides are refused. */
#define CHECK_WORDS(name, max)                                                        \
        do {                                                                          \
                for (int i = 0; i < (int) (max); i++) {                               \
                        assert_non_null(name##_to_string(i));                         \
                        assert_int_equal(name##_from_string(name##_to_string(i)), i); \
                }                                                                     \
                assert_null(name##_to_string(max));                                   \
                assert_null(name##_to_string(-1));                                    \
                assert_int_equal(name##_from_string(NULL), -EINVAL);                  \
                assert_int_equal(name##_from_string(""), -EINVAL);                    \
                assert_int_equal(name##_from_string("Create"), -EINVAL);              \
                assert_int_equal(name##_from_string("nonsense"), -EINVAL);            \
        } while (0)

static void words_go_both_ways(void **state) {
        CHECK_WORDS(op_type, _OP_MAX);
        CHECK_WORDS(object_kind, _KIND_MAX);
        CHECK_WORDS(action, _ACTION_MAX);
        CHECK_WORDS(policy, _POLICY_MAX);
        CHECK_WORDS(scope, _SCOPE_MAX);
        CHECK_WORDS(sight, _SIGHT_MAX);
        CHECK_WORDS(session_state, _SESSION_STATE_MAX);
        CHECK_WORDS(verdict, _VERDICT_MAX);
}

/* The words are the contract of the report and of the configuration. */
static void words_are_those_of_the_contract(void **state) {
        assert_string_equal(op_type_to_string(OP_METADATA), "metadata");
        assert_string_equal(object_kind_to_string(KIND_SYMLINK), "symlink");
        assert_string_equal(action_to_string(ACTION_HELD), "held");
        assert_string_equal(policy_to_string(POLICY_FREEZE), "freeze");
        assert_string_equal(scope_to_string(SCOPE_SUBTREE), "subtree");
        assert_string_equal(sight_to_string(SIGHT_INFERRED), "inferred");
        assert_string_equal(session_state_to_string(SESSION_LINGERING), "lingering");
        assert_string_equal(verdict_to_string(VERDICT_INCOMPLETE), "incomplete");
}

static void done_releases_all_and_may_be_repeated(void **state) {
        ProcessInfo p = {.exe = strdup("/bin/sh"), .cwd = strdup("/")};
        p.cmdline = calloc(3, sizeof(char *));
        assert_non_null(p.cmdline);
        p.cmdline[0] = strdup("sh");
        p.cmdline[1] = strdup("-c");
        process_info_done(&p);
        process_info_done(&p);
        assert_null(p.cmdline);

        Operation o = {.session = strdup("s"),
                       .watch = strdup("w"),
                       .path = strdup("/p"),
                       .from = strdup("/f"),
                       .to = strdup("/t"),
                       .rule = strdup("*"),
                       .test = strdup("t")};
        operation_done(&o);
        operation_done(&o);
        assert_null(o.path);

        Loss l = {.reason = strdup("overflow"), .watch = strdup("w")};
        loss_done(&l);
        loss_done(&l);
        assert_null(l.reason);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(words_go_both_ways),
                cmocka_unit_test(words_are_those_of_the_contract),
                cmocka_unit_test(done_releases_all_and_may_be_repeated),
        };
        return cmocka_run_group_tests_name("operation", tests, NULL, NULL);
}
