/* SPDX-License-Identifier: MIT */
/*
 * A reader that comes late: everything has been done before the first record is read, so that the kernel has put together what it can,
 * and nothing is where the records say that it was.
 */
#include "daemon/kernel/lookout.h"
#include "tests/unit/kernel/watcher_fixture.h"

#include <sys/syscall.h>

/* Another process does it, to the end: told as "by another". */
static void other(void (*what)(void)) {
        pid_t child = fork();
        int status;

        MUST(child);
        if (child == 0) {
                what();
                _exit(0);
        }
        MUST(waitpid(child, &status, 0));
        MUST(status == 0 ? 0 : -1);
}

static void append_a(void) {
        put("w/a", O_APPEND, "more");
}
static void append_new(void) {
        put("w/new", O_APPEND, "more");
}

static void plant(void) {
        put("w/a", O_CREAT, "a");
        MUST(mkdir("o/tree", 0755));
        MUST(mkdir("o/tree/x", 0755));
        MUST(mkdir("o/tree/x/y", 0755));
        put("o/tree/x/y/f", O_CREAT, "f");
        put("o/tree/x/y/g", O_CREAT, "g");
}

static void do_remove_what_another_wrote(void) {
        put("w/a", O_APPEND, "mine");
        other(append_a);
        MUST(unlink("w/a"));
}
static void do_remove_new_that_another_wrote(void) {
        put("w/new", O_CREAT | O_EXCL, "mine");
        other(append_new);
        MUST(unlink("w/new"));
        put("w/new", O_CREAT | O_EXCL, "again");
}
static void do_directories(void) {
        MUST(mkdir("w/d", 0755));
        MUST(mkdir("w/d/e", 0755));
        put("w/d/e/f", O_CREAT, "f");
        MUST(unlink("w/d/e/f"));
        MUST(rmdir("w/d/e"));
        MUST(rmdir("w/d"));
        MUST(mkdir("w/d", 0755));
}

static void do_move_in_and_remove(void) {
        MUST(rename("o/tree", "w/tree"));
        put("w/tree/x/y/g", O_APPEND, "more");
        MUST(unlink("w/tree/x/y/f"));
        MUST(rename("w/tree/x/y/g", "w/g"));
        MUST(rmdir("w/tree/x/y"));
        MUST(rmdir("w/tree/x"));
        MUST(rmdir("w/tree"));
}
static void do_move_in_and_rename(void) {
        MUST(rename("o/tree", "w/tree"));
        MUST(unlink("w/tree/x/y/f"));
        MUST(rename("w/tree/x/y", "w/tree/y"));
        put("w/tree/y/g", O_APPEND, "more");
        MUST(rename("w/tree", "w/tree2"));
}
static void do_move_in_and_out(void) {
        MUST(rename("o/tree", "w/tree"));
        put("w/tree/x/y/f", O_APPEND, "more");
        put("w/tree/x/y/new", O_CREAT, "new");
        MUST(rename("w/tree", "o/tree2"));
        put("o/tree2/x/y/g", O_APPEND, "outside");
}
static void do_remove_outside_and_move_in(void) {
        MUST(unlink("o/tree/x/y/f"));
        put("o/tree/x/y/g", O_APPEND, "outside");
        MUST(rename("o/tree", "w/tree"));
        put("w/tree/x/y/new", O_CREAT, "");
}

static void do_there_and_back(void) {
        MUST(rename("w/a", "w/b"));
        MUST(rename("w/b", "w/a"));
}
static void do_there_again(void) {
        do_there_and_back();
        MUST(rename("w/a", "w/b"));
        put("w/b", O_APPEND, "more");
}
static void do_directory_there_again(void) {
        int i;

        MUST(rename("o/tree", "w/t"));
        for (i = 0; i < 2; i++) {
                MUST(rename("w/t", "w/u"));
                MUST(i < 1 ? rename("w/u", "w/t") : 0);
        }
        put("w/u/new", O_CREAT, "");
}

