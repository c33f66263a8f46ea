/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "client/top_model.h"
#include "common/operation_json.h"
#include "fixture.h"

#define SECOND USEC_PER_SEC

static json_object *parse(const char *text) {
        json_object *o = json_tokener_parse(text);

        assert_non_null(o);
        return o;
}

/* Sessions whose ids are single letters; a later letter began later. */
static json_object *sessions_of(const char *letters, int operations) {
        json_object *reply = json_object_new_object(), *array = json_object_new_array();
        char text[600];

        for (; *letters; letters++) {
                (void) snprintf(
                        text, sizeof(text),
                        "{\"id\":\"%c\",\"uid\":0,\"state\":\"active\",\"verdict\":\"clean\",\"complete\":true,"
                        "\"losses\":[],\"command\":[],\"rootPid\":1,\"started\":\"2026-11-30T18:00:%02dZ\","
                        "\"operations\":%d,\"violations\":0,"
                        "\"processes\":[{\"pid\":7,\"exe\":\"/bin/x\",\"cmdline\":[\"x\"]}]}",
                        *letters, *letters - 'a', operations);
                json_object_array_add(array, parse(text));
        }
        json_object_object_add(reply, "sessions", array);
        return reply;
}

static void take(TopModel *m, const char *letters, int operations, usec_t now) {
        _cleanup_json_ json_object *reply = sessions_of(letters, operations);

        assert_int_equal(top_model_take_sessions(m, reply, now), 0);
}

static void assert_order(const TopModel *m, const char *letters) {
        assert_int_equal(top_model_count(m), strlen(letters));
        for (size_t i = 0; i < strlen(letters); i++)
                assert_int_equal(top_model_at(m, i)->view.id[0], letters[i]);
}

static char selected(const TopModel *m) {
        const TopSession *s = top_model_selected(m);

        return s ? s->view.id[0] : 0;
}

static void the_newest_comes_first(void **state) {
        _cleanup_(top_model_freep) TopModel *m = NULL;

        assert_int_equal(top_model_new(&m), 0);
        assert_int_equal(selected(m), 0);
        take(m, "bca", 0, SECOND);
        assert_order(m, "cba");
        assert_int_equal(selected(m), 'c');
}

static void the_selection_stays_with_its_session(void **state) {
        _cleanup_(top_model_freep) TopModel *m = NULL;

        assert_int_equal(top_model_new(&m), 0);
        take(m, "ac", 0, SECOND);
        top_model_move(m, 1);
        assert_int_equal(selected(m), 'a');
        take(m, "abcd", 0, 2 * SECOND);
        assert_int_equal(selected(m), 'a');
        assert_int_equal(top_model_selected_index(m), 3);
        top_model_move(m, -2);
        assert_int_equal(selected(m), 'c');
        top_model_move(m, -1000);
        assert_int_equal(selected(m), 'd');
        top_model_move(m, 1000);
        assert_int_equal(selected(m), 'a');
}

static void what_has_ended_stays_for_a_while(void **state) {
        _cleanup_(top_model_freep) TopModel *m = NULL;

        assert_int_equal(top_model_new(&m), 0);
        take(m, "abc", 0, SECOND);
        top_model_move(m, 1);
        take(m, "ac", 0, 2 * SECOND);
        assert_order(m, "cba");
        assert_int_equal(top_model_at(m, 1)->ended, 2 * SECOND);
        assert_int_equal(top_model_n_live(m), 2);
        assert_int_equal(selected(m), 'b');
        take(m, "ac", 0, 2 * SECOND + TOP_ENDED_USEC - 1);
        assert_order(m, "cba");
        take(m, "ac", 0, 2 * SECOND + TOP_ENDED_USEC);
        assert_order(m, "ca");
        assert_int_equal(selected(m), 'a'); /* what stands there now */
        take(m, "", 0, 3 * SECOND + TOP_ENDED_USEC);
        take(m, "", 0, 3 * SECOND + 2 * TOP_ENDED_USEC);
        assert_order(m, "");
        assert_int_equal(selected(m), 0);
        top_model_move(m, 1);
}

static void the_rate_is_of_the_last_seconds(void **state) {
        _cleanup_(top_model_freep) TopModel *m = NULL;

        assert_int_equal(top_model_new(&m), 0);
        take(m, "a", 1000, SECOND);
        assert_true(top_model_at(m, 0)->rate == 0); /* of what was before, nothing is known */
        take(m, "a", 1030, 2 * SECOND);
        assert_true(top_model_at(m, 0)->rate == 30);
        take(m, "a", 1030, 3 * SECOND);
        assert_true(top_model_at(m, 0)->rate == 15);
        for (unsigned i = 4; i < 4 + TOP_SAMPLES; i++)
                take(m, "a", 1030, i * SECOND);
        assert_true(top_model_at(m, 0)->rate == 0);
        take(m, "a", 2000, 3 * SECOND); /* a clock that was set back */
        assert_true(top_model_at(m, 0)->rate == 0);
}

