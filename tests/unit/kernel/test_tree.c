/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "daemon/kernel/tree.h"

#define ROOT 1

static Tree *new_tree(size_t max) {
        Tree *t = NULL;

        assert_int_equal(tree_new(max, ROOT, &t), 0);
        return t;
}

static Node *add(Tree *t, Node *parent, const char *name, ObjectKind kind, uint64_t id) {
        Node *n = NULL;

        assert_int_equal(tree_add(t, parent, name, kind, id, &n), 0);
        assert_non_null(n);
        return n;
}

static void assert_path(const Node *n, const char *base, const char *name, const char *expected) {
        char *path = node_path(n, base, name);

        assert_string_equal(path, expected);
        free(path);
}

static void paths_are_built_from_the_root_down(void **state) {
        _cleanup_(tree_freep) Tree *t = new_tree(100);
        Node *d = add(t, tree_root(t), "d", KIND_DIR, 2), *f = add(t, d, "f", KIND_FILE, 3);

        assert_path(tree_root(t), "/mnt/nas", NULL, "/mnt/nas");
        assert_path(tree_root(t), "/mnt/nas", "x", "/mnt/nas/x");
        assert_path(f, "/mnt/nas", NULL, "/mnt/nas/d/f");
        assert_path(d, "/mnt/nas", "new", "/mnt/nas/d/new");
        assert_path(tree_root(t), "/", NULL, "/");
        assert_path(f, "/", NULL, "/d/f");
        assert_path(f, "", NULL, "/d/f");
}

static void a_moved_directory_takes_its_entries_along(void **state) {
        _cleanup_(tree_freep) Tree *t = new_tree(100);
        Node *root = tree_root(t), *a = add(t, root, "a", KIND_DIR, 2),
             *b = add(t, root, "b", KIND_DIR, 3), *f = add(t, a, "f", KIND_FILE, 4);

        assert_int_equal(tree_move(t, a, b, "c"), 0);
        assert_path(f, "/w", NULL, "/w/b/c/f");
        assert_null(tree_find(t, root, "a"));
        assert_ptr_equal(tree_find(t, b, "c"), a);
        assert_ptr_equal(tree_find(t, a, "f"), f);
        assert_ptr_equal(tree_find_object(t, 2), a);
        /* Again: no harm. */
        assert_int_equal(tree_move(t, a, b, "c"), 0);
        assert_int_equal(tree_move(t, b, a, "x"), -ELOOP);
        assert_int_equal(tree_move(t, f, b, "c"), -ELOOP);
}

static void a_move_removes_what_has_the_name(void **state) {
        _cleanup_(tree_freep) Tree *t = new_tree(100);
        Node *root = tree_root(t), *a = add(t, root, "a", KIND_FILE, 2);

        (void) add(t, root, "b", KIND_FILE, 3);
        assert_int_equal(tree_move(t, a, root, "b"), 0);
        assert_null(tree_find_object(t, 3));
        assert_ptr_equal(tree_find(t, root, "b"), a);
        assert_int_equal(tree_others(t), 1);
}

static void exchanged_nodes_keep_what_is_below(void **state) {
        _cleanup_(tree_freep) Tree *t = new_tree(100);
        Node *root = tree_root(t), *a = add(t, root, "a", KIND_DIR, 2),
             *d = add(t, root, "d", KIND_DIR, 3), *b = add(t, d, "b", KIND_FILE, 4),
             *f = add(t, a, "f", KIND_FILE, 5);

        assert_int_equal(tree_exchange(t, a, b), 0);
        assert_path(f, "", NULL, "/d/b/f");
        assert_path(b, "", NULL, "/a");
        assert_int_equal(tree_exchange(t, f, a), -ELOOP);
}

static void a_name_is_kept_for_the_same_object_only(void **state) {
        _cleanup_(tree_freep) Tree *t = new_tree(100);
        Node *root = tree_root(t), *n = add(t, root, "n", KIND_FILE, 0), *other;

        /* An object that was not known yet. */
        assert_ptr_equal(add(t, root, "n", KIND_FILE, 7), n);
        assert_ptr_equal(tree_find_object(t, 7), n);
        other = add(t, root, "n", KIND_FILE, 8);
        assert_null(tree_find_object(t, 7));
        assert_ptr_equal(tree_find(t, root, "n"), other);
        /* The name is a directory now, whatever its number. */
        (void) add(t, root, "n", KIND_DIR, 8);
        assert_int_equal(tree_others(t), 0);
        assert_int_equal(tree_directories(t), 2);
}

static void removal_takes_all_that_is_below(void **state) {
        _cleanup_(tree_freep) Tree *t = new_tree(100000);
        Node *n = tree_root(t), *top = NULL;
        int i;

        /* Deeper than a recursion would survive on a small stack. */
        for (i = 0; i < 50000; i++) {
                n = add(t, n, "d", KIND_DIR, (uint64_t) i + 10);
                top = top ? top : n;
        }
        assert_int_equal(tree_directories(t), 50001);
        tree_remove(t, top);
        assert_int_equal(tree_directories(t), 1);
        assert_null(tree_find_object(t, 10 + 40000));
        assert_null(node_walk(tree_root(t), tree_root(t)));
}

