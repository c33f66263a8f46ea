/* SPDX-License-Identifier: MIT */
/* Keeping and its limits, the store of kept files, the quarantine. */
#include "tests/unit/store/scene.h"

#include <sqlite3.h>

static void list_kept(const Scene *s, KeptList *ret) {
        assert_int_equal(store_list_kept(s->store, s->session->id, false, ret), 0);
}

static const Kept *find_kept(const KeptList *l, const char *suffix) {
        for (size_t i = 0; i < l->n; i++) {
                size_t n = strlen(l->list[i].path), m = strlen(suffix);

                if (n >= m && str_equal(l->list[i].path + n - m, suffix))
                        return &l->list[i];
        }
        return NULL;
}

static unsigned count_blobs(const Scene *s) {
        _cleanup_free_ char *text =
                shell_output("find %s/preserve -type f 2>/dev/null | wc -l", s->m.state);

        return (unsigned) atoi(text);
}

static void a_row_comes_back_as_it_was(void **state) {
        _cleanup_(kept_list_done) KeptList list = {};
        const Kept *k;
        struct stat st;
        char path[512];
        Scene s;

        if (!scene_open(&s, "ext4", false))
                skip();
        scene_path(&s, "f\377\n", path);
        shell("cd %s && printf 12345 >\"$(printf 'f\\377\\n.')\" && mv f* \"$(printf 'f\\377\\nx')\" && ln -s there link && "
              "chown 70000:80000 f* && chmod 6711 f* && touch -d '1969-12-31 23:59:58.5' f*",
              s.m.watch);
        (void) strcat(path, "x");
        assert_int_equal(setxattr(path, "user.a", "b\0c", 3, 0), 0);
        assert_int_equal(lstat(path, &st), 0);
        scene_start(&s, 1);
        scene_keep(&s, path, KEEP_CONTENT);
        scene_keep(&s, "link", KEEP_METADATA);
        assert_int_equal(store_has_kept(s.store, s.session->id, path, 0, true), 1);
        assert_int_equal(store_has_kept(s.store, s.session->id, path, st.st_ino, true), 1);
        assert_int_equal(store_has_kept(s.store, s.session->id, path, st.st_ino + 1, true), 0);
        s.store = store_close(s.store);
        assert_int_equal(store_open(s.m.state, &s.store), 0);

        list_kept(&s, &list);
        assert_int_equal(list.n, 3);
        assert_int_equal(list.list[0].kind, KIND_DIR);
        assert_string_equal(list.list[0].path, s.m.watch);
        k = &list.list[1];
        assert_string_equal(k->path, path);
        assert_int_equal(k->meta.mode, st.st_mode);
        assert_int_equal(k->meta.uid, 70000);
        assert_int_equal(k->meta.gid, 80000);
        assert_true(k->meta.mtime == INT64_C(-1500000000));
        assert_int_equal(k->ino, st.st_ino);
        assert_int_equal(k->dev, st.st_dev);
        assert_int_equal(k->size, 5);
        assert_true(k->has_hash && k->blob && k->bytes > 0 && k->born > 0);
        assert_int_equal(k->meta.xattrs_size, sizeof "user.a" + sizeof(uint32_t) + 3);
        assert_string_equal(find_kept(&list, "/link")->target, "there");
        scene_close(&s);
}

