/* SPDX-License-Identifier: MIT */
/* When the kernel drops events the watcher says so, finds what changed, and is right again afterwards. */
#include "tests/unit/kernel/watcher_fixture.h"

#define QUEUE "/proc/sys/fs/fanotify/max_queued_events"
#define BURST 3000

static void plant(void) {
        MUST(mkdir("w/d", 0755));
        MUST(mkdir("w/d/sub", 0755));
        put("w/d/sub/deep", O_CREAT, "deep");
        put("w/precious", O_CREAT, "1");
        put("w/moved", O_CREAT, "1");
        put("w/gone", O_CREAT, "1");
        put("w/kept", O_CREAT, "1");
        MUST(mkdir("w/old", 0755));
        put("w/old/1", O_CREAT, "1");
        put("o/store", O_CREAT, "1");
        MUST(usleep(30000));
}

/* On the one processor that the watcher may use as well (see below): it cannot read before this is done. */
static void hog(void) {
        struct sched_param p = {.sched_priority = 1};

        MUST(sched_setscheduler(0, SCHED_FIFO, &p));
}

static void burst(const char *directory) {
        char name[64];
        int i;

        for (i = 0; i < BURST; i++) {
                (void) snprintf(name, sizeof(name), "%s/f%04d", directory, i);
                MUST(link("o/store", name));
        }
}

static void do_burst(void) {
        hog();
        burst("w");
        put("w/precious", O_APPEND, "2");
        MUST(rename("w/moved", "w/d/moved"));
        MUST(unlink("w/gone"));
        MUST(rename("w/d", "w/dd"));
        MUST(mkdir("w/new", 0755));
        MUST(mkdir("w/new/n", 0755));
        put("w/new/n/f", O_CREAT, "1");
        MUST(unlink("w/old/1"));
        MUST(rmdir("w/old"));
        burst("w/new");
}

static void do_later(void) {
        put("w/new/n/f", O_APPEND, "3");
        put("w/dd/sub/deep", O_APPEND, "3");
        MUST(rename("w/dd/moved", "w/kept"));
}

/* The limit of the queue is taken when a group is made. */
static void watch_with_short_queue(Fixture *f, const char *path) {
        WatcherOptions options = {.limited_queue = true};
        char before[32] = "";
        cpu_set_t one;
        int fd = open(QUEUE, O_RDWR | O_CLOEXEC);

        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
        assert_true(fd >= 0);
        assert_true(read(fd, before, sizeof(before) - 1) > 0);
        assert_int_equal(pwrite(fd, "64", 2, 0), 2);
        fixture_watch(f, path, &options);
        assert_true(pwrite(fd, before, strlen(before), 0) > 0);
        (void) close(fd);
        assert_int_equal(f->status.state, WATCHER_ARMED);
}

/* The line, by the child or as a conclusion without an author. */
static void assert_told(const Fixture *f, const char *line) {
        char exact[256], inferred[256], linked[256];

        (void) snprintf(exact, sizeof(exact), "%s\n", line);
        (void) snprintf(inferred, sizeof(inferred), "%s by 0 inferred\n", line);
        (void) snprintf(linked, sizeof(linked), "%s linked\n", line);
        if (!strstr(f->changes, exact) && !strstr(f->changes, inferred) &&
            !strstr(f->changes, linked))
                fail_msg("not told: %s", line);
}

