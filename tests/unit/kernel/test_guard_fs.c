/* SPDX-License-Identifier: MIT */
/* A watch of a directory on filesystems whose devices and paths are not what they seem: subvolumes, layers, big filesystems. */
#include "guard_fixture.h"

#include <sys/syscall.h>

static Fixture fixture;

#define ACTION(name, ...)             \
        static long name(void) {      \
                return (__VA_ARGS__); \
        }

static int open_fd(const char *path, int flags) {
        return (int) syscall(SYS_openat, AT_FDCWD, path, flags, 0666);
}

ACTION(a_unlink, syscall(SYS_unlink, "x/w/f"))
ACTION(a_create, open_fd("x/w/n", O_WRONLY | O_CREAT))
ACTION(a_write, open_fd("x/w/f", O_WRONLY))
ACTION(a_fchmod, syscall(SYS_fchmod, open_fd("x/w/f", O_RDONLY), 0600))
ACTION(a_chown, syscall(SYS_chown, "x/w/d/g", 1, 1))
ACTION(a_rename, syscall(SYS_rename, "x/w/f", "x/w/d/g"))
ACTION(a_rename_in, syscall(SYS_rename, "x/other/f", "x/w/n"))
ACTION(a_rename_out, syscall(SYS_rename, "x/w/d", "x/other/n"))
ACTION(a_beside, syscall(SYS_unlink, "x/other/f"))
ACTION(a_beside_write, open_fd("x/other/f", O_RDWR))
ACTION(a_root, syscall(SYS_chmod, "x/w", 0755))
ACTION(a_rename_root, syscall(SYS_rename, "x/w", "x/moved"))

typedef struct Case {
        fixture_action_t action;
        const char *asked;
} Case;

static const Case common_cases[] = {
        {a_unlink, "delete file x/w/f"},
        {a_create, "create file x/w/n"},
        {a_write, "open file x/w/f"},
        {a_fchmod, "metadata file x/w/f"},
        {a_chown, "metadata file x/w/d/g"},
        {a_rename, "rename file x/w/d/g from x/w/f replaces"},
        {a_rename_in, "rename file x/w/n from x/other/f"},
        {a_rename_out, "rename dir x/w/d to x/other/n leaves"},
        {a_beside, ""},
        {a_beside_write, ""},
        {a_root, "metadata dir x/w"},
        {a_rename_root, "rename dir x/w to x/moved leaves"},
};

static void make_tree(void) {
        run("cd %s/x && mkdir -p w/d other && echo f >w/f && echo g >w/d/g && echo f >other/f",
            fixture.base);
}

static void watch(void) {
        (void) watch_sites_unref(fixture.sites);
        fixture.sites = watch_sites_new();
        assert_non_null(fixture.sites);
        fixture_watch(&fixture, "x/w");
}

/* Nothing is let, so that one tree does for all; what is not asked happens, and is put back. */
static void check(const Case *cases, size_t n) {
        fixture.decision = (Decision){.verb = VERB_REFUSE};
        for (size_t i = 0; i < n; i++) {
                int r;

                make_tree();
                r = fixture_run(&fixture, NULL, cases[i].action);
                assert_string_equal(fixture.asked, cases[i].asked);
                assert_int_equal(r, cases[i].asked[0] ? EPERM : 0);
        }
}

/* On a loop device, at x. False, with the reason told. */
static bool mount_image(const char *type, const char *size, const char *options) {
        char mkfs[32], command[512];

        (void) snprintf(mkfs, sizeof(mkfs), "mkfs.%s", type);
        if (!have(mkfs)) {
                print_message("skipped: no %s\n", mkfs);
                return false;
        }
        (void) snprintf(
                command, sizeof(command),
                "cd %s && mkdir x && truncate -s %s o/image && %s %s o/image >/dev/null 2>&1 && "
                "mount -o loop o/image x 2>/dev/null",
                fixture.base, size, mkfs, options);
        if (system(command) == 0)
                return true;
        print_message("skipped: %s cannot be mounted on a loop device here\n", type);
        run("cd %s && rm -rf x o/image", fixture.base);
        return false;
}

