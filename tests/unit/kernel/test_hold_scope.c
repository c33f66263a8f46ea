/* SPDX-License-Identifier: MIT */
/* What is held, under which name, and where nothing is. */
#include "tests/unit/kernel/hold_fixture.h"

#include "daemon/kernel/hold_probe.h"

/* ---- tests: scope ---- */

/* How many marks of directories, and of filesystems, the group has. */
static void count_marks(const HoldFixture *f, unsigned *ret_inodes, unsigned *ret_filesystems) {
        char path[64], line[512];
        FILE *file;

        *ret_inodes = *ret_filesystems = 0;
        (void) snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", f->hold->group);
        file = fopen(path, "re");
        assert_non_null(file);
        while (fgets(line, sizeof(line), file)) {
                *ret_inodes += strncmp(line, "fanotify ino:", strlen("fanotify ino:")) == 0;
                *ret_filesystems += strncmp(line, "fanotify sdev:", strlen("fanotify sdev:")) == 0;
        }
        (void) fclose(file);
}

static int write_beside(void) {
        return opened(open("o/f", O_WRONLY));
}

static void nothing_else_of_the_filesystem_is_held(void **state) {
        HoldFixture *f = held(state, fixture.path, VERB_REFUSE, FOREVER);
        unsigned inodes, filesystems;

        count_marks(f, &inodes, &filesystems);
        assert_int_equal(filesystems, 0);
        assert_int_equal(inodes, 3); /* w, w/sub, w/sub/deep */
        assert_int_equal(as_member(f, write_beside), 0);
        assert_int_equal(f->n_judged, 0);
}

static void mount_is_held_by_one_mark(void **state) {
        HoldFixture *f = held(state, fixture.top, VERB_REFUSE, FOREVER);
        unsigned inodes, filesystems;

        count_marks(f, &inodes, &filesystems);
        assert_int_equal(filesystems, 1);
        assert_int_equal(inodes, 0);
        assert_int_equal(as_member(f, write_beside), EPERM);
}

static void wait_for_marks(const HoldFixture *f, unsigned wanted) {
        unsigned inodes, filesystems;

        for (int i = 0; i < 20000; i++) {
                count_marks(f, &inodes, &filesystems);
                if (inodes == wanted)
                        return;
                (void) usleep(500);
        }
        fail_msg("%u marks, not %u", inodes, wanted);
}

static int write_in_new_directory(void) {
        return opened(open("w/a/b/c/file", O_WRONLY | O_CREAT, 0644));
}

static int write_in_moved_directory(void) {
        return opened(open("w/in/x/y/file", O_WRONLY | O_CREAT, 0644));
}

static int write_in_directory_that_left(void) {
        return opened(open("o/left/deep/file", O_WRONLY | O_CREAT, 0644));
}

static void directory_that_comes_is_held(void **state) {
        HoldFixture *f = held(state, fixture.path, VERB_REFUSE, FOREVER);
        char path[256];

        run("mkdir -p w/a/b/c");
        wait_for_marks(f, 6);
        assert_int_equal(as_member(f, write_in_new_directory), EPERM);
        run("mkdir -p o/x/y && mv o w/in");
        wait_for_marks(f, 9);
        assert_int_equal(as_member(f, write_in_moved_directory), EPERM);
        run("mkdir o && mv w/sub o/left");
        assert_int_equal(as_member(f, write_in_directory_that_left), 0);
        /* Renamed inside: what is made below is found under the new name. */
        run("mv w/in w/renamed && mkdir w/renamed/x/y/z");
        wait_for_marks(f, 10);
        (void) snprintf(path, sizeof(path), "%s/in/x/y/file", f->path);
        (void) fixture_take(f);
        assert_string_equal(fixture_take(f)->access.path, path);
        run("rm -rf w/renamed");
        wait_for_marks(f, 6);
        /* Out, changed there, and in again. */
        run("mv w/a o/a && mkdir o/a/b/c/d && mv o/a w/a");
        wait_for_marks(f, 7);
}

static int write_below(void) {
        return opened(open("w/sub/f", O_RDWR));
}

static int write_side_file(void) {
        return opened(open("w/f-wal", O_WRONLY | O_CREAT, 0644));
}

static int write_neighbour(void) {
        return opened(open("w/fx", O_WRONLY | O_CREAT, 0644));
}

static void file_is_held_with_its_side_files_alone(void **state) {
        char path[256];
        HoldFixture *f;

        (void) snprintf(path, sizeof(path), "%s/f", fixture.path);
        f = held(state, path, VERB_REFUSE, FOREVER);
        assert_int_equal(as_member(f, open_writing), EPERM);
        assert_string_equal(fixture_take(f)->access.path, path);
        assert_int_equal(as_member(f, write_side_file), EPERM);
        (void) strcat(path, "-wal");
        assert_string_equal(fixture_take(f)->access.path, path);
        assert_int_equal(as_member(f, write_neighbour), 0);
        assert_int_equal(as_member(f, write_below), 0);
        assert_int_equal(f->n_judged, 2);
}