static size_t count_names(const Tree *t, uint64_t id) {
        size_t k = 0;
        Node *n;

        for (n = tree_find_object(t, id); n; n = node_next_name(n))
                k++;
        return k;
}

static void an_object_has_all_its_names_and_one_state(void **state) {
        _cleanup_(tree_freep) Tree *t = new_tree(100000);
        Node *root = tree_root(t), *first = add(t, root, "first", KIND_FILE, 5), *n;
        char name[32];
        int i;

        first->size = 42;
        first->content = CONTENT_KNOWN;
        /* Other objects in between, and enough of all for the tables to grow several times. */
        for (i = 0; i < 3000; i++) {
                (void) snprintf(name, sizeof(name), "l%d", i);
                (void) add(t, root, name, KIND_FILE, 5);
                (void) snprintf(name, sizeof(name), "o%d", i);
                (void) add(t, root, name, KIND_FILE, (uint64_t) i + 100);
        }
        assert_int_equal(count_names(t, 5), 3001);
        assert_int_equal(count_names(t, 100 + 2999), 1);
        assert_ptr_equal(tree_find_object(t, 5), first);
        assert_true(node_has_other_name(t, first));
        assert_false(node_has_other_name(t, tree_find_object(t, 100)));
        /* What is known of the object outlives the name under which it was learned. */
        tree_remove(t, first);
        n = tree_find_object(t, 5);
        assert_int_equal(n->size, 42);
        assert_int_equal(n->content, CONTENT_KNOWN);
        assert_int_equal(count_names(t, 5), 3000);
}

static void the_limit_holds_for_files_first(void **state) {
        _cleanup_(tree_freep) Tree *t = new_tree(3);
        Node *root = tree_root(t), *n;

        (void) add(t, root, "a", KIND_FILE, 2);
        (void) add(t, root, "b", KIND_FILE, 3);
        (void) add(t, root, "c", KIND_DIR, 4);
        assert_false(tree_is_partial(t));
        assert_int_equal(tree_add(t, root, "d", KIND_FILE, 5, &n), -ENOBUFS);
        assert_true(tree_is_partial(t));
        assert_false(tree_lacks_directories(t));
        (void) add(t, root, "e", KIND_DIR, 6);
        (void) add(t, root, "f", KIND_DIR, 7);
        (void) add(t, root, "g", KIND_DIR, 8);
        assert_int_equal(tree_add(t, root, "h", KIND_DIR, 9, &n), -ENOBUFS);
        assert_true(tree_lacks_directories(t));
        /* A name that is there may be put in again. */
        (void) add(t, root, "a", KIND_FILE, 2);
}

static void transient_directories_go_together(void **state) {
        _cleanup_(tree_freep) Tree *t = new_tree(2);
        Node *root = tree_root(t), *kept = add(t, root, "kept", KIND_DIR, 2), *n, *below;
        char name[32];
        int i;

        for (i = 0; i < 5000; i++) {
                (void) snprintf(name, sizeof(name), "t%d", i);
                assert_int_equal(
                        tree_add_transient(t, i % 2 ? root : kept, name, (uint64_t) i + 10, &n), 0);
                assert_int_equal(tree_add_transient(t, n, "x", (uint64_t) i + 10000, &below), 0);
        }
        tree_trim(t);
        assert_int_equal(tree_directories(t), 2);
        assert_ptr_equal(tree_find(t, root, "kept"), kept);
}

static void a_walk_meets_parents_first(void **state) {
        _cleanup_(tree_freep) Tree *t = new_tree(100);
        Node *root = tree_root(t), *a = add(t, root, "a", KIND_DIR, 2),
             *b = add(t, a, "b", KIND_DIR, 3), *n;
        size_t k = 0;

        (void) add(t, b, "f", KIND_FILE, 4);
        (void) add(t, root, "z", KIND_FILE, 5);
        for (n = node_walk(root, root); n; n = node_walk(n, root)) {
                assert_true(n->parent == root || n->parent->seen);
                n->seen = true;
                k++;
        }
        assert_int_equal(k, 4);
        assert_null(node_walk(b->children, b));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(paths_are_built_from_the_root_down),
                cmocka_unit_test(a_moved_directory_takes_its_entries_along),
                cmocka_unit_test(a_move_removes_what_has_the_name),
                cmocka_unit_test(exchanged_nodes_keep_what_is_below),
                cmocka_unit_test(a_name_is_kept_for_the_same_object_only),
                cmocka_unit_test(removal_takes_all_that_is_below),
                cmocka_unit_test(an_object_has_all_its_names_and_one_state),
                cmocka_unit_test(the_limit_holds_for_files_first),
                cmocka_unit_test(transient_directories_go_together),
                cmocka_unit_test(a_walk_meets_parents_first),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
