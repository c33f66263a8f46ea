/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/guard_ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

typedef struct Told {
        uint64_t ids[16];
        bool refuse[16];
        size_t n;
} Told;

static void tell(uint64_t notification, bool refuse, void *userdata) {
        Told *t = userdata;

        if (t->n < ELEMENTSOF(t->ids)) {
                t->ids[t->n] = notification;
                t->refuse[t->n] = refuse;
        }
        t->n++;
}

static Told told_before(GuardLedger *l, nsec_t before) {
        Told t = {};

        guard_ledger_foreach(l, before, tell, &t);
        return t;
}

static void both_sides_see_what_is_entered(void **state) {
        _cleanup_(guard_ledger_freep) GuardLedger *client = NULL, *daemon = NULL;
        _cleanup_close_ int fd = -1;
        Told t;

        assert_int_equal(guard_ledger_new(&client, &fd), 0);
        assert_int_equal(guard_ledger_map(fd, &daemon), 0);
        assert_int_equal(guard_ledger_enter(daemon, 7, 100, true), 0);
        assert_int_equal(guard_ledger_enter(daemon, UINT64_MAX, 200, false), 0);
        t = told_before(client, 201);
        assert_int_equal(t.n, 2);
        assert_true(t.ids[0] == 7 && t.refuse[0]);
        assert_true(t.ids[1] == UINT64_MAX && !t.refuse[1]);
        assert_int_equal(guard_ledger_beats(client), 0);
        guard_ledger_beat(daemon);
        assert_int_equal(guard_ledger_beats(client), 1);
        guard_ledger_leave(daemon, 7);
        guard_ledger_leave(daemon, 7);
        t = told_before(client, 201);
        assert_true(t.n == 1 && t.ids[0] == UINT64_MAX);
}

static void only_what_is_older_is_told(void **state) {
        _cleanup_(guard_ledger_freep) GuardLedger *l = NULL;
        _cleanup_close_ int fd = -1;

        assert_int_equal(guard_ledger_new(&l, &fd), 0);
        assert_int_equal(guard_ledger_enter(l, 1, 100, false), 0);
        assert_int_equal(told_before(l, 100).n, 0);
        assert_int_equal(told_before(l, 101).n, 1);
        guard_ledger_renew(l, 1, 500);
        guard_ledger_renew(l, 2, 1);
        assert_int_equal(told_before(l, 500).n, 0);
        assert_int_equal(told_before(l, 501).n, 1);
}

static void a_full_ledger_says_so_and_slots_come_back(void **state) {
        _cleanup_(guard_ledger_freep) GuardLedger *l = NULL;
        _cleanup_close_ int fd = -1;

        assert_int_equal(guard_ledger_new(&l, &fd), 0);
        for (uint64_t i = 0; i < GUARD_LEDGER_SLOTS; i++)
                assert_int_equal(guard_ledger_enter(l, i, 1, false), 0);
        assert_int_equal(guard_ledger_enter(l, 9999, 1, false), -ENOBUFS);
        guard_ledger_leave(l, 1000);
        assert_int_equal(guard_ledger_enter(l, 9999, 1, false), 0);
        assert_int_equal(guard_ledger_enter(l, 10000, 1, false), -ENOBUFS);
        assert_int_equal(told_before(l, UINT64_MAX).n, GUARD_LEDGER_SLOTS);
        for (uint64_t i = 0; i < GUARD_LEDGER_SLOTS; i++)
                guard_ledger_leave(l, i);
        guard_ledger_leave(l, 9999);
        assert_int_equal(told_before(l, UINT64_MAX).n, 0);
}

static void lapses_are_taken_once(void **state) {
        _cleanup_(guard_ledger_freep) GuardLedger *l = NULL;
        _cleanup_close_ int fd = -1;

        assert_int_equal(guard_ledger_new(&l, &fd), 0);
        assert_false(guard_ledger_is_released(l));
        guard_ledger_add_lapse(l);
        guard_ledger_add_lapse(l);
        assert_int_equal(guard_ledger_take_lapses(l), 2);
        guard_ledger_add_lapse(l);
        assert_int_equal(guard_ledger_take_lapses(l), 1);
        assert_int_equal(guard_ledger_take_lapses(l), 0);
        assert_int_equal(guard_ledger_lapses(l), 3);
        guard_ledger_release(l);
        assert_true(guard_ledger_is_released(l));
        assert_false(guard_ledger_wanted_listener(l));
        guard_ledger_note_listener(l);
        assert_true(guard_ledger_wanted_listener(l));
}

/* The memory outlives whoever wrote it. */
static void what_a_killed_process_owed_is_still_told(void **state) {
        _cleanup_(guard_ledger_freep) GuardLedger *l = NULL;
        _cleanup_close_ int fd = -1;
        Told t;
        pid_t pid;

        assert_int_equal(guard_ledger_new(&l, &fd), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                GuardLedger *daemon;

                if (guard_ledger_map(fd, &daemon) == 0)
                        (void) guard_ledger_enter(daemon, 42, 1, true);
                _exit(0);
        }
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        t = told_before(l, UINT64_MAX);
        assert_true(t.n == 1 && t.ids[0] == 42 && t.refuse[0]);
}

static int made(unsigned seals, bool sealable, off_t change, bool scribble) {
        int fd = memfd_create("test", MFD_CLOEXEC | (sealable ? MFD_ALLOW_SEALING : 0));
        _cleanup_(guard_ledger_freep) GuardLedger *l = NULL;
        _cleanup_close_ int good = -1;
        struct stat st;

        assert_int_equal(guard_ledger_new(&l, &good), 0);
        assert_int_equal(fstat(good, &st), 0);
        assert_int_equal(ftruncate(fd, st.st_size + change), 0);
        if (!scribble) {
                char head[64];

                assert_int_equal(pread(good, head, sizeof(head), 0), sizeof(head));
                assert_int_equal(pwrite(fd, head, sizeof(head), 0), sizeof(head));
        }
        if (sealable)
                assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
        return fd;
}

/* What comes from the other side is not believed: a file that shrinks would end the daemon with SIGBUS. */
static void nothing_but_a_sealed_ledger_is_mapped(void **state) {
        const unsigned all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
        const struct {
                unsigned seals;
                bool sealable;
                off_t change;
                bool scribble;
                int r;
        } cases[] = {
                {all, true, 0, false, 0},
                {0, false, 0, false, -EINVAL},
                {F_SEAL_SHRINK, true, 0, false, -EINVAL},
                {all | F_SEAL_WRITE, true, 0, false, -EINVAL},
                {all, true, -1, false, -EINVAL},
                {all, true, 4096, false, -EINVAL},
                {all, true, 0, true, -EINVAL},
        };
        GuardLedger *l = NULL;

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_close_ int fd =
                        made(cases[i].seals, cases[i].sealable, cases[i].change, cases[i].scribble);

                assert_int_equal(guard_ledger_map(fd, &l), cases[i].r);
                l = guard_ledger_free(l);
        }
        assert_int_equal(guard_ledger_map(-1, &l), -EBADF);
        assert_int_equal(guard_ledger_map(STDERR_FILENO, &l), -EINVAL);
        assert_null(guard_ledger_free(NULL));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(both_sides_see_what_is_entered),
                cmocka_unit_test(only_what_is_older_is_told),
                cmocka_unit_test(a_full_ledger_says_so_and_slots_come_back),
                cmocka_unit_test(lapses_are_taken_once),
                cmocka_unit_test(what_a_killed_process_owed_is_still_told),
                cmocka_unit_test(nothing_but_a_sealed_ledger_is_mapped),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
