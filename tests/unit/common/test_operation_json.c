/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/operation_json.h"
#include "common/strv.h"

/* Consumes the object: as text and back, as on the wire. */
static json_object *over_the_wire(json_object *o) {
        json_object *back;

        assert_non_null(o);
        back = json_tokener_parse(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
        json_object_put(o);
        assert_non_null(back);
        return back;
}

static const char *member(json_object *o, const char *key) {
        const char *s = NULL;

        return json_get_string(o, key, &s) == 1 ? s : NULL;
}

static void an_operation_survives_the_wire(void **state) {
        Operation op = {
                .seq = 7,
                .session = (char *) "s1",
                .process_id = 3,
                .op = OP_RENAME,
                .kind = KIND_DIR,
                .watch = (char *) "nas",
                .path = (char *) "/mnt/nas/b",
                .from = (char *) "/mnt/nas/a",
                .to = (char *) "/outside",
                .replaced = true,
                .count = 9,
                .first = 1796063754123456,
                .last = 1796063754999999,
                .violation = true,
                .rule = (char *) "scratch/**",
                .action = ACTION_FROZEN,
                .attribution = SIGHT_INFERRED,
                .preserved = true,
                .test = (char *) "t::x",
        };
        _cleanup_json_ json_object *o = over_the_wire(operation_to_json(&op));
        _cleanup_(operation_done) Operation back = {};

        assert_string_equal(member(o, "op"), "rename");
        assert_string_equal(member(o, "first"), "2026-11-30T18:35:54.123456Z");
        assert_null(member(o, "pathRaw"));
        assert_int_equal(operation_from_json(o, &back), 0);
        assert_int_equal(back.seq, 7);
        assert_string_equal(back.session, "s1");
        assert_int_equal(back.process_id, 3);
        assert_int_equal(back.op, OP_RENAME);
        assert_int_equal(back.kind, KIND_DIR);
        assert_string_equal(back.watch, "nas");
        assert_string_equal(back.path, op.path);
        assert_string_equal(back.from, op.from);
        assert_string_equal(back.to, op.to);
        assert_true(back.replaced);
        assert_int_equal(back.count, 9);
        assert_int_equal(back.first, op.first);
        assert_int_equal(back.last, op.last);
        assert_true(back.violation);
        assert_string_equal(back.rule, op.rule);
        assert_int_equal(back.action, ACTION_FROZEN);
        assert_int_equal(back.attribution, SIGHT_INFERRED);
        assert_true(back.preserved);
        assert_string_equal(back.test, op.test);
}

static void what_is_not_there_is_left_out(void **state) {
        Operation op = {.path = (char *) "/p", .watch = (char *) "w", .attribution = SIGHT_EXACT};
        _cleanup_json_ json_object *o = over_the_wire(operation_to_json(&op));
        _cleanup_(operation_done) Operation back = {};
        static const char *const absent[] = {"session", "from", "to", "replaced", "rule", "test"};

        for (size_t i = 0; i < ELEMENTSOF(absent); i++)
                assert_false(json_object_object_get_ex(o, absent[i], NULL));
        assert_int_equal(operation_from_json(o, &back), 0);
        assert_null(back.session);
        assert_null(back.from);
}

static void paths_that_are_not_utf8_travel_as_bytes(void **state) {
        Operation op = {.path = (char *) "/mnt/\xff\\x",
                        .from = (char *) "/mnt/\xc3\xa4\x80",
                        .to = (char *) "/mnt/\n\"\xe2\x82\xac\"",
                        .watch = (char *) "w",
                        .attribution = SIGHT_EXACT};
        _cleanup_json_ json_object *o = over_the_wire(operation_to_json(&op));
        _cleanup_(operation_done) Operation back = {};

        assert_string_equal(member(o, "path"), "/mnt/\\xff\\x5cx");
        assert_string_equal(member(o, "pathRaw"), "L21udC//XHg=");
        assert_string_equal(member(o, "from"), "/mnt/\xc3\xa4\\x80");
        assert_string_equal(member(o, "fromRaw"), "L21udC/DpIA=");
        assert_string_equal(member(o, "to"), op.to);
        assert_null(member(o, "toRaw"));
        assert_int_equal(operation_from_json(o, &back), 0);
        assert_string_equal(back.path, op.path);
        assert_string_equal(back.from, op.from);
        assert_string_equal(back.to, op.to);
}

#define OPERATION                                                                           \
        "\"seq\":1,\"op\":\"create\",\"kind\":\"file\",\"watch\":\"w\",\"path\":\"/p\","    \
        "\"count\":1,\"first\":\"2026-11-30T18:35:54Z\",\"last\":\"2026-11-30T18:35:54Z\"," \
        "\"violation\":false,\"action\":\"recorded\",\"attribution\":\"exact\","            \
        "\"preserved\":false,\"process\":1"

/* In json-c the last of two members with one name counts, so each case overrides one of a good operation. */
static void operations_in_another_shape_are_refused(void **state) {
        static const char *const overrides[] = {
                "\"seq\":\"1\"",
                "\"seq\":-1",
                "\"seq\":null",
                "\"seq\":1.5",
                "\"seq\":18446744073709551615",
                "\"op\":\"destroy\"",
                "\"op\":1",
                "\"kind\":\"fifo\"",
                "\"watch\":null",
                "\"path\":null",
                "\"path\":[]",
                "\"path\":\"/p\\u0000q\"",
                "\"pathRaw\":\"*\"",
                "\"pathRaw\":\"AAAA\"",
                "\"pathRaw\":1",
                "\"from\":1",
                "\"count\":-1",
                "\"first\":\"yesterday\"",
                "\"last\":0",
                "\"violation\":1",
                "\"action\":null",
                "\"attribution\":\"none\"",
                "\"replaced\":\"yes\"",
                "\"preserved\":null",
                "\"process\":{}",
                "\"test\":1",
        };
        json_object *good = json_tokener_parse("{" OPERATION ",\"newer\":[1]}");
        Operation op = {};

        assert_int_equal(operation_from_json(good, &op), 0);
        operation_done(&op);
        json_object_put(good);
        for (size_t i = 0; i < ELEMENTSOF(overrides); i++) {
                char text[1024];
                json_object *bad;

                (void) snprintf(text, sizeof text, "{" OPERATION ",%s}", overrides[i]);
                bad = json_tokener_parse(text);
                assert_non_null(bad);
                if (operation_from_json(bad, &op) != -EBADMSG)
                        fail_msg("%s was taken", overrides[i]);
                json_object_put(bad);
        }
        assert_null(op.path);
}

static void what_is_no_object_is_refused(void **state) {
        static const char *const texts[] = {"null", "[]", "1", "\"x\"", "{}", "true", "[{}]"};

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                json_object *o = json_tokener_parse(texts[i]);

                assert_int_equal(operation_from_json(o, &(Operation){}), -EBADMSG);
                assert_int_equal(process_info_from_json(o, &(ProcessInfo){}), -EBADMSG);
                assert_int_equal(loss_from_json(o, &(Loss){}), -EBADMSG);
                assert_int_equal(coverage_from_json(o, &(Coverage){}), -EBADMSG);
                json_object_put(o);
        }
}

