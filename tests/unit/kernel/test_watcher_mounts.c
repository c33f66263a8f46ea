/* SPDX-License-Identifier: MIT */
/* The path of a watch: missing, appearing, unmounted, mounted over, moved away, a file, a link, a part of a filesystem. */
#include "tests/unit/kernel/watcher_fixture.h"

static void do_nothing_much(void) {
        put("w/n", O_CREAT, "1");
}

static void do_remove_n(void) {
        MUST(unlink("w/n"));
}

static void plant(void) {
        MUST(mkdir("w/d", 0755));
        put("w/d/f", O_CREAT, "1");
        put("w/a", O_CREAT, "1");
}

/* Losses are told before the new state is. */
static void assert_loss(Fixture *f, const char *reason) {
        char line[64];

        (void) snprintf(line, sizeof(line), "%s\n", reason);
        assert_string_equal(f->losses, line);
        f->losses[0] = '\0';
}

static void do_write_in_mount(void) {
        put("w/in-mount", O_CREAT, "1");
}

static void an_armed_watch_does_not_hinder_unmounting(void **state) {
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        assert_int_equal(mount("inner", "w", "tmpfs", 0, NULL), 0);
        fixture_watch(&f, f.path, NULL);
        assert_int_equal(f.status.scope, SCOPE_FILESYSTEM);
        assert_string_equal(f.status.fstype, "tmpfs");
        (void) fixture_do(&f, do_write_in_mount);
        fixture_expect(&f, "create file w/in-mount\nmodify file w/in-mount\n");
        assert_int_equal(umount("w"), 0);
        watcher_mounts_changed(f.watcher);
        fixture_wait_state(&f, WATCHER_WAITING);
        assert_loss(&f, "unmounted");
        assert_int_equal(mount("inner", "w", "tmpfs", 0, NULL), 0);
        watcher_mounts_changed(f.watcher);
        fixture_wait_state(&f, WATCHER_ARMED);
        (void) fixture_do(&f, do_nothing_much);
        fixture_expect(&f, "create file w/n\nmodify file w/n\n");
        assert_loss(&f, "not-watched");
        fixture_done(&f);
}

static void do_many_in_mount(void) {
        char name[64];
        int i;

        for (i = 0; i < 5000; i++) {
                (void) snprintf(name, sizeof(name), "w/f%d", i);
                put(name, O_CREAT | O_EXCL, "1");
        }
}

/* As a script does: copy, then umount. */
static void unmounting_succeeds_while_events_wait(void **state) {
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        assert_int_equal(mount("inner", "w", "tmpfs", 0, NULL), 0);
        fixture_watch(&f, f.path, NULL);
        (void) fixture_do(&f, do_many_in_mount);
        assert_int_equal(umount("w"), 0);
        watcher_mounts_changed(f.watcher);
        fixture_wait_state(&f, WATCHER_WAITING);
        assert_loss(&f, "unmounted");
        fixture_done(&f);
}

static void do_in_covered(void) {
        put("o/d/f", O_APPEND, "2");
        put("o/d/sub/g", O_CREAT | O_EXCL, "");
        put("w/d/on-top", O_CREAT | O_EXCL, "");
}

/* What a mount inside the watch covers is still there for other mounts of the same filesystem; what is mounted there is not
 * watched. */
static void below_a_nested_mount_is_seen(void **state) {
        Fixture f;

        if (!fixture_mount(&f, "ext4"))
                skip();
        (void) fixture_do(&f, plant);
        run("mkdir o/d w/d/sub && mount --bind w/d o/d && mount -t tmpfs nested w/d");
        fixture_watch(&f, f.path, NULL);
        assert_int_equal(f.status.directories, 3);
        assert_false(f.status.tree_partial);
        (void) fixture_do(&f, do_in_covered);
        fixture_expect(&f, "modify file w/d/f\ncreate file w/d/sub/g\n");
        run("umount w/d o/d");
        fixture_done(&f);
}

static void other_mounts_do_not_matter(void **state) {
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        fixture_watch(&f, f.path, NULL);
        assert_int_equal(mount("other", "o", "tmpfs", 0, NULL), 0);
        watcher_mounts_changed(f.watcher);
        fixture_sync(&f);
        assert_int_equal(f.states, 1);
        assert_string_equal(f.losses, "");
        assert_int_equal(umount("o"), 0);
        fixture_done(&f);
}

