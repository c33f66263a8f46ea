/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/tree.h"

#include "daemon/core/hash.h"

#include <errno.h>

#define BUCKETS_MIN 256
#define TRANSIENT_MAX 4096

struct Tree {
        Node **names; /* by (parent, name), chained by name_next */
        Node **ids;   /* by id, chained by id_next; the names of one object follow one another */
        size_t n_buckets;
        size_t n_nodes, nodes_max, n_directories, n_transient;
        bool full, lacks_directories;
        Node *root;
};

static uint32_t name_hash(const Node *parent, const char *name) {
        return (uint32_t) hash64(name, strlen(name), (uintptr_t) parent, 0);
}

static Node **name_bucket(const Tree *t, uint32_t hash) {
        return &t->names[hash & (t->n_buckets - 1)];
}

static Node **id_bucket(const Tree *t, uint64_t id) {
        return &t->ids[id & (t->n_buckets - 1)];
}

static void name_link(Tree *t, Node *n) {
        Node **b = name_bucket(t, n->name_hash);

        n->name_next = *b;
        *b = n;
}

static void name_unlink(Tree *t, Node *n) {
        Node **p;

        for (p = name_bucket(t, n->name_hash); *p != n;)
                p = &(*p)->name_next;
        *p = n->name_next;
}

/* Behind the first name of the object when it has one: the first stays the first. */
static void id_link(Tree *t, Node *n) {
        Node **b, *first;

        n->id_next = n->id_prev = NULL;
        if (n->id == 0)
                return;
        first = tree_find_object(t, n->id);
        if (first) {
                n->id_prev = first;
                n->id_next = first->id_next;
                first->id_next = n;
        } else {
                b = id_bucket(t, n->id);
                n->id_next = *b;
                *b = n;
        }
        if (n->id_next)
                n->id_next->id_prev = n;
}

static void id_unlink(Tree *t, Node *n) {
        Node *heir;

        if (n->id == 0)
                return;
        heir = node_next_name(n);
        if (heir && tree_find_object(t, n->id) == n) {
                heir->size = n->size;
                heir->mtime = n->mtime;
                heir->content = n->content;
        }
        if (n->id_prev)
                n->id_prev->id_next = n->id_next;
        else
                *id_bucket(t, n->id) = n->id_next;
        if (n->id_next)
                n->id_next->id_prev = n->id_prev;
        n->id_next = n->id_prev = NULL;
}

static void sibling_link(Node *parent, Node *n) {
        n->parent = parent;
        n->prev = NULL;
        n->next = parent->children;
        if (n->next)
                n->next->prev = n;
        parent->children = n;
}

static void sibling_unlink(Node *n) {
        if (n->prev)
                n->prev->next = n->next;
        else
                n->parent->children = n->next;
        if (n->next)
                n->next->prev = n->prev;
        n->parent = n->next = n->prev = NULL;
}

/* Twice the buckets. When there is no memory for them the chains get longer, which is no error. */
static void tree_grow(Tree *t) {
        Node **old_names = t->names, **old_ids = t->ids, *n, *next;
        size_t old = t->n_buckets, i;
        Node **names = calloc(old * 2, sizeof(Node *)), **ids = calloc(old * 2, sizeof(Node *));

        if (!names || !ids) {
                free(names);
                free(ids);
                return;
        }
        t->names = names;
        t->ids = ids;
        t->n_buckets = old * 2;
        for (i = 0; i < old; i++) {
                for (n = old_names[i]; n; n = next) {
                        next = n->name_next;
                        name_link(t, n);
                }
                for (n = old_ids[i]; n; n = next) {
                        next = n->id_next;
                        id_link(t, n);
                }
        }
        free(old_names);
        free(old_ids);
}

