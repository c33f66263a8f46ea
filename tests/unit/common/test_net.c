/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/net.h"

/*
 * A script is lines "OP PATH [PATH]", with a slash at the end of a directory: + create, * modify, - delete, > rename,
 * ! rename that replaced its target, x exchange, i create by a move into the watch, o delete by a move out of it,
 * j a move into the watch that replaced its target, m metadata, d refused delete. The net effect is one line for
 * each entry, as "created PATH", "renamed FROM TO".
 */
typedef struct Case {
        const char *story, *script, *net;
} Case;

typedef struct Moment {
        Net *net;
        usec_t now;
} Moment;

static void apply(Moment *m, OpType op, const char *path, const char *from, bool dir,
                  const Operation *more) {
        Operation o = more ? *more : (Operation){};

        o.op = op;
        o.kind = dir ? KIND_DIR : KIND_FILE;
        o.path = (char *) path;
        o.from = (char *) from;
        o.first = o.last = m->now;
        assert_int_equal(net_apply(m->net, &o), 0);
}

static bool strip_slash(char *path) {
        size_t n = strlen(path);

        if (n < 2 || path[n - 1] != '/')
                return false;
        path[n - 1] = 0;
        return true;
}

static void apply_line(Moment *m, const char *line) {
        static const Operation replaced = {.replaced = true}, out = {.to = (char *) "/outside"},
                               denied = {.action = ACTION_DENIED};
        char word[2], a[512], b[512];
        int n = sscanf(line, " %1s %511s %511s", word, a, b);
        bool dir;

        assert_true(n >= 2);
        dir = strip_slash(a);
        if (n > 2)
                dir |= strip_slash(b);
        m->now++;
        switch (word[0]) {
        case '+':
                return apply(m, OP_CREATE, a, NULL, dir, NULL);
        case '*':
                return apply(m, OP_MODIFY, a, NULL, dir, NULL);
        case '-':
                return apply(m, OP_DELETE, a, NULL, dir, NULL);
        case '>':
                return apply(m, OP_RENAME, b, a, dir, NULL);
        case '!':
                return apply(m, OP_RENAME, b, a, dir, &replaced);
        case 'x':
                apply(m, OP_RENAME, b, a, dir, NULL);
                return apply(m, OP_RENAME, a, b, dir, NULL);
        case 'i':
                return apply(m, OP_CREATE, a, "/outside", dir, NULL);
        case 'j':
                return apply(m, OP_CREATE, a, "/outside", dir, &replaced);
        case 'o':
                return apply(m, OP_DELETE, a, NULL, dir, &out);
        case 'm':
                return apply(m, OP_METADATA, a, NULL, dir, NULL);
        case 'd':
                return apply(m, OP_DELETE, a, NULL, dir, &denied);
        default:
                fail_msg("no such line: %s", line);
        }
}

static void print_net(FILE *f, const NetLists *l) {
        for (size_t i = 0; i < l->n_created; i++)
                fprintf(f, "created %s\n", l->created[i]);
        for (size_t i = 0; i < l->n_modified; i++)
                fprintf(f, "modified %s\n", l->modified[i]);
        for (size_t i = 0; i < l->n_deleted; i++)
                fprintf(f, "deleted %s\n", l->deleted[i]);
        for (size_t i = 0; i < l->n_renamed; i++)
                fprintf(f, "renamed %s %s\n", l->renamed[i].from, l->renamed[i].to);
}

static char *net_of(const char *script) {
        _cleanup_(net_freep) Net *net = NULL;
        _cleanup_free_ char *lines = strdup(script);
        const NetLists *lists;
        char *text = NULL, *save = NULL;
        size_t size;
        FILE *f;
        Moment m = {.now = 1};

        assert_non_null(lines);
        assert_int_equal(net_new(&net), 0);
        m.net = net;
        for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
                apply_line(&m, line);
        assert_int_equal(net_lists(net, &lists), 0);
        f = open_memstream(&text, &size);
        assert_non_null(f);
        print_net(f, lists);
        assert_int_equal(fclose(f), 0);
        return text;
}