static void what_is_mounted_over_is_watched_then(void **state) {
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        fixture_watch(&f, f.path, NULL);
        assert_int_equal(mount("over", "w", "tmpfs", 0, NULL), 0);
        f.states = 0;
        watcher_mounts_changed(f.watcher);
        fixture_wait_state(&f, WATCHER_ARMED);
        assert_loss(&f, "mounted-over");
        assert_int_equal(f.status.scope, SCOPE_FILESYSTEM);
        (void) fixture_do(&f, do_nothing_much);
        fixture_expect(&f, "create file w/n\nmodify file w/n\n");
        assert_int_equal(umount("w"), 0);
        fixture_done(&f);
}

static void do_make_path(void) {
        MUST(mkdir("o/x", 0755));
        MUST(mkdir("o/x/y", 0755));
        MUST(mkdir("o/x/y/z", 0755));
}
static void do_write_there(void) {
        put("o/x/y/z/f", O_CREAT | O_EXCL, "");
}

static void a_missing_path_is_waited_for(void **state) {
        char path[256];
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        (void) snprintf(path, sizeof(path), "%s/o/x/y/z", f.top);
        fixture_watch(&f, path, NULL);
        assert_int_equal(f.status.state, WATCHER_WAITING);
        assert_string_not_equal(f.status.reason, "");
        (void) fixture_do(&f, do_make_path);
        fixture_wait_state(&f, WATCHER_ARMED);
        (void) fixture_do(&f, do_write_there);
        fixture_expect(&f, "create file o/x/y/z/f\n");
        fixture_done(&f);
}

static void a_link_to_nowhere_is_waited_for(void **state) {
        char path[256];
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        run("ln -s ../o/x/y/z w/link");
        (void) snprintf(path, sizeof(path), "%s/link", f.path);
        fixture_watch(&f, path, NULL);
        assert_int_equal(f.status.state, WATCHER_WAITING);
        (void) fixture_do(&f, do_make_path);
        fixture_wait_state(&f, WATCHER_ARMED);
        /* Told in the words of the configuration. */
        (void) fixture_do(&f, do_write_there);
        fixture_expect(&f, "create file w/link/f\n");
        fixture_done(&f);
}

static void do_remove_root(void) {
        MUST(rmdir("w"));
}
static void do_make_root(void) {
        MUST(mkdir("w", 0755));
}
static void do_move_root(void) {
        MUST(rename("w", "o/away"));
}

static void the_root_may_be_removed_and_come_back(void **state) {
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        fixture_watch(&f, f.path, NULL);
        (void) fixture_do(&f, do_remove_root);
        fixture_wait_state(&f, WATCHER_WAITING);
        fixture_expect(&f, "delete dir w\n");
        assert_loss(&f, "root-gone");
        (void) fixture_do(&f, do_make_root);
        fixture_wait_state(&f, WATCHER_ARMED);
        (void) fixture_do(&f, do_nothing_much);
        fixture_expect(&f, "create file w/n\nmodify file w/n\n");
        fixture_done(&f);
}

static void the_root_may_be_moved_away(void **state) {
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        fixture_watch(&f, f.path, NULL);
        (void) fixture_do(&f, do_move_root);
        fixture_wait_state(&f, WATCHER_WAITING);
        fixture_expect(&f, "delete dir w to o/away\n");
        fixture_done(&f);
}

static void do_move_above(void) {
        MUST(rename("o/x", "o/x2"));
}

static void a_directory_above_may_be_moved_away(void **state) {
        char path[256];
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        (void) fixture_do(&f, do_make_path);
        (void) snprintf(path, sizeof(path), "%s/o/x/y/z", f.top);
        fixture_watch(&f, path, NULL);
        assert_int_equal(f.status.state, WATCHER_ARMED);
        (void) fixture_do(&f, do_move_above);
        fixture_wait_state(&f, WATCHER_WAITING);
        assert_loss(&f, "root-gone");
        /* Nothing in the watch has changed. */
        fixture_expect(&f, "");
        run("mv o/x2 o/x");
        fixture_wait_state(&f, WATCHER_ARMED);
        fixture_done(&f);
}

static void do_database(void) {
        put("w/db", O_APPEND, "2");
        put("w/db-wal", O_CREAT | O_EXCL, "");
        put("w/db-shm", O_CREAT | O_EXCL, "");
        put("w/other", O_CREAT | O_EXCL, "");
        put("w/db-more", O_CREAT | O_EXCL, "");
        until_read();
        MUST(unlink("w/db-wal"));
        MUST(chmod("w", 0700));
        MUST(chmod("w/db", 0600));
        put("w/tmp", O_CREAT, "1");
        MUST(rename("w/tmp", "w/db"));
        MUST(rename("w/db", "w/db-journal"));
        MUST(rename("w/db-journal", "w/db.bak"));
}

