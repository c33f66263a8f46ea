/* SPDX-License-Identifier: MIT */
#include "tests/unit/store/mount.h"

#include "daemon/store/copy.h"

#include <sys/mman.h>

static int open_dir(const char *path) {
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        assert_true(fd >= 0);
        return fd;
}

/* One object copied from the watch to the state folder and back, to another name. */
static int copy_object(const char *from_dir, const char *from, const char *to_dir, const char *to) {
        _cleanup_close_ int a = open_dir(from_dir), b = open_dir(to_dir), fd = -1;
        _cleanup_(copy_meta_done) CopyMeta meta = {};
        char target[256] = "";

        assert_int_equal(copy_meta_read(a, from, &meta), 0);
        if (S_ISREG(meta.mode))
                fd = openat(a, from, O_RDONLY | O_CLOEXEC);
        if (S_ISLNK(meta.mode))
                assert_true(readlinkat(a, from, target, sizeof target - 1) > 0);
        return copy_make(b, to, &(CopySource){.meta = &meta, .target = target, .fd = fd}, NULL);
}

/* User attributes want a newer tmpfs than some have. */
static void set_attributes(const Mount *m) {
        char path[160];

        (void) snprintf(path, sizeof path, "%s/a/plain", m->watch);
        assert_int_equal(setxattr(path, "user.note", "hello", 5, 0), 0);
        assert_int_equal(setxattr(path, "user.empty", "", 0, 0), 0);
        assert_int_equal(setxattr(path, "trusted.ours", "1", 1, 0), 0);
}

/* Of a folder, as if it were called x. */
static char *text_of(const char *dir, const char *name) {
        char path[160];
        char *text;

        (void) snprintf(path, sizeof path, "%s/x", dir);
        shell("mv %s/%s %s", dir, name, path);
        text = tree_text(path);
        shell("mv %s %s/%s", path, dir, name);
        return text;
}

static void check_fidelity(const char *type, bool same) {
        static const char *const names[] = {"plain", "sparse", "empty", "dir",
                                            "link",  "fifo",   "dev",   "setuid"};
        _cleanup_free_ char *before = NULL, *after = NULL, *blocks = NULL;
        Mount m;

        if (!mount_open(&m, type, same))
                return;
        shell("mkdir %s %s/a %s/b", m.state, m.watch, m.watch);
        shell("cd %s/a && head -c 100000 /dev/urandom >plain && chmod 640 plain && chown 12:34 plain && "
              "truncate -s 50M sparse && printf x | dd of=sparse bs=1 seek=20000000 conv=notrunc status=none && "
              ": >empty && mkdir -m 1733 dir && chown 5:6 dir && ln -s 'no where' link && chown -h 7:8 link && "
              "mkfifo fifo && mknod -m 600 dev c 1 3 && printf y >setuid && chown 9:9 setuid && "
              "chmod 6755 setuid && touch -h -d '2001-02-03 04:05:06.789' *",
              m.watch);
        if (!str_equal(type, "tmpfs"))
                set_attributes(&m);
        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                char a[128], b[128];

                (void) snprintf(a, sizeof a, "%s/a", m.watch);
                (void) snprintf(b, sizeof b, "%s/b", m.watch);
                assert_int_equal(copy_object(a, names[i], m.state, names[i]), 0);
                assert_int_equal(copy_object(m.state, names[i], b, names[i]), 0);
                assert_int_equal(copy_object(a, names[i], b, names[i]), -EEXIST);
        }
        shell("touch -d '2001-01-01' %s/a %s/b", m.watch, m.watch);
        before = text_of(m.watch, "a");
        after = text_of(m.watch, "b");
        assert_string_equal(before, after);
        blocks = shell_output("stat -c %%b %s/b/sparse", m.watch);
        assert_true(atoi(blocks) < 1000);
        mount_close(&m);
}

static void copies_on_tmpfs_are_faithful(void **state) {
        check_fidelity("tmpfs", false);
}

static void copies_on_ext4_are_faithful(void **state) {
        check_fidelity("ext4", true);
}

static void copies_on_xfs_are_faithful(void **state) {
        check_fidelity("xfs", true);
}

static void copies_on_btrfs_to_elsewhere_are_faithful(void **state) {
        check_fidelity("btrfs", false);
}

/* An ACL as the kernel stores it: version 2; user::rw-, user:99:r--, group::r--, mask::r--, other::---. */
static void an_acl_comes_along(void **state) {
        static const unsigned char acl[] = {2,   0,   0,   0,   1,   0,   6,  0,   255, 255, 255,
                                            255, 2,   0,   4,   0,   99,  0,  0,   0,   4,   0,
                                            4,   0,   255, 255, 255, 255, 16, 0,   4,   0,   255,
                                            255, 255, 255, 32,  0,   0,   0,  255, 255, 255, 255};
        unsigned char got[sizeof acl];
        char path[160];
        Mount m;

        if (!mount_open(&m, "ext4", true))
                return;
        (void) snprintf(path, sizeof path, "%s/file", m.watch);
        shell("echo x >%s && chown 3:4 %s", path, path);
        assert_int_equal(setxattr(path, "system.posix_acl_access", acl, sizeof acl, 0), 0);
        assert_int_equal(copy_object(m.watch, "file", m.watch, "copy"), 0);
        (void) snprintf(path, sizeof path, "%s/copy", m.watch);
        assert_int_equal(getxattr(path, "system.posix_acl_access", got, sizeof got), sizeof acl);
        assert_memory_equal(got, acl, sizeof acl);
        mount_close(&m);
}

