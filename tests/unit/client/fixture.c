/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <time.h>

#include "common/json_member.h"
#include "fixture.h"

#define DATA "tests/data/client/"

int fixture_set_up(void **state) {
        (void) state;
        if (!setlocale(LC_CTYPE, "C.UTF-8"))
                return -1;
        setenv("TZ", "UTC", 1);
        tzset();
        return 0;
}

json_object *fixture_read_json(const char *name) {
        char path[256];
        json_object *o;

        snprintf(path, sizeof(path), DATA "%s.json", name);
        o = json_object_from_file(path);
        if (!o)
                fail_msg("cannot read %s: %s", path, json_util_get_last_err());
        return o;
}

ReportModel *fixture_load(const char *name) {
        json_object *o = fixture_read_json(name), *part;
        ReportModel *m = NULL;

        assert_int_equal(report_model_new(&m), 0);
        assert_int_equal(json_get(o, "session", json_type_object, &part), 1);
        assert_int_equal(session_view_from_json(part, &m->session), 0);
        assert_int_equal(watch_views_from_json(o, &m->watches), 0);
        assert_int_equal(report_take_reply(m->own, o), 0);
        if (json_get(o, "untagged", json_type_object, &part) > 0) {
                assert_int_equal(report_new(&m->untagged), 0);
                assert_int_equal(report_take_reply(m->untagged, part), 0);
        }
        json_object_put(o);
        return m;
}

static char *read_all(const char *path) {
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        ssize_t n;
        FILE *f = fopen(path, "re");

        if (!f)
                return strdup("");
        n = getdelim(&text, &size, '\0', f);
        (void) fclose(f);
        return n < 0 ? strdup("") : TAKE_PTR(text);
}

void fixture_assert_golden(const char *name, const char *text) {
        _cleanup_free_ char *expected = NULL;
        char path[256];

        snprintf(path, sizeof(path), DATA "%s", name);
        if (getenv("UPDATE_GOLDEN")) {
                FILE *f = fopen(path, "we");

                assert_non_null(f);
                fputs(text, f);
                assert_int_equal(fclose(f), 0);
                return;
        }
        expected = read_all(path);
        if (strcmp(expected, text) != 0)
                print_message("%s differs; it would be:\n%s", path, text);
        assert_string_equal(text, expected);
}