static const char database[] = "modify file %s\n"
                               "create file %s-wal\n"
                               "create file %s-shm\n"
                               "delete file %s-wal\n"
                               "metadata file %s\n"
                               "create file %s from w/tmp replaced\n"
                               "rename file %s-journal from %s\n"
                               "delete file %s-journal to w/db.bak\n";

static void watch_file(const char *link, const char *name) {
        char path[256], expected[1024];
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        run("echo 1 >w/db");
        if (link)
                run("ln -s %s o/link", link);
        (void) snprintf(path, sizeof(path), "%s/%s", f.top, name);
        fixture_watch(&f, path, NULL);
        assert_int_equal(f.status.state, WATCHER_ARMED);
        assert_int_equal(f.status.scope, SCOPE_FILE);
        (void) fixture_do(&f, do_database);
        (void) snprintf(expected, sizeof(expected), database, name, name, name, name, name, name,
                        name, name, name);
        fixture_expect(&f, expected);
        fixture_done(&f);
}

static void a_file_is_watched_with_its_siblings(void **state) {
        watch_file(NULL, "w/db");
}

static void a_file_behind_a_link_has_the_configured_name(void **state) {
        watch_file("../w/db", "o/link");
}

static void do_through_bind(void) {
        put("o/d/f", O_APPEND, "2");
        put("w/d/g", O_CREAT | O_EXCL, "");
        put("w/outside", O_CREAT | O_EXCL, "");
        MUST(rename("w/a", "w/d/a"));
        MUST(rename("o/d/f", "o/d/f2"));
}

/* Only what lies below the root of the mount counts, whatever mount it was done through. */
static void a_bind_mount_shows_a_part_of_a_filesystem(void **state) {
        char path[256];
        Fixture f;

        if (!fixture_mount(&f, "ext4"))
                skip();
        (void) fixture_do(&f, plant);
        run("mkdir o/d && mount --bind w/d o/d");
        (void) snprintf(path, sizeof(path), "%s/o/d", f.top);
        fixture_watch(&f, path, NULL);
        assert_int_equal(f.status.scope, SCOPE_FILESYSTEM);
        (void) fixture_do(&f, do_through_bind);
        /* Where it came from cannot be seen through that mount. */
        fixture_expect(&f,
                       "modify file o/d/f\ncreate file o/d/g\ncreate file o/d/a linked\n"
                       "rename file o/d/f2 from o/d/f\n");
        assert_int_equal(umount("o/d"), 0);
        fixture_done(&f);
}

#define DEPTH 30
#define LONG_NAME                                                                                    \
        "a-name-of-two-hundred-characters-is-what-it-takes-to-get-beyond-the-longest-path-with-not-" \
        "too-many-directories-and-so-it-goes-on-and-on-and-on-and-on-and-on-and-on-and-on-and-on-"   \
        "and-on-and-on-and-on-"

static void do_dig(void) {
        int i;

        MUST(chdir("w"));
        for (i = 0; i < DEPTH; i++) {
                MUST(mkdir(LONG_NAME, 0755));
                MUST(chdir(LONG_NAME));
        }
        put("f", O_CREAT, "1");
}
static void do_deep(void) {
        int i;

        MUST(chdir("w"));
        for (i = 0; i < DEPTH; i++)
                MUST(chdir(LONG_NAME));
        put("f", O_APPEND, "2");
        put("g", O_CREAT | O_EXCL, "");
        MUST(rename("g", "h"));
}

static void deeper_than_a_path_can_be_long(void **state) {
        struct pollfd p;
        Fixture f;
        Note *n, *next;
        size_t longest = 0, k = 0;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        (void) fixture_do(&f, do_dig);
        fixture_watch(&f, f.path, NULL);
        assert_int_equal(f.status.directories, DEPTH + 1);
        assert_int_equal(f.status.files, 1);
        (void) fixture_do(&f, do_deep);
        watcher_sync(f.watcher, 1);
        for (bool done = false; !done;) {
                p = (struct pollfd){.fd = watcher_fd(f.watcher), .events = POLLIN};
                assert_true(poll(&p, 1, 30000) > 0);
                for (n = watcher_take(f.watcher); n; n = next) {
                        next = n->next;
                        if (n->type == NOTE_CHANGE) {
                                longest = MAX(longest, strlen(n->change.path));
                                k++;
                        }
                        done = done || n->type == NOTE_SYNC;
                        note_free(n);
                }
        }
        assert_int_equal(k, 3);
        assert_true(longest > 4096);
        fixture_done(&f);
}