int tree_new(size_t nodes_max, uint64_t root_id, Tree **ret) {
        _cleanup_(tree_freep) Tree *t = calloc(1, sizeof(Tree));

        if (!t)
                return -ENOMEM;
        t->n_buckets = BUCKETS_MIN;
        t->nodes_max = nodes_max;
        t->names = calloc(t->n_buckets, sizeof(Node *));
        t->ids = calloc(t->n_buckets, sizeof(Node *));
        t->root = calloc(1, sizeof(Node));
        if (!t->names || !t->ids || !t->root)
                return -ENOMEM;
        t->root->kind = KIND_DIR;
        t->root->id = root_id;
        t->n_directories = 1;
        id_link(t, t->root);
        *ret = TAKE_PTR(t);
        return 0;
}

static void node_free(Tree *t, Node *n) {
        t->n_nodes--;
        if (n->kind == KIND_DIR)
                t->n_directories--;
        if (n->transient)
                t->n_transient--;
        free(n->name);
        free(n);
}

Tree *tree_free(Tree *t) {
        if (!t)
                return NULL;
        if (t->root && t->ids) {
                while (t->root->children)
                        tree_remove(t, t->root->children);
        }
        free(t->root);
        free(t->names);
        free(t->ids);
        free(t);
        return NULL;
}

Node *tree_root(const Tree *t) {
        return t->root;
}

size_t tree_directories(const Tree *t) {
        return t->n_directories;
}

size_t tree_others(const Tree *t) {
        return t->n_nodes + 1 - t->n_directories;
}

bool tree_is_partial(const Tree *t) {
        return t->full || t->lacks_directories;
}

bool tree_lacks_directories(const Tree *t) {
        return t->lacks_directories;
}

void tree_set_lacks_directories(Tree *t, bool lacks) {
        t->lacks_directories = lacks;
}

Node *tree_find(const Tree *t, const Node *parent, const char *name) {
        uint32_t hash = name_hash(parent, name);
        Node *n;

        for (n = *name_bucket(t, hash); n; n = n->name_next) {
                if (n->name_hash == hash && n->parent == parent && strcmp(n->name, name) == 0)
                        return n;
        }
        return NULL;
}

Node *tree_find_object(const Tree *t, uint64_t id) {
        Node *n;

        if (id == 0)
                return NULL;
        for (n = *id_bucket(t, id); n && n->id != id;)
                n = n->id_next;
        return n;
}

Node *node_next_name(const Node *n) {
        return n->id_next && n->id_next->id == n->id ? n->id_next : NULL;
}

bool node_has_other_name(const Tree *t, const Node *n) {
        return n->id && (tree_find_object(t, n->id) != n || node_next_name(n));
}

static int add(Tree *t, Node *parent, const char *name, ObjectKind kind, uint64_t id,
               bool transient, Node **ret) {
        Node *n = tree_find(t, parent, name);

        if (n && (n->id == id || n->id == 0 || id == 0) &&
            (n->kind == KIND_DIR) == (kind == KIND_DIR)) {
                if (n->id == 0)
                        tree_set_id(t, n, id);
                *ret = n;
                return 0;
        }
        if (n)
                tree_remove(t, n);
        if (!transient && t->n_nodes >= (kind == KIND_DIR ? 2 * t->nodes_max : t->nodes_max)) {
                t->full = true;
                if (kind == KIND_DIR)
                        t->lacks_directories = true;
                return -ENOBUFS;
        }
        n = calloc(1, sizeof(Node));
        if (!n)
                return -ENOMEM;
        n->name = strdup(name);
        if (!n->name) {
                free(n);
                return -ENOMEM;
        }
        n->name_hash = name_hash(parent, name);
        n->kind = (uint8_t) kind;
        n->id = id;
        n->transient = transient;
        t->n_nodes++;
        t->n_transient += transient;
        t->n_directories += kind == KIND_DIR;
        if (t->n_nodes > t->n_buckets)
                tree_grow(t);
        sibling_link(parent, n);
        name_link(t, n);
        id_link(t, n);
        *ret = n;
        return 0;
}

int tree_add(Tree *t, Node *parent, const char *name, ObjectKind kind, uint64_t id, Node **ret) {
        return add(t, parent, name, kind, id, /* transient= */ false, ret);
}

