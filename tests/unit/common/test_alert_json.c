/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/alert_json.h"
#include "common/json_member.h"
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

static void an_alert_survives_the_wire(void **state) {
        char *paths[] = {(char *) "/mnt/nas/a", (char *) "/mnt/nas/b", NULL};
        char *cmdline[] = {(char *) "rm", (char *) "a", NULL};
        AlertProcess chain[] = {{.pid = 7, .exe = (char *) "/usr/bin/rm", .cmdline = cmdline},
                                {.pid = 1}};
        const Alert a = {
                .id = "msg_00ff",
                .kind = ALERT_SUMMARY,
                .severity = SEVERITY_REMOVED,
                .at = 1796063754123456,
                .session = (char *) "1122334455667788",
                .label = (char *) "nightly",
                .uid = 1000,
                .user = (char *) "ci",
                .watch = (char *) "nas",
                .total = 5,
                .fresh = 2,
                .count = {1, 2, 3, 4, 5},
                .refused = 1,
                .preserved = 3,
                .paths = paths,
                .chain = chain,
                .n_chain = 2,
                .cwd = (char *) "/srv",
                .test = (char *) "t::x",
                .action = ACTION_KILLED,
                .reason = (char *) "overflow",
                .verdict = VERDICT_INCOMPLETE,
                .exit_status = 2,
                .complete = true,
                .next = (char *) "mountwatch report 1122334455667788",
        };
        _cleanup_json_ json_object *o = over_the_wire(alert_to_json(&a));
        _cleanup_(alert_done) Alert b = {};

        assert_int_equal(alert_from_json(o, &b), 0);
        assert_string_equal(b.id, a.id);
        assert_int_equal(b.kind, a.kind);
        assert_int_equal(b.severity, a.severity);
        assert_int_equal(b.at, a.at);
        assert_string_equal(b.session, a.session);
        assert_string_equal(b.label, a.label);
        assert_int_equal(b.uid, 1000);
        assert_string_equal(b.user, a.user);
        assert_string_equal(b.watch, a.watch);
        assert_int_equal(b.total, 5);
        assert_int_equal(b.fresh, 2);
        assert_memory_equal(b.count, a.count, sizeof a.count);
        assert_int_equal(b.refused, 1);
        assert_int_equal(b.preserved, 3);
        assert_true(strv_equal(b.paths, a.paths));
        assert_int_equal(b.n_chain, 2);
        assert_int_equal(b.chain[0].pid, 7);
        assert_string_equal(b.chain[0].exe, "/usr/bin/rm");
        assert_true(strv_equal(b.chain[0].cmdline, cmdline));
        assert_null(b.chain[1].exe);
        assert_string_equal(b.cwd, a.cwd);
        assert_string_equal(b.test, a.test);
        assert_int_equal(b.action, ACTION_KILLED);
        assert_string_equal(b.reason, "overflow");
        assert_int_equal(b.verdict, VERDICT_INCOMPLETE);
        assert_int_equal(b.exit_status, 2);
        assert_true(b.complete);
        assert_string_equal(b.next, a.next);
}

static void what_is_not_known_is_left_out(void **state) {
        const Alert a = {.id = "m", .uid = (uid_t) -1, .exit_status = -1};
        _cleanup_json_ json_object *o = over_the_wire(alert_to_json(&a));
        _cleanup_(alert_done) Alert b = {};
        static const char *const absent[] = {"session", "label",   "uid",        "user",
                                             "watch",   "cwd",     "test",       "reason",
                                             "next",    "verdict", "exitStatus", "session"};

        for (size_t i = 0; i < ELEMENTSOF(absent); i++)
                assert_false(json_object_object_get_ex(o, absent[i], NULL));
        assert_int_equal(alert_from_json(o, &b), 0);
        assert_int_equal(b.uid, (uid_t) -1);
        assert_int_equal(b.exit_status, -1);
        assert_null(b.session);
        assert_int_equal(strv_length(b.paths), 0);
}