static void check(const Case *cases, size_t n) {
        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *net = net_of(cases[i].script);

                if (!str_equal(net, cases[i].net))
                        fail_msg("%s:\n%s--- expected:\n%s", cases[i].story, net, cases[i].net);
        }
}

static void one_object_at_a_time(void **state) {
        static const Case cases[] = {
                {"nothing", "", ""},
                {"a new file", "+ /w/a", "created /w/a\n"},
                {"a new directory with a file", "+ /w/d/\n+ /w/d/a",
                 "created /w/d\ncreated /w/d/a\n"},
                {"a file is written", "* /w/a\n* /w/a", "modified /w/a\n"},
                {"a file is deleted", "- /w/a", "deleted /w/a\n"},
                {"a file is renamed", "> /w/a /w/b", "renamed /w/a /w/b\n"},
                {"created and deleted is nothing", "+ /w/a\n- /w/a", ""},
                {"written and deleted is deleted", "* /w/a\n- /w/a", "deleted /w/a\n"},
                {"written and renamed is both, at the new name", "* /w/a\n> /w/a /w/b",
                 "modified /w/b\nrenamed /w/a /w/b\n"},
                {"renamed and written likewise", "> /w/a /w/b\n* /w/b",
                 "modified /w/b\nrenamed /w/a /w/b\n"},
                {"renamed and deleted is deleted, at the old name", "> /w/a /w/b\n- /w/b",
                 "deleted /w/a\n"},
                {"there and back is nothing", "> /w/a /w/b\n> /w/b /w/a", ""},
                {"there, written and back is written", "> /w/a /w/b\n* /w/b\n> /w/b /w/a",
                 "modified /w/a\n"},
                {"renamed twice is renamed once", "> /w/a /w/b\n> /w/b /w/c",
                 "renamed /w/a /w/c\n"},
                {"created and renamed is created", "+ /w/a\n> /w/a /w/b", "created /w/b\n"},
                {"deleted and created is modified", "- /w/a\n+ /w/a", "modified /w/a\n"},
                {"deleted, created and deleted is deleted", "- /w/a\n+ /w/a\n- /w/a",
                 "deleted /w/a\n"},
                {"deleted, and another in its place", "- /w/a\n> /w/b /w/a",
                 "deleted /w/a\nrenamed /w/b /w/a\n"},
                {"a new one in the place of a renamed one", "> /w/a /w/b\n+ /w/a",
                 "created /w/a\nrenamed /w/a /w/b\n"},
                {"a directory removed and made again is nothing", "- /w/d/\n+ /w/d/", ""},
                {"a file in the place of a directory", "- /w/d/\n+ /w/d",
                 "created /w/d\ndeleted /w/d\n"},
                {"metadata is nothing", "m /w/a", ""},
                {"what was refused is nothing", "d /w/a", ""},
                {"moved in is created", "i /w/a", "created /w/a\n"},
                {"moved in over another is modified", "j /w/a", "modified /w/a\n"},
                {"moved out is deleted", "o /w/a", "deleted /w/a\n"},
                {"created and moved out is nothing", "+ /w/a\no /w/a", ""},
                {"names are bytes", "+ /w/\xff\xfe", "created /w/\xff\xfe\n"},
                {"lists are sorted", "+ /w/c\n+ /w/a\n- /w/z\n- /w/y\n+ /w/b",
                 "created /w/a\ncreated /w/b\ncreated /w/c\ndeleted /w/y\ndeleted /w/z\n"},
        };

        check(cases, ELEMENTSOF(cases));
}

