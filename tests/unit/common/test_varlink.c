/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/varlink.h"

static json_object *parse(const char *text, size_t size, int *ret_r) {
        _cleanup_(varlink_reader_done) VarlinkReader reader;
        json_object *message = NULL;

        varlink_reader_init(&reader, VARLINK_MESSAGE_MAX);
        assert_int_equal(varlink_reader_feed(&reader, text, size), 0);
        *ret_r = varlink_reader_next(&reader, &message);
        return message;
}

typedef struct Message {
        const char *text;
        int r;
} Message;

static void only_json_objects_are_messages(void **state) {
        static const Message messages[] = {
                {"{}", 1},
                {" \t\r\n{ \"a\" : [ 1 , 2.5 , true , null , \"x\" ] } \n", 1},
                {"{\"a\":\"\xc3\xa4\xf0\x9f\x90\xa7\"}", 1},
                {"{\"a\":\"\\u00e4\\ud83d\\udc27\"}", 1},
                {"", -EBADMSG},
                {" ", -EBADMSG},
                {"[]", -EBADMSG},
                {"1", -EBADMSG},
                {"\"x\"", -EBADMSG},
                {"null", -EBADMSG},
                {"true", -EBADMSG},
                {"{", -EBADMSG},
                {"{\"a\"}", -EBADMSG},
                {"{\"a\":}", -EBADMSG},
                {"{\"a\":1", -EBADMSG},
                {"{\"a\":1,}", -EBADMSG},
                {"{'a':1}", -EBADMSG},
                {"{a:1}", -EBADMSG},
                {"{\"a\":NaN}", -EBADMSG},
                {"{\"a\":-Infinity}", -EBADMSG},
                {"{\"a\":True}", -EBADMSG},
                {"{\"a\":\"\n\"}", -EBADMSG},
                {"{\"a\":\"\\", -EBADMSG},
                {"{\"a\":\"\\x41\"}", -EBADMSG},
                {"{\"\\\"'\":\"\\\\\"}", 1},
                {"{\"a\":01}", -EBADMSG},
                {"{\"a\":1e}", -EBADMSG},
                {"{\"a\":-}", -EBADMSG},
                {"{\"a\":1}x", -EBADMSG},
                {"{\"a\":1}}", -EBADMSG},
                {"{}{}", -EBADMSG},
                {"{} {}", -EBADMSG},
                {"{} /* comment */", -EBADMSG},
                {"/* comment */ {}", -EBADMSG},
                {"{\"a\":[1,]}", -EBADMSG},
                {"{\"a\":\"\xff\"}", -EBADMSG},
                {"{\"a\":\"\xc0\xaf\"}", -EBADMSG},
                {"{\"a\":\"\xed\xa0\x80\"}", -EBADMSG},
                {"\xef\xbb\xbf{}", -EBADMSG},
        };

        for (size_t i = 0; i < ELEMENTSOF(messages); i++) {
                int r;
                json_object *message = parse(messages[i].text, strlen(messages[i].text) + 1, &r);

                if (r != messages[i].r)
                        fail_msg("'%s': %d, expected %d", messages[i].text, r, messages[i].r);
                assert_int_equal(message != NULL, r == 1);
                json_object_put(message);
        }
}

static void nesting_is_limited(void **state) {
        for (int depth = VARLINK_DEPTH_MAX - 2; depth < VARLINK_DEPTH_MAX + 3; depth++) {
                char text[8 * VARLINK_DEPTH_MAX] = "{\"a\":";
                json_object *message;
                int r;

                /* the object itself, the lists, and the value inside them */
                for (int i = 0; i < depth - 2; i++)
                        strcat(text, "[");
                strcat(text, "1");
                for (int i = 0; i < depth - 2; i++)
                        strcat(text, "]");
                strcat(text, "}");
                message = parse(text, strlen(text) + 1, &r);
                assert_int_equal(r, depth <= VARLINK_DEPTH_MAX ? 1 : -EBADMSG);
                json_object_put(message);
        }
}