static void bytes_that_are_not_utf8_become_escapes(void **state) {
        char *paths[] = {(char *) "/mnt/\xff", NULL};
        const Alert a = {.id = "m", .paths = paths, .label = (char *) "l\xfe", .uid = 0};
        _cleanup_json_ json_object *o = over_the_wire(alert_to_json(&a));
        _cleanup_(alert_done) Alert b = {};

        assert_int_equal(alert_from_json(o, &b), 0);
        assert_string_equal(b.paths[0], "/mnt/\\xff");
        assert_string_equal(b.label, "l\\xfe");
}

#define EVIDENCE                                                                       \
        "\"severity\":\"created\",\"time\":\"2026-11-30T18:35:54Z\",\"total\":1,"      \
        "\"fresh\":1,\"counts\":{\"create\":1,\"modify\":0,\"delete\":0,\"rename\":0," \
        "\"metadata\":0},\"refused\":0,\"preserved\":0,\"action\":\"alerted\","        \
        "\"complete\":true,"
#define HEAD "{\"id\":\"m\",\"kind\":\"update\"," EVIDENCE
#define LISTS "\"paths\":[],\"processes\":[]"

static void an_answer_of_another_shape_is_refused(void **state) {
        static const struct {
                const char *json;
                int expected;
        } cases[] = {
                {HEAD LISTS "}", 0},
                {HEAD LISTS ",\"later\":{\"x\":[1]},\"session\":null}", 0},
                {"[]", -EBADMSG},
                {"7", -EBADMSG},
                {"{}", -EBADMSG},
                {HEAD "\"paths\":[]}", -EBADMSG},
                {HEAD "\"processes\":[]}", -EBADMSG},
                {HEAD "\"paths\":[1],\"processes\":[]}", -EBADMSG},
                {HEAD
                 "\"paths\":[\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\"]"
                 ",\"processes\":[]}",
                 -EBADMSG},
                {HEAD "\"paths\":[],\"processes\":[7]}", -EBADMSG},
                {HEAD "\"paths\":[],\"processes\":[{\"pid\":7}]}", -EBADMSG},
                {HEAD "\"paths\":[],\"processes\":[{\"pid\":-7,\"cmdline\":[]}]}", -EBADMSG},
                {HEAD "\"paths\":[],\"processes\":[{\"pid\":7,\"cmdline\":[]},{\"pid\":7,"
                      "\"cmdline\":[{}]}]}",
                 -EBADMSG},
                {HEAD "\"paths\":[],\"processes\":[{},{},{},{},{},{},{},{},{}]}", -EBADMSG},
                {HEAD LISTS ",\"uid\":-1}", -EBADMSG},
                {HEAD LISTS ",\"uid\":4294967295}", -EBADMSG},
                {HEAD LISTS ",\"session\":7}", -EBADMSG},
                {HEAD LISTS ",\"watch\":\"a\\u0000b\"}", -EBADMSG},
                {HEAD LISTS ",\"exitStatus\":-3}", -EBADMSG},
                {HEAD LISTS ",\"verdict\":\"fine\"}", -EBADMSG},
                {"{\"id\":\"\",\"kind\":\"update\"," EVIDENCE LISTS "}", -EBADMSG},
                {"{\"id\":\"a.b\",\"kind\":\"update\"," EVIDENCE LISTS "}", -EBADMSG},
                {"{\"id\":\"0123456789012345678901234567890123456789\",\"kind\":\"update\"," EVIDENCE
                         LISTS "}",
                 -EBADMSG},
                {"{\"id\":\"m\",\"kind\":\"alarm\"," EVIDENCE LISTS "}", -EBADMSG},
                {"{\"id\":\"m\",\"kind\":\"summary\"," EVIDENCE LISTS "}", -EBADMSG},
                {"{\"id\":\"m\",\"kind\":\"summary\"," EVIDENCE LISTS ",\"verdict\":\"clean\"}", 0},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_json_ json_object *o = json_tokener_parse(cases[i].json);
                _cleanup_(alert_done) Alert a = {.at = 42};

                assert_non_null(o);
                if (alert_from_json(o, &a) != cases[i].expected)
                        fail_msg("%s", cases[i].json);
                if (cases[i].expected < 0)
                        assert_int_equal(a.at, 42);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_alert_survives_the_wire),
                cmocka_unit_test(what_is_not_known_is_left_out),
                cmocka_unit_test(bytes_that_are_not_utf8_become_escapes),
                cmocka_unit_test(an_answer_of_another_shape_is_refused),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