int tree_add_transient(Tree *t, Node *parent, const char *name, uint64_t id, Node **ret) {
        return add(t, parent, name, KIND_DIR, id, /* transient= */ true, ret);
}

void tree_trim(Tree *t) {
        Node *n, *next;

        if (t->n_transient < TRANSIENT_MAX)
                return;
        for (n = node_walk(t->root, t->root); n; n = next) {
                /* What lies below a transient directory came after it. */
                if (!n->transient) {
                        next = node_walk(n, t->root);
                        continue;
                }
                for (next = n; next != t->root && !next->next;)
                        next = next->parent;
                next = next == t->root ? NULL : next->next;
                tree_remove(t, n);
        }
}

/* Leaves first, without recursion: a tree may be deeper than the stack. */
void tree_remove(Tree *t, Node *top) {
        Node *n = top, *parent;
        bool done;

        do {
                while (n->children)
                        n = n->children;
                done = n == top;
                parent = n->parent;
                name_unlink(t, n);
                id_unlink(t, n);
                sibling_unlink(n);
                node_free(t, n);
                n = parent;
        } while (!done);
}

void tree_set_id(Tree *t, Node *n, uint64_t id) {
        id_unlink(t, n);
        n->id = id;
        id_link(t, n);
}

bool node_is_below(const Node *n, const Node *ancestor) {
        while (n && n != ancestor)
                n = n->parent;
        return n != NULL;
}

/* The table of names has the parent in its key: a node that goes elsewhere is put in anew, what lies below it stays. */
static void node_place(Tree *t, Node *n, Node *parent, char *name) {
        name_unlink(t, n);
        sibling_unlink(n);
        free(n->name);
        n->name = name;
        n->name_hash = name_hash(parent, name);
        sibling_link(parent, n);
        name_link(t, n);
}

int tree_move(Tree *t, Node *n, Node *parent, const char *name) {
        Node *other = tree_find(t, parent, name);
        char *copy;

        if (other == n)
                return 0;
        if (node_is_below(parent, n) || (other && node_is_below(n, other)))
                return -ELOOP;
        copy = strdup(name);
        if (!copy)
                return -ENOMEM;
        if (other)
                tree_remove(t, other);
        node_place(t, n, parent, copy);
        return 0;
}

int tree_exchange(Tree *t, Node *a, Node *b) {
        Node *parent_a = a->parent, *parent_b = b->parent;
        char *name_a, *name_b;

        if (node_is_below(a, b) || node_is_below(b, a))
                return -ELOOP;
        name_a = strdup(a->name);
        name_b = strdup(b->name);
        if (!name_a || !name_b) {
                free(name_a);
                free(name_b);
                return -ENOMEM;
        }
        node_place(t, a, parent_b, name_b);
        node_place(t, b, parent_a, name_a);
        return 0;
}

Node *node_walk(const Node *n, const Node *top) {
        if (n->children)
                return n->children;
        while (n != top && !n->next)
                n = n->parent;
        return n == top ? NULL : n->next;
}

char *node_path(const Node *n, const char *base, const char *name) {
        size_t base_size = strlen(base), size = base_size + 1, k;
        const Node *i;
        char *path, *p;

        /* "/" as base: what follows brings the slash. */
        if (base_size == 1 && base[0] == '/')
                base_size = 0;
        if (name)
                size += strlen(name) + 1;
        for (i = n; i->parent; i = i->parent)
                size += strlen(i->name) + 1;
        path = malloc(size + 1);
        if (!path)
                return NULL;
        p = path + size;
        *p = '\0';
        if (name) {
                k = strlen(name);
                p -= k;
                memcpy(p, name, k);
                *--p = '/';
        }
        for (i = n; i->parent; i = i->parent) {
                k = strlen(i->name);
                p -= k;
                memcpy(p, i->name, k);
                *--p = '/';
        }
        p -= base_size;
        memcpy(p, base, base_size);
        if (p != path)
                memmove(path, p, strlen(p) + 1);
        if (path[0] == '\0')
                memcpy(path, "/", 2);
        return path;
}