/* Whatever the pieces in which bytes arrive, the messages are the same. */
static void messages_split_and_merge(void **state) {
        static const char stream[] =
                "{\"n\":0}\0{\"n\":1}\0 {\"n\":2} \0{\"n\":3,\"s\":\"xxxxxxxxxxxx\"}";

        for (size_t piece = 1; piece <= sizeof stream; piece++) {
                _cleanup_(varlink_reader_done) VarlinkReader reader;
                int n = 0;

                varlink_reader_init(&reader, 64);
                for (size_t at = 0; at < sizeof stream; at += piece) {
                        json_object *message;

                        assert_int_equal(varlink_reader_feed(&reader, stream + at,
                                                             MIN(piece, sizeof stream - at)),
                                         0);
                        while (varlink_reader_next(&reader, &message) == 1) {
                                json_object *value = json_object_object_get(message, "n");

                                assert_int_equal(json_object_get_int(value), n++);
                                json_object_put(message);
                        }
                }
                assert_int_equal(n, 4);
                assert_int_equal(reader.size - reader.start, 0);
        }
}

static void reader_goes_on_after_a_broken_message(void **state) {
        static const char stream[] = "nonsense\0{}";
        _cleanup_(varlink_reader_done) VarlinkReader reader;
        json_object *message = NULL;

        varlink_reader_init(&reader, 64);
        assert_int_equal(varlink_reader_next(&reader, &message), 0);
        assert_int_equal(varlink_reader_feed(&reader, stream, sizeof stream), 0);
        assert_int_equal(varlink_reader_next(&reader, &message), -EBADMSG);
        assert_int_equal(varlink_reader_next(&reader, &message), 1);
        json_object_put(message);
        assert_int_equal(varlink_reader_next(&reader, &message), 0);
}

static void a_message_may_be_as_long_as_max_and_no_longer(void **state) {
        static const char fits[] = "{\"a\":\"1234567\"}"; /* 15 bytes and the NUL */
        _cleanup_(varlink_reader_done) VarlinkReader reader;
        json_object *message;

        varlink_reader_init(&reader, 15);
        assert_int_equal(varlink_reader_feed(&reader, fits, sizeof fits), 0);
        assert_int_equal(varlink_reader_next(&reader, &message), 1);
        json_object_put(message);

        assert_int_equal(varlink_reader_feed(&reader, "{\"a\":\"12345678\"}", 17), -EMSGSIZE);
        assert_int_equal(varlink_reader_feed(&reader, "{\"a\":\"12345678", 14), 0);
        assert_int_equal(varlink_reader_feed(&reader, "\"", 1), 0);
        assert_int_equal(varlink_reader_feed(&reader, "}", 1), -EMSGSIZE);
        /* also when the long one stands between short ones */
        varlink_reader_done(&reader);
        assert_int_equal(varlink_reader_feed(&reader, "{}\0{\"a\":\"12345678\"}\0{}", 23),
                         -EMSGSIZE);
}

static void messages_that_nobody_takes_are_bounded(void **state) {
        _cleanup_(varlink_reader_done) VarlinkReader reader;
        json_object *message;
        int fed = 0;

        varlink_reader_init(&reader, 30);
        while (varlink_reader_feed(&reader, "{}", 3) == 0)
                fed++;
        assert_int_equal(varlink_reader_feed(&reader, "{}", 3), -ENOBUFS);
        assert_int_equal(fed, 11);
        assert_int_equal(varlink_reader_next(&reader, &message), 1);
        json_object_put(message);
        assert_int_equal(varlink_reader_feed(&reader, "{}", 3), 0);
}

typedef struct Call {
        const char *text;
        int r;
        bool oneway, more, upgrade, parameters;
} Call;

