/* SPDX-License-Identifier: MIT */
#include "tests/unit/store/fixture.h"

#include "common/strv.h"

#include <errno.h>

static void image_is_stored_once_with_its_ancestors(void **state) {
        Fixture *f = *state;
        char *cmdline[] = {(char *) "sh", (char *) "-c", (char *) "", (char *) "rm \xff", NULL};
        Program program = {.exe = (char *) "/bin/\xfe",
                           .cmdline = cmdline,
                           .cwd = (char *) "/home/x"};
        Image shell = {.pid = 10,
                       .ppid = 1,
                       .start_ticks = UINT64_MAX / 4,
                       .uid = 1000,
                       .program = &program};
        Image child = {.parent = &shell,
                       .pid = 11,
                       .ppid = 10,
                       .start_ticks = 6,
                       .uid = 1000,
                       .program = &program};
        _cleanup_(process_info_done) ProcessInfo p = {0}, parent = {0};
        int64_t id;

        assert_int_equal(store_put_image(f->store, &child), 0);
        assert_true(child.store_id > 0 && shell.store_id > 0 && shell.store_id != child.store_id);
        id = child.store_id;
        assert_int_equal(store_put_image(f->store, &child), 0);
        assert_int_equal(child.store_id, id);
        fixture_reopen(f);

        assert_int_equal(store_get_process(f->store, id, &p), 0);
        assert_int_equal(p.id, id);
        assert_int_equal(p.parent_id, shell.store_id);
        assert_int_equal(p.pid, 11);
        assert_int_equal(p.ppid, 10);
        assert_int_equal(p.uid, 1000);
        assert_string_equal(p.exe, program.exe);
        assert_string_equal(p.cwd, program.cwd);
        assert_int_equal(strv_length(p.cmdline), 4);
        for (int i = 0; i < 4; i++)
                assert_string_equal(p.cmdline[i], cmdline[i]);
        assert_int_equal(store_get_process(f->store, p.parent_id, &parent), 0);
        assert_int_equal(parent.parent_id, 0);
        assert_true(parent.start_ticks == UINT64_MAX / 4);
}

static void unknown_program_stays_unknown(void **state) {
        Fixture *f = *state;
        Image image = {.pid = 10};
        _cleanup_(process_info_done) ProcessInfo p = {0};

        assert_int_equal(store_put_image(f->store, &image), 0);
        assert_int_equal(store_get_process(f->store, image.store_id, &p), 0);
        assert_null(p.exe);
        assert_null(p.cmdline);
        assert_null(p.cwd);
        assert_int_equal(store_get_process(f->store, image.store_id + 1, &p), -ENOENT);
}

static void numbers_go_on_after_a_restart(void **state) {
        Fixture *f = *state;
        Image a = {.pid = 10}, b = {.pid = 11};

        assert_int_equal(store_put_image(f->store, &a), 0);
        fixture_reopen(f);
        assert_int_equal(store_put_image(f->store, &b), 0);
        assert_true(b.store_id > a.store_id);
}

/* Each child forks the next and exits: the chain of ancestors has no end. */
static void endless_chain_of_forks_is_cut(void **state) {
        Fixture *f = *state;
        Image *chain = calloc(1000, sizeof *chain);
        size_t n = 0;
        int64_t id;

        assert_non_null(chain);
        for (size_t i = 1; i < 1000; i++)
                chain[i].parent = &chain[i - 1];
        assert_int_equal(store_put_image(f->store, &chain[999]), 0);
        for (id = chain[999].store_id; id != 0; n++) {
                _cleanup_(process_info_done) ProcessInfo p = {0};
                assert_int_equal(store_get_process(f->store, id, &p), 0);
                id = p.parent_id;
        }
        assert_int_equal(n, 128);
        free(chain);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                TEST(image_is_stored_once_with_its_ancestors),
                TEST(unknown_program_stays_unknown),
                TEST(numbers_go_on_after_a_restart),
                TEST(endless_chain_of_forks_is_cut),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
