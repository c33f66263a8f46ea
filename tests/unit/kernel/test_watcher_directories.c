/* SPDX-License-Identifier: MIT */
/* Filesystems that refuse one mark for all of it: what is seen through a mark on each directory. */
#include "tests/unit/kernel/watcher_fixture.h"

#include <sys/mman.h>
#include <sys/utsname.h>

static void plant(void) {
        MUST(mkdir("w/d", 0755));
        put("w/d/x", O_CREAT, "x");
        put("w/a", O_CREAT, "a");
        put("w/b", O_CREAT, "b");
        MUST(mkdir("w/e", 0755));
}

static void do_things(void) {
        put("w/new", O_CREAT | O_EXCL, "1");
        put("w/d/x", O_APPEND, "2");
        MUST(chmod("w/a", 0600));
        MUST(rename("w/a", "w/d/a"));
        MUST(rename("w/d/a", "w/b"));
        MUST(rename("w/d", "w/dd"));
        until_read();
        put("w/dd/x", O_APPEND, "3");
        MUST(unlink("w/dd/x"));
        MUST(rmdir("w/e"));
        MUST(symlink("b", "w/s"));
        put("w/b", 0, "");
}

static const char things[] = "create file w/new\n"
                             "modify file w/new\n"
                             "modify file w/d/x\n"
                             "metadata file w/a\n"
                             "rename file w/d/a from w/a\n"
                             "rename file w/b from w/d/a replaced\n"
                             "rename dir w/dd from w/d\n"
                             "modify file w/dd/x\n"
                             "delete file w/dd/x\n"
                             "delete dir w/e\n"
                             "create symlink w/s\n";

static bool kernel_is_older(int major, int minor) {
        struct utsname u;
        int a = 0, b = 0;

        assert_int_equal(uname(&u), 0);
        (void) sscanf(u.release, "%d.%d", &a, &b);
        return a < major || (a == major && b < minor);
}

static void expect_things(Fixture *f, const char *fstype) {
        (void) fixture_do(f, plant);
        fixture_watch(f, f->path, NULL);
        if (kernel_is_older(6, 8)) {
                assert_int_equal(f->status.state, WATCHER_FAILED);
                assert_non_null(strstr(f->status.reason, "6.8"));
                return;
        }
        assert_int_equal(f->status.state, WATCHER_ARMED);
        assert_int_equal(f->status.tier, TIER_DIRECTORIES);
        assert_string_equal(f->status.fstype, fstype);
        assert_int_equal(f->status.coverage.op[OP_DELETE], SIGHT_EXACT);
        assert_string_not_equal(f->status.reason, "");
        (void) fixture_do(f, do_things);
        fixture_expect(f, things);
        assert_string_equal(f->losses, "");
}

/* The close is told before the store: on overlayfs the mapping is of another file. */
static void do_store(void) {
        int fd = open("w/b", O_RDWR);
        char *p = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

        MUST(p == MAP_FAILED ? -1 : close(fd));
        until_read();
        MUST(usleep(30000)); /* two changes within one tick of the clock have the same time */
        *p = 'X';
        MUST(munmap(p, 1));
}

static void on_an_overlay(void **state) {
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        run("mkdir lower upper work");
        if (mount("o", "w", "overlay", 0, "lowerdir=lower,upperdir=upper,workdir=work") < 0) {
                print_message("skipped: no overlayfs: %s\n", strerror(errno));
                fixture_done(&f);
                skip();
        }
        expect_things(&f, "overlay");
        if (!kernel_is_older(6, 8)) {
                (void) fixture_do(&f, do_store);
                fixture_expect(&f, "modify file w/b inferred\n");
        }
        fixture_unwatch(&f);
        assert_int_equal(umount("w"), 0);
        fixture_done(&f);
}

static void on_a_btrfs_subvolume(void **state) {
        Fixture f;

        if (!fixture_mount(&f, "btrfs"))
                skip();
        run("btrfs -q subvolume create sub >/dev/null");
        run("mount -o subvol=sub $(findmnt -no SOURCE %s | sed 's/\\[.*//') w", f.top);
        expect_things(&f, "btrfs");
        fixture_unwatch(&f);
        assert_int_equal(umount("w"), 0);
        fixture_done(&f);
}

