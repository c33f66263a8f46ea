/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "tests/unit/api/fixture.h"

#define CALL(name) "{\"method\":\"io.mountwatch." name "\"}"
#define WITH(name, parameters) \
        "{\"method\":\"io.mountwatch." name "\",\"parameters\":" parameters "}"
#define ERROR(name) "{\"error\":\"org.varlink.service." name "\"}"
#define ERROR_WITH(name, key, value) \
        "{\"error\":\"org.varlink.service." name "\",\"parameters\":{\"" key "\":\"" value "\"}}"
#define INVALID(parameter) ERROR_WITH("InvalidParameter", "parameter", parameter)
#define SESSIONS "{\"parameters\":{\"sessions\":[]}}"

static void frames_survive_byte_wise_writes(void **state) {
        static const char text[] = CALL("GetStatus") "\0 " CALL("ListSessions") "\n";
        Fixture *f = *state;
        int fd = client_connect(f);

        for (size_t i = 0; i < sizeof text; i++) {
                client_write(f, fd, text + i, 1);
                fixture_settle(f);
        }
        client_expect(f, fd, "{}");
        client_expect(f, fd, SESSIONS);
        close(fd);
}

static void pipelined_calls_are_answered_in_order(void **state) {
        Fixture *f = *state;
        int fd = client_connect(f);

        for (int i = 0; i < 200; i++)
                client_send(f, fd, i % 2 ? CALL("GetStatus") : CALL("ListSessions"));
        for (int i = 0; i < 200; i++)
                client_expect(f, fd, i % 2 ? "{}" : SESSIONS);
        close(fd);
}

static void a_call_waits_for_the_answer_of_the_one_before(void **state) {
        Fixture *f = *state;
        int fd = client_connect(f);
        char c;

        client_send(f, fd, CALL("StartSession"));
        client_send(f, fd, CALL("StartSession"));
        client_send(f, fd, CALL("GetStatus"));
        fixture_settle(f);
        assert_int_equal(f->n_calls, 1);
        assert_int_equal(recv(fd, &c, 1, 0), -1);
        assert_int_equal(api_call_error(f->calls[0], "NoSuchSession", NULL), 0);
        client_expect(f, fd, "{\"error\":\"io.mountwatch.NoSuchSession\"}");
        fixture_settle(f);
        assert_int_equal(f->n_calls, 2);
        assert_int_equal(api_call_reply(f->calls[1], NULL, false), 0);
        client_expect(f, fd, "{}");
        client_expect(f, fd, "{}");
        /* a second last answer goes nowhere */
        assert_int_equal(api_call_reply(f->calls[0], NULL, false), 0);
        client_send(f, fd, CALL("ListSessions"));
        client_expect(f, fd, SESSIONS);
        close(fd);
}

static void a_oneway_call_is_never_answered(void **state) {
        static const char *const calls[] = {
                "{\"method\":\"io.mountwatch.MarkSession\",\"parameters\":{\"text\":\"t\"},"
                "\"oneway\":true}",
                "{\"method\":\"io.mountwatch.MarkSession\",\"parameters\":{\"txt\":\"t\"},"
                "\"oneway\":true}",
                "{\"method\":\"io.mountwatch.Nonsense\",\"oneway\":true}",
                "{\"method\":\"io.nonsense.X\",\"oneway\":true}",
                "{\"method\":\"io.mountwatch.GetOperations\",\"oneway\":true}",
                "{\"method\":\"io.mountwatch.KillSession\",\"parameters\":{\"id\":\"1\"},"
                "\"oneway\":true}",
                "{\"method\":\"io.mountwatch.StartSession\",\"oneway\":true}",
        };
        Fixture *f = *state;
        int fd = client_connect(f);

        for (size_t i = 0; i < ELEMENTSOF(calls); i++)
                client_send(f, fd, calls[i]);
        client_send(f, fd, CALL("ListSessions"));
        fixture_settle(f);
        assert_int_equal(f->n_marks, 1);
        assert_int_equal(f->n_calls, 1);
        assert_int_equal(api_call_reply(f->calls[0], json_object_new_object(), false), 0);
        client_expect(f, fd, SESSIONS);
        close(fd);
}

