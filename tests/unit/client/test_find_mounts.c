/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "client/find_mounts.h"
#include "fixture.h"

static int find(const char *mountinfo, const char *fstab_text, Findings *f) {
        _cleanup_(mount_table_done) MountTable t = {};
        char fstab[] = "/tmp/mw-fstab.XXXXXX";
        int fd, r;

        r = mountinfo_parse(mountinfo, strlen(mountinfo), &t);
        if (r < 0)
                return r;
        fd = mkstemp(fstab);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, fstab_text, strlen(fstab_text)), (ssize_t) strlen(fstab_text));
        close(fd);
        r = find_mounts(&t, fstab, f);
        unlink(fstab);
        return r;
}

static void network_mounts_are_found_and_others_are_not(void **state) {
        static const char text[] =
                "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
                "21 20 0:20 / /proc rw - proc proc rw\n"
                "30 20 0:30 / /mnt/nas rw,relatime - nfs4 nas:/export rw,vers=4.2\n"
                "31 20 0:31 / /mnt/my\\040share rw - cifs //nas/my\\040share rw\n"
                "32 20 0:32 / /home/ann/remote rw - fuse.sshfs ann@host:/srv rw\n"
                "33 20 0:33 / /mnt/ceph rw shared:7 - ceph 10.0.0.1:/ rw\n"
                "34 20 0:34 / /mnt/host rw - 9p share rw\n"
                "35 20 0:35 / /mnt/read rw - nfs nas:/read ro\n"
                "36 20 0:36 / /mnt/read2 ro - nfs nas:/read2 rw\n"
                "37 20 0:37 / /run/user/1000/gvfs rw - fuse.gvfsd-fuse gvfsd-fuse rw\n"
                "38 20 0:38 / /mnt/pool rw - fuse.mergerfs a:b rw\n"
                "39 20 0:39 / /mnt/hidden rw - nfs nas:/hidden rw\n"
                "40 39 0:40 / /mnt/hidden rw - tmpfs tmpfs rw\n";
        static const struct {
                const char *path, *why;
        } expected[] = {
                {"/mnt/nas", "NFS share nas:/export"},
                {"/mnt/my share", "SMB share //nas/my share"},
                {"/home/ann/remote", "sshfs mount ann@host:/srv"},
                {"/mnt/ceph", "CephFS 10.0.0.1:/"},
                {"/mnt/host", "9p share share"},
        };
        _cleanup_(findings_done) Findings f = {};

        assert_int_equal(find(text, "", &f), 0);
        assert_int_equal(f.n, ELEMENTSOF(expected));
        for (size_t i = 0; i < f.n; i++) {
                assert_string_equal(f.items[i].path, expected[i].path);
                assert_string_equal(f.items[i].why, expected[i].why);
                assert_true(f.items[i].preserve);
        }
}

static void automount_points_are_told_without_a_look(void **state) {
        static const char text[] =
                "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
                "30 20 0:30 / /mnt/nas rw - autofs systemd-1 rw,fd=40,pgrp=1,direct,pipe_ino=1\n"
                "31 20 0:31 / /boot rw - autofs systemd-1 rw,direct\n"
                "32 20 0:32 / /mnt/usb rw - autofs systemd-1 rw,direct\n"
                "33 20 0:33 / /net rw - autofs /etc/auto.net rw,indirect\n"
                "34 20 0:34 / /mnt/direct rw - autofs /etc/auto.direct rw,direct\n"
                "35 20 0:35 / /mnt/there rw - autofs systemd-1 rw,direct\n"
                "36 35 0:36 / /mnt/there rw - nfs4 nas:/there rw\n";
        static const char fstab[] = "# comment\n"
                                    "nas:/export /mnt/nas nfs4 x-systemd.automount,noauto 0 0\n"
                                    "nas:/there /mnt/there nfs4 x-systemd.automount 0 0\n"
                                    "UUID=x /mnt/usb ext4 x-systemd.automount 0 0\n"
                                    "garbage\n";
        _cleanup_(findings_done) Findings f = {};

        assert_int_equal(find(text, fstab, &f), 0);
        assert_int_equal(f.n, 3);
        assert_string_equal(f.items[0].path, "/mnt/nas");
        assert_string_equal(f.items[0].why, "NFS share nas:/export, mounted on demand");
        assert_string_equal(f.items[1].path, "/mnt/direct");
        assert_string_equal(f.items[1].why,
                            "automount point of /etc/auto.direct, mounted on demand");
        assert_string_equal(f.items[2].path, "/mnt/there");
        assert_string_equal(f.items[2].why, "NFS share nas:/there");
}

static void garbage_is_refused_or_harmless(void **state) {
        static const char *const bad[] = {"x", "1 2 3", "20 1 8:1 / / rw ext4 a rw\n",
                                          "20 1 8:1 / /mnt rw - nfs4\n", "\n\n \n"};
        static const char *const odd[] = {
                "30 20 0:30 / relative rw - nfs4 nas:/x rw\n",
                "30 20 0:30 / / rw - nfs4 nas:/root rw\n", /* the root is no watch */
                "30 20 0:30 / /mnt/a\\012[Watch\\040x] rw - nfs4 nas:/x rw\n",
        };

        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                _cleanup_(findings_done) Findings f = {};

                assert_int_equal(find(bad[i], "", &f), -EBADMSG);
                assert_int_equal(f.n, 0);
        }
        for (size_t i = 0; i < ELEMENTSOF(odd); i++) {
                _cleanup_(findings_done) Findings f = {};

                assert_int_equal(find(odd[i], "\xff\xfe garbage \n\n", &f), 0);
                assert_int_equal(f.n, 0);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(network_mounts_are_found_and_others_are_not),
                cmocka_unit_test(automount_points_are_told_without_a_look),
                cmocka_unit_test(garbage_is_refused_or_harmless),
        };

        return cmocka_run_group_tests(tests, fixture_set_up, NULL);
}