static void a_tree_is_kept_within_its_limits(void **state) {
        char *ignore[] = {(char *) "skip/**", (char *) "*.tmp", NULL};
        _cleanup_(kept_list_done) KeptList all = {}, few = {}, small = {};
        KeepRequest q;
        bool complete;
        uint64_t bytes;
        size_t entries;
        Scene s;

        if (!scene_open(&s, "tmpfs", false))
                skip();
        shell("cd %s && mkdir -p a/b skip mount && echo 1 >a/1 && echo 2 >a/b/2 && echo 3 >skip/3 && echo 4 >4.tmp && "
              "head -c 100000 /dev/urandom >large && mount -t tmpfs other mount && echo 5 >mount/5",
              s.m.watch);
        scene_start(&s, 1);
        q = scene_request(&s, s.m.watch, KEEP_TREE);
        q.ignore = ignore;
        assert_int_equal(keep_object(&q, &all, &complete), 0);
        assert_false(complete);     /* another filesystem is mounted in it */
        assert_int_equal(all.n, 7); /* root, a, a/1, a/b, a/b/2, mount, large */
        assert_null(find_kept(&all, "/3"));
        assert_null(find_kept(&all, "/5"));

        q.bytes_max = 50000;
        assert_int_equal(keep_object(&q, &small, &complete), 0);
        assert_int_equal(small.n, 7);
        assert_null(find_kept(&small, "/large")->blob);
        assert_non_null(find_kept(&small, "/large")->reason);
        assert_non_null(find_kept(&small, "/2")->blob);

        q.entries_max = 3;
        assert_int_equal(keep_object(&q, &few, &complete), 0);
        assert_false(complete);
        assert_int_equal(few.n, 4);

        assert_int_equal(keep_measure(s.m.watch, UINT64_MAX, 100, NULL, &bytes, &entries), 0);
        assert_int_equal(entries, 9);
        assert_int_equal(keep_measure(s.m.watch, UINT64_MAX, 8, NULL, &bytes, &entries), -E2BIG);
        shell("umount %s/mount", s.m.watch);
        scene_close(&s);
}

static void nothing_is_left_of_what_could_not_be_kept(void **state) {
        _cleanup_(kept_list_done) KeptList list = {};
        const atomic_bool cancel = true;
        char path[512];
        KeepRequest q;
        bool complete;
        Scene s;

        if (!scene_open(&s, "tmpfs", false))
                skip();
        shell("mount -t tmpfs -o size=1M small %s && head -c 3000000 /dev/urandom >%s/big && echo x >%s/small",
              s.m.state, s.m.watch, s.m.watch);
        scene_start(&s, 1);
        scene_path(&s, "big", path);
        q = scene_request(&s, path, KEEP_CONTENT);
        assert_int_equal(keep_object(&q, &list, &complete), -ENOSPC);
        assert_int_equal(count_blobs(&s), 0);

        q.bytes_max = 1000000; /* what the store has left */
        assert_int_equal(keep_object(&q, &list, &complete), -ENOSPC);
        q.bytes_max = UINT64_MAX;
        q.cancel = &cancel;
        assert_int_equal(keep_object(&q, &list, &complete), -ECANCELED);
        assert_int_equal(count_blobs(&s), 0);
        q.cancel = NULL;
        q.file_max = 2999999; /* a limit that is the user's own is told with the row */
        assert_int_equal(keep_object(&q, &list, &complete), 0);
        assert_string_equal(list.list[1].reason, "larger than PreserveMax=2999999");
        assert_int_equal(count_blobs(&s), 0);
        s.store = store_close(s.store);
        shell("umount %s", s.m.state);
        assert_int_equal(store_open(s.m.state, &s.store), 0);
        scene_close(&s);
}

static void what_is_not_there_is_not_lost(void **state) {
        _cleanup_(kept_list_done) KeptList list = {}, none = {};
        char path[512];
        KeepRequest q;
        bool complete;
        Scene s;

        if (!scene_open(&s, "tmpfs", false))
                skip();
        scene_start(&s, 1);
        scene_path(&s, "new", path);
        q = scene_request(&s, path, KEEP_CONTENT);
        assert_int_equal(keep_object(&q, &list, &complete), 0);
        assert_int_equal(list.n, 1);
        assert_string_equal(list.list[0].path, s.m.watch);
        scene_path(&s, "no/new", path);
        assert_int_equal(keep_object(&q, &none, &complete), -ENOENT);
        scene_close(&s);
}