static void calls_are_parsed_strictly(void **state) {
        static const Call calls[] = {
                {"{\"method\":\"a.b.C\"}", .r = 0},
                {"{\"method\":\"a.b.C\",\"parameters\":{\"x\":1}}", .r = 0, .parameters = true},
                {"{\"method\":\"a.b.C\",\"parameters\":{}}", .r = 0, .parameters = true},
                {"{\"method\":\"a.b.C\",\"parameters\":null}", .r = 0},
                {"{\"method\":\"a.b.C\",\"oneway\":true}", .r = 0, .oneway = true},
                {"{\"method\":\"a.b.C\",\"more\":true}", .r = 0, .more = true},
                {"{\"method\":\"a.b.C\",\"upgrade\":true}", .r = 0, .upgrade = true},
                {"{\"method\":\"a.b.C\",\"more\":true,\"oneway\":false,\"upgrade\":null}", .r = 0,
                 .more = true},
                {"{\"method\":\"a.b.C\",\"org.example\":{\"trace\":1}}", .r = 0},
                {"{}", .r = -EBADMSG},
                {"{\"method\":null}", .r = -EBADMSG},
                {"{\"method\":1}", .r = -EBADMSG},
                {"{\"method\":\"a.b.C\\u0000D\"}", .r = -EBADMSG},
                {"{\"method\":\"a.b.C\",\"parameters\":[]}", .r = -EBADMSG},
                {"{\"method\":\"a.b.C\",\"parameters\":\"x\"}", .r = -EBADMSG},
                {"{\"method\":\"a.b.C\",\"more\":1}", .r = -EBADMSG},
                {"{\"method\":\"a.b.C\",\"more\":\"true\"}", .r = -EBADMSG},
                {"{\"method\":\"a.b.C\",\"more\":true,\"oneway\":true}", .r = -EBADMSG},
                {"{\"method\":\"a.b.C\",\"upgrade\":true,\"oneway\":true}", .r = -EBADMSG},
                {"{\"method\":\"a.b.C\",\"extra\":1}", .r = -EBADMSG},
                {"{\"method\":\"a.b.C\",\"x-extra\":null}", .r = -EBADMSG},
                {"{\"method\":\"a.b.C\",\"continues\":true}", .r = -EBADMSG},
        };

        for (size_t i = 0; i < ELEMENTSOF(calls); i++) {
                json_object *message = json_tokener_parse(calls[i].text);
                VarlinkCall call = {};
                int r = varlink_call_parse(message, &call);

                if (r != calls[i].r)
                        fail_msg("'%s': %d, expected %d", calls[i].text, r, calls[i].r);
                assert_int_equal(call.oneway, calls[i].oneway);
                assert_int_equal(call.more, calls[i].more);
                assert_int_equal(call.upgrade, calls[i].upgrade);
                assert_int_equal(call.parameters != NULL, calls[i].parameters);
                if (r == 0)
                        assert_string_equal(call.method, "a.b.C");
                json_object_put(message);
        }
        assert_int_equal(varlink_call_parse(NULL, &(VarlinkCall){}), -EBADMSG);
}

typedef struct Reply {
        const char *text;
        int r;
        const char *error;
        bool continues, parameters;
} Reply;

static void replies_are_parsed_strictly(void **state) {
        static const Reply replies[] = {
                {"{}", .r = 0},
                {"{\"parameters\":{\"x\":1}}", .r = 0, .parameters = true},
                {"{\"parameters\":null,\"continues\":false,\"error\":null}", .r = 0},
                {"{\"parameters\":{},\"continues\":true}", .r = 0, .parameters = true,
                 .continues = true},
                {"{\"error\":\"a.b.E\"}", .r = 0, .error = "a.b.E"},
                {"{\"error\":\"a.b.E\",\"parameters\":{}}", .r = 0, .error = "a.b.E",
                 .parameters = true},
                {"{\"io.example\":1}", .r = 0},
                {"{\"error\":\"a.b.E\",\"continues\":true}", .r = -EBADMSG},
                {"{\"error\":1}", .r = -EBADMSG},
                {"{\"continues\":\"yes\"}", .r = -EBADMSG},
                {"{\"parameters\":[]}", .r = -EBADMSG},
                {"{\"method\":\"a.b.C\"}", .r = -EBADMSG},
        };

        for (size_t i = 0; i < ELEMENTSOF(replies); i++) {
                json_object *message = json_tokener_parse(replies[i].text);
                VarlinkReply reply = {};
                int r = varlink_reply_parse(message, &reply);

                if (r != replies[i].r)
                        fail_msg("'%s': %d, expected %d", replies[i].text, r, replies[i].r);
                assert_int_equal(reply.continues, replies[i].continues);
                assert_int_equal(reply.parameters != NULL, replies[i].parameters);
                assert_true(str_equal(reply.error, replies[i].error));
                json_object_put(message);
        }
        assert_int_equal(varlink_reply_parse(NULL, &(VarlinkReply){}), -EBADMSG);
}

