/* SPDX-License-Identifier: MIT */
#include "daemon/store/store_delivery.h"

#include "fixture.h"

static void put_alert(Store *s, const char *target, const char *alert, bool summary, usec_t at) {
        const Delivery d = {
                .target = (char *) target,
                .alert = (char *) alert,
                .body = (char *) "{}",
                .summary = summary,
                .created = NOON,
                .next_at = at,
        };
        size_t dropped;

        assert_int_equal(store_put_delivery(s, &d, &dropped), 0);
        assert_int_equal(dropped, 0);
}

static void assert_next(Store *s, const char *target, int64_t only, usec_t now, const char *alert) {
        Delivery d;

        assert_int_equal(store_next_delivery(s, target, only, now, &d), 1);
        assert_string_equal(d.alert, alert);
        delivery_done(&d);
}

static void assert_counts(Store *s, const char *target, size_t pending, size_t dead) {
        size_t p, d;

        assert_int_equal(store_count_deliveries(s, target, &p, &d), 0);
        assert_int_equal(p, pending);
        assert_int_equal(d, dead);
}

static int64_t next_id(Store *s, const char *target) {
        Delivery d;
        int64_t id;

        assert_int_equal(store_next_delivery(s, target, 0, NOON, &d), 1);
        id = d.id;
        delivery_done(&d);
        return id;
}

static void oldest_that_is_due_comes_first(void **state) {
        Store *s = ((Fixture *) *state)->store;
        Delivery d;
        int64_t id;

        put_alert(s, "ops", "late", false, NOON + 9 * SECOND);
        put_alert(s, "ops", "a", false, NOON);
        put_alert(s, "other", "x", false, NOON);
        put_alert(s, "ops", "b", false, NOON);
        id = next_id(s, "ops");
        assert_next(s, "ops", 0, NOON, "a");
        assert_next(s, "ops", id, NOON, "a");
        assert_int_equal(store_next_delivery(s, "other", id, NOON, &d), 0);
        assert_int_equal(store_next_delivery(s, "nobody", 0, NOON, &d), 0);
        /* delayed, it lets the others pass */
        assert_int_equal(store_delay_delivery(s, id, NOON + 5 * SECOND), 0);
        assert_next(s, "ops", 0, NOON, "b");
        assert_next(s, "ops", id, NOON, "a");
        /* and when none is due, the first to be */
        assert_int_equal(store_remove_delivery(s, next_id(s, "ops")), 0);
        assert_int_equal(store_next_delivery(s, "ops", 0, NOON, &d), 1);
        assert_string_equal(d.alert, "a");
        assert_int_equal(d.attempts, 1);
        assert_int_equal(d.next_at, NOON + 5 * SECOND);
        delivery_done(&d);
        assert_int_equal(store_hurry_deliveries(s, "ops"), 0);
        assert_next(s, "ops", 0, NOON, "late");
}

static void what_is_put_is_committed(void **state) {
        Fixture *f = *state;

        put_alert(f->store, "ops", "a", true, NOON);
        assert_false(store_is_dirty(f->store));
        fixture_reopen(f);
        assert_next(f->store, "ops", 0, NOON, "a");
        assert_counts(f->store, "ops", 1, 0);
}

static void dead_ones_stay_to_be_seen(void **state) {
        Store *s = ((Fixture *) *state)->store;

        for (size_t i = 0; i < DELIVERIES_DEAD_MAX + 3; i++) {
                Delivery d;

                put_alert(s, "ops", "a", false, NOON);
                assert_int_equal(store_next_delivery(s, "ops", 0, NOON, &d), 1);
                assert_int_equal(store_bury_delivery(s, &d), 0);
                delivery_done(&d);
        }
        assert_counts(s, "ops", 0, DELIVERIES_DEAD_MAX);
}

static void full_queue_drops_the_oldest_that_is_no_summary(void **state) {
        Store *s = ((Fixture *) *state)->store;
        Delivery d = {.target = (char *) "ops",
                      .alert = (char *) "new",
                      .body = (char *) "{}",
                      .created = NOON,
                      .next_at = NOON};
        size_t dropped;

        put_alert(s, "ops", "summary", true, NOON);
        put_alert(s, "ops", "first", false, NOON);
        for (size_t i = 2; i < DELIVERIES_PENDING_MAX; i++)
                put_alert(s, "ops", "more", false, NOON);
        put_alert(s, "other", "x", false, NOON);
        assert_int_equal(store_put_delivery(s, &d, &dropped), 0);
        assert_int_equal(dropped, 1);
        assert_counts(s, "ops", DELIVERIES_PENDING_MAX, 0);
        assert_counts(s, "other", 1, 0);
        assert_next(s, "ops", 0, NOON, "summary");
        assert_int_equal(store_remove_delivery(s, next_id(s, "ops")), 0);
        assert_next(s, "ops", 0, NOON, "more");
}

static void old_ones_expire_dead_or_not(void **state) {
        Store *s = ((Fixture *) *state)->store;
        Delivery d;

        put_alert(s, "ops", "a", false, NOON);
        assert_int_equal(store_next_delivery(s, "ops", 0, NOON, &d), 1);
        assert_int_equal(store_bury_delivery(s, &d), 0);
        delivery_done(&d);
        put_alert(s, "ops", "b", false, NOON);
        while (store_expire(s, NOON) > 0)
                ;
        assert_counts(s, "ops", 1, 1);
        while (store_expire(s, NOON + 1) > 0)
                ;
        assert_counts(s, "ops", 0, 0);
}

#define test(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                test(oldest_that_is_due_comes_first),
                test(what_is_put_is_committed),
                test(dead_ones_stay_to_be_seen),
                test(full_queue_drops_the_oldest_that_is_no_summary),
                test(old_ones_expire_dead_or_not),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
