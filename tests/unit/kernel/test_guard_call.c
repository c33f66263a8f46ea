/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/kernel/guard_call.h"
#include "daemon/kernel/guard_caller.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static CallTable table;

static int decode(uint32_t arch, int nr, const uint64_t args[static 6], GuardCall *ret) {
        struct seccomp_data data = {.arch = arch, .nr = nr};

        memcpy(data.args, args, sizeof(data.args));
        return guard_call_decode(&table, &data, ret);
}

#define FD(n) ((uint64_t) (uint32_t) (n))
#define DIRTY 0xdeadbeef00000000ULL

typedef struct Case {
        const char *name;
        uint32_t arch;
        int nr;
        uint64_t args[6];
        CallKind kind;
        CallPath path[2];
        unsigned flags;
        mode_t mode;
        bool removes_directory;
} Case;

#ifdef __x86_64__
#define X86 AUDIT_ARCH_X86_64
#define I386 AUDIT_ARCH_I386
#define X32 0x40000000

static const Case cases[] = {
        {"unlink", X86, SYS_unlink, {0x1000}, CALL_KIND_DELETE, {{AT_FDCWD, .address = 0x1000}}},
        {"unlinkat",
         X86,
         SYS_unlinkat,
         {DIRTY | 5, 0x1000, AT_REMOVEDIR},
         CALL_KIND_DELETE,
         {{5, .address = 0x1000}},
         AT_REMOVEDIR,
         .removes_directory = true},
        {"rmdir",
         X86,
         SYS_rmdir,
         {0x1000},
         CALL_KIND_DELETE,
         {{AT_FDCWD, .address = 0x1000}},
         .removes_directory = true},
        {"open",
         X86,
         SYS_open,
         {0x1000, O_RDWR},
         CALL_KIND_OPEN,
         {{AT_FDCWD, .address = 0x1000, .follow = true}},
         O_RDWR},
        {"open nofollow",
         X86,
         SYS_open,
         {0x1000, O_RDWR | O_NOFOLLOW},
         CALL_KIND_OPEN,
         {{AT_FDCWD, .address = 0x1000}},
         O_RDWR | O_NOFOLLOW},
        {"open excl",
         X86,
         SYS_openat,
         {FD(3), 0x1000, O_CREAT | O_EXCL},
         CALL_KIND_OPEN,
         {{3, .address = 0x1000}},
         O_CREAT | O_EXCL},
        {"creat",
         X86,
         SYS_creat,
         {0x1000, 0666},
         CALL_KIND_OPEN,
         {{AT_FDCWD, .address = 0x1000, .follow = true}},
         O_CREAT | O_WRONLY | O_TRUNC},
        {"renameat2",
         X86,
         SYS_renameat2,
         {FD(-100), 0x1000, FD(7), 0x2000, RENAME_NOREPLACE},
         CALL_KIND_RENAME,
         {{AT_FDCWD, .address = 0x1000}, {7, .address = 0x2000}},
         RENAME_NOREPLACE},
        {"mknod",
         X86,
         SYS_mknod,
         {0x1000, 0644},
         CALL_KIND_MAKE,
         {{AT_FDCWD, .address = 0x1000}},
         .mode = S_IFREG},
        {"mkdirat",
         X86,
         SYS_mkdirat,
         {FD(3), 0x1000, 0755},
         CALL_KIND_MAKE,
         {{3, .address = 0x1000}},
         .mode = S_IFDIR},
        {"linkat",
         X86,
         SYS_linkat,
         {FD(3), 0x1000, FD(4), 0x2000, AT_SYMLINK_FOLLOW},
         CALL_KIND_LINK,
         {{3, .address = 0x1000, .follow = true}, {4, .address = 0x2000}},
         AT_SYMLINK_FOLLOW},
        {"linkat empty",
         X86,
         SYS_linkat,
         {FD(3), 0, FD(4), 0x2000, AT_EMPTY_PATH},
         CALL_KIND_LINK,
         {{3, .by_fd = true, .may_be_empty = true}, {4, .address = 0x2000}},
         AT_EMPTY_PATH},
        {"symlinkat",
         X86,
         SYS_symlinkat,
         {0x1000, FD(4), 0x2000},
         CALL_KIND_SYMLINK,
         {{4, .address = 0x2000}}},
        {"fchmod",
         X86,
         SYS_fchmod,
         {FD(9), 0600},
         CALL_KIND_METADATA,
         {{9, .by_fd = true, .follow = true}}},
        {"fchownat",
         X86,
         SYS_fchownat,
         {FD(3), 0x1000, 0, 0, AT_SYMLINK_NOFOLLOW},
         CALL_KIND_METADATA,
         {{3, .address = 0x1000}},
         AT_SYMLINK_NOFOLLOW},
        {"futimens",
         X86,
         SYS_utimensat,
         {FD(3), 0, 0x1000, 0},
         CALL_KIND_METADATA,
         {{3, .by_fd = true, .follow = true}}},
        {"setxattrat",
         X86,
         463,
         {FD(3), 0x1000, AT_EMPTY_PATH},
         CALL_KIND_METADATA,
         {{3, .address = 0x1000, .follow = true, .may_be_empty = true}},
         AT_EMPTY_PATH},
        {"fchmodat2",
         X86,
         452,
         {FD(3), 0x1000, 0600, AT_SYMLINK_NOFOLLOW},
         CALL_KIND_METADATA,
         {{3, .address = 0x1000}},
         AT_SYMLINK_NOFOLLOW},
        {"i386 unlink", I386, 10, {0x1000}, CALL_KIND_DELETE, {{AT_FDCWD, .address = 0x1000}}},
        {"i386 openat",
         I386,
         295,
         {FD(-100), 0x1000, O_WRONLY},
         CALL_KIND_OPEN,
         {{AT_FDCWD, .address = 0x1000, .follow = true}},
         O_WRONLY},
        {"i386 chown32",
         I386,
         212,
         {0x1000},
         CALL_KIND_METADATA,
         {{AT_FDCWD, .address = 0x1000, .follow = true}}},
        {"i386 truncate64",
         I386,
         193,
         {0x1000},
         CALL_KIND_TRUNCATE,
         {{AT_FDCWD, .address = 0x1000, .follow = true}}},
        {"i386 fchmodat2",
         I386,
         452,
         {FD(3), 0x1000, 0600, 0},
         CALL_KIND_METADATA,
         {{3, .address = 0x1000, .follow = true}}},
        {"x32 unlink", X86, X32 | 87, {0x1000}, CALL_KIND_DELETE, {{AT_FDCWD, .address = 0x1000}}},
        {"x32 setxattrat",
         X86,
         X32 | 463,
         {FD(3), 0x1000, 0},
         CALL_KIND_METADATA,
         {{3, .address = 0x1000, .follow = true}}},
};