static void what_is_no_reply_changes_nothing(void **state) {
        static const char *const replies[] = {"{}", "{\"sessions\":7}", "{\"sessions\":[7]}",
                                              "{\"sessions\":[{\"id\":\"x\"}]}", "{\"held\":[{}]}"};
        _cleanup_(top_model_freep) TopModel *m = NULL;

        assert_int_equal(top_model_new(&m), 0);
        take(m, "ab", 0, SECOND);
        for (size_t i = 0; i < ELEMENTSOF(replies); i++) {
                _cleanup_json_ json_object *o = parse(replies[i]);

                assert_int_equal(top_model_take_sessions(m, o, 2 * SECOND), -EBADMSG);
                assert_int_equal(top_model_take_held(m, o), -EBADMSG);
                assert_int_equal(top_model_take_operations(m, o), -EBADMSG);
        }
        assert_order(m, "ba");
}

static void held_calls_of_the_selected_session_come_first(void **state) {
        static const char row[] =
                "{\"id\":%d,\"session\":\"%c\",\"watch\":\"w\",\"policy\":\"ask\",\"op\":\"delete\","
                "\"path\":\"/x\",\"pid\":7,\"since\":\"2026-11-30T18:00:00Z\"}";
        _cleanup_json_ json_object *reply = json_object_new_object();
        _cleanup_(top_model_freep) TopModel *m = NULL;
        json_object *array = json_object_new_array();
        char text[300];

        assert_int_equal(top_model_new(&m), 0);
        take(m, "ab", 0, SECOND);
        for (int i = 1; i <= 4; i++) {
                (void) snprintf(text, sizeof(text), row, i, i % 2 ? 'a' : 'b');
                json_object_array_add(array, parse(text));
        }
        json_object_object_add(reply, "held", array);
        assert_int_equal(top_model_take_held(m, reply), 0);
        assert_int_equal(top_model_n_held(m), 4);
        assert_int_equal(top_model_at(m, 0)->n_held, 2);
        assert_int_equal(top_model_held_at(m, 0)->id, 2);
        assert_int_equal(top_model_held_at(m, 1)->id, 4);
        assert_int_equal(top_model_held_at(m, 2)->id, 1);
        assert_int_equal(top_model_held_at(m, 3)->id, 3);
        top_model_move(m, 1);
        assert_int_equal(top_model_held_at(m, 0)->id, 1);
        assert_int_equal(top_model_held_find(m, 4)->id, 4);
        assert_null(top_model_held_find(m, 5));
}

static void take_operations(TopModel *m, int64_t from, int64_t to, int count) {
        static const char row[] =
                "{\"seq\":%" PRId64
                ",\"op\":\"create\",\"kind\":\"file\",\"watch\":\"w\",\"path\":\"/x\","
                "\"count\":%d,\"first\":\"2026-11-30T18:00:00Z\",\"last\":\"2026-11-30T18:00:00Z\","
                "\"violation\":true,\"action\":\"recorded\",\"attribution\":\"exact\",\"preserved\":false,"
                "\"process\":9}";
        _cleanup_json_ json_object *reply = parse(
                "{\"processes\":[{\"id\":9,\"pid\":7,\"ppid\":1,\"startTime\":1,\"uid\":0,\"exe\":\"/bin/x\","
                "\"cmdline\":[\"x\"]}],\"missed\":2}");
        json_object *array = json_object_new_array();
        char text[500];

        for (int64_t i = from; i <= to; i++) {
                (void) snprintf(text, sizeof(text), row, i, count);
                json_object_array_add(array, parse(text));
        }
        json_object_object_add(reply, "operations", array);
        assert_int_equal(top_model_take_operations(m, reply), 0);
}

static void the_latest_operations_are_kept(void **state) {
        _cleanup_(top_model_freep) TopModel *m = NULL;

        assert_int_equal(top_model_new(&m), 0);
        take(m, "ab", 0, SECOND);
        take_operations(m, 1, 3, 1);
        assert_int_equal(top_model_n_operations(m), 3);
        assert_int_equal(top_model_operation_at(m, 0)->seq, 3);
        assert_int_equal(top_model_operation_at(m, 2)->seq, 1);
        assert_int_equal(process_source_find(top_model_processes(m), 9)->pid, 7);
        take_operations(m, 2, 2, 5); /* the same one again */
        assert_int_equal(top_model_n_operations(m), 3);
        assert_int_equal(top_model_operation_at(m, 1)->count, 5);
        assert_int_equal(top_model_missed(m), 4);
        take_operations(m, 4, 3 * TOP_OPERATIONS_MAX, 1);
        assert_int_equal(top_model_n_operations(m), TOP_OPERATIONS_MAX);
        assert_int_equal(top_model_operation_at(m, 0)->seq, 3 * TOP_OPERATIONS_MAX);
        take_operations(m, 3 * TOP_OPERATIONS_MAX + 1, 3 * TOP_OPERATIONS_MAX + 1, 1);
        assert_int_equal(top_model_operation_at(m, TOP_OPERATIONS_MAX - 1)->seq,
                         2 * TOP_OPERATIONS_MAX + 2);
        top_model_move(m, 1);
        assert_int_equal(top_model_n_operations(m), 0);
        assert_int_equal(top_model_missed(m), 0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_newest_comes_first),
                cmocka_unit_test(the_selection_stays_with_its_session),
                cmocka_unit_test(what_has_ended_stays_for_a_while),
                cmocka_unit_test(the_rate_is_of_the_last_seconds),
                cmocka_unit_test(what_is_no_reply_changes_nothing),
                cmocka_unit_test(held_calls_of_the_selected_session_come_first),
                cmocka_unit_test(the_latest_operations_are_kept),
        };

        return cmocka_run_group_tests(tests, fixture_set_up, NULL);
}