static void what_no_method_can_answer_is_answered(void **state) {
        static const struct {
                const char *call, *reply;
        } cases[] = {
                {CALL("GetOperations"), ERROR("ExpectedMore")},
                {CALL("Nonsense"),
                 ERROR_WITH("MethodNotFound", "method", "io.mountwatch.Nonsense")},
                {CALL("Operation"),
                 ERROR_WITH("MethodNotFound", "method", "io.mountwatch.Operation")},
                {CALL("Unavailable"),
                 ERROR_WITH("MethodNotFound", "method", "io.mountwatch.Unavailable")},
                {CALL("Reload"),
                 ERROR_WITH("MethodNotImplemented", "method", "io.mountwatch.Reload")},
                {"{\"method\":\"io.mountwatch.GetStatus\",\"upgrade\":true}",
                 ERROR_WITH("MethodNotImplemented", "method", "io.mountwatch.GetStatus")},
                {"{\"method\":\"io.mountwatc.GetStatus\"}",
                 ERROR_WITH("InterfaceNotFound", "interface", "io.mountwatc")},
                {"{\"method\":\"io.mountwatch.\"}",
                 ERROR_WITH("MethodNotFound", "method", "io.mountwatch.")},
                {"{\"method\":\"GetStatus\"}", ERROR_WITH("InterfaceNotFound", "interface", "")},
                {"{\"method\":\"\"}", ERROR_WITH("InterfaceNotFound", "interface", "")},
                {WITH("GetStatus", "{\"x\":1}"), INVALID("x")},
                {WITH("GetStatus", "{\"x\":null}"), INVALID("x")},
                {WITH("GetStatus", "{}"), "{}"},
                {WITH("GetStatus", "null"), "{}"},
                {WITH("MarkSession", "{}"), INVALID("text")},
                {WITH("MarkSession", "{\"text\":null}"), INVALID("text")},
                {WITH("MarkSession", "{\"text\":1}"), INVALID("text")},
                {WITH("MarkSession", "{\"text\":\"a\\u0000b\"}"), INVALID("text")},
                {WITH("MarkSession", "{\"text\":\"\",\"id\":null}"), "{}"},
                {WITH("StartSession", "{\"command\":[\"a\",1]}"), INVALID("command")},
                {WITH("StartSession", "{\"pid\":1.0}"), INVALID("pid")},
                {WITH("StartSession", "{\"pid\":9223372036854775808}"), INVALID("pid")},
                {"{\"method\":\"io.mountwatch.GetOperations\",\"more\":true,"
                 "\"parameters\":{\"of\":\"all\"}}",
                 INVALID("of")},
                {"{\"method\":\"io.mountwatch.GetStatus\",\"more\":true}", "{}"},
                {"{\"method\":\"io.mountwatch.GetStatus\",\"org.example\":{\"x\":1}}", "{}"},
                /* its method gave it up */
                {WITH("KillSession", "{\"id\":\"1\"}"),
                 "{\"error\":\"io.mountwatch.Unavailable\",\"parameters\":{\"reason\":\"the call "
                 "was given up\"}}"},
        };
        Fixture *f = *state;
        int fd = client_connect(f);

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                client_send(f, fd, cases[i].call);
                client_expect(f, fd, cases[i].reply);
        }
        close(fd);
}

static void malformed_messages_end_the_connection_after_earlier_answers(void **state) {
        static const char *const messages[] = {
                "",
                "garbage",
                "[]",
                "{}",
                "null",
                "{\"method\":1}",
                "{\"method\":\"io.mountwatch.GetStatus\",\"parameters\":[]}",
                "{\"method\":\"io.mountwatch.GetStatus\",\"oneway\":1}",
                "{\"method\":\"io.mountwatch.GetStatus\",\"oneway\":true,\"more\":true}",
                "{\"method\":\"io.mountwatch.GetStatus\",\"unknown\":1}",
                "{\"method\":\"io.mountwatch.GetStatus\"}{}",
                "{\"method\":\"io.mountwatch.GetStatus\"",
                "{\"method\":\"\xff\"}",
                "GET / HTTP/1.1\r\n\r\n",
        };
        Fixture *f = *state;

        for (size_t i = 0; i < ELEMENTSOF(messages); i++) {
                int fd = client_connect(f);

                client_send(f, fd, CALL("ListSessions"));
                client_send(f, fd, messages[i]);
                client_send(f, fd, CALL("GetStatus"));
                client_expect(f, fd, SESSIONS);
                client_expect_end(f, fd);
                close(fd);
        }
}

