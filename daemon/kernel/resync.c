/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/resync.h"

#include <errno.h>
#include <uthash.h>

typedef struct Difference {
        UT_hash_handle hh; /* by key, in the order in which they were found */
        Change change;
        char key[]; /* the letter of the operation, then the path */
} Difference;

struct Resync {
        Tree *tree;
        const char *base;
        Difference *differences;
        int error;
};

static const char letters[_OP_MAX] = {
        [OP_CREATE] = 'c', [OP_MODIFY] = 'm',   [OP_DELETE] = 'd',
        [OP_RENAME] = 'r', [OP_METADATA] = 'a',
};

static Difference *find(Resync *r, OpType op, const char *path) {
        _cleanup_free_ char *key = NULL;
        Difference *d = NULL;
        size_t n;

        if (!path)
                return NULL;
        n = strlen(path) + 2;
        key = malloc(n);
        if (!key)
                return NULL;
        key[0] = letters[op];
        memcpy(key + 1, path, n - 1);
        HASH_FIND(hh, r->differences, key, n - 1, d);
        return d;
}

static void drop(Resync *r, Difference *d) {
        if (!d)
                return;
        HASH_DEL(r->differences, d);
        change_done(&d->change);
        free(d);
}

/* Takes the paths. */
static void add(Resync *r, OpType op, const Node *n, char *path, char *from) {
        size_t size = path ? strlen(path) + 2 : 0;
        Difference *d = size ? calloc(1, sizeof(Difference) + size) : NULL;

        if (!d || (op == OP_RENAME && !from)) {
                free(d);
                free(path);
                free(from);
                r->error = -ENOMEM;
                return;
        }
        drop(r, find(r, op, path));
        d->key[0] = letters[op];
        memcpy(d->key + 1, path, size - 1);
        d->change = (Change){
                .op = op,
                .kind = (ObjectKind) n->kind,
                .object = n->id,
                .path = path,
                .from = from,
                .inferred = true,
        };
        HASH_ADD_KEYPTR(hh, r->differences, d->key, size - 1, d);
}

static char *path_of(const Resync *r, const Node *n) {
        return node_path(n, r->base, NULL);
}

static char *below_base(const Resync *r, const char *path) {
        const char *base = str_equal(r->base, "/") ? "" : r->base;
        char *s = malloc(strlen(base) + strlen(path) + 1);

        return s ? strcat(strcpy(s, base), path) : NULL;
}

static void found(void *userdata, const Found *f) {
        Resync *r = userdata;
        Node *object = tree_find_object(r->tree, f->node->id);

        if (f->moved_from) {
                add(r, OP_RENAME, f->node, path_of(r, f->node), below_base(r, f->moved_from));
                f->node->fresh = false;
                return;
        }
        /* A fresh name of a known object is a rename when the old name turns out to be gone. */
        if (f->fresh) {
                add(r, OP_CREATE, f->node, path_of(r, f->node), NULL);
                return;
        }
        if (f->node->kind == KIND_FILE && object && object->content == CONTENT_KNOWN &&
            (object->size != f->stat->size || object->mtime != f->stat->mtime)) {
                add(r, OP_MODIFY, f->node, path_of(r, f->node), NULL);
                object->size = f->stat->size;
                object->mtime = f->stat->mtime;
        }
}

/* Another name of the same object that came meanwhile. */
static Node *fresh_name(const Tree *t, uint64_t id) {
        Node *n;

        for (n = tree_find_object(t, id); n && !n->fresh;)
                n = node_next_name(n);
        return n;
}

static void missing(Resync *r, Node *n) {
        Node *to = n->kind == KIND_DIR ? NULL : fresh_name(r->tree, n->id);
        _cleanup_free_ char *path = NULL;

        if (to) {
                path = path_of(r, to);
                drop(r, find(r, OP_CREATE, path));
                add(r, OP_RENAME, to, TAKE_PTR(path), path_of(r, n));
                to->fresh = false;
        } else {
                add(r, OP_DELETE, n, path_of(r, n), NULL);
        }
}

/* What lies in a directory that could not be read is taken for being there. */
static size_t count_missing(Node *root) {
        size_t k = 0;
        Node *n;

        for (n = root; (n = node_walk(n, root));) {
                if (n->parent->seen && !n->parent->listed)
                        n->seen = true;
                k += !n->seen;
        }
        return k;
}

/* Those that were not seen, the lower ones first, as rm -r would remove them. */
static int find_missing(Resync *r) {
        Node *root = tree_root(r->tree), *n;
        size_t k = count_missing(root), i;
        Node **gone;

        if (k == 0)
                return 0;
        gone = calloc(k, sizeof(Node *));
        if (!gone)
                return -ENOMEM;
        for (i = k, n = root; (n = node_walk(n, root));) {
                if (!n->seen)
                        gone[--i] = n;
        }
        for (i = 0; i < k; i++)
                missing(r, gone[i]);
        for (i = 0; i < k; i++)
                tree_remove(r->tree, gone[i]);
        free(gone);
        return r->error;
}

static int compare(Resync *r, const ResyncConfig *config, TreeWalk *w) {
        Node *root = tree_root(r->tree), *n;
        int q;

        for (n = root; n; n = node_walk(n, root))
                n->listed = n->seen = n->fresh = false;
        root->seen = true;
        tree_set_lacks_directories(r->tree, false);
        tree_walk_on(w, NULL, found, r);
        q = config->names ? tree_walk_names(w, config->names) : tree_walk_add(w, root);
        while (q >= 0 && !tree_walk_is_done(w)) {
                if (config->abort(config->userdata))
                        return -ECANCELED;
                q = tree_walk_step(w);
        }
        if (q < 0)
                return q;
        return r->error < 0 ? r->error : find_missing(r);
}

int resync_new(const ResyncConfig *config, Resync **ret) {
        _cleanup_(tree_walk_freep) TreeWalk *w = NULL;
        _cleanup_(resync_freep) Resync *r = NULL;
        int q;

        q = tree_walk_new(config->tree, config->ground, &w);
        if (q < 0)
                return q;
        r = calloc(1, sizeof(Resync));
        if (!r)
                return -ENOMEM;
        r->tree = config->tree;
        r->base = config->base;
        q = compare(r, config, w);
        if (q < 0)
                return q;
        *ret = TAKE_PTR(r);
        return 0;
}

Resync *resync_free(Resync *r) {
        Difference *d, *next;

        if (!r)
                return NULL;
        HASH_ITER (hh, r->differences, d, next)
                drop(r, d);
        free(r);
        return NULL;
}

void resync_explain(Resync *r, const Change *told) {
        if (told->op == OP_RENAME) {
                drop(r, find(r, OP_DELETE, told->from));
                drop(r, find(r, OP_CREATE, told->path));
        }
        drop(r, find(r, told->op, told->path));
}

bool resync_next(Resync *r, Change *ret) {
        Difference *d = r->differences;

        if (!d)
                return false;
        *ret = d->change;
        d->change = (Change){};
        drop(r, d);
        return true;
}
