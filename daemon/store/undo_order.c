/* SPDX-License-Identifier: MIT */
/*
 * From what is different to steps in an order that works.
 *
 *   1. What the session made leaves, each as the topmost that it made. What it moved in goes back to where it came from.
 *   2. What was renamed or lost comes to its place, parents first. What stands in the way there, or in a directory that leaves, is
 *      put aside first, at a name of ours in the root of the watch: so exchanges, chains and directories turned inside out need
 *      no thought.
 *   3. Content, then metadata, then the times of directories, deepest first.
 *
 * Everybody's present path is known at each point of the order, as it is made.
 */
#include <errno.h>
#include <stdio.h>

#include "daemon/store/foothold.h"
#include "daemon/store/undo_internal.h"

typedef struct Item {
        char *start, *now; /* NULL: made; lost */
        bool is_dir, dirty, foreign, covered;
        struct Item *parent;  /* nearest known object above, now */
        UndoObject *object;   /* of one that was there at the start */
        const UndoName *name; /* of `now` */
        char *aside;          /* where it has been put */
        bool home;            /* has been brought to where it was */
        UT_hash_handle by_now, by_start;
} Item;

typedef struct Order {
        UndoPlanner *planner;
        Item *items;
        size_t n, allocated;
        Item *by_now, *by_start;
        const char **databases; /* paths of databases that are put back as a whole */
        size_t n_databases;
} Order;

static void order_done(Order *o) {
        HASH_CLEAR(by_now, o->by_now);
        HASH_CLEAR(by_start, o->by_start);
        for (size_t i = 0; i < o->n; i++) {
                free(o->items[i].start);
                free(o->items[i].now);
                free(o->items[i].aside);
        }
        free(o->items);
        free(o->databases);
}

static int collect(const NetObject *object, void *userdata) {
        Order *o = userdata;
        Item *item;

        if (o->n == o->allocated) {
                size_t n = o->allocated ? o->allocated * 2 : 64;
                Item *grown = reallocarray(o->items, n, sizeof *grown);

                if (!grown)
                        return -ENOMEM;
                o->items = grown;
                o->allocated = n;
        }
        item = &o->items[o->n];
        *item = (Item){.is_dir = object->is_dir,
                       .dirty = object->dirty,
                       .foreign = object->foreign,
                       .covered = object->covered};
        item->start = object->start ? strdup(object->start) : NULL;
        item->now = object->now ? strdup(object->now) : NULL;
        o->n++;
        return (object->start && !item->start) || (object->now && !item->now) ? -ENOMEM : 0;
}

static Item *find_now(const Order *o, const char *path, size_t length) {
        Item *item;

        HASH_FIND(by_now, o->by_now, path, length, item);
        return item;
}

static Item *find_start(const Order *o, const char *path, size_t length) {
        Item *item;

        HASH_FIND(by_start, o->by_start, path, length, item);
        return item;
}

/* Length of the next shorter path. */
static size_t cut(const char *path, size_t length) {
        while (length > 0 && path[length - 1] != '/')
                length--;
        return length > 0 ? length - 1 : 0;
}

static Item *find_above(const Order *o, const char *path,
                        Item *(*find)(const Order *, const char *, size_t)) {
        Item *item = NULL;

        for (size_t n = cut(path, strlen(path)); n > 0 && !item; n = cut(path, n))
                item = find(o, path, n);
        return item;
}

static const char *find_watch(const Order *o, const Item *item) {
        return item->object ? item->object->watch : item->name ? item->name->watch : NULL;
}

