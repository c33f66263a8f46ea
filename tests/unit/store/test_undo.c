/* SPDX-License-Identifier: MIT */
#include "tests/unit/store/scene.h"

static void make_tree(const Scene *s) {
        shell("cd %s && mkdir -p snap/2026-01 snap/2026-02 d/e/f && "
              "head -c 200000 /dev/urandom >snap/2026-01/data && truncate -s 3M snap/2026-02/sparse && "
              "printf two >snap/2026-02/two && ln -s ../2026-01/data snap/2026-02/link && "
              "printf one >a && printf bee >b && printf cee >c && printf deep >d/e/f/deep && "
              "printf linked >l1 && ln l1 l2 && ln l1 l3 && mkfifo pipe && chmod 640 a && chown 11:22 b && "
              "find . -exec touch -h -d '2020-02-03 04:05:06.789' {} +",
              s->m.watch);
}

static void delete_tree(Scene *s) {
        do_delete(s, "snap/2026-01/data");
        do_delete(s, "snap/2026-01");
        do_delete(s, "snap/2026-02/sparse");
        do_delete(s, "snap/2026-02/two");
        do_delete(s, "snap/2026-02/link");
        do_delete(s, "snap/2026-02");
        do_delete(s, "snap");
}

/* A bit of everything, in an order that makes names lead to one object after the other. */
static void play(Scene *s) {
        do_create(s, "new", "echo x >new");
        do_change(s, OP_MODIFY, "a", "printf changed-and-longer >>a");
        do_change(s, OP_MODIFY, "a", ": >a");
        do_change(s, OP_METADATA, "b", "chmod 777 b");
        do_change(s, OP_METADATA, "b", "touch b");
        delete_tree(s);
        do_create(s, "snap", "mkdir snap");
        do_create(s, "snap/2026-03", "mkdir snap/2026-03");
        do_create(s, "snap/2026-03/fake", "echo fake >snap/2026-03/fake");
        do_rename(s, "b", "b2");
        do_create(s, "b", "echo another >b");
        do_change(s, OP_MODIFY, "b2", "echo more >>b2");
        do_create(s, "tmp", "echo save >tmp");
        do_rename(s, "tmp", "c");
        do_exchange(s, "d", "l1");
        do_change(s, OP_MODIFY, "l1/e/f/deep", "echo shallow >l1/e/f/deep");
        do_rename(s, "l1/e", "e");
        do_create(s, "e/f/made", "echo made >e/f/made");
        do_delete(s, "l2");
        do_delete(s, "l3");
        do_delete(s, "pipe");
        do_create(s, "gone", "echo x >gone");
        do_delete(s, "gone");
}

static void check_play(const char *type, bool same) {
        _cleanup_free_ char *before = NULL, *left = NULL;
        Outcome o = {}, again = {};
        Scene s;

        if (!scene_open(&s, type, same))
                return;
        make_tree(&s);
        before = tree_text(s.m.watch);
        scene_start(&s, 1);
        play(&s);
        scene_stop(&s);
        undo_all(&s, &o);
        assert_int_equal(o.r, 0);
        assert_tree(&s.m, s.m.watch, before);
        assert_int_equal(o.states[UNDO_FAILED] + o.states[UNDO_REFUSED] + o.states[UNDO_IMPOSSIBLE],
                         0);

        /* a second time there is nothing to do */
        undo_all(&s, &again);
        assert_int_equal(again.states[UNDO_DONE] + again.states[UNDO_NOTHING],
                         o.states[UNDO_DONE] + o.states[UNDO_NOTHING]);
        assert_tree(&s.m, s.m.watch, before);

        left = shell_output("cd %s/quarantine/* && cat $(find . -type f) | sort", s.m.state);
        assert_string_equal(left, "another\nfake\nmade\nsave\nx\n");
        scene_close(&s);
}

static void everything_is_as_before_on_tmpfs(void **state) {
        check_play("tmpfs", false);
}

static void everything_is_as_before_on_ext4(void **state) {
        check_play("ext4", true);
}

static void everything_is_as_before_on_xfs(void **state) {
        check_play("xfs", true);
}

static void everything_is_as_before_on_btrfs(void **state) {
        check_play("btrfs", false);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(everything_is_as_before_on_tmpfs),
                cmocka_unit_test(everything_is_as_before_on_ext4),
                cmocka_unit_test(everything_is_as_before_on_xfs),
                cmocka_unit_test(everything_is_as_before_on_btrfs),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
