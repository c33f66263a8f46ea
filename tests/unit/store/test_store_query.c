/* SPDX-License-Identifier: MIT */
#include "tests/unit/store/fixture.h"

#include <errno.h>

/* The last letters of the paths that a query finds, read in pages of every size. */
static void expect(Store *s, StoreQuery q, const char *expected) {
        for (size_t page = 1; page <= 16; page = page * 2 + 1) {
                _cleanup_(rows_done) Rows rows;
                char got[READ_MAX + 1] = "";

                read_pages(s, q, page, &rows);
                for (size_t i = 0; i < rows.n; i++)
                        got[i] = rows.list[i].path[strlen(rows.list[i].path) - 1];
                assert_string_equal(got, expected);
        }
}

/* Interleaved: a is in an outer session, b and c in sessions inside of it, d in one inside of
 * b's, e in another, u untagged. */
typedef struct Scene {
        Session *a, *b, *c, *d, *e;
} Scene;

static void scene_done(Scene *scene) {
        session_free(scene->a);
        session_free(scene->b);
        session_free(scene->c);
        session_free(scene->d);
        session_free(scene->e);
}

static void put_round(Store *s, const Scene *scene, int round) {
        const Session *sessions[] = {scene->a, scene->b, NULL, scene->c, scene->d, scene->e};

        for (int i = 0; i < 6; i++) {
                char path[32];
                (void) snprintf(path, sizeof path, "/mnt/nas/%d%c", round, "abucde"[i]);
                (void) put_path(s, sessions[i], OP_CREATE, path);
        }
}

static void play(Store *s, Scene *scene) {
        (void) put_path(s, NULL, OP_CREATE, "/mnt/nas/v"); /* before everything */
        scene->a = start_session(s, 0xa, 1000, NULL);
        scene->b = start_session(s, 0xb, 1000, scene->a);
        scene->c = start_session(s, 0xc, 1000, scene->a);
        scene->d = start_session(s, 0xd, 0, scene->b);
        scene->e = start_session(s, 0xe, 7, NULL);
        put_round(s, scene, 1);
        put_round(s, scene, 2);
        stop_session(s, scene->c, NOON + SECOND);
        (void) put_path(s, scene->a, OP_CREATE, "/mnt/nas/a");
        (void) put_path(s, NULL, OP_CREATE, "/mnt/nas/w"); /* after c, during a */
        stop_session(s, scene->a, NOON + 2 * SECOND);
        (void) put_path(s, NULL, OP_CREATE, "/mnt/nas/x"); /* after a */
}

static void everything_is_in_order(void **state) {
        Fixture *f = *state;
        _cleanup_(scene_done) Scene scene = {0};

        expect(f->store, everything(), "");
        play(f->store, &scene);
        expect(f->store, everything(), "vabucdeabucdeawx");
}

static void session_has_its_own_and_with_inner_those_inside(void **state) {
        Fixture *f = *state;
        _cleanup_(scene_done) Scene scene = {0};
        StoreQuery q = everything();

        play(f->store, &scene);
        q.session = scene.a->id;
        expect(f->store, q, "aaa");
        q.with_inner = true;
        expect(f->store, q, "abcdabcda");
        q.session = scene.b->id;
        expect(f->store, q, "bdbd");
        q.session = scene.e->id;
        expect(f->store, q, "ee");
        q.session = "ffffffffffffffff";

        Operation row;
        size_t n;
        assert_int_equal(store_read_operations(f->store, &q, &row, 1, &n), -ENOENT);
}

static void untagged_ones_are_those_of_the_span(void **state) {
        Fixture *f = *state;
        _cleanup_(scene_done) Scene scene = {0};
        StoreQuery q = everything();

        play(f->store, &scene);
        q.untagged = true;
        expect(f->store, q, "vuuwx");
        q.session = scene.a->id;
        expect(f->store, q, "uuw");
        q.session = scene.c->id;
        expect(f->store, q, "uu");
        q.session = scene.e->id; /* still runs */
        expect(f->store, q, "uuwx");
        fixture_reopen(f);
        expect(f->store, q, "uuwx");
}

