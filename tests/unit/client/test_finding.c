/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "client/find_backups.h"
#include "client/find_databases.h"
#include "client/finding.h"
#include "client/known_watches.h"
#include "fixture.h"

static char *write_all(const Findings *f) {
        char *text = NULL;
        size_t size;
        FILE *file = open_memstream(&text, &size);

        findings_write(f, file);
        assert_int_equal(fclose(file), 0);
        return text;
}

static void each_becomes_a_section(void **state) {
        _cleanup_(findings_done) Findings f = {};
        _cleanup_free_ char *text = NULL;

        assert_int_equal(findings_add(&f, "/mnt/nas", true, "NFS share nas:/export"), 1);
        assert_int_equal(findings_add(&f, "/srv/music/my library.db", false, "SQLite database"), 1);
        text = write_all(&f);
        assert_string_equal(
                text,
                "# NFS share nas:/export\n[Watch nas]\nPath=/mnt/nas\nPolicy=alert\nPreserve=yes\n"
                "\n"
                "# SQLite database\n[Watch my-library.db]\nPath=/srv/music/my library.db\nPolicy=alert\n");
}

static void nothing_is_proposed_twice(void **state) {
        _cleanup_(findings_done) Findings f = {};

        assert_int_equal(findings_know(&f, "nas", "/mnt/nas"), 0);
        assert_int_equal(findings_add(&f, "/mnt/nas", true, "x"), 0);
        assert_int_equal(findings_add(&f, "/mnt/nas/a/b", true, "x"), 0);
        assert_int_equal(findings_add(&f, "/mnt/nas2", true, "x"), 1);
        assert_int_equal(findings_add(&f, "/mnt/nas2", true, "x"), 0);
        assert_int_equal(findings_add(&f, "/mnt/nas2/below", true, "x"), 0);
        assert_int_equal(findings_add(&f, "/mnt", true, "x"), 1);
        assert_true(findings_cover(&f, "/mnt/any"));
        assert_false(findings_cover(&f, "/mntx"));
        assert_int_equal(f.n, 2);
}

static void names_are_free_and_sayable(void **state) {
        static const struct {
                const char *path, *name;
        } cases[] = {
                {"/mnt/nas", "nas-2"}, /* configured already */
                {"/srv/nas", "nas-3"},
                {"/srv/caf\xc3\xa9 & bar", "caf-bar"},
                {"/srv/\xe6\x97\xa5\xe6\x9c\xac", "watch"},
                {"/srv/...", "watch-2"},
                {"/srv/x.", "x"},
                {"/srv/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
        };
        _cleanup_(findings_done) Findings f = {};

        assert_int_equal(findings_know(&f, "nas", "/other"), 0);
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                assert_int_equal(findings_add(&f, cases[i].path, true, "x"), 1);
                assert_string_equal(f.items[i].name, cases[i].name);
        }
}

/* Nobody can put a section of their own into root's configuration by the name of a share. */
static void a_path_cannot_write_configuration(void **state) {
        static const char *const bad[] = {"/mnt/a\n[Watch x]\nPath=/etc",
                                          "/mnt/a\r",
                                          "/mnt/\x7f",
                                          "/mnt/a ",
                                          "/",
                                          "",
                                          "mnt",
                                          "/mnt/\x01"};
        _cleanup_(findings_done) Findings f = {};
        _cleanup_free_ char *text = NULL;

        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                assert_int_equal(findings_add(&f, bad[i], true, "x"), 0);
        assert_int_equal(f.n_unspeakable, ELEMENTSOF(bad));
        assert_int_equal(
                findings_add(&f, "/mnt/good", true, "SMB share //a/b\n[Watch y]\nPath=/etc"), 1);
        text = write_all(&f);
        assert_null(strstr(text, "\n[Watch y]"));
        assert_non_null(strstr(text, "# SMB share //a/b\\x0a[Watch y]\\x0aPath=/etc\n"));
}

