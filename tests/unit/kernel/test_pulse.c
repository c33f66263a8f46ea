/* SPDX-License-Identifier: MIT */
/* Pulses as the other process sees them, look by look. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/kernel/pulse.h"

#include <sys/eventfd.h>
#include <sys/wait.h>

static Pulses *pulses;
static PulseWatch watch;
static PulseLate late[PULSES_MAX];

static int set_up(void **state) {
        watch = (PulseWatch){};
        return pulses_new(&pulses);
}

static int tear_down(void **state) {
        pulses = pulses_unref(pulses);
        return 0;
}

/* How many are late; the number of pulses as expected. */
static size_t look(size_t expected) {
        size_t n_late;

        assert_int_equal(pulses_look(pulses, &watch, late, &n_late), expected);
        return n_late;
}

static void one_that_beats_is_never_late(void **state) {
        Pulse *p = pulse_begin(pulses, 77, 2 * USEC_PER_SEC);

        for (int i = 0; i < 100; i++) {
                assert_int_equal(look(1), 0);
                pulse_beat(p);
        }
        pulse_end(p);
        assert_int_equal(look(0), 0);
}

static void one_that_stops_is_late_after_its_patience(void **state) {
        Pulse *p = pulse_begin(pulses, 77, 2 * USEC_PER_SEC), *q = pulse_begin(pulses, 78, 0);

        for (int i = 0; i < 4; i++) {
                assert_int_equal(look(2), 0);
                pulse_beat(q);
        }
        pulse_enter_filesystem(p);
        assert_int_equal(look(2), 1);
        assert_int_equal(late[0].tid, 77);
        assert_true(late[0].in_filesystem);
        pulse_leave_filesystem(p);
        assert_int_equal(look(2), 1);
        assert_false(late[0].in_filesystem);
        pulse_beat(p);
        pulse_beat(q);
        assert_int_equal(look(2), 0);
        pulse_end(p);
        pulse_end(q);
}

static void what_is_taken_anew_begins_anew(void **state) {
        Pulse *p = pulse_begin(pulses, 77, 0);

        for (int i = 0; i < 10; i++)
                (void) look(1);
        assert_int_equal(look(1), 1);
        pulse_end(p);
        p = pulse_begin(pulses, 78, 0);
        assert_int_equal(look(1), 0);
        pulse_end(p);
}

static void there_is_an_end_to_them(void **state) {
        Pulse *all[PULSES_MAX];

        for (int i = 0; i < PULSES_MAX; i++) {
                all[i] = pulse_begin(pulses, i + 1, 0);
                assert_non_null(all[i]);
        }
        assert_null(pulse_begin(pulses, 1, 0));
        assert_int_equal(look(PULSES_MAX), 0);
        for (int i = 0; i < PULSES_MAX; i++)
                pulse_end(all[i]);
        pulse_end(NULL);
        assert_int_equal(look(0), 0);
}

static void another_process_sees_them_and_is_woken(void **state) {
        pid_t pid = fork();
        eventfd_t n;
        int status;

        assert_int_not_equal(pid, -1);
        if (pid == 0) {
                (void) pulse_begin(pulses, 99, 0);
                _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(eventfd_read(pulses_fd(pulses), &n), 0);
        assert_int_equal(look(1), 0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(one_that_beats_is_never_late, set_up, tear_down),
                cmocka_unit_test_setup_teardown(one_that_stops_is_late_after_its_patience, set_up,
                                                tear_down),
                cmocka_unit_test_setup_teardown(what_is_taken_anew_begins_anew, set_up, tear_down),
                cmocka_unit_test_setup_teardown(there_is_an_end_to_them, set_up, tear_down),
                cmocka_unit_test_setup_teardown(another_process_sees_them_and_is_woken, set_up,
                                                tear_down),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