static const struct {
        uint32_t arch;
        int nr;
} others[] = {
        {X86, SYS_read},
        {X86, SYS_ftruncate},
        {X86, -1},
        {X86, 100000},
        {X86, 511},
        {I386, 4},
        {I386, X32 | 10},
        {X86, X32 | 1},
        {0, 87},
        {AUDIT_ARCH_ARM, 10},
        {X86, INT32_MIN + 87},
        {I386, 87},
};
#else
#define OWN guarded_archs[0].audit
static const Case cases[] = {
        {"unlinkat",
         0,
         SYS_unlinkat,
         {DIRTY | 5, 0x1000, AT_REMOVEDIR},
         CALL_KIND_DELETE,
         {{5, .address = 0x1000}},
         AT_REMOVEDIR,
         .removes_directory = true},
        {"fchmod",
         0,
         SYS_fchmod,
         {FD(9), 0600},
         CALL_KIND_METADATA,
         {{9, .by_fd = true, .follow = true}}},
};

static const struct {
        uint32_t arch;
        int nr;
} others[] = {{1, SYS_unlinkat}};
#endif

static bool same_path(const CallPath *a, const CallPath *b) {
        return a->dirfd == b->dirfd && a->by_fd == b->by_fd && a->address == b->address &&
                a->follow == b->follow && a->may_be_empty == b->may_be_empty;
}

static void calls_are_decoded(void **state) {
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const Case *c = &cases[i];
                GuardCall call;

                print_message("%s\n", c->name);
                assert_int_equal(decode(c->arch ? c->arch : guarded_archs[0].audit, c->nr, c->args,
                                        &call),
                                 0);
                assert_int_equal(call.kind, c->kind);
                assert_true(same_path(&call.path[0], &c->path[0]));
                assert_int_equal(call.n_paths, c->path[1].address ? 2 : 1);
                assert_true(call.n_paths == 1 || same_path(&call.path[1], &c->path[1]));
                assert_int_equal(call.flags, c->flags);
                assert_int_equal(call.mode, c->mode);
                assert_int_equal(call.removes_directory, c->removes_directory);
        }
}

static void other_calls_are_not_ours(void **state) {
        static const uint64_t args[6];
        GuardCall call;

        for (size_t i = 0; i < ELEMENTSOF(others); i++)
                assert_int_equal(decode(others[i].arch, others[i].nr, args, &call), -ENOENT);
}

/* What the filter sends is what the decoder knows: from one list. Calls that an architecture lacks have no number there. */
static void every_number_is_decoded_as_its_call(void **state) {
        static const uint64_t args[6];

        for (size_t a = 0; a < guarded_arch_count(); a++) {
                unsigned n = 0;

                for (int id = 0; id < _CALL_MAX; id++) {
                        int nr = guarded_call_number((GuardedCallId) id, &guarded_archs[a]);
                        GuardCall call;

                        if (nr < 0)
                                continue;
                        n++;
                        assert_int_equal(decode(guarded_archs[a].audit, nr, args, &call), 0);
                        assert_int_equal(call.id, id);
                }
                assert_true(n >= 25);
        }
}