static void a_user_sees_only_sessions_of_that_uid(void **state) {
        Fixture *f = *state;
        _cleanup_(scene_done) Scene scene = {0};
        StoreQuery q = {.uid = 1000};

        play(f->store, &scene);
        expect(f->store, q, "abcabca");
        q.uid = 7;
        expect(f->store, q, "ee");
        q.uid = 12;
        expect(f->store, q, "");
        q.untagged = true;
        expect(f->store, q, "");
        q = (StoreQuery){.uid = 1000, .session = scene.a->id, .with_inner = true};
        expect(f->store, q, "abcabca"); /* not d, which is root's */
        q.uid = 7;
        expect(f->store, q, "");
        q.untagged = true;
        expect(f->store, q, "");
        q.uid = 1000;
        expect(f->store, q, "uuw");
}

static void operations_after_the_stop_still_belong_to_the_session(void **state) {
        Fixture *f = *state;
        _cleanup_(session_freep) Session *s = start_session(f->store, 1, 0, NULL);
        StoreQuery q = everything();

        stop_session(f->store, s, NOON);
        (void) put_path(f->store, s, OP_CREATE, "/mnt/nas/a");
        q.session = s->id;
        expect(f->store, q, "a");
}

static void watch_and_since_select(void **state) {
        Fixture *f = *state;
        _cleanup_(session_freep) Session *s = start_session(f->store, 1, 0, NULL);
        StoreQuery q = everything();

        for (int i = 0; i < 6; i++) {
                char path[] = "/mnt/?";
                Operation o = operation(OP_CREATE, path);

                path[5] = (char) ('a' + i);
                o.watch = (char *) (i % 2 ? "nas" : "db");
                o.session = i < 3 ? s->id : NULL;
                o.first = NOON + (usec_t) i * SECOND;
                o.last = i == 0 ? NOON + 4 * SECOND : o.first;
                (void) put(f->store, o, NULL);
                if (i == 3)
                        fixture_reopen(f); /* the rest is in another block */
        }
        expect(f->store, q, "abcdef");
        q.watch = "db";
        expect(f->store, q, "ace");
        q.since = NOON + 4 * SECOND;
        expect(f->store, q, "ae");
        q.watch = NULL;
        expect(f->store, q, "aef");
        q.session = s->id;
        expect(f->store, q, "a");
        q.since = NOON + 5 * SECOND;
        expect(f->store, q, "");
        q.session = NULL;
        expect(f->store, q, "f");
        q.since = UINT64_MAX;
        expect(f->store, q, "");
        q = everything();
        q.watch = "none";
        expect(f->store, q, "");
}

static void reading_goes_on_while_others_write(void **state) {
        Fixture *f = *state;
        _cleanup_(rows_done) Rows rows = {0};
        StoreQuery q = everything();
        Operation row;
        size_t n;

        (void) put_path(f->store, NULL, OP_CREATE, "/mnt/a");
        (void) put_path(f->store, NULL, OP_CREATE, "/mnt/b");
        assert_int_equal(store_read_operations(f->store, &q, &row, 1, &n), 0);
        q.after_seq = row.seq;
        operation_done(&row);
        (void) put_path(f->store, NULL, OP_CREATE, "/mnt/c");
        assert_int_equal(store_flush(f->store), 0);
        expect(f->store, q, "bc");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                TEST(everything_is_in_order),
                TEST(session_has_its_own_and_with_inner_those_inside),
                TEST(untagged_ones_are_those_of_the_span),
                TEST(a_user_sees_only_sessions_of_that_uid),
                TEST(operations_after_the_stop_still_belong_to_the_session),
                TEST(watch_and_since_select),
                TEST(reading_goes_on_while_others_write),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
