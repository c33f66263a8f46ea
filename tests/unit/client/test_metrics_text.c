/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "client/metrics_text.h"
#include "common/json_member.h"
#include "fixture.h"

static const char reply_text[] =
        "{\"version\":\"1\",\"started\":\"2026-11-30T18:00:00Z\",\"sessions\":{\"active\":1,\"lingering\":2,\"frozen\":3},"
        "\"sessionsStarted\":4,\"sessionsEnded\":{\"clean\":5,\"dirty\":6,\"incomplete\":7},\"processes\":8,"
        "\"watches\":[{\"name\":\"a\\\"b\\\\c\\nd\",\"state\":\"armed\",\"operations\":9,\"violations\":10,"
        "\"refused\":11,\"backlog\":12}],\"losses\":[{\"reason\":\"overflow\",\"count\":13}],"
        "\"alerts\":{\"violation\":14,\"update\":15,\"loss\":16,\"summary\":17,\"test\":18},\"held\":19,"
        "\"copying\":20,\"hashing\":21,\"streams\":22,\"storeBytes\":23,\"preservedBytes\":24,\"webhooks\":[]}";

static char *print(MetricsFormat format, json_object *reply, int want) {
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        assert_non_null(f);
        assert_int_equal(metrics_print(f, format, reply), want);
        assert_int_equal(fclose(f), 0);
        return text;
}

static void assert_has(const char *text, const char *line) {
        if (!strstr(text, line))
                fail_msg("no '%s' in: %s", line, text);
}

static void label_values_are_escaped(void **state) {
        _cleanup_json_ json_object *reply = json_tokener_parse(reply_text);
        char *text = print(METRICS_OPENMETRICS, reply, 0);

        assert_has(text, "\nmountwatch_operations_total{watch=\"a\\\"b\\\\c\\nd\"} 9\n");
        assert_has(text, "\nmountwatch_watch_state{watch=\"a\\\"b\\\\c\\nd\",state=\"armed\"} 1\n");
        assert_has(text, "\",state=\"idle\"} 0\n");
        free(text);
}

static void the_formats_differ_in_the_names_of_counters_and_the_end(void **state) {
        _cleanup_json_ json_object *reply = json_tokener_parse(reply_text);
        char *open = print(METRICS_OPENMETRICS, reply, 0),
             *old = print(METRICS_PROMETHEUS, reply, 0);

        assert_has(
                open,
                "# TYPE mountwatch_losses counter\nmountwatch_losses_total{reason=\"overflow\"} 13\n");
        assert_has(
                old,
                "# TYPE mountwatch_losses_total counter\nmountwatch_losses_total{reason=\"overflow\"} 13\n");
        assert_has(open, "# TYPE mountwatch_held_calls gauge\nmountwatch_held_calls 19\n");
        assert_string_equal(open + strlen(open) - 6, "# EOF\n");
        assert_null(strstr(old, "EOF"));
        free(open);
        free(old);
}

static void without_a_daemon_it_is_down(void **state) {
        char *text = print(METRICS_PROMETHEUS, NULL, 0);

        assert_string_equal(text,
                            "# HELP mountwatch_up Whether the service answers.\n"
                            "# TYPE mountwatch_up gauge\nmountwatch_up 0\n");
        free(text);
}

static void what_lacks_something_is_not_half_printed(void **state) {
        _cleanup_json_ json_object *reply = json_tokener_parse(reply_text);
        static const char *const members[] = {"version",  "watches", "losses",
                                              "sessions", "alerts",  "storeBytes"};

        for (size_t i = 0; i < ELEMENTSOF(members); i++) {
                json_object *member = json_object_get(json_object_object_get(reply, members[i]));
                char *text;

                json_object_object_del(reply, members[i]);
                text = print(METRICS_OPENMETRICS, reply, -EBADMSG);
                assert_string_equal(text, "");
                free(text);
                json_object_object_add(reply, members[i], member);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(label_values_are_escaped),
                cmocka_unit_test(the_formats_differ_in_the_names_of_counters_and_the_end),
                cmocka_unit_test(without_a_daemon_it_is_down),
                cmocka_unit_test(what_lacks_something_is_not_half_printed),
        };

        return cmocka_run_group_tests(tests, fixture_set_up, NULL);
}