static void a_lost_target_is_told(void **state) {
        static const Case cases[] = {
                {"write aside and rename over", "+ /w/t\n! /w/t /w/a", "modified /w/a\n"},
                {"the same, twice", "+ /w/t\n! /w/t /w/a\n+ /w/t\n! /w/t /w/a", "modified /w/a\n"},
                {"an old file over another", "! /w/b /w/a", "deleted /w/a\nrenamed /w/b /w/a\n"},
                {"an old file over a new one", "+ /w/a\n! /w/b /w/a", "renamed /w/b /w/a\n"},
                {"a new one over a new one", "+ /w/a\n+ /w/b\n! /w/b /w/a", "created /w/a\n"},
                {"over a written one", "* /w/a\n+ /w/t\n! /w/t /w/a", "modified /w/a\n"},
                {"over a renamed one", "> /w/a /w/b\n+ /w/t\n! /w/t /w/b",
                 "created /w/b\ndeleted /w/a\n"},
                {"a directory over an empty one", "! /w/d/ /w/e/",
                 "deleted /w/e\nrenamed /w/d /w/e\n"},
                {"a target that nobody said was replaced is lost all the same",
                 "* /w/a\n> /w/b /w/a", "deleted /w/a\nrenamed /w/b /w/a\n"},
                {"a rename over it and back leaves it lost", "! /w/b /w/a\n> /w/a /w/b",
                 "deleted /w/a\n"},
        };

        check(cases, ELEMENTSOF(cases));
}

static void directories_take_along_what_is_in_them(void **state) {
        static const Case cases[] = {
                {"a renamed directory is one entry", "> /w/d/ /w/e/", "renamed /w/d /w/e\n"},
                {"what is written in it has the new name", "> /w/d/ /w/e/\n* /w/e/x/f",
                 "modified /w/e/x/f\nrenamed /w/d /w/e\n"},
                {"what was written in it too", "* /w/d/f\n> /w/d/ /w/e/",
                 "modified /w/e/f\nrenamed /w/d /w/e\n"},
                {"what is deleted in it has the old name", "> /w/d/ /w/e/\n- /w/e/x/f",
                 "deleted /w/d/x/f\nrenamed /w/d /w/e\n"},
                {"what is moved in it is renamed", "> /w/d/ /w/e/\n> /w/e/f /w/e/g",
                 "renamed /w/d /w/e\nrenamed /w/d/f /w/e/g\n"},
                {"and back is nothing", "> /w/d/ /w/e/\n* /w/e/f\n> /w/e/ /w/d/",
                 "modified /w/d/f\n"},
                {"what left before does not come along", "> /w/d/f /w/f\n> /w/d/ /w/e/\n- /w/e/",
                 "deleted /w/d\nrenamed /w/d/f /w/f\n"},
                {"a file that goes back to its name in a new directory stayed",
                 "> /w/d/ /w/e/\n+ /w/d/\n> /w/e/f /w/d/f", "created /w/d\nrenamed /w/d /w/e\n"},
                {"a new directory renamed", "+ /w/d/\n+ /w/d/a\n> /w/d/ /w/e/\n+ /w/e/b",
                 "created /w/e\ncreated /w/e/a\ncreated /w/e/b\n"},
                {"two renames, inner and outer", "> /w/a/b/ /w/a/c/\n> /w/a/ /w/z/\n* /w/z/c/f",
                 "modified /w/z/c/f\nrenamed /w/a /w/z\nrenamed /w/a/b /w/z/c\n"},
                {"two renames, outer and inner", "> /w/a/ /w/z/\n> /w/z/b/ /w/z/c/\n* /w/z/c/f",
                 "modified /w/z/c/f\nrenamed /w/a /w/z\nrenamed /w/a/b /w/z/c\n"},
                {"a name that has moved away is free", "> /w/d/ /w/e/\n+ /w/d/\n+ /w/d/f",
                 "created /w/d\ncreated /w/d/f\nrenamed /w/d /w/e\n"},
                {"moved out: the contents are not listed", "* /w/d/f\no /w/d/", "deleted /w/d\n"},
                {"moved out: what was deleted before is", "- /w/d/f\no /w/d/",
                 "deleted /w/d\ndeleted /w/d/f\n"},
                {"moved out: what had been moved in is", "> /w/a /w/d/a\no /w/d/",
                 "deleted /w/a\ndeleted /w/d\n"},
                {"moved out under another name", "> /w/d/ /w/e/\n* /w/e/f\no /w/e/",
                 "deleted /w/d\n"},
                {"moved out and made again: it is not the same", "o /w/d/\n+ /w/d/\n+ /w/d/f",
                 "created /w/d\ncreated /w/d/f\ndeleted /w/d\n"},
                {"a file moved out and made again", "o /w/f\n+ /w/f",
                 "created /w/f\ndeleted /w/f\n"},
                {"moved in: what is below was not there", "i /w/d/\n- /w/d/x", "created /w/d\n"},
                {"moved in: what is written below is seen", "i /w/d/\n* /w/d/x",
                 "created /w/d\nmodified /w/d/x\n"},
                {"moved in: what is moved on was not there at the start", "i /w/d/\n> /w/d/x /w/x",
                 "created /w/d\ncreated /w/x\n"},
                {"removed with deletes that went unseen: what is known is told",
                 "* /w/d/f\n- /w/d/", "deleted /w/d\ndeleted /w/d/f\n"},
        };

        check(cases, ELEMENTSOF(cases));
}

