/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "common/varlink.h"
#include "daemon/api/idl.h"

static void reads_every_form_of_a_description(void **state) {
        static const char *const texts[] = {
                "interface a.b",
                "# text\n  interface a1.2b.c-d # more\n\nmethod M()->()",
                "interface a.b\ntype T (x: bool, y: int, z: float, s: string, o: object, a: any)",
                "interface a.b\ntype T (x, y_z, Z1)\ntype U ()\nerror E (t: T)\nerror F ()\n",
                "interface a.b\r\nmethod M (\r\n\tx : ? [] T , # one\r\n y:[string]?[][]int)\r\n"
                "->\r\n(z:?(p:?(u,v)))\r\ntype T(t:?T)",
                "interface a.b\ntype Typed (type: string, int: int, boolean: bool)\n",
        };

        for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
                Idl *idl = NULL;
                unsigned line = 0;

                if (idl_parse(texts[i], &idl, &line) < 0)
                        fail_msg("line %u of:\n%s", line, texts[i]);
                (void) idl_free(idl);
        }
}

static void refuses_what_is_no_description_and_tells_the_line(void **state) {
        static const struct {
                const char *text;
                unsigned line;
        } cases[] = {
                {"", 1},
                {"interface", 1},
                {"interfaces a.b", 1},
                {"interface a", 1},
                {"interface a.", 1},
                {"interface a..b", 1},
                {"interface a-.b", 1},
                {"interface a.b-", 1},
                {"interface 1.b", 1},
                {"method M () -> ()", 1},
                {"interface a.b\nmethod m () -> ()", 2},
                {"interface a.b\nmethod M ()", 2},
                {"interface a.b\nmethod M () -> int", 2},
                {"interface a.b\nmethod M (a, b) -> ()", 2},
                {"interface a.b\nmethod M () -> (a, b)", 2},
                {"interface a.b\nerror E (a, b)", 2},
                {"interface a.b\ntype T int", 2},
                {"interface a.b\ntype T []int", 2},
                {"interface a.b\ntype T (a: int, b)", 2},
                {"interface a.b\ntype T (a, b: int)", 2},
                {"interface a.b\ntype T (a: int,)", 2},
                {"interface a.b\ntype T (a: int", 2},
                {"interface a.b\ntype T (a: int b: int)", 2},
                {"interface a.b\ntype T (a: int,\na: int)", 3},
                {"interface a.b\ntype T (a_: int)", 2},
                {"interface a.b\ntype T (a__b: int)", 2},
                {"interface a.b\ntype T (a: integer)", 2},
                {"interface a.b\ntype T (a: ??int)", 2},
                {"interface a.b\ntype T (a: [int]int)", 2},
                {"interface a.b\ntype T (a: int)\ntype T (a: int)", 3},
                {"interface a.b\ntype T (a: int)\nerror T ()", 3},
                {"interface a.b\ntype T (\n  a: int,\n  b: []U\n)\n", 4},
                {"interface a.b\nerror U ()\ntype T (a: U)\n", 3},
                {"interface a.b\nnonsense", 2},
                {"interface a.b\ntype T (a: [][][][][][][][][][][][][][][][]int)", 2},
                {"interface a.b interface a.c", 1},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                Idl *idl = NULL;
                unsigned line = 0;
                int r = idl_parse(cases[i].text, &idl, &line);

                if (r != -EBADMSG || line != cases[i].line)
                        fail_msg("%d, line %u of:\n%s", r, line, cases[i].text);
                assert_null(idl);
        }
}

static void finds_methods_and_nothing_else(void **state) {
        Idl *idl = NULL;

        assert_int_equal(idl_parse(mountwatch_varlink_description, &idl, NULL), 0);
        assert_string_equal(idl_interface(idl), MOUNTWATCH_INTERFACE);
        assert_non_null(idl_method_input(idl, "GetOperations"));
        assert_non_null(idl_method_output(idl, "GetOperations"));
        assert_null(idl_method_input(idl, "Operation"));
        assert_null(idl_method_output(idl, "Operation"));
        assert_null(idl_method_input(idl, "NoSuchSession"));
        assert_null(idl_method_input(idl, "getOperations"));
        assert_null(idl_method_input(idl, ""));
        (void) idl_free(idl);
}

#define DESCRIPTION                                                                                \
        "interface t.t\n"                                                                          \
        "type Enum (one, two)\n"                                                                   \
        "type Tree (name: string, below: ?[]Tree)\n"                                               \
        "method M(\n"                                                                              \
        "  b: ?bool, i: ?int, f: ?float, s: ?string, o: ?object, a: ?any, e: ?(x, y), n: ?Enum,\n" \
        "  l: ?[]int, m: ?[string]bool, st: ?(p: int, q: ?int), t: ?Tree, ln: ?[]?int\n"           \
        ") -> ()\n"                                                                                \
        "method N(need: string, any: any) -> ()\n"

