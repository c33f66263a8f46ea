/* SPDX-License-Identifier: MIT */
/* Every operation of one child below the watch gives just its change, on a filesystem that takes one mark. */
#include "tests/unit/kernel/watcher_fixture.h"

#include <linux/fs.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

/* The tree that every case starts from. */
static void plant(void) {
        put("w/a", O_CREAT, "aaaa");
        put("w/b", O_CREAT, "bb");
        put("w/empty", O_CREAT, "");
        MUST(mkdir("w/d", 0755));
        put("w/d/x", O_CREAT, "x");
        MUST(mkdir("w/d/sub", 0755));
        put("w/d/sub/deep", O_CREAT, "deep");
        MUST(mkdir("w/e", 0755));
        MUST(symlink("a", "w/link"));
        MUST(link("w/a", "w/a2"));
        put("o/out", O_CREAT, "out");
        MUST(link("w/b", "o/b-outside"));
}

static void do_create(void) {
        put("w/new", O_CREAT | O_EXCL, "n");
}
static void do_create_empty(void) {
        put("w/new", O_CREAT, "");
}
static void do_mkdir(void) {
        MUST(mkdir("w/n", 0755));
        MUST(mkdir("w/n/m", 0755));
        until_read();
        put("w/n/m/f", O_CREAT, "1");
}
static void do_symlink(void) {
        MUST(symlink("nowhere", "w/s"));
}
static void do_fifo(void) {
        MUST(mkfifo("w/fifo", 0600));
}
static void do_link(void) {
        MUST(link("w/a", "w/a3"));
}
static void do_write(void) {
        put("w/a", 0, "zz");
}
static void do_append(void) {
        put("w/d/sub/deep", O_APPEND, "more");
}
static void do_trunc_open(void) {
        put("w/a", O_TRUNC, "");
}
static void do_truncate(void) {
        MUST(truncate("w/a", 1));
}
static void do_ftruncate(void) {
        int fd = open("w/a", O_RDWR);

        MUST(ftruncate(fd, 9));
        MUST(close(fd));
}
static void do_sendfile(void) {
        int in = open("w/a", O_RDONLY), out = open("w/d/x", O_WRONLY);
        off_t at = 0;

        MUST(sendfile(out, in, &at, 4));
}
static void do_copy_range(void) {
        int in = open("w/a", O_RDONLY), out = open("w/d/x", O_WRONLY);

        MUST(copy_file_range(in, NULL, out, NULL, 4, 0));
}
static void do_fallocate(void) {
        int fd = open("w/a", O_RDWR);

        MUST(fallocate(fd, 0, 0, 8192));
}
static void do_unlink(void) {
        MUST(unlink("w/a"));
        MUST(unlink("w/link"));
}
static void do_rmdir(void) {
        MUST(rmdir("w/e"));
}
static void do_rename(void) {
        MUST(rename("w/a", "w/d/moved"));
}
static void do_rename_over(void) {
        MUST(rename("w/a", "w/b"));
}
static void do_rename_over_directory(void) {
        MUST(rename("w/d/sub", "w/e"));
}
static void do_rename_directory(void) {
        MUST(rename("w/d", "w/dd"));
        put("w/dd/sub/deep", O_APPEND, "1");
        MUST(unlink("w/dd/x"));
}
static void do_exchange(void) {
        MUST(renameat2(AT_FDCWD, "w/a", AT_FDCWD, "w/d/x", RENAME_EXCHANGE));
        put("w/a", 0, "2");
}
static void do_exchange_directories(void) {
        MUST(renameat2(AT_FDCWD, "w/d/sub", AT_FDCWD, "w/e", RENAME_EXCHANGE));
        put("w/e/deep", O_APPEND, "2");
}
static void do_chmod(void) {
        MUST(chmod("w/a", 0600));
}
static void do_fchown(void) {
        MUST(fchown(open("w/a", O_RDONLY), 1, 1));
}
static void do_utimes(void) {
        struct timespec t[2] = {{.tv_sec = 1}, {.tv_sec = 2}};

        MUST(utimensat(AT_FDCWD, "w/a", t, 0));
}
static void do_touch_modification(void) {
        struct timespec t[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 2}};

        MUST(utimensat(AT_FDCWD, "w/a", t, 0));
}
static void do_touch_open(void) {
        struct timespec t[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
        int fd = open("w/a", O_WRONLY);

        MUST(futimens(fd, t));
        MUST(close(fd));
}
static void do_setxattr(void) {
        MUST(setxattr("w/a", "trusted.test", "1", 1, 0));
}
static void do_chmod_directories(void) {
        MUST(chmod("w/d", 0700));
        MUST(chmod("w", 0711));
}
static void do_open_only(void) {
        put("w/a", 0, "");
        put("w/a", O_APPEND, "");
}
static void do_empty_truncates(void) {
        put("w/empty", O_TRUNC, "");
}
static void do_failures(void) {
        (void) !unlink("w/none");
        (void) !mkdir("w/d", 0755);
        (void) !rmdir("w/d");
        (void) !rename("w/none", "w/other");
        (void) !link("w/a", "w/b");
        (void) !open("w/a", O_CREAT | O_EXCL | O_WRONLY, 0644);
}
static void do_temporary(void) {
        put("w/t", O_CREAT | O_EXCL, "1");
        MUST(unlink("w/t"));
}
static void do_save_aside(void) {
        put("w/.a.new", O_CREAT | O_EXCL, "v2");
        MUST(rename("w/.a.new", "w/a"));
}
static void do_nameless(void) {
        int fd = open("w/d", O_TMPFILE | O_RDWR, 0600);

        MUST(write(fd, "1", 1));
        MUST(fchmod(fd, 0640));
        MUST(close(fd));
}
static void do_nameless_linked(void) {
        int fd = open("w/d", O_TMPFILE | O_RDWR, 0600);
        char path[64];

        MUST(write(fd, "1", 1));
        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        until_read();
        MUST(linkat(AT_FDCWD, path, AT_FDCWD, "w/named", AT_SYMLINK_FOLLOW));
        MUST(write(fd, "2", 1));
        MUST(close(fd));
}
static void do_unlinked_write(void) {
        int fd = open("w/d/x", O_WRONLY);

        MUST(unlink("w/d/x"));
        until_read();
        MUST(write(fd, "1", 1));
        MUST(close(fd));
}
static void do_other_name(void) {
        put("o/b-outside", O_APPEND, "1");
}
static void do_other_name_metadata(void) {
        MUST(chmod("o/b-outside", 0600));
}
static void do_unlinked_other_name(void) {
        int fd = open("w/a2", O_WRONLY);

        MUST(unlink("w/a2"));
        until_read();
        MUST(write(fd, "1", 1));
        MUST(close(fd));
}
static void do_link_out(void) {
        MUST(link("w/d/x", "o/x-outside"));
        put("o/x-outside", 0, "1");
}
static void do_link_in(void) {
        MUST(link("o/out", "w/in"));
        put("o/out", 0, "1");
        until_read();
        MUST(unlink("w/in"));
        until_read();
        put("o/out", 0, "2");
}
static void do_move_in(void) {
        MUST(rename("o/out", "w/in"));
        put("w/in", 0, "1");
}
static void do_move_in_over(void) {
        MUST(rename("o/out", "w/b"));
}
static void do_move_out(void) {
        MUST(rename("w/d/x", "o/x"));
        put("o/x", 0, "1");
}
static void do_move_directory_in(void) {
        MUST(mkdir("o/n", 0755));
        MUST(mkdir("o/n/m", 0755));
        put("o/n/m/f", O_CREAT, "1");
        until_read();
        MUST(rename("o/n", "w/n"));
        until_read();
        put("w/n/m/f", O_APPEND, "2");
        put("w/n/m/g", O_CREAT | O_EXCL, "");
}
static void do_move_directory_out(void) {
        MUST(rename("w/d", "o/d"));
        put("o/d/x", 0, "1");
        put("o/d/sub/n", O_CREAT, "1");
        until_read();
        MUST(rename("o/d", "w/d3"));
        until_read();
        MUST(unlink("w/d3/sub/n"));
}
static void do_exchange_across(void) {
        MUST(renameat2(AT_FDCWD, "o/out", AT_FDCWD, "w/d/x", RENAME_EXCHANGE));
        MUST(renameat2(AT_FDCWD, "w/a", AT_FDCWD, "o/out", RENAME_EXCHANGE));
}
/* The kernel may put all of it into one record: what is told of the order may differ, the end may not. */
static void do_relink(void) {
        MUST(unlink("w/a2"));
        MUST(link("w/a", "w/a2"));
        until_read();
        put("w/a2", O_APPEND, "1");
}
static void do_odd_names(void) {
        put("w/\xff\xfe", O_CREAT | O_EXCL, "");
        put("w/new\nline", O_CREAT | O_EXCL, "");
        put("w/#12", O_CREAT | O_EXCL, "");
}
static void do_whiteout(void) {
        MUST(renameat2(AT_FDCWD, "w/b", AT_FDCWD, "w/b3", RENAME_WHITEOUT));
}

typedef struct Case {
        const char *name;
        void (*what)(void);
        const char *expected;
        const char *by_directories; /* where each directory has a mark; NULL: the same */
} Case;

static const Case cases[] = {
        {"create", do_create, "create file w/new\nmodify file w/new\n"},
        {"create, empty", do_create_empty, "create file w/new\n"},
        {"mkdir", do_mkdir,
         "create dir w/n\ncreate dir w/n/m\ncreate file w/n/m/f\nmodify file w/n/m/f\n"},
        {"symlink", do_symlink, "create symlink w/s\n"},
        {"mkfifo", do_fifo, "create other w/fifo\n"},
        {"link", do_link, "create file w/a3 linked\n"},
        {"write", do_write, "modify file w/a\n"},
        {"append", do_append, "modify file w/d/sub/deep\n"},
        {"open with O_TRUNC", do_trunc_open, "modify file w/a\n"},
        {"truncate", do_truncate, "modify file w/a\n"},
        {"ftruncate", do_ftruncate, "modify file w/a\n"},
        {"sendfile", do_sendfile, "modify file w/d/x\n"},
        {"copy_file_range", do_copy_range, "modify file w/d/x\n"},
        {"fallocate", do_fallocate, "modify file w/a\n"},
        {"unlink", do_unlink, "delete file w/a\ndelete symlink w/link\n"},
        {"rmdir", do_rmdir, "delete dir w/e\n"},
        {"rename", do_rename, "rename file w/d/moved from w/a\n"},
        {"rename over", do_rename_over, "rename file w/b from w/a replaced\n"},
        {"rename over a directory", do_rename_over_directory,
         "rename dir w/e from w/d/sub replaced\n"},
        {"rename a directory", do_rename_directory,
         "rename dir w/dd from w/d\nmodify file w/dd/sub/deep\ndelete file w/dd/x\n"},
        {"exchange", do_exchange,
         "rename file w/d/x from w/a\nrename file w/a from w/d/x\nmodify file w/a\n"},
        {"exchange directories", do_exchange_directories,
         "rename dir w/e from w/d/sub\nrename dir w/d/sub from w/e\nmodify file w/e/deep\n"},
        {"chmod", do_chmod, "metadata file w/a\n"},
        {"fchown", do_fchown, "metadata file w/a\n"},
        {"utimensat", do_utimes, "metadata file w/a\n"},
        {"utimensat, modification only", do_touch_modification, "metadata file w/a\n"},
        {"futimens on an open file", do_touch_open, "metadata file w/a\n"},
        {"setxattr", do_setxattr, "metadata file w/a\n"},
        {"chmod of directories", do_chmod_directories, "metadata dir w/d\nmetadata dir w\n"},
        {"open without a write", do_open_only, ""},
        {"truncate what is empty", do_empty_truncates, ""},
        {"failed calls", do_failures, ""},
        {"come and gone", do_temporary, "create file w/t\nmodify file w/t\ndelete file w/t\n"},
        {"save aside", do_save_aside,
         "create file w/.a.new\nmodify file w/.a.new\nrename file w/a from w/.a.new replaced\n"},
        {"nameless file", do_nameless, ""},
        {"nameless file that gets a name", do_nameless_linked,
         "create file w/named\nmodify file w/named\n"},
        {"write after unlink", do_unlinked_write, "delete file w/d/x\n"},
        {"write by a name outside", do_other_name, "modify file w/b\n", ""},
        {"chmod by a name outside", do_other_name_metadata, "metadata file w/b\n", ""},
        {"write after unlink of one of two names", do_unlinked_other_name,
         "delete file w/a2\nmodify file w/a\n"},
        {"link to the outside", do_link_out, "modify file w/d/x\n", ""},
        {"link from the outside", do_link_in,
         "create file w/in linked\nmodify file w/in\ndelete file w/in\n",
         "create file w/in linked\ndelete file w/in\n"},
        {"move in", do_move_in, "create file w/in from o/out\nmodify file w/in\n",
         "create file w/in linked\nmodify file w/in\n"},
        {"move in, over", do_move_in_over, "create file w/b from o/out replaced\n",
         "create file w/b replaced linked\n"},
        {"move out", do_move_out, "delete file w/d/x to o/x\n", "delete file w/d/x\n"},
        {"move a directory in", do_move_directory_in,
         "create dir w/n from o/n\nmodify file w/n/m/f\ncreate file w/n/m/g\n",
         "create dir w/n linked\nmodify file w/n/m/f\ncreate file w/n/m/g\n"},
        {"move a directory out and back", do_move_directory_out,
         "delete dir w/d to o/d\ncreate dir w/d3 from o/d\ndelete file w/d3/sub/n\n",
         "delete dir w/d\ncreate dir w/d3 linked\ndelete file w/d3/sub/n\n"},
        {"exchange across the border", do_exchange_across,
         "delete file w/d/x to o/out\ncreate file w/d/x from o/out\n"
         "delete file w/a to o/out\ncreate file w/a from o/out\n",
         "delete file w/d/x\ncreate file w/d/x linked\ndelete file w/a\ncreate file w/a linked\n"},
        {"unlink and link again", do_relink,
         "delete file w/a2\ncreate file w/a2 linked\nmodify file w/a2\n"},
        {"odd names", do_odd_names,
         "create file w/\xff\xfe\ncreate file w/new\nline\ncreate file w/#12\n"},
        {"whiteout", do_whiteout, "rename file w/b3 from w/b\n"},
};

static void replant(void) {
        run("rm -rf w/* w/.[!.]* o/*");
        plant();
}

static bool needs_more_than(const char *type, const Case *c) {
        return str_equal(type, "tmpfs") && c->what == do_whiteout;
}

static void check_case(Fixture *f, const Case *c, const char *type, Tier tier) {
        WatcherOptions options = {.no_filesystem_mark = tier == TIER_DIRECTORIES};
        const char *expected = c->expected;

        if (tier == TIER_DIRECTORIES && c->by_directories)
                expected = c->by_directories;
        (void) fixture_do(f, replant);
        fixture_watch(f, f->path, &options);
        assert_int_equal(f->status.state, WATCHER_ARMED);
        assert_int_equal(f->status.tier, tier);
        assert_int_equal(f->status.scope, SCOPE_SUBTREE);
        (void) fixture_do(f, c->what);
        fixture_sync(f);
        if (!str_equal(f->changes, expected))
                print_message("in '%s' on %s:\n", c->name, type);
        fixture_expect(f, expected);
        assert_string_equal(f->losses, "");
        fixture_unwatch(f);
}

static void each_operation(const char *type, Tier tier) {
        Fixture f;
        size_t i;

        if (!fixture_mount(&f, type))
                skip();
        f.forgiving = tier == TIER_DIRECTORIES;
        for (i = 0; i < ELEMENTSOF(cases); i++) {
                if (!needs_more_than(type, &cases[i]))
                        check_case(&f, &cases[i], type, tier);
        }
        fixture_done(&f);
}

static void each_operation_on_tmpfs(void **state) {
        each_operation("tmpfs", TIER_FILESYSTEM);
}

static void each_operation_on_ext4(void **state) {
        each_operation("ext4", TIER_FILESYSTEM);
}

static void each_operation_on_xfs(void **state) {
        each_operation("xfs", TIER_FILESYSTEM);
}

static void each_operation_on_btrfs(void **state) {
        each_operation("btrfs", TIER_FILESYSTEM);
}

static void each_operation_by_directories(void **state) {
        each_operation("ext4", TIER_DIRECTORIES);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_operation_on_tmpfs),
                cmocka_unit_test(each_operation_on_ext4),
                cmocka_unit_test(each_operation_on_xfs),
                cmocka_unit_test(each_operation_on_btrfs),
                cmocka_unit_test(each_operation_by_directories),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
