/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "client/report_json.h"
#include "common/json_member.h"
#include "fixture.h"

static json_object *render(const char *name) {
        _cleanup_(report_model_freep) ReportModel *m = fixture_load(name);
        _cleanup_free_ char *text = NULL;
        json_object *o;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        assert_int_equal(report_json_write(f, m), 0);
        assert_int_equal(fclose(f), 0);
        o = json_tokener_parse(text);
        assert_non_null(o);
        return o;
}

/* That `o` has just these members, some of which may be absent ("from?"). */
static void expect_members(json_object *o, const char *const *members) {
        size_t known = 0;

        for (; *members; members++) {
                char key[32];
                size_t n = strcspn(*members, "?");

                snprintf(key, sizeof(key), "%.*s", (int) n, *members);
                if (json_object_object_get_ex(o, key, NULL))
                        known++;
                else if ((*members)[n] != '?')
                        fail_msg("'%s' is missing", key);
        }
        assert_int_equal(json_object_object_length(o), known);
}

static json_object *member(json_object *o, const char *key) {
        json_object *value = NULL;

        assert_true(json_object_object_get_ex(o, key, &value));
        return value;
}

static void the_report_has_the_shape_of_the_contract(void **state) {
        static const char *const top[] = {"session",   "operations", "net",
                                          "untagged?", "watches",    NULL};
        static const char *const session[] = {"id",      "label",      "uid",      "user",
                                              "state",   "verdict",    "complete", "losses",
                                              "command", "cwd",        "rootPid",  "started",
                                              "stopped", "exitStatus", NULL};
        static const char *const operation[] = {
                "op",       "kind",   "watch",       "path",      "from?", "to?",     "pathRaw?",
                "fromRaw?", "toRaw?", "replaced?",   "count",     "first", "last",    "violation",
                "rule?",    "action", "attribution", "preserved", "test?", "process", NULL};
        static const char *const process[] = {"pid",     "startTime", "ppid",      "uid", "exe",
                                              "cmdline", "cwd",       "ancestors", NULL};
        static const char *const ancestor[] = {"pid", "exe", "cmdline", NULL};
        static const char *const watch[] = {"name", "path", "scope", "policy", "coverage", NULL};
        static const char *const net[] = {"created", "modified", "deleted", "renamed", NULL};
        static const char *const names[] = {"dirty",      "clean",   "allowed",
                                            "incomplete", "refused", "lingering"};

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                _cleanup_json_ json_object *o = render(names[i]);
                json_object *operations = member(o, "operations"), *watches = member(o, "watches");

                expect_members(o, top);
                expect_members(member(o, "session"), session);
                expect_members(member(o, "net"), net);
                for (size_t k = 0; k < json_object_array_length(operations); k++) {
                        json_object *row = json_object_array_get_idx(operations, k);
                        json_object *ancestors = member(member(row, "process"), "ancestors");

                        expect_members(row, operation);
                        expect_members(member(row, "process"), process);
                        for (size_t a = 0; a < json_object_array_length(ancestors); a++)
                                expect_members(json_object_array_get_idx(ancestors, a), ancestor);
                }
                for (size_t k = 0; k < json_object_array_length(watches); k++)
                        expect_members(json_object_array_get_idx(watches, k), watch);
        }
}

static void what_is_not_known_is_null(void **state) {
        _cleanup_json_ json_object *o = render("lingering");
        json_object *process;

        assert_null(member(member(o, "session"), "stopped"));
        assert_null(member(member(o, "session"), "label"));
        process = member(json_object_array_get_idx(member(o, "operations"), 0), "process");
        assert_null(member(process, "exe"));
        assert_int_equal(json_object_array_length(member(process, "cmdline")), 0);
}

static void bytes_that_are_no_text_come_whole(void **state) {
        _cleanup_json_ json_object *o = render("dirty");
        json_object *rows = member(o, "operations");

        for (size_t i = 0; i < json_object_array_length(rows); i++) {
                _cleanup_free_ char *path = NULL;
                json_object *row = json_object_array_get_idx(rows, i);

                if (!json_object_object_get_ex(row, "pathRaw", NULL))
                        continue;
                assert_int_equal(json_get_path(row, "path", &path), 0);
                assert_string_equal(path, "/mnt/nas/evil/bad-\xff\n\x1b[2J.txt");
                return;
        }
        fail();
}

static void the_nearest_ancestor_comes_first(void **state) {
        _cleanup_json_ json_object *o = render("dirty");
        json_object *ancestors =
                member(member(json_object_array_get_idx(member(o, "operations"), 0), "process"),
                       "ancestors");

        assert_int_equal(json_object_array_length(ancestors), 3);
        assert_int_equal(
                json_object_get_int(member(json_object_array_get_idx(ancestors, 0), "pid")), 4210);
        assert_int_equal(
                json_object_get_int(member(json_object_array_get_idx(ancestors, 1), "pid")), 4200);
        assert_int_equal(
                json_object_get_int(member(json_object_array_get_idx(ancestors, 2), "pid")), 4100);
}

static void the_object_looks_as_it_did(void **state) {
        static const char *const names[] = {"refused", "lingering"};

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                _cleanup_(report_model_freep) ReportModel *m = fixture_load(names[i]);
                _cleanup_free_ char *text = NULL;
                char golden[64];
                size_t size;
                FILE *f = open_memstream(&text, &size);

                assert_int_equal(report_json_write(f, m), 0);
                assert_int_equal(fclose(f), 0);
                snprintf(golden, sizeof(golden), "%s.report.json", names[i]);
                fixture_assert_golden(golden, text);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_report_has_the_shape_of_the_contract),
                cmocka_unit_test(what_is_not_known_is_null),
                cmocka_unit_test(bytes_that_are_no_text_come_whole),
                cmocka_unit_test(the_nearest_ancestor_comes_first),
                cmocka_unit_test(the_object_looks_as_it_did),
        };

        return cmocka_run_group_tests(tests, fixture_set_up, NULL);
}