static const struct {
        const char *name;
        void (*what)(void);
        const char *expected;
} cases[] = {
        {"written, written by another, removed", do_remove_what_another_wrote,
         "modify file w/a\nmodify file w/a by another\ndelete file w/a\n"},
        {"made, written by another, removed, made again", do_remove_new_that_another_wrote,
         "create file w/new\nmodify file w/new\nmodify file w/new by another\ndelete file w/new\n"
         "create file w/new\nmodify file w/new\n"},
        {"made, filled, emptied, removed, made again", do_directories,
         "create dir w/d\ncreate dir w/d/e\ncreate file w/d/e/f\nmodify file w/d/e/f\n"
         "delete file w/d/e/f\ndelete dir w/d/e\ndelete dir w/d\ncreate dir w/d\n"},
        {"moved in and removed", do_move_in_and_remove,
         "create dir w/tree from o/tree\nmodify file w/tree/x/y/g\ndelete file w/tree/x/y/f\n"
         "rename file w/g from w/tree/x/y/g\ndelete dir w/tree/x/y\ndelete dir w/tree/x\n"
         "delete dir w/tree\n"},
        {"moved in and renamed", do_move_in_and_rename,
         "create dir w/tree from o/tree\ndelete file w/tree/x/y/f\nrename dir w/tree/y from w/tree/x/y\n"
         "modify file w/tree/y/g\nrename dir w/tree2 from w/tree\n"},
        {"moved in and out", do_move_in_and_out,
         "create dir w/tree from o/tree\nmodify file w/tree/x/y/f\ncreate file w/tree/x/y/new\n"
         "modify file w/tree/x/y/new\ndelete dir w/tree to o/tree2\n"},
        {"there and back", do_there_and_back,
         "rename file w/b from w/a\nrename file w/a from w/b\n"},
        {"there again", do_there_again,
         "rename file w/b from w/a\nrename file w/a from w/b\nrename file w/b from w/a\n"
         "modify file w/b\n"},
        {"a directory there again", do_directory_there_again,
         "create dir w/t from o/tree\nrename dir w/u from w/t\nrename dir w/t from w/u\n"
         "rename dir w/u from w/t\ncreate file w/u/new\n"},
        {"changed outside and moved in", do_remove_outside_and_move_in,
         "create dir w/tree from o/tree\ncreate file w/tree/x/y/new\n"},
};

static bool never(void *userdata) {
        return false;
}

/* Numbers of processes are no part of what is expected. */
static void name_others(char *text) {
        static const char other_one[] = " by another";
        char *by, *rest, copy[4096];

        for (by = text; (by = strstr(by, " by ")); by += strlen(other_one)) {
                rest = by + strlen(" by ") + strspn(by + strlen(" by "), "0123456789");
                (void) snprintf(copy, sizeof(copy), "%s", rest);
                (void) strcat(strcpy(by, other_one), copy);
        }
}

static void check_case(Fixture *f, size_t i, const char *type) {
        const WatcherOptions options = {};
        LookoutConfig config = {.path = f->path, .options = &options, .abort = never};
        _cleanup_(lookout_freep) Lookout *l = NULL;
        WatcherStatus status = {};
        Notes notes;
        Note *n, *next;

        run("rm -rf w/* o/*");
        (void) fixture_do(f, plant);
        assert_int_equal(notes_init(&notes), 0);
        config.notes = &notes;
        assert_int_equal(lookout_new(&config, &status, &l), 0);
        assert_int_equal(status.tier, TIER_FILESYSTEM);
        (void) fixture_do(f, cases[i].what);
        while (lookout_read(l) > 0)
                ;
        lookout_rest(l);
        for (n = notes_take(&notes); n; n = next) {
                next = n->next;
                fixture_note(f, n);
                note_free(n);
        }
        name_others(f->changes);
        if (!str_equal(f->changes, cases[i].expected))
                print_message("in '%s' on %s:\n", cases[i].name, type);
        assert_string_equal(f->changes, cases[i].expected);
        assert_string_equal(f->losses, "");
        f->changes[0] = f->last[0] = '\0';
        notes_done(&notes);
}

static void each_case(const char *type) {
        Fixture f;
        size_t i;

        if (!fixture_mount(&f, type))
                skip();
        for (i = 0; i < ELEMENTSOF(cases); i++)
                check_case(&f, i, type);
        fixture_done(&f);
}

static void each_case_on_tmpfs(void **state) {
        each_case("tmpfs");
}

static void each_case_on_ext4(void **state) {
        each_case("ext4");
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_case_on_tmpfs),
                cmocka_unit_test(each_case_on_ext4),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