static void an_exchange_loses_nothing(void **state) {
        static const Case cases[] = {
                {"two untouched files", "x /w/a /w/b", "renamed /w/a /w/b\nrenamed /w/b /w/a\n"},
                {"two written files", "* /w/a\n* /w/b\nx /w/a /w/b",
                 "modified /w/a\nmodified /w/b\nrenamed /w/a /w/b\nrenamed /w/b /w/a\n"},
                {"twice is nothing", "x /w/a /w/b\nx /w/a /w/b", ""},
                {"twice, the other way round", "x /w/a /w/b\nx /w/b /w/a", ""},
                {"a new file with an old one", "+ /w/n\nx /w/n /w/a",
                 "created /w/a\nrenamed /w/a /w/n\n"},
                {"a new file with an old one that is then deleted", "+ /w/n\nx /w/n /w/a\n- /w/n",
                 "modified /w/a\n"},
                {"an old file with a new one", "+ /w/n\nx /w/a /w/n",
                 "created /w/a\nrenamed /w/a /w/n\n"},
                {"directories in directories", "* /w/p/d/f\nx /w/p/d/ /w/q/e/\n* /w/p/d/g",
                 "modified /w/p/d/g\nmodified /w/q/e/f\nrenamed /w/p/d /w/q/e\nrenamed /w/q/e "
                 "/w/p/d\n"},
                {"without the second half the target is lost", "* /w/b\n> /w/a /w/b\n+ /w/c",
                 "created /w/c\ndeleted /w/b\nrenamed /w/a /w/b\n"},
                {"without the same moment, of what is known",
                 "* /w/a\n* /w/b\n> /w/a /w/b\n> /w/b /w/a",
                 "modified /w/a\nmodified /w/b\nrenamed /w/a /w/b\nrenamed /w/b /w/a\n"},
                {"in a directory that was renamed", "> /w/d/ /w/e/\nx /w/e/a /w/e/b",
                 "renamed /w/d /w/e\nrenamed /w/d/a /w/e/b\nrenamed /w/d/b /w/e/a\n"},
        };

        check(cases, ELEMENTSOF(cases));
}

