/* SPDX-License-Identifier: MIT */
/* What is known of a file after a record, and what a later close then tells: on a real filesystem, with records as the kernel gives them. */
#include "tests/unit/kernel/watcher_fixture.h"

#include "daemon/kernel/content.h"

#include <sys/fanotify.h>
#include <time.h>

typedef struct Scene {
        Fixture fixture;
        Ground ground;
        Node node;
        Record record;
        struct file_handle *handle;
} Scene;

static bool scene_begin(Scene *s) {
        int mount_id;

        *s = (Scene){};
        if (!fixture_mount(&s->fixture, "ext4"))
                return false;
        run("printf 0123456789 >w/f");
        s->handle = calloc(1, sizeof(*s->handle) + MAX_HANDLE_SZ);
        assert_non_null(s->handle);
        s->handle->handle_bytes = MAX_HANDLE_SZ;
        assert_int_equal(name_to_handle_at(AT_FDCWD, "w/f", s->handle, &mount_id, 0), 0);
        assert_int_equal(ground_init(&s->ground, s->fixture.path), 0);
        s->record.fan.child = (FanHandle){.data = s->handle->f_handle,
                                          .size = s->handle->handle_bytes,
                                          .type = s->handle->handle_type};
        s->record.burst = true;
        return true;
}

static void scene_end(Scene *s) {
        ground_done(&s->ground);
        free(s->handle);
        fixture_done(&s->fixture);
}

/* The kernel says so now. */
static const Record *record(Scene *s, uint64_t mask) {
        s->record.fan.mask = mask;
        s->record.at = clock_usec();
        s->record.read_at = clock_nsec();
        s->record.not_before = s->record.read_at - NSEC_PER_SEC;
        return &s->record;
}

static void set_mtime(int64_t seconds_from_now) {
        struct timespec t[2] = {{.tv_nsec = UTIME_OMIT}, {}};

        assert_int_equal(clock_gettime(CLOCK_REALTIME, &t[1]), 0);
        t[1].tv_sec += seconds_from_now;
        assert_int_equal(utimensat(AT_FDCWD, "w/f", t, 0), 0);
}

static void written_in_a_burst(Scene *s) {
        const Record *rec = record(s, FAN_CREATE | FAN_MODIFY | FAN_CLOSE_WRITE);

        assert_int_equal(content_modified(&s->ground, &s->node, rec), CONTENT_CHANGED);
}

static void a_burst_is_not_looked_at(void **state) {
        Scene s;

        if (!scene_begin(&s))
                skip();
        written_in_a_burst(&s);
        assert_int_equal(s.node.content, CONTENT_BOUNDED);
        assert_false(ground_is_held(&s.ground));
        scene_end(&s);
}

static void what_the_burst_wrote_is_explained(void **state) {
        GroundStat found;
        Scene s;

        if (!scene_begin(&s))
                skip();
        written_in_a_burst(&s);
        assert_false(content_closed(&s.ground, &s.node, record(&s, FAN_CLOSE_WRITE), &found));
        assert_int_equal(s.node.content, CONTENT_KNOWN);
        assert_int_equal(s.node.size, 10);
        scene_end(&s);
}

/* As a store through a mapping leaves it: the clock is not waited for. */
static void what_came_after_the_burst_is_told(void **state) {
        GroundStat found;
        Scene s;

        if (!scene_begin(&s))
                skip();
        written_in_a_burst(&s);
        set_mtime(+10);
        assert_true(content_closed(&s.ground, &s.node, record(&s, FAN_CLOSE_WRITE), &found));
        content_settle(&s.node, &found);
        assert_false(content_closed(&s.ground, &s.node, record(&s, FAN_CLOSE_WRITE), &found));
        scene_end(&s);
}

static void set_times_are_looked_at(void **state) {
        GroundStat found;
        Scene s;

        if (!scene_begin(&s))
                skip();
        set_mtime(+10);
        assert_int_equal(content_modified(&s.ground, &s.node,
                                          record(&s,
                                                 FAN_CREATE | FAN_MODIFY | FAN_ATTRIB |
                                                         FAN_CLOSE_WRITE)),
                         CONTENT_CHANGED);
        assert_int_equal(s.node.content, CONTENT_KNOWN);
        written_in_a_burst(&s);
        set_mtime(+20);
        content_touched(&s.ground, &s.node, record(&s, FAN_ATTRIB));
        assert_int_equal(s.node.content, CONTENT_KNOWN);
        assert_false(content_closed(&s.ground, &s.node, record(&s, FAN_CLOSE_WRITE), &found));
        scene_end(&s);
}

/* utimensat() of the modification time alone gives MODIFY, as a write does. */
static void times_set_after_the_burst_are_no_content(void **state) {
        Scene s;

        if (!scene_begin(&s))
                skip();
        written_in_a_burst(&s);
        set_mtime(-3600);
        assert_int_equal(content_modified(&s.ground, &s.node, record(&s, FAN_MODIFY)),
                         CONTENT_TIMES);
        written_in_a_burst(&s);
        run("printf more >>w/f");
        assert_int_equal(content_modified(&s.ground, &s.node, record(&s, FAN_MODIFY)),
                         CONTENT_CHANGED);
        scene_end(&s);
}

static void a_servers_clock_is_not_ours(void **state) {
        Scene s;

        if (!scene_begin(&s))
                skip();
        s.ground.remote = true;
        written_in_a_burst(&s);
        assert_int_equal(s.node.content, CONTENT_KNOWN);
        scene_end(&s);
}

static void one_alone_is_looked_at(void **state) {
        Scene s;

        if (!scene_begin(&s))
                skip();
        s.record.burst = false;
        written_in_a_burst(&s);
        assert_int_equal(s.node.content, CONTENT_KNOWN);
        scene_end(&s);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_burst_is_not_looked_at),
                cmocka_unit_test(what_the_burst_wrote_is_explained),
                cmocka_unit_test(what_came_after_the_burst_is_told),
                cmocka_unit_test(set_times_are_looked_at),
                cmocka_unit_test(times_set_after_the_burst_are_no_content),
                cmocka_unit_test(a_servers_clock_is_not_ours),
                cmocka_unit_test(one_alone_is_looked_at),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
