/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "client/held_view.h"
#include "client/size_text.h"
#include "client/undo_view.h"
#include "common/macro.h"

static char *printed(FILE *f, char **text) {
        assert_int_equal(fclose(f), 0);
        return *text;
}

static void each_step_is_a_line_that_says_why(void **state) {
        static const struct {
                const char *json, *line;
                int r;
        } cases[] = {
                {"{'action':'restore','kind':'dir','state':'done','path':'/w/a'}",
                 "  restored      /w/a/\n", 0},
                {"{'action':'rename','kind':'file','state':'pending','path':'/w/a','from':'/w/b'}",
                 "  would rename  /w/b -> /w/a\n", 0},
                {"{'action':'quarantine','kind':'file','state':'done','path':'/w/n','item':'0a'}",
                 "  taken out     /w/n  (quarantine item 0a)\n", 0},
                {"{'action':'content','kind':'file','state':'refused','path':'/w/a','reason':'changed by x'}",
                 "  not touched   /w/a: changed by x\n", 0},
                {"{'action':'restore','kind':'file','state':'impossible','path':'/w/a','reason':'too \\u001blarge'}",
                 "  NOT put back  /w/a: too \\x1blarge\n", 0},
                {"{'action':'metadata','kind':'file','state':'failed','path':'/w/a','reason':'I/O'}",
                 "  FAILED        /w/a: I/O\n", 0},
                {"{'action':'metadata','kind':'file','state':'nothing','path':'/w/a'}", "", 0},
                /* a step of a later daemon */
                {"{'action':'turn','kind':'file','state':'done','path':'/w/a'}",
                 "  turn          /w/a\n", 0},
                {"{'kind':'file','state':'done','path':'/w/a'}", "", -EBADMSG},
                {"{'action':'restore','kind':'file','state':'done'}", "", -EBADMSG},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_json_ json_object *o = NULL;
                _cleanup_free_ char *json = strdup(cases[i].json), *text = NULL;
                size_t size;
                Terminal t = {};

                for (char *c = json; *c; c++)
                        *c = (char) (*c == '\'' ? '"' : *c);
                o = json_tokener_parse(json);
                assert_non_null(o);
                t.file = open_memstream(&text, &size);
                assert_int_equal(undo_step_print(&t, o), cases[i].r);
                assert_string_equal(printed(t.file, &text), cases[i].line);
        }
}

static void the_last_line_is_a_verdict(void **state) {
        static const struct {
                UndoResult result;
                bool dry_run;
                const char *text;
                bool whole;
        } cases[] = {
                {{}, false, "nothing to undo: the session has changed nothing\n", true},
                {{.done = 3}, false, "everything is as it was - 3 put back\n", true},
                {{.nothing = 3},
                 false,
                 "nothing to do: everything is as it was - 3 as it should be already\n",
                 true},
                {{.pending = 2, .nothing = 1},
                 true,
                 "everything can be put back - 2 would be put back, 1 as it should be already\n"
                 "next\n  mountwatch undo 0a\n",
                 true},
                {{.done = 1, .impossible = 2, .failed = 1},
                 false,
                 "not everything is put back - 1 put back, 2 not preserved, 1 failed\n",
                 false},
                {{.impossible = 1},
                 true,
                 "not everything can be put back - 1 not preserved\n",
                 false},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *text = NULL;
                size_t size;
                Terminal t = {.file = open_memstream(&text, &size)};

                undo_result_print(&t, &cases[i].result, "0a", cases[i].dry_run);
                assert_string_equal(printed(t.file, &text), cases[i].text);
                assert_int_equal(undo_result_is_whole(&cases[i].result), cases[i].whole);
        }
}

static void what_others_changed_says_what_to_type(void **state) {
        _cleanup_free_ char *text = NULL;
        size_t size;
        Terminal t = {.file = open_memstream(&text, &size)};

        undo_result_print(&t, &(UndoResult){.done = 1, .refused = 1}, "0a", /* dry_run= */ false);
        assert_non_null(strstr(printed(t.file, &text), "mountwatch undo 0a --force --dry-run"));
}

static void held_ones_come_with_the_command_that_answers_them(void **state) {
        _cleanup_json_ json_object *o = json_tokener_parse(
                "{\"held\":[{\"id\":7,\"session\":\"0a\",\"watch\":\"w\",\"policy\":\"ask\",\"op\":\"delete\","
                "\"path\":\"/w/a\\u0007\",\"pid\":1,\"since\":\"2026-11-30T18:35:54.000000Z\"},"
                "{\"id\":8,\"session\":\"0b\",\"watch\":\"w\",\"policy\":\"freeze\",\"op\":\"rename\","
                "\"path\":\"/w/b\",\"pid\":2,\"since\":\"2026-11-30T18:35:54.000000Z\"}]}");
        _cleanup_json_ json_object *broken = json_tokener_parse("{\"held\":[{\"id\":7}]}");
        _cleanup_free_ char *text = NULL;
        size_t size, n = 0;
        FILE *f = open_memstream(&text, &size);

        assert_int_equal(held_count(o, &n), 0);
        assert_int_equal(n, 2);
        assert_int_equal(held_print(f, o), 0);
        assert_int_equal(held_print(f, broken), -EBADMSG);
        assert_int_equal(held_count(broken, &n), 0);
        assert_non_null(strstr(printed(f, &text), "mountwatch decide 7 allow-once"));
        assert_non_null(strstr(text, "mountwatch session thaw 0b"));
        assert_null(strchr(text, '\a'));
}

static void sizes_have_units(void **state) {
        char buffer[SIZE_TEXT_MAX];

        assert_string_equal(size_text(0, buffer), "0 bytes");
        assert_string_equal(size_text(1023, buffer), "1023 bytes");
        assert_string_equal(size_text(1536, buffer), "1.5 KiB");
        assert_string_equal(size_text(UINT64_MAX, buffer), "16777216.0 TiB");
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_step_is_a_line_that_says_why),
                cmocka_unit_test(the_last_line_is_a_verdict),
                cmocka_unit_test(what_others_changed_says_what_to_type),
                cmocka_unit_test(held_ones_come_with_the_command_that_answers_them),
                cmocka_unit_test(sizes_have_units),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
