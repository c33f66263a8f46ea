/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/core/change.h"
#include "daemon/core/watch.h"

static void new_watch_has_a_name_and_empty_lists(void **state) {
        _cleanup_(watch_spec_unrefp) WatchSpec *w = NULL;

        assert_int_equal(watch_spec_new("nas", &w), 0);
        assert_string_equal(w->name, "nas");
        assert_null(w->allow[0]);
        assert_null(w->ignore[0]);
        assert_null(w->writers[0]);
        assert_int_equal(w->untagged, UNTAGGED_IGNORE);
        assert_int_equal(w->kill_scope, KILL_SCOPE_PROCESS);
        assert_ptr_equal(watch_spec_ref(w), w);
        assert_null(watch_spec_unref(w));
        assert_string_equal(w->name, "nas");
        assert_null(watch_spec_unref(NULL));
}

static void words_go_both_ways(void **state) {
        for (int i = 0; i < _UNTAGGED_MAX; i++)
                assert_int_equal(untagged_from_string(untagged_to_string((Untagged) i)), i);
        for (int i = 0; i < _KILL_SCOPE_MAX; i++)
                assert_int_equal(kill_scope_from_string(kill_scope_to_string((KillScope) i)), i);
        assert_int_equal(untagged_from_string("Alert"), -EINVAL);
        assert_int_equal(untagged_from_string(""), -EINVAL);
        assert_int_equal(untagged_from_string(NULL), -EINVAL);
        assert_int_equal(kill_scope_from_string("tree"), -EINVAL);
}

static void done_releases_a_change_and_leaves_it_empty(void **state) {
        Change c = {.path = strdup("/a"), .from = strdup("/b"), .to = strdup("/c"), .pid = 5};

        change_done(&c);
        assert_null(c.path);
        assert_null(c.from);
        assert_null(c.to);
        change_done(&c);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(new_watch_has_a_name_and_empty_lists),
                cmocka_unit_test(words_go_both_ways),
                cmocka_unit_test(done_releases_a_change_and_leaves_it_empty),
        };

        return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
