/* SPDX-License-Identifier: MIT */
/* The same on filesystems of all kinds, and processes that serve one. */
#include "tests/unit/kernel/hold_fixture.h"

static bool have_fuse(void) {
        if (have("bindfs") && access("/dev/fuse", R_OK | W_OK) == 0)
                return true;
        print_message("skipped: no bindfs, or no /dev/fuse\n");
        return false;
}

static int create(void) {
        return opened(open("w/new", O_WRONLY | O_CREAT, 0644));
}

static int create_exclusively(void) {
        return opened(open("w/new", O_WRONLY | O_CREAT | O_EXCL, 0644));
}

static int write_new(void) {
        int fd = open("w/theirs", O_WRONLY | O_CREAT, 0644);

        if (fd < 0 || write(fd, "x", 1) != 1 || close(fd) < 0)
                return errno;
        return unlink("w/theirs") < 0 ? errno : 0;
}

static void assert_goes_away(const char *path) {
        for (int i = 0; access(path, F_OK) == 0; i++) {
                if (i == PATIENCE_MSEC)
                        fail_msg("'%s' stays", path);
                (void) usleep(1000);
        }
}

static void expect_the_usual(HoldFixture *f) {
        assert_int_equal(as_member(f, open_writing), EPERM);
        assert_int_equal(fixture_take(f)->access.type, ACCESS_OPEN);
        assert_int_equal(as_member(f, create_exclusively), EPERM);
        assert_int_equal(fixture_take(f)->access.type, ACCESS_CREATE);
        assert_goes_away("w/new");
        assert_int_equal(as_bystander(f, write_new), 0);
        assert_int_equal(hold_take_lapses(f->hold), 0);
}

static void on_disk(const char *type) {
        HoldFixture *f = &fixture;
        char mkfs[32];

        (void) snprintf(mkfs, sizeof(mkfs), "mkfs.%s", type);
        if (!have(mkfs)) {
                print_message("skipped: no %s\n", mkfs);
                skip();
        }
        if (!fixture_mount(f, type))
                skip();
        f->verb = VERB_REFUSE;
        for (int whole = 0; whole < 2; whole++) {
                assert_int_equal(fixture_start(f, whole ? f->top : f->path, FOREVER), 1);
                expect_the_usual(f);
                assert_int_equal(as_member(f, create), EPERM);
                assert_int_equal(fixture_take(f)->access.type, ACCESS_CREATE);
                assert_goes_away("w/new");
                fixture_stop(f);
        }
        fixture_done(f);
}

static void on_ext4(void **state) {
        on_disk("ext4");
}

static void on_btrfs(void **state) {
        on_disk("btrfs");
}

static void on_xfs(void **state) {
        on_disk("xfs");
}

static void on_overlayfs(void **state) {
        HoldFixture *f = &fixture;

        if (!fixture_mount(f, "tmpfs"))
                skip();
        run("mkdir lower upper work && echo old >lower/f");
        if (mount("test", "w", "overlay", 0, "lowerdir=lower,upperdir=upper,workdir=work") < 0) {
                print_message("skipped: no overlayfs: %s\n", strerror(errno));
                fixture_done(f);
                skip();
        }
        f->verb = VERB_REFUSE;
        assert_int_equal(fixture_start(f, f->path, FOREVER), 1);
        expect_the_usual(f);
        fixture_stop(f);
        assert_int_equal(umount("w"), 0);
        fixture_done(f);
}

/* Mounted by root, which bindfs lets everyone use. */
static void on_fuse(void **state) {
        HoldFixture *f = &fixture;

        if (!have_fuse() || !fixture_mount(f, "tmpfs"))
                skip();
        run("mkdir source && echo old >source/f && rm -r w && mkdir w && bindfs source w");
        f->verb = VERB_REFUSE;
        assert_int_equal(fixture_start(f, f->path, FOREVER), 1);
        expect_the_usual(f);
        fixture_stop(f);
        run("umount w");
        fixture_done(f);
}

static int serve(void) {
        (void) execlp("bindfs", "bindfs", "-f", "w", "o", NULL);
        return errno;
}

static int write_through_server(void) {
        return opened(open("o/f", O_WRONLY));
}

/* Whoever uses what it serves would wait for it, or be refused in its place. */
static void server_of_a_mount_is_let(void **state) {
        HoldFixture *f = &fixture;
        pid_t server;

        if (!have_fuse() || !fixture_mount(f, "tmpfs"))
                skip();
        run("rm -r o && mkdir o");
        f->verb = VERB_REFUSE;
        assert_int_equal(fixture_start(f, f->path, FOREVER), 1);
        server = child_start(f, true, serve);
        for (int i = 0; access("o/sub", F_OK) < 0; i++) {
                if (i == PATIENCE_MSEC)
                        fail_msg("bindfs does not serve");
                (void) usleep(1000);
        }
        assert_int_equal(as_bystander(f, write_through_server), 0);
        assert_int_equal(as_member(f, open_writing), EPERM);
        run("umount o");
        (void) waitpid(server, NULL, 0);
        fixture_done(f);
}

int main(void) {
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(on_ext4), cmocka_unit_test(on_btrfs),
                cmocka_unit_test(on_xfs),  cmocka_unit_test(on_overlayfs),
                cmocka_unit_test(on_fuse), cmocka_unit_test(server_of_a_mount_is_let),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
