/* SPDX-License-Identifier: MIT */
/* Stores through a shared mapping give no MODIFY: they are told by the size and time at the last close, and decoys are not. */
#include "tests/unit/kernel/watcher_fixture.h"

#include <sys/mman.h>

#define SIZE 65536

static char *map(const char *path, int flags, int how) {
        int fd = open(path, flags);
        char *p;

        MUST(fd);
        p = mmap(NULL, SIZE, flags == O_RDWR ? PROT_READ | PROT_WRITE : PROT_READ, how, fd, 0);
        MUST(p == MAP_FAILED ? -1 : 0);
        MUST(close(fd)); /* the mapping alone is left */
        return p;
}

static void plant(void) {
        static const char zero[SIZE];
        int fd = open("w/db", O_WRONLY | O_CREAT, 0644);

        MUST(write(fd, zero, SIZE));
        MUST(close(fd));
        MUST(link("w/db", "o/db-outside"));
        /* Two changes within one tick of the clock have the same time. */
        MUST(usleep(30000));
}

static void do_store(void) {
        char *p = map("w/db", O_RDWR, MAP_SHARED);

        memcpy(p + 8192, "changed", 7);
        MUST(munmap(p, SIZE));
}
static void do_store_killed(void) {
        pid_t child = fork();
        int status;

        if (child == 0) {
                map("w/db", O_RDWR, MAP_SHARED)[0] = 1;
                (void) raise(SIGKILL);
        }
        MUST(waitpid(child, &status, 0));
        (void) !write(open("o/pid", O_CREAT | O_WRONLY, 0600), &child, sizeof(child));
}
static void do_store_outside(void) {
        char *p = map("o/db-outside", O_RDWR, MAP_SHARED);

        p[1] = 1;
        MUST(munmap(p, SIZE));
}
static void do_store_and_remove(void) {
        char *p = map("w/db", O_RDWR, MAP_SHARED);

        p[1] = 1;
        MUST(munmap(p, SIZE));
        MUST(unlink("w/db"));
}
static void do_store_and_rename(void) {
        char *p = map("w/db", O_RDWR, MAP_SHARED);

        p[1] = 1;
        MUST(munmap(p, SIZE));
        MUST(rename("w/db", "w/db2"));
}
static void do_untouched(void) {
        char *p = map("w/db", O_RDWR, MAP_SHARED);

        MUST(p[100]);
        MUST(munmap(p, SIZE));
}
static void do_private(void) {
        char *p = map("w/db", O_RDWR, MAP_PRIVATE);

        p[100] = 1;
        MUST(munmap(p, SIZE));
}
static void do_read_only(void) {
        MUST(map("w/db", O_RDONLY, MAP_SHARED)[100]);
}
static void do_touch(void) {
        struct timespec t[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
        int fd = open("w/db", O_RDWR);

        MUST(futimens(fd, t));
        MUST(close(fd));
}
static void do_store_twice(void) {
        do_store();
        until_read();
        MUST(usleep(30000));
        do_store();
}

static const struct {
        const char *name;
        void (*what)(void);
        const char *expected;
} cases[] = {
        {"store", do_store, "modify file w/db\n"},
        {"store by a name outside", do_store_outside, "modify file w/db\n"},
        {"store, then rename", do_store_and_rename,
         "modify file w/db\nrename file w/db2 from w/db\n"},
        {"untouched", do_untouched, ""},
        {"private", do_private, ""},
        {"read only", do_read_only, ""},
        {"touch", do_touch, "metadata file w/db\n"},
        {"store twice", do_store_twice, "modify file w/db\n"},
};

static void replant(void) {
        run("rm -rf w/* o/*");
        plant();
}

static void begin(Fixture *f) {
        (void) fixture_do(f, replant);
        fixture_watch(f, f->path, NULL);
        assert_int_equal(f->status.state, WATCHER_ARMED);
}

static void each_store(const char *type) {
        Fixture f;
        size_t i;

        if (!fixture_mount(&f, type))
                skip();
        for (i = 0; i < ELEMENTSOF(cases); i++) {
                begin(&f);
                (void) fixture_do(&f, cases[i].what);
                fixture_sync(&f);
                if (!str_equal(f.changes, cases[i].expected))
                        print_message("in '%s' on %s:\n", cases[i].name, type);
                fixture_expect(&f, cases[i].expected);
                fixture_unwatch(&f);
        }
        fixture_done(&f);
}

static void each_store_on_tmpfs(void **state) {
        each_store("tmpfs");
}

static void each_store_on_ext4(void **state) {
        each_store("ext4");
}

static void each_store_on_xfs(void **state) {
        each_store("xfs");
}

static void the_author_is_the_killed_process(void **state) {
        char expected[64];
        Fixture f;
        pid_t pid;

        if (!fixture_mount(&f, "ext4"))
                skip();
        begin(&f);
        (void) fixture_do(&f, do_store_killed);
        assert_int_equal(read(open("o/pid", O_RDONLY), &pid, sizeof(pid)), sizeof(pid));
        (void) snprintf(expected, sizeof(expected), "modify file w/db by %d\n", pid);
        fixture_expect(&f, expected);
        fixture_done(&f);
}

/* A file that is gone when the event is read cannot be compared; that it was removed is told. */
static void removal_is_told_in_any_case(void **state) {
        Fixture f;

        if (!fixture_mount(&f, "tmpfs"))
                skip();
        begin(&f);
        (void) fixture_do(&f, do_store_and_remove);
        fixture_sync(&f);
        assert_non_null(strstr(f.changes, "delete file w/db\n"));
        fixture_done(&f);
}

static int go[2]; /* a pipe: the other process waits for it */

static void hold_open(Fixture *f, pid_t *ret) {
        char c;
        int ready[2];

        assert_int_equal(pipe(go), 0);
        assert_int_equal(pipe(ready), 0);
        *ret = fork();
        if (*ret == 0) {
                int fd = open("w/db", O_RDWR);

                MUST(fd);
                MUST(write(ready[1], "r", 1));
                MUST(read(go[0], &c, 1));
                _exit(0);
        }
        assert_int_equal(read(ready[0], &c, 1), 1);
}

static void do_write_and_let_go(void) {
        int fd = open("w/db", O_WRONLY);

        MUST(write(fd, "x", 1));
        MUST(write(go[1], "g", 1));
        MUST(usleep(20000));
        MUST(close(fd));
}

/* Who only had the file open is not the author of what somebody else wrote meanwhile. */
static void a_write_explains_the_change(void **state) {
        Fixture f;
        pid_t other;
        int status;

        if (!fixture_mount(&f, "ext4"))
                skip();
        begin(&f);
        hold_open(&f, &other);
        (void) fixture_do(&f, do_write_and_let_go);
        assert_int_equal(waitpid(other, &status, 0), other);
        fixture_expect(&f, "modify file w/db\n");
        fixture_done(&f);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_store_on_tmpfs),
                cmocka_unit_test(each_store_on_ext4),
                cmocka_unit_test(each_store_on_xfs),
                cmocka_unit_test(the_author_is_the_killed_process),
                cmocka_unit_test(removal_is_told_in_any_case),
                cmocka_unit_test(a_write_explains_the_change),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
