/* SPDX-License-Identifier: MIT */
#include "daemon/store/undo_item.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/store/foothold.h"

void undo_items_done(UndoOrder *o) {
        UndoLinked *l, *next;

        HASH_ITER (hh, o->linked, l, next) {
                HASH_DEL(o->linked, l);
                free(l);
        }
        HASH_CLEAR(by_now, o->by_now);
        HASH_CLEAR(by_start, o->by_start);
        for (size_t i = 0; i < o->n; i++) {
                free(o->items[i].start);
                free(o->items[i].now);
                free(o->items[i].aside);
        }
        free(o->items);
        free(o->displaced);
}

static int collect(const NetObject *object, void *userdata) {
        UndoOrder *o = userdata;
        UndoItem *item;

        if (o->n == o->allocated) {
                size_t n = o->allocated ? o->allocated * 2 : 64;
                UndoItem *grown = reallocarray(o->items, n, sizeof *grown);

                if (!grown)
                        return -ENOMEM;
                o->items = grown;
                o->allocated = n;
        }
        item = &o->items[o->n];
        *item = (UndoItem){.is_dir = object->is_dir, .foreign = object->foreign};
        item->start = object->start ? strdup(object->start) : NULL;
        item->now = object->now ? strdup(object->now) : NULL;
        o->n++;
        return (object->start && !item->start) || (object->now && !item->now) ? -ENOMEM : 0;
}

UndoItem *undo_item_now(const UndoOrder *o, const char *path, size_t length) {
        UndoItem *item;

        HASH_FIND(by_now, o->by_now, path, length, item);
        return item;
}

UndoItem *undo_item_start(const UndoOrder *o, const char *path, size_t length) {
        UndoItem *item;

        HASH_FIND(by_start, o->by_start, path, length, item);
        return item;
}

/* Length of the next shorter path. */
static size_t cut(const char *path, size_t length) {
        while (length > 0 && path[length - 1] != '/')
                length--;
        return length > 0 ? length - 1 : 0;
}

static UndoItem *find_above(const UndoOrder *o, const char *path,
                            UndoItem *(*find)(const UndoOrder *, const char *, size_t)) {
        UndoItem *item = NULL;

        for (size_t n = cut(path, strlen(path)); n > 0 && !item; n = cut(path, n))
                item = find(o, path, n);
        return item;
}

const char *undo_item_watch(const UndoOrder *o, const UndoItem *item) {
        return item->object ? item->object->watch : item->name ? item->name->watch : NULL;
}

static int index_items(UndoOrder *o) {
        UndoTable *t = &o->planner->table;

        for (size_t i = 0; i < o->n; i++) {
                UndoItem *item = &o->items[i];

                if (item->now) {
                        HASH_ADD_KEYPTR(by_now, o->by_now, item->now, strlen(item->now), item);
                        item->name = undo_table_find_name(t, item->now);
                        if (!item->by_now.tbl)
                                return -ENOMEM;
                }
                if (item->start) {
                        HASH_ADD_KEYPTR(by_start, o->by_start, item->start, strlen(item->start),
                                        item);
                        item->object = undo_table_find_object(t, item->start);
                        if (!item->by_start.tbl)
                                return -ENOMEM;
                }
        }
        for (size_t i = 0; i < o->n; i++)
                if (o->items[i].now)
                        o->items[i].parent = find_above(o, o->items[i].now, undo_item_now);
        return 0;
}

/* Stands elsewhere than with its directory. */
static bool is_displaced(const UndoItem *item) {
        const UndoItem *parent = item->parent;

        if (!item->start || !item->now)
                return false;
        if (!parent)
                return !str_equal(item->start, item->now);
        return !parent->start || !path_is_below(item->start, parent->start) ||
                !str_equal(item->start + strlen(parent->start), item->now + strlen(parent->now));
}

char *undo_item_present(const UndoItem *item) {
        const char *rest = item->now;
        char *path;

        for (; item; item = item->parent) {
                const char *base = item->home ? item->start : item->aside;
                size_t n = strlen(item->now);

                if (base)
                        return asprintf(&path, "%s%s", base, rest + n) < 0 ? NULL : path;
                if (!item->parent)
                        break;
        }
        return strdup(rest);
}

/* The name now of a place of the start. The caller frees; NULL: its directory is lost, or no memory. */
static char *place_now(const UndoOrder *o, const char *place) {
        const UndoItem *above = find_above(o, place, undo_item_start);
        char *now;

        if (!above)
                return strdup(place);
        if (!above->now || asprintf(&now, "%s%s", above->now, place + strlen(above->start)) < 0)
                return NULL;
        return now;
}

UndoItem *undo_item_occupant(const UndoOrder *o, const char *place) {
        _cleanup_free_ char *now = place_now(o, place);

        return now ? undo_item_now(o, now, strlen(now)) : NULL;
}

char *undo_object_now(const UndoOrder *o, const UndoObject *object) {
        const UndoItem *item = undo_item_start(o, object->path, strlen(object->path));

        return item && item->now ? strdup(item->now) : place_now(o, object->path);
}

size_t undo_depth(const char *path) {
        size_t n = 0;

        for (; *path; path++)
                n += *path == '/';
        return n;
}

bool undo_object_is_lost(const UndoOrder *o, const UndoObject *object) {
        const UndoItem *item = undo_item_start(o, object->path, strlen(object->path));

        return item && !item->now;
}

static int list_displaced(UndoOrder *o) {
        o->displaced = calloc(o->n + 1, sizeof *o->displaced);
        if (!o->displaced)
                return -ENOMEM;
        for (size_t i = 0; i < o->n; i++)
                if (is_displaced(&o->items[i]))
                        o->displaced[o->n_displaced++] = &o->items[i];
        return 0;
}

#undef HASH_FUNCTION
#define HASH_FUNCTION(key, length, hash) ((hash) = undo_id_hash((const UndoObjectId *) (key)))

static UndoLinked *find_linked(const UndoOrder *o, const UndoObjectId *id) {
        UndoLinked *l;

        HASH_FIND(hh, o->linked, id, sizeof *id, l);
        return l;
}

/* One name each is enough. */
static int list_linked(UndoOrder *o) {
        const UndoObject *object, *next;

        HASH_ITER (hh, o->planner->table.objects, object, next) {
                UndoObjectId id;
                UndoLinked *l;

                if (!object->meta || object->meta->nlink < 2 || undo_object_is_lost(o, object))
                        continue;
                id = (UndoObjectId){object->meta->dev, object->meta->ino};
                if (find_linked(o, &id))
                        continue;
                l = calloc(1, sizeof *l);
                if (!l)
                        return -ENOMEM;
                *l = (UndoLinked){.id = id, .object = object};
                HASH_ADD(hh, o->linked, id, sizeof l->id, l);
                if (!l->hh.tbl) {
                        free(l);
                        return -ENOMEM;
                }
        }
        return 0;
}

const UndoObject *undo_object_link(const UndoOrder *o, const UndoObject *object) {
        UndoObjectId id = {object->meta->dev, object->meta->ino};
        const UndoLinked *l = object->meta->nlink > 1 ? find_linked(o, &id) : NULL;

        return l && l->object != object ? l->object : NULL;
}

int undo_items_read(UndoOrder *o) {
        int r = net_objects(o->planner->net, collect, o);

        if (r >= 0)
                r = index_items(o);
        if (r >= 0)
                r = list_displaced(o);
        return r < 0 ? r : list_linked(o);
}
