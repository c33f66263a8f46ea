/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/net_list.h"

/* The text of a path while the tree is walked; only the last part changes from one name to the next. */
typedef struct PathBuffer {
        char *text;
        size_t allocated;
} PathBuffer;

static void path_buffer_done(PathBuffer *b) {
        free(b->text);
}

static void free_paths(const char **paths, size_t n) {
        for (size_t i = 0; i < n; i++)
                free((char *) paths[i]);
        free(paths);
}

void net_list_done(NetList *l) {
        NetLists *lists = &l->lists;

        free_paths(lists->created, lists->n_created);
        free_paths(lists->modified, lists->n_modified);
        free_paths(lists->deleted, lists->n_deleted);
        for (size_t i = 0; i < lists->n_renamed; i++) {
                free((char *) lists->renamed[i].from);
                free((char *) lists->renamed[i].to);
        }
        free(lists->renamed);
        *lists = (NetLists){};
}

/* Room for one more, in an array that grows at the powers of two. */
static int reserve(void **array, size_t n, size_t size) {
        void *grown;

        if (n != 0 && (n & (n - 1)) != 0)
                return 0;
        grown = reallocarray(*array, n == 0 ? 1 : 2 * n, size);
        if (!grown)
                return -ENOMEM;
        *array = grown;
        return 0;
}

static int add_path(const char ***paths, size_t *n, const char *path) {
        int r;

        r = reserve((void **) paths, *n, sizeof **paths);
        if (r < 0)
                return r;
        (*paths)[*n] = strdup(path);
        if (!(*paths)[*n])
                return -ENOMEM;
        (*n)++;
        return 0;
}

/* Writes the path of a name. 1, or 0 when it is longer than what is listed. */
static int path_of(const Name *name, PathBuffer *b) {
        size_t length = 0, at;

        for (const Name *n = name; n->key.parent; n = n->key.parent)
                length += n->key.length + 1;
        if (length > NET_PATH_MAX)
                return 0;
        if (length + 1 > b->allocated) {
                char *grown = realloc(b->text, 2 * length + 1);

                if (!grown)
                        return -ENOMEM;
                b->text = grown;
                b->allocated = 2 * length + 1;
        }
        b->text[length] = 0;
        at = length;
        for (const Name *n = name; n->key.parent; n = n->key.parent) {
                at -= n->key.length;
                memcpy(b->text + at, n->key.text, n->key.length);
                b->text[--at] = '/';
        }
        return 1;
}

static bool same_text(const Name *a, const Name *b) {
        return a->key.length == b->key.length &&
                memcmp(a->key.text, b->key.text, a->key.length) == 0;
}

static bool same_path(const Name *a, const Name *b) {
        while (a->key.parent && b->key.parent && same_text(a, b)) {
                a = a->key.parent;
                b = b->key.parent;
        }
        return !a->key.parent && !b->key.parent;
}

/* It has the name it had, in the directory it was in, wherever that is now. */
static bool came_along(const Name *name) {
        const Name *origin = name->origin;

        do {
                if (!origin->key.parent || !same_text(name, origin))
                        return false;
                name = name->key.parent;
                origin = origin->key.parent;
        } while (!name->present);
        return name->origin == origin;
}

static int list_old(NetLists *l, const Name *name, PathBuffer *b) {
        int r;

        if (!came_along(name) && !same_path(name, name->origin)) {
                NetRename *rename;

                r = reserve((void **) &l->renamed, l->n_renamed, sizeof *l->renamed);
                if (r < 0)
                        return r;
                rename = &l->renamed[l->n_renamed];
                r = path_of(name->origin, b);
                if (r <= 0)
                        return r;
                rename->from = strdup(b->text);
                r = rename->from ? path_of(name, b) : -ENOMEM;
                rename->to = r > 0 ? strdup(b->text) : NULL;
                if (!rename->to) {
                        free((char *) rename->from);
                        return r > 0 ? -ENOMEM : r;
                }
                l->n_renamed++;
        }
        if (!name->dirty)
                return 0;
        r = path_of(name, b);
        return r > 0 ? add_path(&l->modified, &l->n_modified, b->text) : r;
}

static int list_new(NetLists *l, const Name *name, PathBuffer *b) {
        Name *twin = name->twin;
        bool created = !name->foreign;
        int r;

        if (twin && twin->fate == FATE_LOST && twin->is_dir == name->is_dir && !twin->gone_out) {
                twin->succeeded = true;
                if (name->is_dir)
                        return 0;
                created = false;
        } else if (name->foreign && !name->dirty)
                return 0;
        r = path_of(name, b);
        if (r <= 0)
                return r;
        return created ? add_path(&l->created, &l->n_created, b->text)
                       : add_path(&l->modified, &l->n_modified, b->text);
}

/* Notes how long the path is, and gives the next name: not one below a path that is too long already, or else a deep tree
 * would be climbed once for each of its names. */
static Name *measure(Name *top, Name *name) {
        name->path_length = name->key.parent->path_length + name->key.length + 1;
        return name->path_length > NET_PATH_MAX ? name_next_beside(top, name)
                                                : name_next(top, name);
}

static int list_now(NetLists *l, const NameTree *names, Name *start, Name *now, PathBuffer *b) {
        int r;

        now->twin = start;
        for (Name *name = now->first, *next; name; name = next) {
                const Name *above = name->key.parent->twin;

                next = measure(now, name);
                if (name->path_length > NET_PATH_MAX)
                        continue;

                name->twin = above ? name_tree_find(names, above, name->key.text, name->key.length)
                                   : NULL;
                if (!name->present)
                        continue;
                r = name->origin ? list_old(l, name, b) : list_new(l, name, b);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int list_lost(NetLists *l, Name *start, PathBuffer *b) {
        int r;

        for (Name *name = start->first, *next; name; name = next) {
                bool succeeded = name->succeeded;

                next = measure(start, name);
                name->succeeded = false;
                if (name->fate != FATE_LOST || succeeded)
                        continue;
                r = path_of(name, b);
                if (r > 0)
                        r = add_path(&l->deleted, &l->n_deleted, b->text);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int compare_paths(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static int compare_renames(const void *a, const void *b) {
        const NetRename *x = a, *y = b;
        int c = strcmp(x->from, y->from);

        return c ? c : strcmp(x->to, y->to);
}

static void sort(void *array, size_t n, size_t size, int (*compare)(const void *, const void *)) {
        if (n > 1)
                qsort(array, n, size, compare);
}

int net_list_make(NetList *l, const NameTree *names, Name *start, Name *now) {
        _cleanup_(path_buffer_done) PathBuffer buffer = {};
        NetLists *lists = &l->lists;
        int r;

        net_list_done(l);
        r = list_now(lists, names, start, now, &buffer);
        if (r == 0)
                r = list_lost(lists, start, &buffer);
        if (r < 0)
                return r;
        sort(lists->created, lists->n_created, sizeof *lists->created, compare_paths);
        sort(lists->modified, lists->n_modified, sizeof *lists->modified, compare_paths);
        sort(lists->deleted, lists->n_deleted, sizeof *lists->deleted, compare_paths);
        sort(lists->renamed, lists->n_renamed, sizeof *lists->renamed, compare_renames);
        return 0;
}