static void do_in_many(void) {
        put("w/d5/f", O_CREAT | O_EXCL, "");
        put("w/d29/f", O_APPEND, "1");
        put("w/d29/f", O_APPEND, "2");
        MUST(rename("w/d28/f", "w/d27/f"));
        MUST(rename("w/d26", "w/d99"));
        put("w/d99/f", O_APPEND, "1");
        MUST(unlink("w/d25/f"));
        put("o/elsewhere", O_CREAT | O_EXCL, "");
}

/* Names that do not fit into the tree are told all the same. */
static void a_tree_with_a_limit_tells_the_same(void **state) {
        WatcherOptions options = {.nodes_max = 4};
        Fixture f;

        if (!fixture_mount(&f, "ext4"))
                skip();
        run("for i in $(seq 6 29); do mkdir w/d$i; echo 1 >w/d$i/f; done; mkdir w/d5");
        fixture_watch(&f, f.path, &options);
        assert_int_equal(f.status.state, WATCHER_ARMED);
        assert_true(f.status.tree_partial);
        (void) fixture_do(&f, do_in_many);
        fixture_expect(&f,
                       "create file w/d5/f\nmodify file w/d29/f\n"
                       "rename file w/d27/f from w/d28/f replaced\nrename dir w/d99 from w/d26\n"
                       "modify file w/d99/f\ndelete file w/d25/f\n");
        assert_string_equal(f.losses, "");
        fixture_done(&f);
}

static void probing_leaves_nothing_behind(void **state) {
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        fixture_watch(&f, f.path, NULL);
        watcher_disarm(f.watcher);
        fixture_wait_state(&f, WATCHER_IDLE);
        f.states = 0;
        watcher_probe(f.watcher);
        while (f.states == 0)
                fixture_take(&f);
        assert_int_equal(f.status.state, WATCHER_IDLE);
        assert_int_equal(f.status.tier, TIER_FILESYSTEM);
        assert_int_equal(f.status.coverage.op[OP_DELETE], SIGHT_EXACT);
        (void) fixture_do(&f, do_nothing_much);
        fixture_expect(&f, "");
        watcher_arm(f.watcher);
        fixture_wait_state(&f, WATCHER_ARMED);
        (void) fixture_do(&f, do_make_path);
        (void) fixture_do(&f, do_remove_n);
        fixture_expect(&f, "delete file w/n\n");
        fixture_done(&f);
}

static void each_sync_is_answered_in_order(void **state) {
        struct pollfd p;
        uint64_t expected = 1;
        Fixture f;
        Note *n, *next;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        fixture_watch(&f, f.path, NULL);
        for (uint64_t i = 1; i <= 100; i++)
                watcher_sync(f.watcher, i);
        while (expected <= 100) {
                p = (struct pollfd){.fd = watcher_fd(f.watcher), .events = POLLIN};
                assert_true(poll(&p, 1, 30000) > 0);
                for (n = watcher_take(f.watcher); n; n = next) {
                        next = n->next;
                        assert_int_equal(n->type, NOTE_SYNC);
                        assert_int_equal(n->count, expected++);
                        note_free(n);
                }
        }
        fixture_done(&f);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_armed_watch_does_not_hinder_unmounting),
                cmocka_unit_test(unmounting_succeeds_while_events_wait),
                cmocka_unit_test(below_a_nested_mount_is_seen),
                cmocka_unit_test(other_mounts_do_not_matter),
                cmocka_unit_test(what_is_mounted_over_is_watched_then),
                cmocka_unit_test(a_missing_path_is_waited_for),
                cmocka_unit_test(a_link_to_nowhere_is_waited_for),
                cmocka_unit_test(the_root_may_be_removed_and_come_back),
                cmocka_unit_test(the_root_may_be_moved_away),
                cmocka_unit_test(a_directory_above_may_be_moved_away),
                cmocka_unit_test(a_file_is_watched_with_its_siblings),
                cmocka_unit_test(a_file_behind_a_link_has_the_configured_name),
                cmocka_unit_test(a_bind_mount_shows_a_part_of_a_filesystem),
                cmocka_unit_test(deeper_than_a_path_can_be_long),
                cmocka_unit_test(a_tree_with_a_limit_tells_the_same),
                cmocka_unit_test(probing_leaves_nothing_behind),
                cmocka_unit_test(each_sync_is_answered_in_order),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