/* Session i keeps i MB and ends at NOON + i seconds. */
static void make_session(Scene *s, unsigned i, bool live) {
        char path[512];

        scene_start(s, i);
        scene_path(s, "file", path);
        shell("head -c %u000000 /dev/urandom >%s", i, path);
        scene_keep(s, "file", KEEP_CONTENT);
        if (!live)
                stop_session(s->store, s->session, NOON + i * SECOND);
        assert_int_equal(store_flush(s->store), 0);
}

static void ended_sessions_give_way_the_oldest_first(void **state) {
        _cleanup_(kept_list_done) KeptList list = {};
        _cleanup_free_ Eviction *plan = NULL, *all = NULL, *none = NULL;
        uint64_t bytes, missing;
        size_t n;
        Scene s;

        if (!scene_open(&s, "tmpfs", false))
                skip();
        make_session(&s, 3, false);
        make_session(&s, 1, false);
        make_session(&s, 2, false);
        make_session(&s, 4, true);
        assert_int_equal(store_kept_bytes(s.store, &bytes), 0);
        assert_true(bytes >= 10000000 && bytes < 10100000);
        assert_int_equal(count_blobs(&s), 4);

        assert_int_equal(store_plan_eviction(s.store, 20000000, 1000000, &none, &n, &missing), 0);
        assert_int_equal(n, 0);
        assert_true(missing == 0);
        assert_int_equal(store_plan_eviction(s.store, 11000000, 3000000, &plan, &n, &missing), 0);
        assert_int_equal(n, 2);
        assert_true(missing == 0);
        assert_true(plan[0].stopped == NOON + SECOND && plan[1].stopped == NOON + 2 * SECOND);
        /* nothing has happened yet */
        assert_int_equal(count_blobs(&s), 4);

        assert_int_equal(store_evict(s.store, plan[0].session, NOON), 0);
        assert_int_equal(preserve_remove(s.m.state, plan[0].session), 0);
        assert_int_equal(count_blobs(&s), 3);
        assert_int_equal(store_list_kept(s.store, plan[0].session, false, &list), 0);
        assert_null(list.list[1].blob);
        assert_string_equal(list.list[1].reason,
                            "given up on 2027-01-15 to make room in the store");

        assert_int_equal(store_plan_eviction(s.store, 1000000, 500000, &all, &n, &missing), 0);
        assert_int_equal(n, 2);
        assert_true(missing > 3000000); /* the live session holds that */
        scene_close(&s);
}

static void expiry_takes_the_files_too(void **state) {
        char path[512];
        Scene s;
        int r;

        if (!scene_open(&s, "tmpfs", false))
                skip();
        scene_start(&s, 1);
        for (int i = 0; i < 250; i++) {
                (void) snprintf(path, sizeof path, "%s/%d", s.m.watch, i);
                write_text(path, "x");
                scene_keep(&s, path, KEEP_CONTENT);
        }
        stop_session(s.store, s.session, NOON);
        assert_int_equal(count_blobs(&s), 250);
        while ((r = store_expire(s.store, NOON + 1)) > 0)
                ;
        assert_int_equal(r, 0);
        shell("test -z \"$(ls %s/preserve)\"", s.m.state);
        scene_close(&s);
}

static void files_nobody_knows_are_swept(void **state) {
        Scene s;

        if (!scene_open(&s, "tmpfs", false))
                skip();
        make_session(&s, 1, false);
        shell("cd %s/preserve && echo x >%s/0123456789abcdef && echo y >%s/undo && mkdir 00000000000000ff && "
              "echo z >00000000000000ff/0123456789abcdef && echo y >00000000000000ff/undo",
              s.m.state, s.session->id, s.session->id);
        assert_int_equal(store_sweep_kept(s.store), 0);
        shell("cd %s/preserve && test \"$(ls)\" = %s && test $(ls %s | wc -l) = 2 && test -e %s/undo",
              s.m.state, s.session->id, s.session->id, s.session->id);
        scene_close(&s);
}

