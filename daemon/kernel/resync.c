/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/resync.h"
#include "daemon/kernel/content.h"

#include <errno.h>

typedef struct Comparison {
        const ResyncConfig *config;
        Tree *tree;
        Guesses *differences;
        int error;
} Comparison;

/* Takes the paths. */
static void differ(Comparison *c, OpType op, const Node *n, char *path, char *from) {
        Change change = {
                .op = op,
                .kind = (ObjectKind) n->kind,
                .object = n->id,
                .path = path,
                .from = from,
                .inferred = true,
        };
        int r;

        if (op == OP_RENAME && !from) {
                free(path);
                c->error = -ENOMEM;
                return;
        }
        r = guesses_consume(c->differences, &change);
        if (r < 0)
                c->error = r;
}

static char *path_of(const Comparison *c, const Node *n) {
        return node_path(n, c->config->base, NULL);
}

static char *below_base(const Comparison *c, const char *path) {
        const char *base = str_equal(c->config->base, "/") ? "" : c->config->base;
        char *s = malloc(strlen(base) + strlen(path) + 1);

        return s ? strcat(strcpy(s, base), path) : NULL;
}

static int enter(void *userdata, const Node *directory, int fd) {
        Comparison *c = userdata;

        return c->config->enter ? c->config->enter(c->config->enter_userdata, directory, fd) : 0;
}

static void found(void *userdata, const Found *f) {
        Comparison *c = userdata;
        Node *object = tree_find_object(c->tree, f->node->id);

        if (f->moved_from) {
                differ(c, OP_RENAME, f->node, path_of(c, f->node), below_base(c, f->moved_from));
                f->node->fresh = false;
                return;
        }
        /* A fresh name of a known object is a rename when the old name turns out to be gone. */
        if (f->fresh) {
                differ(c, OP_CREATE, f->node, path_of(c, f->node), NULL);
                return;
        }
        if (f->node->kind == KIND_FILE && object && !content_is_explained(object, f->stat)) {
                differ(c, OP_MODIFY, f->node, path_of(c, f->node), NULL);
                content_settle(object, f->stat);
        }
}

/* Another name of the same object that came meanwhile. */
static Node *fresh_name(const Tree *t, uint64_t id) {
        Node *n;

        for (n = tree_find_object(t, id); n && !n->fresh;)
                n = node_next_name(n);
        return n;
}

static void missing(Comparison *c, Node *n) {
        Node *to = n->kind == KIND_DIR ? NULL : fresh_name(c->tree, n->id);
        _cleanup_free_ char *path = NULL;

        if (!to) {
                differ(c, OP_DELETE, n, path_of(c, n), NULL);
                return;
        }
        path = path_of(c, to);
        guesses_drop(c->differences, OP_CREATE, path);
        differ(c, OP_RENAME, to, TAKE_PTR(path), path_of(c, n));
        to->fresh = false;
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
static int find_missing(Comparison *c) {
        Node *root = tree_root(c->tree), *n;
        size_t k = count_missing(root), i;
        Node **gone;

        if (k == 0)
                return 0;
        gone = calloc(k, sizeof(Node *));
        if (!gone)
                return -ENOMEM;
        for (i = k, n = root; (n = node_walk(n, root)) && i > 0;) {
                if (!n->seen)
                        gone[--i] = n;
        }
        for (i = 0; i < k && gone[i]; i++)
                missing(c, gone[i]);
        for (i = 0; i < k && gone[i]; i++)
                tree_remove(c->tree, gone[i]);
        free(gone);
        return c->error;
}

int resync(const ResyncConfig *config, Guesses *differences) {
        Comparison c = {.config = config, .tree = config->tree, .differences = differences};
        _cleanup_(tree_walk_freep) TreeWalk *w = NULL;
        Node *root = tree_root(config->tree), *n;
        int r;

        r = tree_walk_new(config->tree, config->ground, &w);
        if (r < 0)
                return r;
        n = root;
        do {
                n->listed = n->seen = n->fresh = false;
                n = node_walk(n, root);
        } while (n);
        root->seen = true;
        tree_set_lacks_directories(config->tree, false);
        tree_walk_on(w, enter, found, &c);
        r = config->names ? tree_walk_names(w, config->names) : tree_walk_add(w, root, 0);
        while (r >= 0 && !tree_walk_is_done(w)) {
                if (config->abort(config->abort_userdata))
                        return -ECANCELED;
                r = tree_walk_step(w);
        }
        if (r < 0)
                return r;
        return c.error < 0 ? c.error : find_missing(&c);
}
