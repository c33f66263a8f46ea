/* SPDX-License-Identifier: MIT */
/*
 * For a tree that does not have every directory: an unknown one is looked up where it is now, and put into the tree with the
 * directories above it. What was found to be outside is remembered, since most of a filesystem may be.
 */
#include "daemon/kernel/translate_private.h"

#include <errno.h>
#include <fcntl.h>

static uint64_t *outside_slot(Translator *t, uint64_t id) {
        return &t->outside[id % OUTSIDE_SLOTS];
}

void translate_forget_outside(Translator *t) {
        memset(t->outside, 0, sizeof(t->outside));
}

/* The part of the path below the root; NULL: it is elsewhere. */
static char *below_root(const Ground *g, char *path) {
        size_t n = strlen(g->root);

        if (n == 1)
                return path + 1;
        if (strncmp(path, g->root, n) != 0 || (path[n] != '/' && path[n] != '\0'))
                return NULL;
        return path[n] ? path + n + 1 : path + n;
}

static int add_path(Translator *t, char *path, uint64_t id, Node **ret) {
        Node *n = tree_root(t->tree);
        char *name, *rest = path;
        int r;

        while ((name = strsep(&rest, "/"))) {
                Node *parent = n;

                if (!*name)
                        continue;
                n = tree_find(t->tree, parent, name);
                if (n && n->kind == KIND_DIR && (rest || n->id == id))
                        continue;
                r = tree_add(t->tree, parent, name, KIND_DIR, rest ? 0 : id, &n);
                if (r == -ENOBUFS)
                        r = tree_add_transient(t->tree, parent, name, rest ? 0 : id, &n);
                if (r < 0)
                        return r;
        }
        *ret = n;
        return 0;
}

Node *translate_locate(Translator *t, const FanHandle *h, uint64_t id) {
        _cleanup_free_ char *path = NULL;
        Node *n;
        char *below;
        int r;

        if (*outside_slot(t, id) == id)
                return NULL;
        r = ground_directory_path(t->ground, h, &path);
        below = r < 0 ? NULL : below_root(t->ground, path);
        if (r == 0 && !below) {
                *outside_slot(t, id) = id;
                return NULL;
        }
        if (r < 0 || add_path(t, below, id, &n) < 0) {
                t->unresolved++;
                return NULL;
        }
        return n;
}