/* What the folders in tests/cases of the same number do. */
static void the_reproduction_cases(void **state) {
        static const Case cases[] = {
                {"01: a fake snapshot, the link moved on, a real one pruned",
                 "+ /B/v2/\n+ /B/v2/app.db\n+ /B/v2/vec/\n+ /B/v2/vec/data\n* /B/catalog\n"
                 "+ /B/latest.tmp\n! /B/latest.tmp /B/latest\n"
                 "+ /B/v3/\n* /B/catalog\n+ /B/latest.tmp\n! /B/latest.tmp /B/latest\n"
                 "- /B/v1/app.db\n- /B/v1/vec/data\n- /B/v1/vec/\n- /B/v1/",
                 "created /B/v2\ncreated /B/v2/app.db\ncreated /B/v2/vec\ncreated /B/v2/vec/data\n"
                 "created /B/v3\nmodified /B/catalog\nmodified /B/latest\n"
                 "deleted /B/v1\ndeleted /B/v1/app.db\ndeleted /B/v1/vec\n"
                 "deleted /B/v1/vec/data\n"},
                {"06: mirror with delete",
                 "+ /b/.a.tmp\nm /b/.a.tmp\n! /b/.a.tmp /b/a\n+ /b/.c.tmp\n> /b/.c.tmp /b/c\n"
                 "- /b/2023/d1\n- /b/2023/",
                 "created /b/c\nmodified /b/a\ndeleted /b/2023\ndeleted /b/2023/d1\n"},
                {"07: moved onto a directory that is not there",
                 "+ /i/sorted/\n- /i/sorted/\n> /i/a /i/sorted\n! /i/b /i/sorted\n"
                 "! /i/c /i/sorted",
                 "deleted /i/a\ndeleted /i/b\nrenamed /i/c /i/sorted\n"},
                {"08: how editors save",
                 "+ /e/.s.new\n! /e/.s.new /e/s\n+ /e/.s.new\n! /e/.s.new /e/s\n"
                 "> /e/notes /e/notes~\n+ /e/notes\n- /e/notes~\n* /e/plain\n"
                 "+ /e/r.bak\n+ /e/.r.new\n! /e/.r.new /e/r\n* /e/log",
                 "created /e/r.bak\nmodified /e/log\nmodified /e/notes\nmodified /e/plain\n"
                 "modified /e/r\nmodified /e/s\n"},
                {"18: names of the moment",
                 "> /proj/ /proj.old/\n* /proj.old/src/a.c\n"
                 "+ /stage/\n+ /stage/x/\n+ /stage/x/y/\n+ /stage/x/y/f1\n"
                 "> /stage/ /final/\n+ /final/x/y/f2\n> /final/x/ /final/z/\n+ /final/z/y/f3\n"
                 "- /proj.old/src/a.c\n- /proj.old/src/b.c\n- /proj.old/src/\n- /proj.old/\n"
                 "- /final/z/y/f1\n- /final/z/y/f2\n- /final/z/y/f3\n- /final/z/y/\n- /final/z/\n"
                 "- /final/\n+ /proj/\n+ /proj/README",
                 "created /proj/README\ndeleted /proj/src\ndeleted /proj/src/a.c\n"
                 "deleted /proj/src/b.c\n"},
        };

        check(cases, ELEMENTSOF(cases));
}

static void nonsense_does_no_harm(void **state) {
        static const Case cases[] = {
                {"created twice", "+ /w/a\n+ /w/a", "created /w/a\n"},
                {"created where a written one was", "* /w/a\n+ /w/a", "modified /w/a\n"},
                {"deleted twice", "- /w/a\n- /w/a", "deleted /w/a\n"},
                {"written after it was deleted: it was made unseen", "- /w/a\n* /w/a",
                 "modified /w/a\n"},
                {"written below what was deleted", "- /w/d/\n* /w/d/f",
                 "created /w/d/f\ndeleted /w/d\n"},
                {"renamed below itself", "> /w/d/ /w/d/e/", ""},
                {"renamed over what it is in", "! /w/d/e/ /w/d/", ""},
                {"the same, with more slashes", "! /w//d///e /w/d", ""},
                {"renamed to itself", "> /w/a /w/a", ""},
                {"the root is not touched", "- /\n+ /\n* /\n> / /a\n> /a /", ""},
                {"a directory told of after what is in it", "+ /w/d/f\n+ /w/d/",
                 "created /w/d\ncreated /w/d/f\n"},
                {"renamed from where nothing is", "- /w/a\n> /w/a /w/b",
                 "created /w/b\ndeleted /w/a\n"},
        };

        check(cases, ELEMENTSOF(cases));
}

/* Lists may be asked for in between, and again. */
static void lists_follow_the_operations(void **state) {
        _cleanup_(net_freep) Net *net = NULL;
        const NetLists *lists;
        Moment m = {.now = 1};

        assert_int_equal(net_new(&net), 0);
        m.net = net;
        apply_line(&m, "- /w/a");
        assert_int_equal(net_lists(net, &lists), 0);
        assert_int_equal(lists->n_deleted, 1);
        apply_line(&m, "+ /w/a");
        for (int i = 0; i < 2; i++) {
                assert_int_equal(net_lists(net, &lists), 0);
                assert_int_equal(lists->n_deleted, 0);
                assert_int_equal(lists->n_modified, 1);
        }
        apply_line(&m, "- /w/a");
        assert_int_equal(net_lists(net, &lists), 0);
        assert_int_equal(lists->n_deleted, 1);
        assert_int_equal(lists->n_modified, 0);
}