static void a_stream_continues_until_its_last_answer(void **state) {
        Fixture *f = *state;
        int fd = client_connect(f);

        client_send(f, fd, "{\"method\":\"io.mountwatch.GetOperations\",\"more\":true}");
        client_send(f, fd, CALL("ListSessions"));
        fixture_settle(f);
        assert_int_equal(f->n_calls, 1);
        assert_int_equal(api_call_reply(f->calls[0], NULL, true), 0);
        assert_int_equal(api_call_reply(f->calls[0], NULL, true), 0);
        client_expect(f, fd, "{\"continues\":true}");
        client_expect(f, fd, "{\"continues\":true}");
        assert_int_equal(api_call_reply(f->calls[0], NULL, false), 0);
        client_expect(f, fd, "{}");
        client_expect(f, fd, SESSIONS);
        close(fd);
}

static void nothing_continues_without_more(void **state) {
        Fixture *f = *state;
        int fd = client_connect(f);

        client_send(f, fd, CALL("StartSession"));
        fixture_settle(f);
        assert_int_equal(api_call_reply(f->calls[0], json_object_new_object(), true), -EINVAL);
        assert_int_equal(api_call_reply(f->calls[0], NULL, false), 0);
        client_expect(f, fd, "{}");
        close(fd);
}

static json_object *large_object(size_t size) {
        json_object *o = json_object_new_object();
        char *text = malloc(size);

        assert_non_null(text);
        memset(text, 'x', size);
        json_object_object_add(o, "x", json_object_new_string_len(text, (int) size));
        free(text);
        return o;
}

static void on_drained(ApiCall *call, void *userdata) {
        Fixture *f = userdata;

        f->n_drained++;
}

static void a_slow_reader_of_a_stream_loses_answers_and_is_told_when_it_has_caught_up(
        void **state) {
        Fixture *f = *state;
        int fd = client_connect(f), r;
        size_t sent = 0, got = 0;
        ApiCall *call;
        char *text;

        client_send(f, fd, "{\"method\":\"io.mountwatch.GetOperations\",\"more\":true}");
        fixture_settle(f);
        call = f->calls[0];
        api_call_set_on_drained(call, on_drained, f);
        for (;; sent++) {
                r = api_call_reply(call, large_object(64 * 1024), true);
                fixture_settle(f);
                if (r < 0)
                        break;
                assert_true(sent < 1000);
        }
        assert_int_equal(r, -ENOBUFS);
        assert_true(api_call_pending(call) <= API_QUEUE_MAX);
        assert_true(api_call_pending(call) > API_QUEUE_MAX - 128 * 1024);
        assert_int_equal(f->n_drained, 0);
        assert_false(api_call_is_gone(call));
        while (got < sent) {
                text = client_receive(f, fd);
                assert_non_null(text);
                assert_true(strlen(text) > 64 * 1024);
                free(text);
                got++;
        }
        fixture_settle(f);
        assert_int_equal(f->n_drained, 1);
        assert_int_equal(api_call_pending(call), 0);
        assert_int_equal(api_call_reply(call, NULL, false), 0);
        client_expect(f, fd, "{}");
        close(fd);
}

static void a_slow_reader_of_answers_is_cut_off(void **state) {
        Fixture *f = *state;
        int fd = client_connect(f), r;
        ssize_t n;

        client_send(f, fd, "{\"method\":\"io.mountwatch.GetOperations\",\"more\":true}");
        fixture_settle(f);
        while (api_call_reply(f->calls[0], large_object(64 * 1024), true) == 0)
                ;
        r = api_call_reply(f->calls[0], large_object(API_QUEUE_MAX / 2), false);
        assert_int_equal(r, -ENOBUFS);
        fixture_settle(f);
        do {
                char c[65536];

                n = recv(fd, c, sizeof c, 0);
        } while (n > 0);
        assert_true(n == 0 || errno == ECONNRESET);
        close(fd);
}