static void the_list_has_an_end(void **state) {
        _cleanup_(findings_done) Findings f = {};

        for (size_t i = 0; i < FINDINGS_MAX + 7; i++) {
                char path[32];

                snprintf(path, sizeof(path), "/mnt/%zu", i);
                assert_int_equal(findings_add(&f, path, true, "x"), i < FINDINGS_MAX);
        }
        assert_int_equal(f.n, FINDINGS_MAX);
        assert_int_equal(f.n_dropped, 7);
}

static void some_are_chosen_by_number(void **state) {
        static const char *const bad[] = {
                "", " ", "0", "4", "x", "1x", "1 -2", "1;2", "99999999999999999999", "1 4"};
        _cleanup_(findings_done) Findings f = {};

        assert_int_equal(findings_add(&f, "/a", true, "x"), 1);
        assert_int_equal(findings_add(&f, "/b", true, "x"), 1);
        assert_int_equal(findings_add(&f, "/c", true, "x"), 1);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                assert_int_equal(findings_choose(&f, bad[i]), -EINVAL);
        assert_int_equal(f.n, 3);
        assert_int_equal(findings_choose(&f, " 3,1 3\n"), 0);
        assert_int_equal(f.n, 2);
        assert_string_equal(f.items[0].path, "/a");
        assert_string_equal(f.items[1].path, "/c");
}

static void what_is_configured_is_known(void **state) {
        _cleanup_(findings_done) Findings f = {};

        assert_int_equal(
                known_watches_parse(
                        "# Path=/commented\n"
                        "[Daemon]\nGroup=x\n"
                        " [Watch  nas ]\r\n"
                        "\tPath = /mnt/nas// \r\n"
                        "[Watch db]\nPath=/srv/a b.db\n[Watch]\n[Watchx y]\n]\n[\nPath\nPath=\nPath=/\n=x\n"
                        "[Watch last]\nPath=/last",
                        &f),
                0);
        assert_string_equal(f.names[0], "nas");
        assert_string_equal(f.names[1], "db");
        assert_string_equal(f.names[2], "last");
        assert_null(f.names[3]);
        assert_string_equal(f.paths[0], "/mnt/nas");
        assert_string_equal(f.paths[1], "/srv/a b.db");
        assert_string_equal(f.paths[2], "/last");
        assert_null(f.paths[3]);
}

static void caches_and_browsers_are_no_treasure(void **state) {
        static const char *const dispensable[] = {
                "/home/ann/.cache/x.db",
                "/home/ann/.mozilla/firefox/p/places.sqlite",
                "/home/ann/.config/google-chrome/Default/History",
                "/var/cache/x.db",
                "/proc/1/x",
                "/var/lib/mountwatch/mountwatch.db",
        };
        static const char *const precious[] = {"/srv/music/library.db", "/home/ann/notes.db",
                                               "/var/lib/musicd/x.db", "/home/cache.db"};

        for (size_t i = 0; i < ELEMENTSOF(dispensable); i++)
                assert_true(database_is_dispensable(dispensable[i]));
        for (size_t i = 0; i < ELEMENTSOF(precious); i++)
                assert_false(database_is_dispensable(precious[i]));
}

static void backups_are_known_by_name(void **state) {
        static const char *const yes[] = {"backup",      "Backups",     "BACKUP",
                                          "db-backups",  "nas_backup",  "my backup",
                                          "backup-2026", "backups_old", "a.backup"};
        static const char *const no[] = {"backupper", "mybackup", "back", "backup.py", "", "backu"};

        for (size_t i = 0; i < ELEMENTSOF(yes); i++)
                assert_true(backup_is_named_so(yes[i]));
        for (size_t i = 0; i < ELEMENTSOF(no); i++)
                assert_false(backup_is_named_so(no[i]));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_becomes_a_section),
                cmocka_unit_test(nothing_is_proposed_twice),
                cmocka_unit_test(names_are_free_and_sayable),
                cmocka_unit_test(a_path_cannot_write_configuration),
                cmocka_unit_test(the_list_has_an_end),
                cmocka_unit_test(some_are_chosen_by_number),
                cmocka_unit_test(what_is_configured_is_known),
                cmocka_unit_test(caches_and_browsers_are_no_treasure),
                cmocka_unit_test(backups_are_known_by_name),
        };

        return cmocka_run_group_tests(tests, fixture_set_up, NULL);
}
