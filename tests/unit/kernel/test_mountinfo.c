/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "daemon/kernel/mountinfo.h"

static const char sample[] =
        "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
        "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard\n"
        "40 27 0:40 /backups /mnt/nas\\040share rw,nosuid shared:7 master:3 propagate_from:2 - cifs "
        "//nas/backups rw,vers=3.1.1\n"
        "41 27 0:41 / /mnt/a\\134b\\011c\\012d\\043 rw - tmpfs  rw,size=64k\n"
        "42 27 0:42 / /srv rw - fuse.sshfs user@host:/srv rw,user_id=0\n"
        "43 42 0:43 / /srv/music rw - xfs /dev/vdb rw\n"
        "44 43 0:44 / /srv/music rw - tmpfs over rw\n"
        "45 42 0:45 / /srv/mus rw - tmpfs short rw\n"
        "46 27 0:46 / /hidden/below rw - tmpfs below rw\n"
        "47 27 0:47 / /hidden rw - tmpfs above rw\n";

static void parse(const char *s, MountTable *ret) {
        assert_int_equal(mountinfo_parse(s, strlen(s), ret), 0);
}

static void fields_are_read_and_unescaped(void **state) {
        _cleanup_(mount_table_done) MountTable t = {0};
        const Mount *m;

        parse(sample, &t);
        assert_int_equal(t.n, 10);
        m = &t.mounts[2];
        assert_int_equal(m->id, 40);
        assert_int_equal(m->parent_id, 27);
        assert_true(m->dev == makedev(0, 40));
        assert_string_equal(m->root, "/backups");
        assert_string_equal(m->target, "/mnt/nas share");
        assert_string_equal(m->options, "rw,nosuid");
        assert_string_equal(m->fstype, "cifs");
        assert_string_equal(m->source, "//nas/backups");
        assert_string_equal(m->super_options, "rw,vers=3.1.1");
        assert_string_equal(t.mounts[3].target, "/mnt/a\\b\tc\nd#");
        assert_string_equal(t.mounts[3].source, "");
        assert_string_equal(t.mounts[4].fstype, "fuse.sshfs");
}

static void topmost_mount_is_found(void **state) {
        static const struct {
                const char *path;
                int found, covering; /* ids; 0: none */
        } cases[] = {
                {"/", 27, 27},
                {"/etc/passwd", 0, 27},
                {"/proc", 22, 22},
                {"/process", 0, 27},
                {"/mnt/nas share", 40, 40},
                {"/mnt/nas share/a/b", 0, 40},
                {"/srv/music", 44, 44},
                {"/srv/music/x", 0, 44},
                {"/srv/mus", 45, 45},
                {"/srv/musi", 0, 42},
                {"/hidden", 47, 47},
                {"/hidden/below", 0,
                 47}, /* what was mounted there before lies under another mount */
                {"relative", 0, 0},
                {"", 0, 0},
        };
        _cleanup_(mount_table_done) MountTable t = {0};

        parse(sample, &t);
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const Mount *found = mount_table_find(&t, cases[i].path);
                const Mount *covering = mount_table_covering(&t, cases[i].path);

                assert_int_equal(found ? found->id : 0, cases[i].found);
                assert_int_equal(covering ? covering->id : 0, cases[i].covering);
        }
}

static void table_of_a_chroot_has_no_root(void **state) {
        _cleanup_(mount_table_done) MountTable t = {0};

        parse("50 40 0:50 / /data rw - tmpfs a rw\n51 50 0:51 / /data/x rw - tmpfs b rw\n", &t);
        assert_null(mount_table_covering(&t, "/"));
        assert_null(mount_table_covering(&t, "/etc"));
        assert_int_equal(mount_table_covering(&t, "/data/y")->id, 50);
        assert_int_equal(mount_table_find(&t, "/data/x")->id, 51);
}

static void ids_in_a_circle_end(void **state) {
        _cleanup_(mount_table_done) MountTable t = {0};

        parse("1 1 0:1 / / rw - t a rw\n2 3 0:2 / /a rw - t b rw\n3 2 0:3 / /a rw - t c rw\n"
              "4 1 0:4 / /a rw - t d rw\n4 4 0:4 / /a rw - t e rw\n",
              &t);
        assert_non_null(mount_table_covering(&t, "/a/b"));
}