/* Each rename puts the tree one level deeper, as mkdir and rename can without any long path. */
static void deep_trees_take_no_stack(void **state) {
        _cleanup_(net_freep) Net *net = NULL;
        const NetLists *lists;
        Moment m = {.now = 1};
        char a[32], b[64];

        assert_int_equal(net_new(&net), 0);
        m.net = net;
        for (int i = 0; i < 100000; i++) {
                m.now++;
                (void) snprintf(a, sizeof a, "/d%d", i);
                (void) snprintf(b, sizeof b, "/d%d/d%d", i + 1, i);
                apply(&m, OP_CREATE, a, NULL, true, NULL);
                apply(&m, OP_RENAME, b, a, true, NULL);
        }
        assert_int_equal(net_lists(net, &lists), 0);
        assert_in_range(lists->n_created, 1, 100000);
        apply(&m, OP_DELETE, "/d100000", NULL, true, NULL);
        assert_int_equal(net_lists(net, &lists), 0);
        assert_int_equal(lists->n_created, 0);
}

/* Any order of any operations on few names: no crash, and no name in two places. */
static void random_orders_keep_the_lists_sound(void **state) {
        uint32_t seed = 12345;
        static const char *const names[] = {"/a",     "/b",     "/a/a",   "/a/b", "/b/a",
                                            "/b/b/a", "/a/b/a", "/b/b",   "/c",   "/c/a/b",
                                            "/a/a/a", "/c/b",   "/b/a/a", "/"};

        for (int round = 0; round < 2000; round++) {
                _cleanup_(net_freep) Net *net = NULL;
                const NetLists *l;
                Moment m = {.now = 1};

                assert_int_equal(net_new(&net), 0);
                m.net = net;
                for (int i = 0; i < 30; i++) {
                        Operation more = {};
                        uint32_t dice;

                        seed = seed * 1664525 + 1013904223;
                        dice = seed >> 8;
                        m.now += dice & 1;
                        more.replaced = dice >> 1 & 1;
                        more.to = dice >> 2 & 1 ? (char *) "/outside" : NULL;
                        apply(&m, (OpType) (dice >> 3) % OP_METADATA,
                              names[(dice >> 6) % ELEMENTSOF(names)],
                              names[(dice >> 11) % ELEMENTSOF(names)], dice >> 16 & 1, &more);
                }
                assert_int_equal(net_lists(net, &l), 0);
                for (size_t i = 1; i < l->n_created; i++)
                        assert_true(strcmp(l->created[i - 1], l->created[i]) < 0);
                for (size_t i = 1; i < l->n_modified; i++)
                        assert_true(strcmp(l->modified[i - 1], l->modified[i]) < 0);
                for (size_t i = 1; i < l->n_deleted; i++)
                        assert_true(strcmp(l->deleted[i - 1], l->deleted[i]) < 0);
                for (size_t i = 1; i < l->n_renamed; i++)
                        assert_true(strcmp(l->renamed[i - 1].from, l->renamed[i].from) < 0);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(one_object_at_a_time),
                cmocka_unit_test(a_lost_target_is_told),
                cmocka_unit_test(directories_take_along_what_is_in_them),
                cmocka_unit_test(an_exchange_loses_nothing),
                cmocka_unit_test(the_reproduction_cases),
                cmocka_unit_test(nonsense_does_no_harm),
                cmocka_unit_test(lists_follow_the_operations),
                cmocka_unit_test(deep_trees_take_no_stack),
                cmocka_unit_test(random_orders_keep_the_lists_sound),
        };
        return cmocka_run_group_tests_name("net", tests, NULL, NULL);
}