/* Answers that nobody reads hold the calls behind them back, not the daemon's memory. */
static void a_pipeline_without_a_reader_stops(void **state) {
        Fixture *f = *state;
        int fd = client_connect(f), sent = 0;

        f->blame_size = 100 * 1024;
        for (int i = 0; i < 100; i++, sent++) {
                client_send(f, fd, WITH("Blame", "{\"path\":\"/\"}"));
                fixture_settle(f);
        }
        while (sent-- > 0) {
                char *text = client_receive(f, fd);

                assert_non_null(text);
                free(text);
        }
        client_send(f, fd, CALL("GetStatus"));
        client_expect(f, fd, "{}");
        close(fd);
}

static void an_answer_too_large_to_send_becomes_an_error(void **state) {
        Fixture *f = *state;
        int fd = client_connect(f);

        f->blame_size = API_QUEUE_MAX;
        client_send(f, fd, WITH("Blame", "{\"path\":\"/\"}"));
        client_expect(f, fd,
                      "{\"error\":\"io.mountwatch.LimitReached\",\"parameters\":{\"limit\":\"reply "
                      "size\",\"max\":8388608}}");
        client_send(f, fd, CALL("GetStatus"));
        client_expect(f, fd, "{}");
        close(fd);
}

static void a_message_of_100_megabytes_is_refused_early(void **state) {
        static char chunk[64 * 1024];
        Fixture *f = *state;
        int fd = client_connect(f);
        size_t sent = 0;

        memset(chunk, ' ', sizeof chunk);
        client_send(f, fd, CALL("GetStatus"));
        while (sent < 100 * 1000 * 1000) {
                ssize_t n = send(fd, chunk, sizeof chunk, MSG_NOSIGNAL);

                if (n < 0 && errno != EAGAIN)
                        break;
                if (n > 0)
                        sent += (size_t) n;
                else
                        fixture_wait(f);
        }
        assert_true(errno == EPIPE || errno == ECONNRESET);
        assert_true(sent < 4 * 1024 * 1024);
        client_expect(f, fd, "{}");
        client_expect(f, fd,
                      "{\"error\":\"io.mountwatch.LimitReached\",\"parameters\":{\"limit\":"
                      "\"message size\",\"max\":1048576}}");
        client_expect_end(f, fd);
        close(fd);
}

static void a_message_of_the_largest_size_is_read(void **state) {
        Fixture *f = *state;
        int fd = client_connect(f);
        char *text = malloc(VARLINK_MESSAGE_MAX + 1);

        assert_non_null(text);
        memset(text, ' ', VARLINK_MESSAGE_MAX);
        memcpy(text, CALL("GetStatus"), sizeof CALL("GetStatus") - 1);
        text[VARLINK_MESSAGE_MAX] = 0;
        client_send(f, fd, text);
        client_expect(f, fd, "{}");
        free(text);
        close(fd);
}

static void a_half_closed_peer_gets_its_answers_and_the_end(void **state) {
        Fixture *f = *state;
        int fd = client_connect(f);

        client_send(f, fd, CALL("StartSession"));
        client_send(f, fd, CALL("ListSessions"));
        client_write(f, fd, "{\"incomplete", 12);
        assert_int_equal(shutdown(fd, SHUT_WR), 0);
        fixture_settle(f);
        assert_int_equal(f->n_calls, 1);
        assert_false(api_call_is_gone(f->calls[0]));
        assert_int_equal(api_call_reply(f->calls[0], NULL, false), 0);
        client_expect(f, fd, "{}");
        client_expect(f, fd, SESSIONS);
        client_expect_end(f, fd);
        close(fd);
}

static void a_half_closed_peer_gets_the_end_after_a_oneway_call(void **state) {
        Fixture *f = *state;
        int fd = client_connect(f);

        client_send(f, fd, "{\"method\":\"io.mountwatch.StartSession\",\"oneway\":true}");
        assert_int_equal(shutdown(fd, SHUT_WR), 0);
        fixture_settle(f);
        assert_int_equal(f->n_calls, 1);
        assert_int_equal(api_call_reply(f->calls[0], NULL, false), 0);
        client_expect_end(f, fd);
        close(fd);
}

