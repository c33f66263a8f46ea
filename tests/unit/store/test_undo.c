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

static unsigned finished(const Outcome *o) {
        return o->states[UNDO_DONE] + o->states[UNDO_NOTHING];
}

static unsigned problems(const Outcome *o) {
        return o->states[UNDO_FAILED] + o->states[UNDO_REFUSED] + o->states[UNDO_IMPOSSIBLE];
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
        assert_int_equal(finished(&again), finished(&o));
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

/* Stopped after k steps, with or without the store knowing of them, the next run brings it to its end. Returns false when there
 * are no k steps. */
static bool check_interruption(unsigned k, bool quiet) {
        _cleanup_free_ char *before = NULL;
        Outcome first = {.stop_after = k, .quiet = quiet}, second = {};
        Scene s;
        bool stopped;

        assert_true(scene_open(&s, "tmpfs", k % 2 == 0));
        make_tree(&s);
        before = tree_text(s.m.watch);
        scene_start(&s, 1);
        play(&s);
        scene_stop(&s);
        undo_paths(&s, NULL, false, false, &first);
        stopped = first.r == -ECANCELED;
        undo_all(&s, &second);
        assert_int_equal(second.r, 0);
        assert_int_equal(problems(&second), 0);
        assert_tree(&s.m, s.m.watch, before);
        scene_close(&s);
        return stopped;
}

static void an_interrupted_undo_goes_on(void **state) {
        Mount probe;
        unsigned k = 1;

        if (!mount_open(&probe, "tmpfs", false))
                skip();
        mount_close(&probe);
        while (check_interruption(k, k % 3 != 0))
                k++;
        assert_true(k > 20);
}

static void a_dry_run_changes_nothing(void **state) {
        _cleanup_free_ char *before = NULL;
        Outcome o = {};
        Scene s;

        if (!scene_open(&s, "tmpfs", false))
                skip();
        make_tree(&s);
        scene_start(&s, 1);
        play(&s);
        scene_stop(&s);
        before = tree_text(s.m.watch);
        undo_paths(&s, NULL, /* dry_run= */ true, false, &o);
        assert_int_equal(o.r, 0);
        assert_tree(&s.m, s.m.watch, before);
        assert_true(o.states[UNDO_PENDING] > 15);
        if (problems(&o) > 0)
                print_message("%s", o.text);
        assert_int_equal(o.states[UNDO_DONE] + problems(&o), 0);
        shell("test ! -e %s/quarantine", s.m.state);
        scene_close(&s);
}

static void a_change_by_somebody_else_is_not_overwritten(void **state) {
        for (int told = 0; told < 2; told++) {
                Outcome o = {}, forced = {};
                Scene s;

                if (!scene_open(&s, "tmpfs", false))
                        skip();
                make_tree(&s);
                scene_start(&s, 1);
                do_change(&s, OP_MODIFY, "a", "echo session >a");
                do_change(&s, OP_MODIFY, "c", "echo session >c");
                do_create(&s, "made", "mkdir made");
                do_create(&s, "made/x", "echo x >made/x");
                scene_stop(&s);
                do_foreign(&s, OP_MODIFY, "a", "echo theirs >a", told);
                do_foreign(&s, OP_CREATE, "made/theirs", "echo theirs >made/theirs", told);

                undo_paths(&s, NULL, false, false, &o);
                assert_int_equal(o.states[UNDO_REFUSED], 2);
                assert_non_null(strstr(o.text,
                                       told ? "changed by somebody else since"
                                            : "changed by somebody else at"));
                assert_non_null(strstr(o.text, "'theirs' in it is somebody else's"));
                shell("cd %s && grep -q theirs a && grep -q theirs made/theirs && test \"$(cat c)\" = cee",
                      s.m.watch);

                undo_paths(&s, NULL, false, /* force= */ true, &forced);
                assert_int_equal(problems(&forced), 0);
                shell("cd %s && test \"$(cat a)\" = one && test ! -e made", s.m.watch);
                scene_close(&s);
        }
}

/* As on a share: times are compared by the clock of the server. */
static void a_change_on_a_fuse_mount_is_not_overwritten(void **state) {
        _cleanup_free_ char *have = shell_output("command -v bindfs"), *before = NULL;
        Outcome o = {}, again = {};
        Scene s;

        if (!have[0]) {
                print_message("skipped: no bindfs\n");
                skip();
        }
        if (!scene_open(&s, "ext4", false))
                skip();
        shell("mkdir %s/real && bindfs %s/real %s", s.m.dir, s.m.dir, s.m.watch);
        make_tree(&s);
        before = tree_text(s.m.watch);
        scene_start(&s, 1);
        do_change(&s, OP_MODIFY, "a", "echo session >a");
        do_change(&s, OP_MODIFY, "b", "echo session >b");
        scene_stop(&s);
        undo_all(&s, &o);
        assert_int_equal(problems(&o), 0);
        assert_tree(&s.m, s.m.watch, before);

        scene_start(&s, 2);
        do_change(&s, OP_MODIFY, "a", "echo session >a");
        do_change(&s, OP_MODIFY, "b", "echo session >b");
        scene_stop(&s);
        (void) nanosleep(&(struct timespec){.tv_sec = 5}, NULL);
        do_foreign(&s, OP_MODIFY, "a", "echo theirs >a", false);
        undo_paths(&s, NULL, false, false, &again);
        assert_int_equal(again.states[UNDO_REFUSED], 1);
        shell("cd %s && grep -q theirs a && grep -q bee b", s.m.watch);
        shell("umount %s", s.m.watch);
        scene_close(&s);
}

/* Undo and foreign change of a name, not of an object: something new stands where a removed file was. */
static void a_new_file_of_somebody_else_keeps_its_name(void **state) {
        Outcome o = {}, forced = {};
        Scene s;

        if (!scene_open(&s, "tmpfs", false))
                skip();
        make_tree(&s);
        scene_start(&s, 1);
        do_delete(&s, "a");
        scene_stop(&s);
        do_foreign(&s, OP_CREATE, "a", "echo theirs >a", false);
        undo_paths(&s, NULL, false, false, &o);
        assert_int_equal(o.states[UNDO_REFUSED], 1);
        shell("grep -q theirs %s/a", s.m.watch);
        undo_paths(&s, NULL, false, true, &forced);
        assert_int_equal(problems(&forced), 0);
        shell("test \"$(cat %s/a)\" = one && grep -q theirs %s/quarantine/*/*", s.m.watch,
              s.m.state);
        scene_close(&s);
}

static void what_was_not_kept_is_told(void **state) {
        Outcome o = {};
        Scene s;

        if (!scene_open(&s, "tmpfs", false))
                skip();
        make_tree(&s);
        scene_start(&s, 1);
        s.blind = true;
        do_change(&s, OP_MODIFY, "a", "echo session >a");
        do_delete(&s, "b");
        do_rename(&s, "c", "cc");
        do_create(&s, "made", "echo made >made");
        scene_stop(&s);
        undo_paths(&s, NULL, false, false, &o);
        assert_int_equal(o.states[UNDO_IMPOSSIBLE], 2);
        assert_int_equal(o.states[UNDO_DONE], 2);
        assert_non_null(strstr(o.text, "not preserved: nothing is of this watch"));
        shell("cd %s && test -e c -a ! -e cc -a ! -e made -a ! -e b && grep -q session a",
              s.m.watch);
        scene_close(&s);
}

static void a_file_that_is_too_large_is_told(void **state) {
        char path[512];
        Outcome o = {};
        KeepRequest q;
        Scene s;

        if (!scene_open(&s, "tmpfs", false))
                skip();
        shell("head -c 2000000 /dev/zero >%s/big", s.m.watch);
        scene_start(&s, 1);
        scene_path(&s, "big", path);
        q = scene_request(&s, path, KEEP_CONTENT);
        q.file_max = 1 << 20;
        scene_keep_request(&s, &q);
        s.blind = true;
        do_change(&s, OP_MODIFY, "big", "echo x >big");
        scene_stop(&s);
        undo_paths(&s, NULL, false, false, &o);
        assert_non_null(strstr(o.text, "impossible, not preserved: larger than PreserveMax=1M"));
        scene_close(&s);
}

static void only_the_paths_asked_for(void **state) {
        char d[512];
        char *paths[] = {d, NULL};
        Outcome o = {}, rest = {};
        _cleanup_free_ char *before = NULL;
        Scene s;

        if (!scene_open(&s, "tmpfs", false))
                skip();
        make_tree(&s);
        shell("cd %s && echo x >dd && touch -d '2020-01-01' dd .", s.m.watch);
        before = tree_text(s.m.watch);
        scene_start(&s, 1);
        do_change(&s, OP_MODIFY, "a", "echo session >a");
        do_change(&s, OP_MODIFY, "dd", "echo session >dd");
        do_change(&s, OP_MODIFY, "d/e/f/deep", "echo session >d/e/f/deep");
        do_create(&s, "d/new", "echo x >d/new");
        scene_stop(&s);
        scene_path(&s, "d", d);
        undo_paths(&s, paths, false, false, &o);
        assert_int_equal(problems(&o), 0);
        shell("cd %s && grep -q deep d/e/f/deep && test ! -e d/new && grep -q session a && grep -q session dd",
              s.m.watch);
        undo_all(&s, &rest);
        assert_int_equal(problems(&rest), 0);
        assert_tree(&s.m, s.m.watch, before);
        scene_close(&s);
}

static void directories_turned_inside_out_come_back(void **state) {
        _cleanup_free_ char *before = NULL;
        Outcome o = {};
        Scene s;

        if (!scene_open(&s, "ext4", true))
                skip();
        shell("cd %s && mkdir -p a/b/c x && echo 1 >a/b/c/one && echo 2 >a/two && echo 3 >x/three && "
              "find . -exec touch -d '2020-01-01' {} +",
              s.m.watch);
        before = tree_text(s.m.watch);
        scene_start(&s, 1);
        do_rename(&s, "a/b", "b");
        do_rename(&s, "a", "b/a");
        do_rename(&s, "b", "a");
        do_create(&s, "box", "mkdir box");
        do_rename(&s, "a/c", "box/c");
        do_rename(&s, "x", "box/c/x");
        do_create(&s, "box/c/x/four", "echo 4 >box/c/x/four");
        do_rename(&s, "box", "x");
        do_change(&s, OP_MODIFY, "x/c/one", "echo changed >x/c/one");
        scene_stop(&s);
        undo_all(&s, &o);
        assert_int_equal(problems(&o), 0);
        assert_tree(&s.m, s.m.watch, before);
        scene_close(&s);
}

/* What is only in the way of what was asked for is not left aside. */
static void nothing_is_left_aside_when_only_a_path_is_asked_for(void **state) {
        char box[512], d[512];
        char *paths[] = {box, d, NULL};
        Outcome o = {};
        Scene s;

        if (!scene_open(&s, "tmpfs", false))
                skip();
        make_tree(&s);
        scene_start(&s, 1);
        do_create(&s, "box", "mkdir box");
        do_rename(&s, "a", "box/a");
        do_rename(&s, "d", "dd");
        do_rename(&s, "b", "d");
        scene_stop(&s);
        scene_path(&s, "box", box);
        scene_path(&s, "d/e", d);
        undo_paths(&s, paths, false, false, &o);
        shell("cd %s && test ! -e box && test -z \"$(ls -A | grep mountwatch)\" && grep -q one a",
              s.m.watch);
        scene_close(&s);
}

static void put_move(Scene *s, OpType op, const char *path, const char *from, const char *to,
                     ObjectKind kind) {
        Operation o = operation(op, path);

        o.from = (char *) from;
        o.to = (char *) to;
        o.kind = kind;
        scene_put(s, o, false);
}

static void moves_across_the_border_are_undone(void **state) {
        _cleanup_free_ char *before = NULL, *outside = NULL;
        char in[512], out[512], gone[512], gone_to[512], place[128];
        Outcome o = {};
        Scene s;

        if (!scene_open(&s, "ext4", true))
                skip();
        make_tree(&s);
        (void) snprintf(place, sizeof place, "%s/o", s.m.top);
        shell("mkdir -p %s/dir && echo outside >%s/dir/file && echo y >%s/lost", place, place,
              place);
        shell("touch -d '2020-01-01' %s", place);
        before = tree_text(s.m.watch);
        outside = tree_text(place);
        scene_start(&s, 1);

        scene_path(&s, "in", in);
        (void) snprintf(out, sizeof out, "%s/dir", place);
        scene_keep(&s, "in", KEEP_NAME);
        shell("mv %s %s", out, in);
        put_move(&s, OP_CREATE, in, out, NULL, KIND_DIR);

        scene_path(&s, "snap", gone);
        (void) snprintf(gone_to, sizeof gone_to, "%s/snap", place);
        scene_keep(&s, "snap", KEEP_TREE);
        shell("mv %s %s", gone, gone_to);
        put_move(&s, OP_DELETE, gone, NULL, gone_to, KIND_DIR);

        scene_path(&s, "d", gone);
        (void) snprintf(gone_to, sizeof gone_to, "%s/d", place);
        scene_keep(&s, "d", KEEP_TREE);
        shell("mv %s %s && rm -r %s", gone, gone_to, gone_to);
        put_move(&s, OP_DELETE, gone, NULL, gone_to, KIND_DIR);
        scene_stop(&s);

        undo_all(&s, &o);
        assert_int_equal(problems(&o), 0);
        assert_tree(&s.m, s.m.watch, before);
        shell("touch -d '2020-01-01' %s", place);
        assert_tree(&s.m, place, outside);
        scene_close(&s);
}

static void what_was_moved_in_is_quarantined_when_it_cannot_go_back(void **state) {
        char in[512], out[512];
        Outcome o = {};
        Scene s;

        if (!scene_open(&s, "tmpfs", false))
                skip();
        shell("mkdir -p %s/o/dir && echo x >%s/o/dir/file", s.m.top, s.m.top);
        scene_start(&s, 1);
        scene_path(&s, "in", in);
        (void) snprintf(out, sizeof out, "%s/o/dir", s.m.top);
        shell("mv %s %s && rmdir %s/o && ln -s %s %s/o", out, in, s.m.top, s.m.dir, s.m.top);
        put_move(&s, OP_CREATE, in, out, NULL, KIND_DIR);
        scene_stop(&s);
        undo_all(&s, &o);
        assert_int_equal(problems(&o), 0);
        shell("test ! -e %s && test ! -e %s/dir && grep -q x %s/quarantine/*/*/file", in, s.m.dir,
              s.m.state);
        scene_close(&s);
}

/* A late-tagged session: nothing is held, but all was copied when it began. */
static void a_snapshot_protects_what_cannot_be_held(void **state) {
        _cleanup_free_ char *before = NULL;
        Outcome o = {};
        KeepRequest q;
        Scene s;

        if (!scene_open(&s, "xfs", true))
                skip();
        make_tree(&s);
        before = tree_text(s.m.watch);
        scene_start(&s, 1);
        q = scene_request(&s, s.m.watch, KEEP_TREE);
        q.snapshot = true;
        scene_keep_request(&s, &q);
        next_tick();
        s.blind = true;
        play(&s);
        scene_stop(&s);
        undo_all(&s, &o);
        assert_int_equal(problems(&o), 0);
        assert_tree(&s.m, s.m.watch, before);
        scene_close(&s);
}

/* Whoever may write in the watch must not lead us out of it. */
static void a_symlink_in_the_way_is_not_followed(void **state) {
        Outcome o = {};
        Scene s;

        if (!scene_open(&s, "tmpfs", false))
                skip();
        make_tree(&s);
        scene_start(&s, 1);
        do_change(&s, OP_MODIFY, "d/e/f/deep", "echo session >d/e/f/deep");
        scene_stop(&s);
        shell("mkdir -p %s/victim/e/f && echo precious >%s/victim/e/f/deep && cd %s && mv d away && ln -s %s/victim d",
              s.m.dir, s.m.dir, s.m.watch, s.m.dir);
        undo_paths(&s, NULL, false, true, &o);
        assert_int_equal(o.states[UNDO_FAILED], 1);
        shell("grep -q precious %s/victim/e/f/deep", s.m.dir);
        scene_close(&s);
}

static void a_damaged_copy_is_not_put_back(void **state) {
        Outcome o = {};
        Scene s;

        if (!scene_open(&s, "tmpfs", false))
                skip();
        make_tree(&s);
        scene_start(&s, 1);
        do_change(&s, OP_MODIFY, "a", "echo session >a");
        scene_stop(&s);
        shell("for f in %s/preserve/*/*; do chmod 600 $f; echo damage >$f; done", s.m.state);
        undo_paths(&s, NULL, false, false, &o);
        assert_non_null(strstr(o.text, "failed, the kept copy is damaged"));
        shell("grep -q session %s/a", s.m.watch);
        scene_close(&s);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(everything_is_as_before_on_tmpfs),
                cmocka_unit_test(everything_is_as_before_on_ext4),
                cmocka_unit_test(everything_is_as_before_on_xfs),
                cmocka_unit_test(everything_is_as_before_on_btrfs),
                cmocka_unit_test(an_interrupted_undo_goes_on),
                cmocka_unit_test(a_dry_run_changes_nothing),
                cmocka_unit_test(a_change_by_somebody_else_is_not_overwritten),
                cmocka_unit_test(a_change_on_a_fuse_mount_is_not_overwritten),
                cmocka_unit_test(a_new_file_of_somebody_else_keeps_its_name),
                cmocka_unit_test(what_was_not_kept_is_told),
                cmocka_unit_test(a_file_that_is_too_large_is_told),
                cmocka_unit_test(only_the_paths_asked_for),
                cmocka_unit_test(directories_turned_inside_out_come_back),
                cmocka_unit_test(nothing_is_left_aside_when_only_a_path_is_asked_for),
                cmocka_unit_test(moves_across_the_border_are_undone),
                cmocka_unit_test(what_was_moved_in_is_quarantined_when_it_cannot_go_back),
                cmocka_unit_test(a_snapshot_protects_what_cannot_be_held),
                cmocka_unit_test(a_symlink_in_the_way_is_not_followed),
                cmocka_unit_test(a_damaged_copy_is_not_put_back),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