static void a_process_survives_the_wire(void **state) {
        char *cmdline[] = {(char *) "sh", (char *) "-c", (char *) "\xff", (char *) "", NULL};
        ProcessInfo p = {.id = 5,
                         .parent_id = 4,
                         .pid = 1234,
                         .ppid = 1,
                         .start_ticks = 99999999999,
                         .uid = (uid_t) -1,
                         .exe = (char *) "/bin/sh",
                         .cmdline = cmdline,
                         .cwd = (char *) "/"};
        _cleanup_json_ json_object *o = over_the_wire(process_info_to_json(&p));
        _cleanup_(process_info_done) ProcessInfo back = {};

        assert_int_equal(process_info_from_json(o, &back), 0);
        assert_int_equal(back.id, 5);
        assert_int_equal(back.parent_id, 4);
        assert_int_equal(back.pid, 1234);
        assert_int_equal(back.start_ticks, 99999999999);
        assert_int_equal(back.uid, (uid_t) -1);
        assert_string_equal(back.exe, "/bin/sh");
        assert_int_equal(strv_length(back.cmdline), 4);
        assert_string_equal(back.cmdline[2], "\\xff");
        assert_string_equal(back.cwd, "/");
}

static void a_process_of_which_little_is_known_survives_the_wire(void **state) {
        ProcessInfo p = {.id = 1, .pid = 9};
        _cleanup_json_ json_object *o = over_the_wire(process_info_to_json(&p));
        _cleanup_(process_info_done) ProcessInfo back = {.parent_id = 1};

        assert_int_equal(process_info_from_json(o, &back), 0);
        assert_int_equal(back.parent_id, 0);
        assert_null(back.exe);
        assert_null(back.cwd);
        assert_int_equal(strv_length(back.cmdline), 0);
}