static void what_was_sent_before_the_peer_closed_is_carried_out(void **state) {
        Fixture *f = *state;
        int fd = client_connect(f);

        for (int i = 0; i < 100; i++)
                client_send(f, fd,
                            "{\"method\":\"io.mountwatch.MarkSession\",\"parameters\":{\"text\":"
                            "\"t\"},\"oneway\":true}");
        close(fd);
        fixture_settle(f);
        assert_int_equal(f->n_marks, 100);
}

static void a_peer_that_closes_in_the_middle_of_a_call_leaves_it_valid(void **state) {
        Fixture *f = *state;
        int fd = client_connect(f);

        client_send(f, fd, CALL("StartSession"));
        client_send(f, fd, CALL("StartSession"));
        fixture_settle(f);
        api_call_set_on_drained(f->calls[0], on_drained, f);
        close(fd);
        fixture_settle(f);
        assert_true(api_call_is_gone(f->calls[0]));
        assert_int_equal(f->n_drained, 1);
        assert_int_equal(f->n_calls, 1);
        assert_int_equal(api_call_pending(f->calls[0]), 0);
        assert_int_equal(api_call_reply(f->calls[0], json_object_new_object(), false), 0);
        assert_int_equal(api_call_error(f->calls[0], "NoSuchSession", NULL), 0);
        fixture_settle(f);
}

static void a_peer_that_closes_in_the_middle_of_a_message_is_forgotten(void **state) {
        Fixture *f = *state;
        int fd = client_connect(f), other = client_connect(f);

        client_write(f, fd, "{\"method\":", 10);
        fixture_settle(f);
        close(fd);
        client_send(f, other, CALL("GetStatus"));
        client_expect(f, other, "{}");
        close(other);
}

static void a_server_ends_with_calls_outstanding(void **state) {
        Fixture *f = *state;
        int fd = client_connect(f), other = client_connect(f);

        client_send(f, fd, CALL("StartSession"));
        client_send(f, other, "{\"method\":\"io.mountwatch.GetOperations\",\"more\":true}");
        fixture_settle(f);
        assert_int_equal(f->n_calls, 2);
        api_call_set_on_drained(f->calls[0], on_drained, f);
        assert_int_equal(api_call_reply(f->calls[1], NULL, true), 0);
        f->server = api_server_free(f->server);
        assert_int_equal(f->n_drained, 1);
        assert_true(api_call_is_gone(f->calls[0]));
        assert_true(api_call_is_gone(f->calls[1]));
        assert_int_equal(api_call_reply(f->calls[0], NULL, false), 0);
        client_expect_end(f, fd);
        close(fd);
        close(other);
}

int main(void) {
#define test(t) cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)
        const struct CMUnitTest tests[] = {
                test(frames_survive_byte_wise_writes),
                test(pipelined_calls_are_answered_in_order),
                test(a_call_waits_for_the_answer_of_the_one_before),
                test(a_oneway_call_is_never_answered),
                test(what_no_method_can_answer_is_answered),
                test(malformed_messages_end_the_connection_after_earlier_answers),
                test(a_stream_continues_until_its_last_answer),
                test(nothing_continues_without_more),
                test(a_slow_reader_of_a_stream_loses_answers_and_is_told_when_it_has_caught_up),
                test(a_slow_reader_of_answers_is_cut_off),
                test(a_pipeline_without_a_reader_stops),
                test(an_answer_too_large_to_send_becomes_an_error),
                test(a_message_of_100_megabytes_is_refused_early),
                test(a_message_of_the_largest_size_is_read),
                test(a_half_closed_peer_gets_its_answers_and_the_end),
                test(a_half_closed_peer_gets_the_end_after_a_oneway_call),
                test(what_was_sent_before_the_peer_closed_is_carried_out),
                test(a_peer_that_closes_in_the_middle_of_a_call_leaves_it_valid),
                test(a_peer_that_closes_in_the_middle_of_a_message_is_forgotten),
                test(a_server_ends_with_calls_outstanding),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