static void on_fuse(void **state) {
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        if (!have("bindfs") || access("/dev/fuse", R_OK | W_OK) < 0) {
                print_message("skipped: no bindfs, or no /dev/fuse\n");
                fixture_done(&f);
                skip();
        }
        run("mkdir source && bindfs source w");
        expect_things(&f, "fuse");
        fixture_unwatch(&f);
        run("umount w");
        fixture_done(&f);
}

#define DEPTH 40

/* Faster than anybody can place marks. */
static void do_mkdir_p(void) {
        char path[512] = "w";
        int i;

        for (i = 0; i < DEPTH; i++) {
                (void) snprintf(path + strlen(path), sizeof(path) - strlen(path), "/%d", i);
                MUST(mkdir(path, 0755));
        }
        (void) strcat(path, "/f");
        put(path, O_CREAT, "1");
}

static void do_append_below(void) {
        char path[512] = "w";
        int i;

        for (i = 0; i < DEPTH; i++)
                (void) snprintf(path + strlen(path), sizeof(path) - strlen(path), "/%d", i);
        (void) strcat(path, "/f");
        put(path, O_APPEND, "2");
}

static void new_directories_are_read(void **state) {
        WatcherOptions options = {.no_filesystem_mark = true};
        char expected[16384] = "", path[512] = "w";
        Fixture f;
        int i;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        f.forgiving = true;
        fixture_watch(&f, f.path, &options);
        (void) fixture_do(&f, do_mkdir_p);
        for (i = 0; i < DEPTH; i++) {
                (void) snprintf(path + strlen(path), sizeof(path) - strlen(path), "/%d", i);
                (void) snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected),
                                "create dir %s\n", path);
        }
        (void) snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected),
                        "create file %s/f\n", path);
        fixture_sync(&f);
        /* The write may have come before the mark: then the file as it is was just made. */
        assert_true(strncmp(f.changes, expected, strlen(expected)) == 0);
        f.changes[0] = f.last[0] = '\0';
        (void) fixture_do(&f, do_append_below);
        (void) snprintf(expected, sizeof(expected), "modify file %s/f\n", path);
        fixture_expect(&f, expected);
        assert_string_equal(f.losses, "");
        fixture_done(&f);
}

static void do_remove_root(void) {
        MUST(rmdir("w"));
}
static void do_move_root(void) {
        MUST(rename("w", "o/away"));
}

static void the_end_of_the_root_is_told(void **state) {
        WatcherOptions options = {.no_filesystem_mark = true};
        Fixture f;

        if (!fixture_mount(&f, "ext4"))
                skip();
        fixture_watch(&f, f.path, &options);
        (void) fixture_do(&f, do_move_root);
        fixture_wait_state(&f, WATCHER_WAITING);
        fixture_expect(&f, "delete dir w to o/away\n");
        run("mv o/away w");
        fixture_wait_state(&f, WATCHER_ARMED);
        (void) fixture_do(&f, do_remove_root);
        fixture_wait_state(&f, WATCHER_WAITING);
        fixture_expect(&f, "delete dir w\n");
        fixture_done(&f);
}

static void unmounting_is_noticed(void **state) {
        WatcherOptions options = {.no_filesystem_mark = true};
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        assert_int_equal(mount("inner", "w", "tmpfs", 0, NULL), 0);
        fixture_watch(&f, f.path, &options);
        assert_int_equal(umount("w"), 0);
        watcher_mounts_changed(f.watcher);
        fixture_wait_state(&f, WATCHER_WAITING);
        assert_string_equal(f.losses, "unmounted\n");
        fixture_done(&f);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(on_an_overlay),
                cmocka_unit_test(on_a_btrfs_subvolume),
                cmocka_unit_test(on_fuse),
                cmocka_unit_test(new_directories_are_read),
                cmocka_unit_test(the_end_of_the_root_is_told),
                cmocka_unit_test(unmounting_is_noticed),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