static void a_loss_survives_the_wire(void **state) {
        Loss known = {.reason = (char *) "overflow",
                      .watch = (char *) "nas",
                      .at = 1000000,
                      .until = 2000000,
                      .count = 3};
        Loss vague = {.reason = (char *) "daemon-restart", .at = 1};
        _cleanup_json_ json_object *a = over_the_wire(loss_to_json(&known));
        _cleanup_json_ json_object *b = over_the_wire(loss_to_json(&vague));
        _cleanup_(loss_done) Loss back = {}, empty = {};

        assert_int_equal(loss_from_json(a, &back), 0);
        assert_string_equal(back.reason, "overflow");
        assert_string_equal(back.watch, "nas");
        assert_int_equal(back.until, 2000000);
        assert_int_equal(back.count, 3);
        assert_int_equal(loss_from_json(b, &empty), 0);
        assert_null(empty.watch);
        assert_int_equal(empty.until, 0);
        assert_int_equal(empty.count, 0);
}

static void a_coverage_survives_the_wire(void **state) {
        Coverage c = {.op = {[OP_CREATE] = SIGHT_EXACT, [OP_MODIFY] = SIGHT_INFERRED},
                      .deny = {[OP_DELETE] = true}};
        _cleanup_json_ json_object *o = over_the_wire(coverage_to_json(&c));
        json_object *deny = json_object_object_get(o, "deny");
        Coverage back;

        assert_int_equal(json_object_array_add(deny, json_object_new_string("levitate")), 0);
        assert_int_equal(coverage_from_json(o, &back), 0);
        for (int op = 0; op < _OP_MAX; op++) {
                assert_int_equal(back.op[op], c.op[op]);
                assert_int_equal(back.deny[op], c.deny[op]);
        }
}

static void a_vector_of_strings_is_an_array_of_strings(void **state) {
        _cleanup_json_ json_object *empty = strv_to_json(NULL);
        _cleanup_json_ json_object *mixed = json_tokener_parse("[\"a\",1]");
        _cleanup_json_ json_object *nul = json_tokener_parse("[\"a\\u0000b\"]");
        char **strv = NULL;

        assert_int_equal(json_object_array_length(empty), 0);
        assert_int_equal(strv_from_json(mixed, &strv), -EBADMSG);
        assert_int_equal(strv_from_json(nul, &strv), -EBADMSG);
        assert_null(strv);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_operation_survives_the_wire),
                cmocka_unit_test(what_is_not_there_is_left_out),
                cmocka_unit_test(paths_that_are_not_utf8_travel_as_bytes),
                cmocka_unit_test(operations_in_another_shape_are_refused),
                cmocka_unit_test(what_is_no_object_is_refused),
                cmocka_unit_test(a_process_survives_the_wire),
                cmocka_unit_test(a_process_of_which_little_is_known_survives_the_wire),
                cmocka_unit_test(a_loss_survives_the_wire),
                cmocka_unit_test(a_coverage_survives_the_wire),
                cmocka_unit_test(a_vector_of_strings_is_an_array_of_strings),
        };
        return cmocka_run_group_tests_name("operation_json", tests, NULL, NULL);
}