static int index_items(Order *o) {
        UndoTable *t = &o->planner->table;

        for (size_t i = 0; i < o->n; i++) {
                Item *item = &o->items[i];

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
                        o->items[i].parent = find_above(o, o->items[i].now, find_now);
        return 0;
}

/* Stands elsewhere than with its directory. */
static bool is_displaced(const Item *item) {
        const Item *parent = item->parent;

        if (!item->start || !item->now)
                return false;
        if (!parent)
                return !str_equal(item->start, item->now);
        return !parent->start || !path_is_below(item->start, parent->start) ||
                !str_equal(item->start + strlen(parent->start), item->now + strlen(parent->now));
}

/* Where the object is at this point of the order. The caller frees; NULL for lack of memory. */
static char *present_path(const Item *item) {
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

static char *aside_path(const Order *o, const Item *item) {
        const char *watch = find_watch(o, item);
        const char *root = watch ? undo_watch_root(o->planner, watch) : NULL;
        char *path;

        if (!root || str_equal(root, item->now)) /* file scope: beside it */
                root = item->now;
        else if (asprintf(&path, "%s/.mountwatch-undo-%016llx", root,
                          (unsigned long long) hash_mix_bytes(HASH_SEED, item->start,
                                                              strlen(item->start))) >= 0)
                return path;
        else
                return NULL;
        return asprintf(&path, "%s.mountwatch-undo", root) < 0 ? NULL : path;
}

static int add_rename(Order *o, const Item *item, const char *from, const char *to,
                      UndoStep **ret) {
        return undo_add_step(o->planner,
                             &(UndoDraft){.action = UNDO_RENAME,
                                          .kind = item->is_dir ? KIND_DIR : KIND_FILE,
                                          .watch = find_watch(o, item),
                                          .path = to,
                                          .from = from,
                                          .now = item->now,
                                          .object = item->object,
                                          .name = item->name},
                             ret);
}

static int put_aside(Order *o, Item *item) {
        _cleanup_free_ char *from = present_path(item), *to = aside_path(o, item);
        UndoStep *step;
        int r = from && to ? add_rename(o, item, from, to, &step) : -ENOMEM;

        if (r >= 0)
                item->aside = TAKE_PTR(to);
        return r;
}

static bool is_inside(const Item *item, const Item *directory) {
        for (; item && !item->home && !item->aside; item = item->parent)
                if (item == directory)
                        return true;
        return false;
}

/* What was there at the start does not leave with a directory of the session. */
static int evacuate(Order *o, const Item *directory) {
        int r = 0;

        if (!directory->is_dir)
                return 0;
        for (size_t i = 0; i < o->n && r >= 0; i++) {
                Item *item = &o->items[i];

                if (item->start && item->now && item->parent && is_inside(item->parent, directory))
                        r = put_aside(o, item);
        }
        return r;
}

static bool is_database_part(const Order *o, const char *path) {
        static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};

        for (size_t i = 0; i < o->n_databases; i++) {
                size_t n = strlen(o->databases[i]);

                if (strncmp(path, o->databases[i], n) != 0)
                        continue;
                for (size_t k = 0; k < ELEMENTSOF(suffixes); k++)
                        if (str_equal(path + n, suffixes[k]))
                                return true;
        }
        return false;
}

static bool is_wanted(const Order *o, const Item *item) {
        return undo_is_wanted(o->planner, item->start) || undo_is_wanted(o->planner, item->now);
}

static int leave(Order *o, Item *item) {
        const char *back = item->name ? item->name->came_from : NULL;
        _cleanup_free_ char *path = NULL;
        UndoStep *step;
        int r = evacuate(o, item);

        if (r < 0)
                return r;
        path = present_path(item);
        if (!path)
                return -ENOMEM;
        if (back)
                r = add_rename(o, item, path, back, &step);
        else
                r = undo_add_step(o->planner,
                                  &(UndoDraft){.action = UNDO_QUARANTINE,
                                               .kind = item->name     ? item->name->kind
                                                       : item->is_dir ? KIND_DIR
                                                                      : KIND_FILE,
                                               .watch = find_watch(o, item),
                                               .path = path,
                                               .now = item->now,
                                               .name = item->name},
                                  &step);
        if (r >= 0)
                step->moved_in = back != NULL;
        return r;
}

static int leave_all(Order *o) {
        int r = 0;

        for (size_t i = 0; i < o->n && r >= 0; i++) {
                Item *item = &o->items[i];

                if (item->start || item->foreign || (item->parent && !item->parent->start))
                        continue;
                if (is_wanted(o, item) && !is_database_part(o, item->now))
                        r = leave(o, item);
        }
        return r;
}

/* The name now of a place of the start. The caller frees; NULL: its directory is lost, or no memory. */
static char *place_now(const Order *o, const char *place) {
        const Item *above = find_above(o, place, find_start);
        char *now;

        if (!above)
                return strdup(place);
        if (!above->now || asprintf(&now, "%s%s", above->now, place + strlen(above->start)) < 0)
                return NULL;
        return now;
}

static Item *find_occupant(const Order *o, const char *place) {
        _cleanup_free_ char *now = place_now(o, place);

        return now ? find_now(o, now, strlen(now)) : NULL;
}

/* The name now of an object of the start that is not lost. */
static char *object_now(const Order *o, const UndoObject *object) {
        const Item *item = find_start(o, object->path, strlen(object->path));

        return item && item->now ? strdup(item->now) : place_now(o, object->path);
}

static int clear(Order *o, const Item *item) {
        Item *occupant = find_occupant(o, item->start);

        if (!occupant || occupant == item || !occupant->start || occupant->home || occupant->aside)
                return 0;
        return put_aside(o, occupant);
}

static int go_home(Order *o, Item *item) {
        _cleanup_free_ char *from = NULL;
        UndoStep *step;
        int r = clear(o, item);

        if (r < 0)
                return r;
        from = present_path(item);
        r = from ? add_rename(o, item, from, item->start, &step) : -ENOMEM;
        item->home = true;
        return r;
}

static int add_kept(UndoPlan *plan, UndoStep *step, const Kept *k) {
        Kept copy;
        int r = kept_clone(k, &copy);

        if (r >= 0)
                r = kept_list_add(&step->kept, &copy);
        if (r >= 0) {
                step->bytes += k->bytes;
                plan->bytes += k->bytes;
        }
        return r;
}

static int cannot(Order *o, UndoStep *step, const UndoObject *object) {
        const UndoPlanner *p = o->planner;

        if (step->state == UNDO_DONE)
                return 0;
        if (object && object->content && object->content->reason)
                return undo_set_reason(step, UNDO_IMPOSSIBLE, "not preserved: %s",
                                       object->content->reason);
        for (size_t i = 0; i < p->kept.n; i++)
                if (str_equal(p->kept.list[i].watch, step->watch))
                        return undo_set_reason(
                                step, UNDO_IMPOSSIBLE,
                                "not preserved: the change could not be held (a session "
                                "without guard, or a call that nothing holds)");
        return undo_set_reason(step, UNDO_IMPOSSIBLE,
                               "not preserved: nothing is of this watch (Preserve=no, or nothing "
                               "could be held)");
}

/* Another name that the same file had and still has. */
static const UndoObject *find_link(const Order *o, const UndoObject *object) {
        const UndoObject *other, *next;

        if (object->meta->nlink < 2)
                return NULL;
        HASH_ITER (hh, o->planner->table.objects, other, next) {
                const Item *item = find_start(o, other->path, strlen(other->path));

                if (other != object && other->meta && other->meta->ino == object->meta->ino &&
                    other->meta->dev == object->meta->dev && (!item || item->now))
                        return other;
        }
        return NULL;
}

static bool is_restorable(const UndoObject *object) {
        return object && object->meta &&
                (object->meta->kind != KIND_FILE || (object->content && object->content->blob));
}

/* What of it was kept: the content's row has metadata too, but the first row has the older. */
static int add_kept_of(Order *o, UndoStep *step, const UndoObject *object) {
        int r = add_kept(o->planner->plan, step, object->content ? object->content : object->meta);
        Kept *k = r >= 0 ? &step->kept.list[0] : NULL;

        if (!k || !object->content || object->content == object->meta)
                return r;
        copy_meta_done(&k->meta);
        return copy_meta_clone(&object->meta->meta, &k->meta);
}

static int add_restore(Order *o, UndoObject *object, ObjectKind kind) {
        const UndoObject *link;
        UndoStep *step;
        int r = undo_add_step(o->planner,
                              &(UndoDraft){.action = UNDO_RESTORE,
                                           .kind = object->meta ? object->meta->kind : kind,
                                           .watch = object->watch,
                                           .path = object->path,
                                           .object = object},
                              &step);

        if (r < 0)
                return r;
        if (!is_restorable(object))
                return cannot(o, step, object);
        object->entries = object->entries || object->meta->kind == KIND_DIR;
        link = find_link(o, object);
        if (link && !(step->alias = strdup(link->path)))
                return -ENOMEM;
        return add_kept_of(o, step, object);
}

/* All that was kept of a directory that was moved away as a whole, of which no operation tells. */
static int restore_below(Order *o, const Item *item) {
        const KeptList *kept = &o->planner->kept;
        int r = 0;

        for (size_t i = 0; i < kept->n && r >= 0; i++) {
                const Kept *k = &kept->list[i];
                UndoObject *object;

                if (str_equal(k->path, item->start) || !path_is_below(k->path, item->start) ||
                    undo_table_find_object(&o->planner->table, k->path))
                        continue;
                r = undo_table_object(&o->planner->table, k->path, k->watch, &object);
                if (r < 0)
                        return r;
                object->last = item->object ? item->object->last : 0;
                undo_attach(o->planner, object, k->path, UINT64_MAX, /* snapshot= */ false);
                if (object->meta)
                        r = add_restore(o, object, k->kind);
        }
        return r;
}

static int bring_back(Order *o, Item *item) {
        UndoObject *object = item->object;
        UndoStep *step;
        int r = clear(o, item);

        if (r < 0 || is_database_part(o, item->start))
                return r;
        if (!object) { /* it went with its directory: no operation of its own */
                const char *watch =
                        o->planner->n_watches > 0 ? o->planner->watches[0].spec->name : "";

                r = undo_table_object(&o->planner->table, item->start, watch, &object);
                if (r < 0)
                        return r;
                item->object = object;
                undo_attach(o->planner, object, item->start, UINT64_MAX, /* snapshot= */ true);
        }
        if (object->went_to) {
                r = add_rename(o, item, object->went_to, item->start, &step);
                if (r >= 0 && is_restorable(object))
                        r = add_kept_of(o, step, object);
                object->entries = object->entries || item->is_dir;
        } else
                r = add_restore(o, object, item->is_dir ? KIND_DIR : KIND_FILE);
        return r < 0 || !item->is_dir ? r : restore_below(o, item);
}

static size_t depth(const char *path) {
        size_t n = 0;

        for (; *path; path++)
                n += *path == '/';
        return n;
}

static int by_place(const void *a, const void *b) {
        const Item *x = *(Item *const *) a, *y = *(Item *const *) b;
        size_t i = depth(x->start), k = depth(y->start);

        return i != k ? (i < k ? -1 : 1) : strcmp(x->start, y->start);
}

static int come_home(Order *o) {
        _cleanup_free_ Item **list = calloc(o->n + 1, sizeof(Item *));
        size_t n = 0;
        int r = 0;

        if (!list)
                return -ENOMEM;
        for (size_t i = 0; i < o->n; i++) {
                Item *item = &o->items[i];

                if (item->start && is_wanted(o, item) &&
                    (!item->now || is_displaced(item) || item->aside))
                        list[n++] = item;
        }
        qsort(list, n, sizeof *list, by_place);
        for (size_t i = 0; i < n && r >= 0; i++)
                r = list[i]->now ? go_home(o, list[i]) : bring_back(o, list[i]);
        return r;
}

static int add_database(Order *o, const char *path, const UndoObject *object) {
        _cleanup_free_ char *now = object_now(o, object);
        const KeptList *kept = &o->planner->kept;
        UndoStep *step;
        int r = undo_add_step(o->planner,
                              &(UndoDraft){.action = UNDO_DATABASE,
                                           .watch = object->watch,
                                           .path = path,
                                           .now = now,
                                           .object = object},
                              &step);

        for (size_t i = 0; i < kept->n && r >= 0; i++)
                if (kept->list[i].unit == object->content->unit)
                        r = add_kept(o->planner->plan, step, &kept->list[i]);
        for (size_t i = 0; r >= 0 && i < step->kept.n; i++)
                if (!step->kept.list[i].blob)
                        return cannot(o, step, object);
        return r;
}

static int add_content(Order *o, UndoObject *object) {
        _cleanup_free_ char *now = object_now(o, object);
        UndoStep *step;
        int r = undo_add_step(o->planner,
                              &(UndoDraft){.action = UNDO_CONTENT,
                                           .watch = object->watch,
                                           .path = object->path,
                                           .now = now,
                                           .object = object},
                              &step);

        if (r < 0)
                return r;
        return is_restorable(object) ? add_kept_of(o, step, object) : cannot(o, step, object);
}

static int add_metadata(Order *o, UndoObject *object) {
        _cleanup_free_ char *now = object_now(o, object);
        UndoStep *step;
        int r;

        if (!object->meta && !object->metadata)
                return 0; /* only the times of a directory, which nobody knows */
        r = undo_add_step(o->planner,
                          &(UndoDraft){.action = UNDO_METADATA,
                                       .kind = object->meta ? object->meta->kind : KIND_FILE,
                                       .watch = object->watch,
                                       .path = object->path,
                                       .now = now,
                                       .object = object},
                          &step);
        if (r < 0)
                return r;
        return object->meta ? add_kept(o->planner->plan, step, object->meta)
                            : cannot(o, step, object);
}

/* Shallow last, so that nothing changes the times of a directory after they were put back. */
static int deepest_first(const void *a, const void *b) {
        const UndoObject *x = *(UndoObject *const *) a, *y = *(UndoObject *const *) b;
        size_t i = depth(x->path), k = depth(y->path);

        return i != k ? (i > k ? -1 : 1) : strcmp(x->path, y->path);
}

/* The database that a kept file belongs to: the first of its unit. */
static const char *database_of(const Order *o, const UndoObject *object) {
        const KeptList *kept = &o->planner->kept;

        if (!object->content || object->content->unit == 0)
                return NULL;
        for (size_t i = 0; i < kept->n; i++)
                if (kept->list[i].unit == object->content->unit)
                        return kept->list[i].path;
        return NULL;
}

static int note_database(Order *o, const char *path) {
        const char **grown;

        for (size_t i = 0; i < o->n_databases; i++)
                if (str_equal(o->databases[i], path))
                        return 0;
        grown = reallocarray(o->databases, o->n_databases + 1, sizeof *grown);
        if (!grown)
                return -ENOMEM;
        o->databases = grown;
        grown[o->n_databases++] = path;
        return 1;
}

static int list_objects(const Order *o, UndoObject ***ret, size_t *ret_n) {
        UndoObject *object, *next, **list;
        size_t n = 0;

        list = calloc(HASH_CNT(hh, o->planner->table.objects) + 1, sizeof(UndoObject *));
        if (!list)
                return -ENOMEM;
        HASH_ITER (hh, o->planner->table.objects, object, next)
                if (undo_is_wanted(o->planner, object->path))
                        list[n++] = object;
        qsort(list, n, sizeof(UndoObject *), deepest_first);
        *ret = list;
        *ret_n = n;
        return 0;
}

static bool is_lost(const Order *o, const UndoObject *object) {
        const Item *item = find_start(o, object->path, strlen(object->path));

        return item && !item->now;
}

/* Databases are found first: their side files are no objects of their own. */
static int find_databases(Order *o) {
        _cleanup_free_ UndoObject **list = NULL;
        size_t n = 0;
        int r = list_objects(o, &list, &n);

        for (size_t i = 0; i < n && r >= 0; i++) {
                const char *path = database_of(o, list[i]);

                if (path && (list[i]->modified || is_lost(o, list[i])))
                        r = note_database(o, path);
        }
        return MIN(r, 0);
}

static int put_databases_back(Order *o) {
        int r = 0;

        for (size_t i = 0; i < o->n_databases && r >= 0; i++) {
                UndoObject *object = undo_table_find_object(&o->planner->table, o->databases[i]),
                           *other, *next;

                if (!object || !object->content)
                        HASH_ITER (hh, o->planner->table.objects, other, next)
                                if (str_equal(database_of(o, other), o->databases[i]))
                                        object = other;
                if (object)
                        r = add_database(o, o->databases[i], object);
        }
        return r;
}

static int put_rest_back(Order *o) {
        _cleanup_free_ UndoObject **list = NULL;
        size_t n = 0;
        int r = list_objects(o, &list, &n);

        for (size_t i = 0; i < n && r >= 0; i++)
                if (list[i]->modified && !is_lost(o, list[i]) &&
                    !is_database_part(o, list[i]->path))
                        r = add_content(o, list[i]);
        for (size_t i = 0; i < n && r >= 0; i++)
                if ((list[i]->metadata || list[i]->entries) && !list[i]->modified &&
                    (!is_lost(o, list[i]) || list[i]->entries))
                        r = add_metadata(o, list[i]);
        return r;
}

static int compare_strings(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

static int list_own(Order *o) {
        UndoPlan *plan = o->planner->plan;

        plan->own = calloc(o->n + 1, sizeof *plan->own);
        if (!plan->own)
                return -ENOMEM;
        for (size_t i = 0; i < o->n; i++) {
                if (o->items[i].start || o->items[i].foreign)
                        continue;
                plan->own[plan->n_own] = strdup(o->items[i].now);
                if (!plan->own[plan->n_own])
                        return -ENOMEM;
                plan->n_own++;
        }
        qsort(plan->own, plan->n_own, sizeof *plan->own, compare_strings);
        return 0;
}

int undo_order(UndoPlanner *p) {
        _cleanup_(order_done) Order o = {.planner = p};
        int r;

        p->plan = calloc(1, sizeof *p->plan);
        if (!p->plan)
                return -ENOMEM;
        (void) strcpy(p->plan->session, p->session.session->id);
        p->plan->last = p->last;
        r = net_objects(p->net, collect, &o);
        if (r >= 0)
                r = index_items(&o);
        if (r >= 0)
                r = list_own(&o);
        if (r >= 0)
                r = find_databases(&o);
        if (r >= 0)
                r = leave_all(&o);
        if (r >= 0)
                r = come_home(&o);
        if (r >= 0)
                r = put_databases_back(&o);
        if (r >= 0)
                r = put_rest_back(&o);
        if (r < 0)
                p->plan = undo_plan_free(p->plan);
        return r;
}