static json_object *parameters(void) {
        return json_tokener_parse("{\"path\":\"/mnt/a b\"}");
}

static void messages_have_no_white_space_and_end_with_nul(void **state) {
        _cleanup_free_ char *call = NULL, *bare = NULL, *reply = NULL, *empty = NULL, *error = NULL;
        size_t size;

        assert_int_equal(varlink_format_call("a.b.C", parameters(), true, &call, &size), 0);
        assert_string_equal(
                call,
                "{\"method\":\"a.b.C\",\"parameters\":{\"path\":\"/mnt/a b\"},\"more\":true}");
        assert_int_equal(size, strlen(call) + 1);
        assert_int_equal(varlink_format_call("a.b.C", NULL, false, &bare, &size), 0);
        assert_string_equal(bare, "{\"method\":\"a.b.C\"}");
        assert_int_equal(varlink_format_reply(parameters(), true, &reply, &size), 0);
        assert_string_equal(reply, "{\"parameters\":{\"path\":\"/mnt/a b\"},\"continues\":true}");
        assert_int_equal(varlink_format_reply(NULL, false, &empty, &size), 0);
        assert_string_equal(empty, "{}");
        assert_int_equal(size, 3);
        assert_int_equal(varlink_format_error("a.b.E", NULL, &error, &size), 0);
        assert_string_equal(error, "{\"error\":\"a.b.E\"}");
}

static void what_is_formatted_can_be_read(void **state) {
        _cleanup_free_ char *bytes = NULL;
        VarlinkCall call;
        json_object *message;
        size_t size;
        int r;

        assert_int_equal(
                varlink_format_call("io.mountwatch.Blame", parameters(), false, &bytes, &size), 0);
        message = parse(bytes, size, &r);
        assert_int_equal(r, 1);
        assert_int_equal(varlink_call_parse(message, &call), 0);
        assert_string_equal(call.method, "io.mountwatch.Blame");
        assert_string_equal(json_object_get_string(json_object_object_get(call.parameters, "path")),
                            "/mnt/a b");
        json_object_put(message);
}

static void the_description_is_the_file(void **state) {
        FILE *f = fopen("common/io.mountwatch.varlink", "re");
        char text[65536];
        size_t n;

        if (!f) {
                print_message("not run: not started in the root of the project\n");
                skip();
        }
        n = fread(text, 1, sizeof text - 1, f);
        assert_int_equal(fclose(f), 0);
        text[n] = 0;
        assert_string_equal(mountwatch_varlink_description, text);
        assert_non_null(strstr(text, "\ninterface " MOUNTWATCH_INTERFACE "\n"));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(only_json_objects_are_messages),
                cmocka_unit_test(nesting_is_limited),
                cmocka_unit_test(messages_split_and_merge),
                cmocka_unit_test(reader_goes_on_after_a_broken_message),
                cmocka_unit_test(a_message_may_be_as_long_as_max_and_no_longer),
                cmocka_unit_test(messages_that_nobody_takes_are_bounded),
                cmocka_unit_test(calls_are_parsed_strictly),
                cmocka_unit_test(replies_are_parsed_strictly),
                cmocka_unit_test(messages_have_no_white_space_and_end_with_nul),
                cmocka_unit_test(what_is_formatted_can_be_read),
                cmocka_unit_test(the_description_is_the_file),
        };
        return cmocka_run_group_tests_name("varlink", tests, NULL, NULL);
}
