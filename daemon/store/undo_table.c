/* SPDX-License-Identifier: MIT */
#include "daemon/store/undo_table.h"

#include <errno.h>

static UndoObject *object_free(UndoObject *o) {
        if (!o)
                return NULL;
        free(o->path);
        free(o->watch);
        free(o->went_to);
        free(o);
        return NULL;
}
DEFINE_CLEANUP(UndoObject *, object_free)

static UndoName *name_free(UndoName *n) {
        if (!n)
                return NULL;
        free(n->path);
        free(n->watch);
        free(n->came_from);
        free(n);
        return NULL;
}
DEFINE_CLEANUP(UndoName *, name_free)

void undo_table_done(UndoTable *t) {
        UndoObject *o, *next_object;
        UndoName *n, *next_name;
        UndoShelf *s, *next_shelf;

        HASH_ITER (hh, t->objects, o, next_object) {
                HASH_DEL(t->objects, o);
                object_free(o);
        }
        HASH_ITER (hh, t->names, n, next_name) {
                HASH_DEL(t->names, n);
                name_free(n);
        }
        HASH_ITER (hh, t->shelves, s, next_shelf) {
                HASH_DEL(t->shelves, s);
                free(s->kept);
                free(s);
        }
}

UndoObject *undo_table_find_object(const UndoTable *t, const char *path) {
        UndoObject *o;

        HASH_FIND(hh, t->objects, path, strlen(path), o);
        return o;
}

int undo_table_object(UndoTable *t, const char *path, const char *watch, UndoObject **ret) {
        _cleanup_(object_freep) UndoObject *o = NULL;

        *ret = undo_table_find_object(t, path);
        if (*ret)
                return 0;
        o = calloc(1, sizeof *o);
        if (!o || !(o->path = strdup(path)) || !(o->watch = strdup(watch)))
                return -ENOMEM;
        HASH_ADD_KEYPTR(hh, t->objects, o->path, strlen(o->path), o);
        if (!o->hh.tbl)
                return -ENOMEM;
        *ret = TAKE_PTR(o);
        return 0;
}

UndoName *undo_table_find_name(const UndoTable *t, const char *path) {
        UndoName *n;

        HASH_FIND(hh, t->names, path, strlen(path), n);
        return n;
}

int undo_table_name(UndoTable *t, const char *path, const char *watch, UndoName **ret) {
        _cleanup_(name_freep) UndoName *n = NULL;

        *ret = undo_table_find_name(t, path);
        if (*ret)
                return 0;
        n = calloc(1, sizeof *n);
        if (!n || !(n->path = strdup(path)) || !(n->watch = strdup(watch)))
                return -ENOMEM;
        HASH_ADD_KEYPTR(hh, t->names, n->path, strlen(n->path), n);
        if (!n->hh.tbl)
                return -ENOMEM;
        *ret = TAKE_PTR(n);
        return 0;
}

UndoShelf *undo_table_find_shelf(const UndoTable *t, const char *path) {
        UndoShelf *s;

        HASH_FIND(hh, t->shelves, path, strlen(path), s);
        return s;
}

static int shelf(UndoTable *t, const char *path, UndoShelf **ret) {
        UndoShelf *s = undo_table_find_shelf(t, path);

        if (!s) {
                s = calloc(1, sizeof *s);
                if (!s)
                        return -ENOMEM;
                s->path = path;
                HASH_ADD_KEYPTR(hh, t->shelves, s->path, strlen(s->path), s);
                if (!s->hh.tbl) {
                        free(s);
                        return -ENOMEM;
                }
        }
        *ret = s;
        return 0;
}

int undo_table_shelve(UndoTable *t, const KeptList *list) {
        for (size_t i = 0; i < list->n; i++) {
                UndoShelf *s;
                size_t *grown;
                int r = shelf(t, list->list[i].path, &s);

                if (r < 0)
                        return r;
                grown = reallocarray(s->kept, s->n + 1, sizeof *grown);
                if (!grown)
                        return -ENOMEM;
                s->kept = grown;
                s->kept[s->n++] = i;
        }
        return 0;
}