static void quarantined_objects_are_listed_restored_and_purged(void **state) {
        static const char *const types[] = {"tmpfs", "ext4"};

        for (size_t i = 0; i < ELEMENTSOF(types); i++) {
                _cleanup_free_ char *before = NULL;
                Quarantined *list, *rest;
                Outcome o = {};
                size_t n;
                Scene s;

                if (!scene_open(&s, types[i], i > 0))
                        continue;
                scene_start(&s, 1);
                do_create(&s, "d", "mkdir -m 710 d");
                do_create(&s, "d/f", "echo text >d/f");
                do_create(&s, "d/l", "ln -s f d/l");
                do_create(&s, "single", "echo single >single");
                shell("cd %s && touch -h -d '2020-01-01' single d/f d/l d .", s.m.watch);
                before = tree_text(s.m.watch);
                scene_stop(&s);
                undo_paths(&s, NULL, false, /* force= */ true, &o);
                shell("test -z \"$(ls -A %s)\"", s.m.watch);

                assert_int_equal(
                        store_list_quarantined(s.store, s.session->id, (uid_t) -1, &list, &n), 0);
                assert_int_equal(n, 2);
                for (size_t k = 0; k < n; k++) {
                        assert_int_equal(quarantine_restore(s.m.state, s.m.watch, &list[k], NULL),
                                         0);
                        assert_int_equal(store_remove_quarantined(s.store, list[k].item), 0);
                }
                shell("cd %s && touch -d '2020-01-01' .", s.m.watch);
                assert_tree(&s.m, s.m.watch, before);

                assert_int_equal(store_put_quarantined(s.store, &list[0]), 0);
                shell("mv %s %s/quarantine/%s/%s && touch %s", list[0].path, s.m.state,
                      list[0].session, list[0].item, list[0].path);
                assert_int_equal(quarantine_restore(s.m.state, s.m.watch, &list[0], NULL), -EEXIST);
                assert_int_equal(quarantine_purge(s.m.state, &list[0]), 0);
                assert_int_equal(store_remove_quarantined(s.store, list[0].item), 0);
                assert_int_equal(store_remove_quarantined(s.store, list[0].item), -ENOENT);
                shell("test -z \"$(ls -A %s/quarantine/*)\"", s.m.state);
                assert_int_equal(store_list_quarantined(s.store, NULL, (uid_t) -1, &rest, &n), 0);
                assert_int_equal(n, 0);
                for (size_t k = 0; k < 2; k++)
                        quarantined_done(&list[k]);
                free(list);
                free(rest);
                scene_close(&s);
        }
}

static void a_store_of_the_first_version_is_brought_up(void **state) {
        char path[128];
        sqlite3 *db;
        Scene s;

        if (!scene_open(&s, "tmpfs", false))
                skip();
        s.store = store_close(s.store);
        (void) snprintf(path, sizeof path, "%s/mountwatch.db", s.m.state);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        assert_int_equal(
                sqlite3_exec(
                        db,
                        "DROP TABLE delivery; DROP TABLE kept; DROP TABLE undo_step; DROP TABLE quarantine; PRAGMA user_version = 1",
                        NULL, NULL, NULL),
                SQLITE_OK);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        assert_int_equal(store_open(s.m.state, &s.store), 0);
        make_session(&s, 1, false);
        scene_close(&s);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_row_comes_back_as_it_was),
                cmocka_unit_test(a_tree_is_kept_within_its_limits),
                cmocka_unit_test(nothing_is_left_of_what_could_not_be_kept),
                cmocka_unit_test(what_is_not_there_is_not_lost),
                cmocka_unit_test(ended_sessions_give_way_the_oldest_first),
                cmocka_unit_test(expiry_takes_the_files_too),
                cmocka_unit_test(files_nobody_knows_are_swept),
                cmocka_unit_test(quarantined_objects_are_listed_restored_and_purged),
                cmocka_unit_test(a_store_of_the_first_version_is_brought_up),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