static CopyMethod copy_between(const char *from, const char *to, uint64_t max, int expected) {
        _cleanup_close_ int a = open(from, O_RDONLY | O_CLOEXEC),
                            b = open(to, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        CopyMethod method = COPY_BUFFER;

        assert_true(a >= 0 && b >= 0);
        assert_int_equal(copy_content(a, b, max, NULL, &method), expected);
        return method;
}

static void xfs_and_btrfs_share_the_data(void **state) {
        static const char *const types[] = {"xfs", "btrfs"};

        for (size_t i = 0; i < ELEMENTSOF(types); i++) {
                char a[128], b[128];
                Mount m;

                if (!mount_open(&m, types[i], true))
                        continue;
                (void) snprintf(a, sizeof a, "%s/a", m.watch);
                (void) snprintf(b, sizeof b, "%s/b", m.watch);
                shell("head -c 3000001 /dev/urandom >%s", a);
                assert_int_equal(copy_between(a, b, UINT64_MAX, 0), COPY_REFLINK);
                shell("cmp %s %s", a, b);
                mount_close(&m);
        }
}

/* In place: a longer file with data everywhere gets the holes and the length of the source, and stays the same file. */
static void content_is_replaced_in_place(void **state) {
        static const char *const types[] = {"tmpfs", "ext4", "xfs"};

        for (size_t i = 0; i < ELEMENTSOF(types); i++) {
                _cleanup_free_ char *inode = NULL, *after = NULL;
                char a[128], b[128];
                Mount m;

                if (!mount_open(&m, types[i], false))
                        continue;
                shell("mkdir %s", m.state);
                (void) snprintf(a, sizeof a, "%s/a", m.state);
                (void) snprintf(b, sizeof b, "%s/b", m.watch);
                shell("truncate -s 3M %s && printf abc | dd of=%s bs=1 seek=1500000 conv=notrunc status=none",
                      a, a);
                shell("head -c 5000000 /dev/urandom >%s", b);
                inode = shell_output("stat -c %%i %s", b);
                (void) copy_between(a, b, UINT64_MAX, 0);
                after = shell_output("stat -c %%i %s", b);
                assert_string_equal(inode, after);
                shell("cmp %s %s", a, b);
                mount_close(&m);
        }
}

static void limits_and_a_full_disk_are_told(void **state) {
        char a[128], b[128];
        Mount m;

        if (!mount_open(&m, "tmpfs", false))
                return;
        (void) snprintf(a, sizeof a, "%s/a", m.watch);
        (void) snprintf(b, sizeof b, "%s/b", m.dir);
        shell("head -c 3000000 /dev/zero >%s", a);
        (void) copy_between(a, b, 2999999, -EFBIG);
        shell("mkdir %s/small && mount -t tmpfs -o size=1M small %s/small", m.top, m.top);
        (void) snprintf(b, sizeof b, "%s/small", m.top);
        assert_int_equal(copy_object(m.watch, "a", b, "copy"), -ENOSPC);
        shell("test -z \"$(ls -A %s)\" && umount %s", b, b);
        mount_close(&m);
}

static void a_copy_can_be_cancelled(void **state) {
        const atomic_bool cancel = true;
        _cleanup_close_ int a = memfd_create("a", MFD_CLOEXEC), b = memfd_create("b", MFD_CLOEXEC);
        uint8_t hash[COPY_HASH_SIZE];
        CopyMethod method;

        assert_int_equal(write(a, "abc", 3), 3);
        assert_int_equal(copy_content(a, b, UINT64_MAX, &cancel, &method), -ECANCELED);
        assert_int_equal(copy_hash(a, &cancel, hash), -ECANCELED);
}

static void zeros_and_holes_hash_alike(void **state) {
        _cleanup_close_ int a = memfd_create("a", MFD_CLOEXEC), b = memfd_create("b", MFD_CLOEXEC);
        _cleanup_free_ char *zeros = calloc(1, 300000);
        uint8_t x[COPY_HASH_SIZE], y[COPY_HASH_SIZE];

        assert_non_null(zeros);
        assert_int_equal(write(a, zeros, 300000), 300000);
        assert_int_equal(ftruncate(b, 300000), 0);
        assert_int_equal(copy_hash(a, NULL, x), 0);
        assert_int_equal(copy_hash(b, NULL, y), 0);
        assert_memory_equal(x, y, sizeof x);
        assert_int_equal(pwrite(b, "x", 1, 200000), 1);
        assert_int_equal(copy_hash(b, NULL, y), 0);
        assert_memory_not_equal(x, y, sizeof x);
        assert_int_equal(ftruncate(a, 300001), 0);
        assert_int_equal(copy_hash(a, NULL, y), 0);
        assert_memory_not_equal(x, y, sizeof x);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(copies_on_tmpfs_are_faithful),
                cmocka_unit_test(copies_on_ext4_are_faithful),
                cmocka_unit_test(copies_on_xfs_are_faithful),
                cmocka_unit_test(copies_on_btrfs_to_elsewhere_are_faithful),
                cmocka_unit_test(an_acl_comes_along),
                cmocka_unit_test(xfs_and_btrfs_share_the_data),
                cmocka_unit_test(content_is_replaced_in_place),
                cmocka_unit_test(limits_and_a_full_disk_are_told),
                cmocka_unit_test(a_copy_can_be_cancelled),
                cmocka_unit_test(zeros_and_holes_hash_alike),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