/* ---- tests: names ---- */

static int write_through_private_bind_mount(void) {
        if (unshare(CLONE_NEWNS) < 0 || mkdir("o/alt", 0755) < 0 ||
            mount("w/sub", "o/alt", NULL, MS_BIND, NULL) < 0)
                return 254;
        return opened(open("o/alt/f", O_WRONLY));
}

static int write_in_chroot(void) {
        if (chroot("w/sub") < 0)
                return 254;
        return opened(open("/f", O_WRONLY));
}

static int write_in_private_chroot(void) {
        if (unshare(CLONE_NEWNS) < 0 || mkdir("o/root", 0755) < 0 || mkdir("o/root/m", 0755) < 0 ||
            mount("w/sub", "o/root/m", NULL, MS_BIND, NULL) < 0 || chroot("o/root") < 0)
                return 254;
        return opened(open("/m/f", O_WRONLY));
}

/* Unmounted, and still open: no process sees that mount any more. */
static int write_through_detached_mount(void) {
        int dir;

        if (unshare(CLONE_NEWNS) < 0 || mkdir("o/gone", 0755) < 0 ||
            mount("w/sub", "o/gone", NULL, MS_BIND, NULL) < 0)
                return 254;
        dir = open("o/gone", O_RDONLY | O_DIRECTORY);
        if (dir < 0 || umount2("o/gone", MNT_DETACH) < 0)
                return 254;
        return opened(openat(dir, "f", O_WRONLY));
}

static void name_is_that_of_the_watch_from_wherever_it_is_opened(void **state) {
        static const struct {
                act_t act;
                const char *below;
        } cases[] = {
                {write_through_private_bind_mount, "/sub/f"},
                {write_in_chroot, "/sub/f"},
                {write_in_private_chroot, "/sub/f"},
                {write_through_detached_mount, "/?/f"},
        };
        HoldFixture *f = held(state, fixture.path, VERB_REFUSE, FOREVER);

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char path[256];

                (void) snprintf(path, sizeof(path), "%s%s", f->path, cases[i].below);
                assert_int_equal(as_member(f, cases[i].act), EPERM);
                assert_string_equal(fixture_take(f)->access.path, path);
        }
}

/* ---- tests: where opens cannot be held ---- */

static void mount_options_tell_whether_root_is_let_in(void **state) {
        static const struct {
                char type[16], options[64];
                Trust trust;
        } cases[] = {
                {"ext4", "rw", TRUST_YES},
                {"tmpfs", "rw,size=64k", TRUST_YES},
                {"cifs", "rw,vers=3.1.1,uid=0", TRUST_YES},
                {"cifs", "rw,vers=3.1.1,multiuser,uid=0", TRUST_PROVE},
                {"nfs4", "rw,vers=4.2,sec=sys", TRUST_PROVE},
                {"nfs", "rw,vers=3", TRUST_PROVE},
                {"fuse.sshfs", "rw,user_id=1000,group_id=1000", TRUST_NO},
                {"fuse.sshfs", "rw,user_id=1000,group_id=1000,allow_other", TRUST_YES},
                {"fuse.sshfs", "rw,user_id=0,group_id=0", TRUST_YES},
                {"fuse", "rw,user_id=01,group_id=0,allow_others", TRUST_NO},
                {"fuseblk", "rw,user_id=0,group_id=0,allow_other", TRUST_YES},
                {"afs", "rw", TRUST_NO},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                char type[16], options[64];
                const Mount m = {.fstype = memcpy(type, cases[i].type, sizeof(type)),
                                 .super_options =
                                         memcpy(options, cases[i].options, sizeof(options))};
                const char *reason = NULL;

                assert_int_equal(hold_probe_mount(&m, &reason), cases[i].trust);
                assert_true((cases[i].trust == TRUST_NO) == (reason != NULL));
        }
}

static void missing_path_is_told(void **state) {
        HoldFixture *f = *state;
        char reason[256] = "", gone[256];
        struct pollfd p;

        if (!f)
                skip();
        (void) held(state, f->path, VERB_LET, FOREVER);
        (void) snprintf(gone, sizeof(gone), "%s", f->path);
        run("mv w v && rm -rf v");
        p = (struct pollfd){.fd = hold_fd(f->hold), .events = POLLIN};
        assert_true(poll(&p, 1, PATIENCE_MSEC) > 0);
        assert_int_equal(hold_state(f->hold, reason), -ESTALE);
        assert_string_not_equal(reason, "");
}

int main(void) {
#define HELD(f) cmocka_unit_test_setup_teardown(f, mount_tmpfs, unmount)
        static const struct CMUnitTest tests[] = {
                HELD(nothing_else_of_the_filesystem_is_held),
                HELD(mount_is_held_by_one_mark),
                HELD(directory_that_comes_is_held),
                HELD(file_is_held_with_its_side_files_alone),
                HELD(name_is_that_of_the_watch_from_wherever_it_is_opened),
                HELD(missing_path_is_told),
                cmocka_unit_test(mount_options_tell_whether_root_is_let_in),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