static void the_struct_of_openat2_is_read_in_all_its_sizes(void **state) {
        struct {
                struct open_how how;
                char more[8];
        } s = {.how = {.flags = O_RDWR | O_CREAT, .resolve = RESOLVE_IN_ROOT}};
        GuardCall c = {.path[0].follow = true};

        assert_int_equal(guard_call_set_how(&c, &s, sizeof(s.how) - 1), -EINVAL);
        assert_int_equal(guard_call_set_how(&c, &s, 0), -EINVAL);
        assert_int_equal(guard_call_set_how(&c, &s, sizeof(s.how)), 0);
        assert_int_equal(c.flags, O_RDWR | O_CREAT);
        assert_int_equal(c.resolve, RESOLVE_IN_ROOT);
        assert_true(c.path[0].follow);
        assert_int_equal(guard_call_set_how(&c, &s, sizeof(s)), 0);
        s.more[7] = 1;
        assert_int_equal(guard_call_set_how(&c, &s, sizeof(s)), -E2BIG);
        s.how.flags = 1ULL << 40;
        assert_int_equal(guard_call_set_how(&c, &s, sizeof(s.how)), -EINVAL);
        s.how.flags = O_WRONLY | O_NOFOLLOW;
        assert_int_equal(guard_call_set_how(&c, &s, sizeof(s.how)), 0);
        assert_false(c.path[0].follow);
}

static void opens_that_only_read_are_told_from_others(void **state) {
        static const struct {
                unsigned flags;
                bool may_write;
        } flags[] = {
                {O_RDONLY, false},
                {O_WRONLY, true},
                {O_RDWR, true},
                {O_RDONLY | O_CREAT, true},
                {O_RDONLY | O_TRUNC, true},
                {O_PATH | O_RDWR, false},
                {O_ACCMODE, true},
                {O_RDONLY | O_DIRECTORY, false},
        };

        for (size_t i = 0; i < ELEMENTSOF(flags); i++) {
                const GuardCall c = {.flags = flags[i].flags};

                assert_int_equal(guard_call_may_write(&c), flags[i].may_write);
        }
}

static void status_of_a_caller_is_read(void **state) {
        static const char data[] =
                "Name:\tTgid:\t7\nUmask:\t0022\nState:\tD (disk sleep)\nTgid:\t4711\nNgid:\t0\n"
                "Pid:\t4712\nSigQ:\t1/100\nSigPnd:\t0000000000000002\nShdPnd:\t0000000000004200\n"
                "SigBlk:\t0000000000000200\nSigIgn:\t0000000000000000\n";
        CallerStatus s;

        assert_int_equal(caller_parse_status(data, sizeof(data) - 1, &s), 0);
        assert_int_equal(s.pid, 4711);
        assert_true(s.pending == ((1ULL << (SIGINT - 1)) | (1ULL << (SIGTERM - 1))));
        assert_true(caller_is_called_off(&s));
        s.pending = 1ULL << (SIGALRM - 1);
        assert_false(caller_is_called_off(&s));
        for (size_t n = 0; n < 140; n++)
                assert_int_equal(caller_parse_status(data, n, &s), -EBADMSG);
        assert_int_equal(caller_parse_status("\nTgid:\tx\n", 9, &s), -EBADMSG);
}

static void rights_of_a_caller_are_read(void **state) {
        static const char data[] =
                "Name:\tx\nTgid:\t1\nUid:\t1000\t0\t0\t1001\nGid:\t1\t2\t3\t4\nFDSize:\t64\n"
                "Groups:\t4 24 4294967294 \nCapEff:\t0000000000000002\n";
        static const char none[] =
                "Name:\tx\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t \nCapEff:\t0\n";
        CallerRights r;

        assert_int_equal(caller_parse_rights(data, sizeof(data) - 1, &r), 0);
        assert_int_equal(r.uid, 1001);
        assert_int_equal(r.gid, 4);
        assert_true(r.overrides);
        assert_int_equal(r.n_groups, 3);
        assert_true(r.groups[0] == 4 && r.groups[1] == 24 && r.groups[2] == 4294967294U);
        caller_rights_done(&r);
        assert_int_equal(caller_parse_rights(none, sizeof(none) - 1, &r), 0);
        assert_true(r.uid == 0 && r.n_groups == 0 && !r.overrides);
        caller_rights_done(&r);
        for (size_t n = 0; n < sizeof(data) - 20; n++)
                assert_int_equal(caller_parse_rights(data, n, &r), -EBADMSG);
}

static int set_up(void **state) {
        call_table_init(&table);
        return 0;
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(calls_are_decoded),
                cmocka_unit_test(other_calls_are_not_ours),
                cmocka_unit_test(every_number_is_decoded_as_its_call),
                cmocka_unit_test(the_struct_of_openat2_is_read_in_all_its_sizes),
                cmocka_unit_test(opens_that_only_read_are_told_from_others),
                cmocka_unit_test(status_of_a_caller_is_read),
                cmocka_unit_test(rights_of_a_caller_are_read),
        };

        return cmocka_run_group_tests(tests, set_up, NULL);
}