static void unmount_image(void) {
        run("cd %s && umount x && rmdir x && rm -f o/image", fixture.base);
}

static void ext4_is_told(void **state) {
        if (!mount_image("ext4", "32M", "-q"))
                skip();
        make_tree();
        watch();
        check(common_cases, ELEMENTSOF(common_cases));
        unmount_image();
}

static void xfs_is_told(void **state) {
        if (!mount_image("xfs", "320M", "-q"))
                skip();
        make_tree();
        watch();
        check(common_cases, ELEMENTSOF(common_cases));
        unmount_image();
}

ACTION(a_in_subvolume, syscall(SYS_unlink, "x/w/sub/f"))
ACTION(a_fchmod_in_subvolume, syscall(SYS_fchmod, open_fd("x/w/sub/f", O_RDONLY), 0600))
ACTION(a_other_subvolume, open_fd("x/osub/f", O_RDWR))
ACTION(a_between_subvolumes, syscall(SYS_rename, "x/osub/f", "x/w/sub/n"))
ACTION(a_by_other_mount, syscall(SYS_unlink, "y/f"))

/* Each subvolume has a device number of its own to stat(2), which is none of those in mountinfo. */
static void btrfs_is_told_with_its_subvolumes(void **state) {
        static const Case cases[] = {
                {a_in_subvolume, "delete file x/w/sub/f"},
                {a_fchmod_in_subvolume, "metadata file x/w/sub/f"},
                {a_other_subvolume, ""},
                {a_between_subvolumes, "rename file x/w/sub/n from x/osub/f"},
                {a_by_other_mount, "delete file x/w/sub/f"},
        };

        if (!have("btrfs") || !mount_image("btrfs", "128M", "-q"))
                skip();
        make_tree();
        run("cd %s && btrfs -q subvolume create x/w/sub && btrfs -q subvolume create x/osub && echo f >x/w/sub/f && "
            "echo f >x/osub/f && mkdir y && mount -o subvol=w/sub $(findmnt -no SOURCE $PWD/x) y",
            fixture.base);
        watch();
        check(common_cases, ELEMENTSOF(common_cases));
        check(cases, ELEMENTSOF(cases));
        run("cd %s && umount y && rmdir y", fixture.base);
        unmount_image();
}

/* Files of a lower layer have that layer's device until they are written. */
static void overlay_is_told(void **state) {
        char command[512];

        (void) snprintf(
                command, sizeof(command),
                "cd %s && mkdir -p o/lower/w/d o/lower/other o/upper o/work x && echo f >o/lower/w/f && "
                "echo g >o/lower/w/d/g && echo f >o/lower/other/f && mount -t overlay overlay -o "
                "lowerdir=o/lower,upperdir=o/upper,workdir=o/work x 2>/dev/null",
                fixture.base);
        if (system(command) != 0) {
                print_message("skipped: no overlayfs\n");
                skip();
        }
        watch();
        fixture.decision = (Decision){.verb = VERB_REFUSE};
        for (size_t i = 0; i < ELEMENTSOF(common_cases); i++) {
                /* EXDEV: directories of a lower layer are copied by hand */
                if (common_cases[i].action == a_rename_out ||
                    common_cases[i].action == a_rename_root)
                        continue;
                assert_int_equal(fixture_run(&fixture, NULL, common_cases[i].action),
                                 common_cases[i].asked[0] ? EPERM : 0);
                assert_string_equal(fixture.asked, common_cases[i].asked);
                run("cd %s && [ -e x/other/f ] || echo f >x/other/f", fixture.base);
        }
        run("cd %s && umount x && rmdir x", fixture.base);
}

static int set_up(void **state) {
        fixture_init(&fixture);
        return 0;
}

static int tear_down(void **state) {
        fixture_done(&fixture);
        return 0;
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(ext4_is_told),
                cmocka_unit_test(xfs_is_told),
                cmocka_unit_test(btrfs_is_told_with_its_subvolumes),
                cmocka_unit_test(overlay_is_told),
        };

        if (!scratch_can_mount())
                return 77;
        return cmocka_run_group_tests(tests, set_up, tear_down);
}