static void garbage_is_refused(void **state) {
        static const char *const bad[] = {
                "\n",
                "22",
                "22 27",
                "x 27 0:21 / /proc rw - proc proc rw",
                "22 -1 0:21 / /proc rw - proc proc rw",
                "22 27 0 / /proc rw - proc proc rw",
                "22 27 0: / /proc rw - proc proc rw",
                "22 27 :1 / /proc rw - proc proc rw",
                "22 27 0:1x / /proc rw - proc proc rw",
                "22 27 0:21 / /proc rw proc proc rw",
                "22 27 0:21 / /proc rw -",
                "22 27 0:21 / /proc rw - proc",
                "22 27 0:21 / /proc rw - proc proc",
                "22 27 0:21 / /pr\\000oc rw - proc proc rw",
                "99999999999 27 0:21 / /proc rw - proc proc rw",
                "22 27 0:21 / /proc rw - proc proc rw\n\n",
        };

        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                MountTable t = {.n = 99};

                assert_int_equal(mountinfo_parse(bad[i], strlen(bad[i]), &t), -EBADMSG);
                assert_int_equal(t.n, 99);
        }
}

static void nothing_is_an_empty_table(void **state) {
        _cleanup_(mount_table_done) MountTable t = {0};

        assert_int_equal(mountinfo_parse("", 0, &t), 0);
        assert_int_equal(t.n, 0);
        assert_null(mount_table_find(&t, "/"));
}

static void backslash_without_three_digits_stays(void **state) {
        _cleanup_(mount_table_done) MountTable t = {0};

        parse("1 0 0:1 / /a\\04 rw - t \\9\\400\\ rw\n", &t);
        assert_string_equal(t.mounts[0].target, "/a\\04");
        assert_string_equal(t.mounts[0].source, "\\9\\400\\");
}

static void own_table_is_read(void **state) {
        _cleanup_(mount_table_done) MountTable t = {0};

        assert_int_equal(mountinfo_read(&t), 0);
        assert_non_null(mount_table_covering(&t, "/proc/self"));
        assert_string_equal(mount_table_covering(&t, "/proc/self")->fstype, "proc");
}

/* In a child with a mount namespace of its own: 0 when the change was told. */
static int child_mounts(void) {
        struct pollfd p = {.events = POLLPRI};
        _cleanup_(mount_table_done) MountTable t = {0};
        const Mount *m;

        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                return 77;
        p.fd = mountinfo_open();
        if (p.fd < 0)
                return 1;
        if (poll(&p, 1, 0) != 0)
                return 2;
        if (mount("mountwatch test", "/tmp", "tmpfs", 0, "size=64k") < 0)
                return 77;
        if (poll(&p, 1, 10000) != 1 || !(p.revents & POLLPRI))
                return 3;
        if (poll(&p, 1, 0) != 0)
                return 4;
        if (mountinfo_read(&t) < 0)
                return 5;
        m = mount_table_find(&t, "/tmp");
        return m && strcmp(m->source, "mountwatch test") == 0 ? 0 : 6;
}

static void change_of_the_table_is_told_once(void **state) {
        pid_t pid = fork();
        int status;

        if (pid == 0)
                _exit(unshare(CLONE_NEWNS) < 0 ? 77 : child_mounts());
        assert_true(pid > 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 77) {
                print_message("cannot mount in a namespace of its own\n");
                skip();
        }
        assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void) {
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(fields_are_read_and_unescaped),
                cmocka_unit_test(topmost_mount_is_found),
                cmocka_unit_test(table_of_a_chroot_has_no_root),
                cmocka_unit_test(ids_in_a_circle_end),
                cmocka_unit_test(garbage_is_refused),
                cmocka_unit_test(nothing_is_an_empty_table),
                cmocka_unit_test(backslash_without_three_digits_stays),
                cmocka_unit_test(own_table_is_read),
                cmocka_unit_test(change_of_the_table_is_told_once),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