static void checks_values_against_their_types(void **state) {
        static const struct {
                const char *json, *parameter; /* NULL: fits */
        } cases[] = {
                {"{}", NULL},
                {"{\"b\":true,\"i\":-1,\"f\":1,\"s\":\"\",\"o\":{\"x\":[1]},\"a\":[1]}", NULL},
                {"{\"b\":null,\"i\":null,\"f\":null,\"s\":null,\"o\":null,\"a\":null,\"e\":null}",
                 NULL},
                {"{\"b\":1}", "b"},
                {"{\"b\":\"true\"}", "b"},
                {"{\"i\":9223372036854775807}", NULL},
                {"{\"i\":-9223372036854775808}", NULL},
                {"{\"i\":9223372036854775808}", "i"},
                {"{\"i\":99999999999999999999999}", "i"},
                {"{\"i\":1.5}", "i"},
                {"{\"i\":1e2}", "i"},
                {"{\"i\":\"1\"}", "i"},
                {"{\"i\":true}", "i"},
                {"{\"f\":1.5}", NULL},
                {"{\"f\":\"1.5\"}", "f"},
                {"{\"s\":\"\\u00e4\"}", NULL},
                {"{\"s\":\"\\u0000\"}", "s"},
                {"{\"s\":1}", "s"},
                {"{\"o\":[]}", "o"},
                {"{\"a\":false}", NULL},
                {"{\"e\":\"x\"}", NULL},
                {"{\"e\":\"z\"}", "e"},
                {"{\"e\":\"x\\u0000\"}", "e"},
                {"{\"e\":0}", "e"},
                {"{\"n\":\"two\"}", NULL},
                {"{\"n\":\"x\"}", "n"},
                {"{\"l\":[]}", NULL},
                {"{\"l\":[1,2]}", NULL},
                {"{\"l\":[1,null]}", "l"},
                {"{\"ln\":[1,null]}", NULL},
                {"{\"l\":{}}", "l"},
                {"{\"m\":{\"x\":true,\"\":false}}", NULL},
                {"{\"m\":{\"x\":1}}", "m"},
                {"{\"m\":[]}", "m"},
                {"{\"st\":{\"p\":1}}", NULL},
                {"{\"st\":{\"p\":1,\"q\":null}}", NULL},
                {"{\"st\":{\"q\":1}}", "st"},
                {"{\"st\":{\"p\":1,\"r\":1}}", "st"},
                {"{\"t\":{\"name\":\"a\",\"below\":[{\"name\":\"b\",\"below\":[]}]}}", NULL},
                {"{\"t\":{\"name\":\"a\",\"below\":[{\"name\":1}]}}", "t"},
                {"{\"unknown\":null}", "unknown"},
                {"{\"B\":true}", "B"},
                {"{\"\":1}", ""},
        };
        Idl *idl = NULL;

        assert_int_equal(idl_parse(DESCRIPTION, &idl, NULL), 0);
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                json_object *o = json_tokener_parse(cases[i].json);
                const char *parameter = NULL;
                int r;

                assert_non_null(o);
                r = idl_check(idl_method_input(idl, "M"), o, &parameter);
                if (!str_equal(parameter, cases[i].parameter) ||
                    r != (cases[i].parameter ? -EINVAL : 0))
                        fail_msg("%s: %d, %s", cases[i].json, r, parameter);
                json_object_put(o);
        }
        (void) idl_free(idl);
}

static void tells_the_first_one_that_is_missing(void **state) {
        const char *parameter = NULL;
        json_object *o = json_tokener_parse("{\"need\":\"x\"}");
        Idl *idl = NULL;

        assert_int_equal(idl_parse(DESCRIPTION, &idl, NULL), 0);
        assert_int_equal(idl_check(idl_method_input(idl, "N"), NULL, &parameter), -EINVAL);
        assert_string_equal(parameter, "need");
        assert_int_equal(idl_check(idl_method_input(idl, "N"), o, &parameter), -EINVAL);
        assert_string_equal(parameter, "any");
        assert_int_equal(idl_check(idl_method_input(idl, "M"), NULL, &parameter), 0);
        json_object_put(o);
        (void) idl_free(idl);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_every_form_of_a_description),
                cmocka_unit_test(refuses_what_is_no_description_and_tells_the_line),
                cmocka_unit_test(finds_methods_and_nothing_else),
                cmocka_unit_test(checks_values_against_their_types),
                cmocka_unit_test(tells_the_first_one_that_is_missing),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