static void every_difference_is_found(void **state) {
        char line[64];
        Fixture f;
        int i;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        (void) fixture_do(&f, plant);
        watch_with_short_queue(&f, f.path);
        (void) fixture_do(&f, do_burst);
        fixture_sync(&f);
        assert_non_null(strstr(f.losses, "overflow\n"));
        for (i = 0; i < BURST; i++) {
                (void) snprintf(line, sizeof(line), "create file w/f%04d", i);
                assert_told(&f, line);
                (void) snprintf(line, sizeof(line), "create file w/new/f%04d", i);
                assert_told(&f, line);
        }
        assert_told(&f, "modify file w/precious");
        assert_told(&f, "delete file w/gone");
        assert_told(&f, "delete file w/old/1");
        assert_told(&f, "delete dir w/old");
        assert_told(&f, "create dir w/new");
        assert_told(&f, "create file w/new/n/f");
        assert_told(&f, "rename dir w/dd from w/d");
        if (!strstr(f.changes, "rename file w/d/moved from w/moved\n"))
                assert_told(&f, "rename file w/dd/moved from w/moved");
        assert_null(strstr(f.changes, "w/kept"));
        assert_null(strstr(f.changes, "w/dd/sub/deep"));
        f.changes[0] = f.last[0] = '\0';
        /* And now the tree is right again. */
        (void) fixture_do(&f, do_later);
        fixture_expect(&f,
                       "modify file w/new/n/f\nmodify file w/dd/sub/deep\n"
                       "rename file w/kept from w/dd/moved replaced\n");
        fixture_done(&f);
}

static void do_database(void) {
        hog();
        put("w/precious-wal", O_CREAT, "1");
        burst("w/d");
        put("w/precious", O_APPEND, "2");
        burst("w/d/sub");
}

static void a_single_file_is_compared_too(void **state) {
        char path[256];
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        (void) fixture_do(&f, plant);
        (void) snprintf(path, sizeof(path), "%s/precious", f.path);
        watch_with_short_queue(&f, path);
        (void) fixture_do(&f, do_database);
        fixture_sync(&f);
        assert_non_null(strstr(f.losses, "overflow\n"));
        assert_told(&f, "create file w/precious-wal");
        assert_told(&f, "modify file w/precious");
        assert_null(strstr(f.changes, "w/d/"));
        fixture_done(&f);
}

static void do_write(void) {
        put("w/precious", O_APPEND, "2");
}

/* The number of a process that was reaped before its event was read may be somebody else's by then. */
static void a_reaped_author_is_said_to_be_gone(void **state) {
        struct sched_param fifo = {.sched_priority = 1}, other = {};
        struct pollfd p;
        bool found = false, gone = false;
        Note *n, *next;
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        (void) fixture_do(&f, plant);
        watch_with_short_queue(&f, f.path);
        /* Neither the child nor this lets the thread run before the child is reaped. */
        assert_int_equal(sched_setscheduler(0, SCHED_FIFO, &fifo), 0);
        (void) fixture_do(&f, do_write);
        assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &other), 0);
        while (!found) {
                p = (struct pollfd){.fd = watcher_fd(f.watcher), .events = POLLIN};
                assert_true(poll(&p, 1, 30000) > 0);
                for (n = watcher_take(f.watcher); n; n = next) {
                        next = n->next;
                        found = found || n->type == NOTE_CHANGE;
                        gone = gone ||
                                (n->type == NOTE_CHANGE && n->change.author_gone &&
                                 n->change.pid == f.child);
                        note_free(n);
                }
        }
        assert_true(gone);
        fixture_done(&f);
}

#define MANY 110000 /* twice that many changes do not fit into the queue of notes */

static void do_many(void) {
        char name[32];
        int i;

        for (i = 0; i < MANY; i++) {
                (void) snprintf(name, sizeof(name), "w/l%d", i);
                MUST(link("o/store", name));
                MUST(unlink(name));
        }
}

/* Whoever does not take notes makes the thread wait, and loses nothing. */
static void a_slow_taker_loses_nothing(void **state) {
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        (void) fixture_do(&f, plant);
        fixture_watch(&f, f.path, NULL);
        (void) fixture_do(&f, do_many);
        (void) fixture_do(&f, do_write);
        f.quiet = true;
        fixture_sync(&f);
        assert_string_equal(f.losses, "");
        assert_string_equal(f.last, "modify file w/precious");
        fixture_done(&f);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_difference_is_found),
                cmocka_unit_test(a_single_file_is_compared_too),
                cmocka_unit_test(a_reaped_author_is_said_to_be_gone),
                cmocka_unit_test(a_slow_taker_loses_nothing),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
