/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "daemon/core/session.h"

static Session *make(void) {
        Session *s = NULL;

        assert_int_equal(session_new(0x0123456789abcdef, 1000, 5000, &s), 0);
        return s;
}

static void new_session_is_active_and_clean(void **state) {
        _cleanup_(session_freep) Session *s = make(), *zero = NULL;

        assert_string_equal(s->id, "0123456789abcdef");
        assert_int_equal(s->uid, 1000);
        assert_int_equal(s->started, 5000);
        assert_int_equal(s->stopped, 0);
        assert_int_equal(s->exit_status, -1);
        assert_null(s->command[0]);
        assert_true(session_is_live(s));
        assert_true(session_is_complete(s));
        assert_int_equal(session_verdict(s), VERDICT_CLEAN);

        assert_int_equal(session_new(0, 0, 0, &zero), 0);
        assert_string_equal(zero->id, "0000000000000000");
        assert_null(session_free(NULL));
}

static void verdict_is_dirty_before_incomplete_before_clean(void **state) {
        _cleanup_(session_freep) Session *s = make();

        assert_int_equal(session_add_loss(s, "overflow", "nas", 10, 20, 0), 0);
        assert_false(session_is_complete(s));
        assert_int_equal(session_verdict(s), VERDICT_INCOMPLETE);
        s->violations = 1;
        assert_int_equal(session_verdict(s), VERDICT_DIRTY);
}

static void lingering_is_live_and_stopped_is_not(void **state) {
        Session s = {.state = SESSION_LINGERING};

        assert_true(session_is_live(&s));
        s.state = SESSION_STOPPED;
        assert_false(session_is_live(&s));
        s.state = SESSION_KILLED;
        assert_false(session_is_live(&s));
}

static void losses_of_one_reason_and_watch_are_joined(void **state) {
        _cleanup_(session_freep) Session *s = make();

        assert_int_equal(session_add_loss(s, "overflow", "nas", 100, 110, 2), 0);
        assert_int_equal(session_add_loss(s, "overflow", "nas", 90, 95, 3), 0);
        assert_int_equal(session_add_loss(s, "overflow", "nas", 120, 0, 1), 0);
        assert_int_equal(session_add_loss(s, "overflow", "music", 1, 2, 1), 0);
        assert_int_equal(session_add_loss(s, "overflow", NULL, 1, 2, 1), 0);
        assert_int_equal(session_add_loss(s, "unmounted", "nas", 1, 2, 1), 0);
        assert_int_equal(s->n_losses, 4);
        assert_string_equal(s->losses[0].watch, "nas");
        assert_int_equal(s->losses[0].at, 90);
        assert_int_equal(s->losses[0].until, 120);
        assert_int_equal(s->losses[0].count, 6);
        assert_null(s->losses[2].watch);

        /* an unknown number added is unknown; a huge one does not wrap */
        assert_int_equal(session_add_loss(s, "overflow", "nas", 100, 110, 0), 0);
        assert_int_equal(s->losses[0].count, 0);
        assert_int_equal(session_add_loss(s, "overflow", "music", 1, 2, UINT64_MAX), 0);
        assert_true(s->losses[1].count == UINT64_MAX);
}

static void losses_are_bounded_and_none_is_forgotten(void **state) {
        _cleanup_(session_freep) Session *s = make();
        char watch[32];

        for (unsigned i = 0; i < SESSION_LOSSES_MAX; i++) {
                (void) snprintf(watch, sizeof watch, "w%u", i);
                assert_int_equal(session_add_loss(s, "overflow", watch, 100 + i, 100 + i, 1), 0);
        }
        assert_int_equal(s->n_losses, SESSION_LOSSES_MAX);
        for (unsigned i = 0; i < 10; i++) {
                (void) snprintf(watch, sizeof watch, "more%u", i);
                assert_int_equal(session_add_loss(s, "overflow", watch, 500, 500 + i, 1), 0);
        }
        assert_int_equal(s->n_losses, SESSION_LOSSES_MAX);
        assert_null(s->losses[SESSION_LOSSES_MAX - 1].watch);
        assert_int_equal(s->losses[SESSION_LOSSES_MAX - 1].count, 11);
        assert_int_equal(s->losses[SESSION_LOSSES_MAX - 1].until, 509);

        assert_int_equal(session_add_loss(s, "daemon-restart", NULL, 1, 1, 0), 0);
        assert_string_equal(s->losses[s->n_losses - 1].reason, "daemon-restart");
}

static void creations_are_known_by_path_and_object(void **state) {
        _cleanup_(session_freep) Session *s = make();

        assert_false(session_has_created(s, "/n/a", 1));
        assert_int_equal(session_remember_created(s, "/n/a", 1), 0);
        assert_true(session_has_created(s, "/n/a", 1));
        assert_true(session_has_created(s, "/n/a", 0));
        assert_false(session_has_created(s, "/n/a", 2));
        assert_false(session_has_created(s, "/n/a/", 1));

        assert_int_equal(session_remember_created(s, "/n/a", 2), 0);
        assert_true(session_has_created(s, "/n/a", 2));
        assert_int_equal(session_remember_created(s, "/n/unknown", 0), 0);
        assert_true(session_has_created(s, "/n/unknown", 77));

        session_forget_created(s, "/n/a");
        session_forget_created(s, "/n/never");
        assert_false(session_has_created(s, "/n/a", 2));
        assert_true(session_has_created(s, "/n/unknown", 1));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(new_session_is_active_and_clean),
                cmocka_unit_test(verdict_is_dirty_before_incomplete_before_clean),
                cmocka_unit_test(lingering_is_live_and_stopped_is_not),
                cmocka_unit_test(losses_of_one_reason_and_watch_are_joined),
                cmocka_unit_test(losses_are_bounded_and_none_is_forgotten),
                cmocka_unit_test(creations_are_known_by_path_and_object),
        };

        return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
