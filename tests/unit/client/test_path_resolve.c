/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "client/path_resolve.h"
#include "fixture.h"

static void expect(const char *cwd, const char *path, const char *expected) {
        _cleanup_free_ char *got = NULL;

        assert_int_equal(path_resolve(cwd, path, &got), 0);
        assert_string_equal(got, expected);
}

static void what_is_gone_is_taken_by_its_letters(void **state) {
        expect("/gone", "a", "/gone/a");
        expect("/gone", "./a//b/", "/gone/a/b");
        expect("/gone", "a/../b", "/gone/b");
        expect("/gone", "../../../x", "/x");
        expect("/gone", "/y/./z/..", "/y");
        expect("/gone", "/", "/");
        expect("/gone", ".", "/gone");
        expect("/", "x", "/x");
}

/* real/file, link -> real, name -> real/file */
static void links_of_directories_are_followed(void **state) {
        char folder[] = "/tmp/mountwatch-test-XXXXXX", path[128], expected[128];
        _cleanup_free_ char *real = NULL;

        assert_non_null(mkdtemp(folder));
        real = realpath(folder, NULL);
        snprintf(path, sizeof(path), "%s/real", folder);
        assert_int_equal(mkdir(path, 0700), 0);
        snprintf(path, sizeof(path), "%s/link", folder);
        assert_int_equal(symlink("real", path), 0);
        snprintf(expected, sizeof(expected), "%s/real/gone", real);
        expect(folder, "link/gone", expected);
        expect(folder, "link/../real/gone", expected);
        snprintf(expected, sizeof(expected), "%s/real/a/b", real);
        expect(folder, "link/a/b", expected);
        /* the last name is what was changed, link or not */
        snprintf(expected, sizeof(expected), "%s/link", real);
        expect(folder, "link", expected);
        assert_int_equal(unlink(path), 0);
        snprintf(path, sizeof(path), "%s/real", folder);
        assert_int_equal(rmdir(path), 0);
        assert_int_equal(rmdir(folder), 0);
}

static void an_empty_path_names_nothing(void **state) {
        char *got = NULL;

        assert_int_equal(path_resolve("/", "", &got), -EINVAL);
        assert_null(got);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_is_gone_is_taken_by_its_letters),
                cmocka_unit_test(links_of_directories_are_followed),
                cmocka_unit_test(an_empty_path_names_nothing),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
