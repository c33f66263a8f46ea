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
#include "daemon/store/undo_item.h"

static char *aside_path(const UndoOrder *o, const UndoItem *item) {
        const char *watch = undo_item_watch(o, item);
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

static int add_rename(UndoOrder *o, const UndoItem *item, const char *from, const char *to,
                      UndoStep **ret) {
        return undo_add_step(o->planner,
                             &(UndoDraft){.action = UNDO_RENAME,
                                          .kind = item->is_dir ? KIND_DIR : KIND_FILE,
                                          .watch = undo_item_watch(o, item),
                                          .path = to,
                                          .from = from,
                                          .now = item->now,
                                          .object = item->object,
                                          .name = item->name},
                             ret);
}

static int put_aside(UndoOrder *o, UndoItem *item) {
        _cleanup_free_ char *from = undo_item_present(item), *to = aside_path(o, item);
        UndoStep *step;
        int r = from && to ? add_rename(o, item, from, to, &step) : -ENOMEM;

        if (r >= 0)
                item->aside = TAKE_PTR(to);
        return r;
}

static bool is_inside(const UndoItem *item, const UndoItem *directory) {
        for (; item && !item->home && !item->aside; item = item->parent)
                if (item == directory)
                        return true;
        return false;
}

/* What was there at the start does not leave with a directory of the session. */
static int evacuate(UndoOrder *o, const UndoItem *directory) {
        int r = 0;

        if (!directory->is_dir)
                return 0;
        for (size_t i = 0; i < o->n_displaced && r >= 0; i++)
                if (is_inside(o->displaced[i]->parent, directory))
                        r = put_aside(o, o->displaced[i]);
        return r;
}

static bool is_wanted(const UndoOrder *o, const UndoItem *item) {
        return undo_is_wanted(o->planner, item->start) || undo_is_wanted(o->planner, item->now);
}

static int leave(UndoOrder *o, UndoItem *item) {
        const char *back = item->name ? item->name->came_from : NULL;
        _cleanup_free_ char *path = NULL;
        UndoStep *step;
        int r = evacuate(o, item);

        if (r < 0)
                return r;
        path = undo_item_present(item);
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
                                               .watch = undo_item_watch(o, item),
                                               .path = path,
                                               .now = item->now,
                                               .name = item->name},
                                  &step);
        if (r >= 0)
                step->moved_in = back != NULL;
        return r;
}

static int leave_all(UndoOrder *o) {
        int r = 0;

        for (size_t i = 0; i < o->n && r >= 0; i++) {
                UndoItem *item = &o->items[i];

                if (item->start || item->foreign || (item->parent && !item->parent->start))
                        continue;
                if (is_wanted(o, item) && !undo_is_in_unit(o, item->now))
                        r = leave(o, item);
        }
        return r;
}

static int clear(UndoOrder *o, const UndoItem *item) {
        UndoItem *occupant = undo_item_occupant(o, item->start);

        if (!occupant || occupant == item || !occupant->start || occupant->home || occupant->aside)
                return 0;
        return put_aside(o, occupant);
}

static int go_home(UndoOrder *o, UndoItem *item) {
        _cleanup_free_ char *from = NULL;
        UndoStep *step;
        int r = clear(o, item);

        if (r < 0)
                return r;
        from = undo_item_present(item);
        r = from ? add_rename(o, item, from, item->start, &step) : -ENOMEM;
        item->home = true;
        return r;
}

static int add_restore(UndoOrder *o, UndoObject *object, ObjectKind kind) {
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
        if (!undo_is_restorable(object))
                return undo_cannot(o, step, object);
        object->entries = object->entries || object->meta->kind == KIND_DIR;
        link = undo_object_link(o, object);
        if (link && !(step->alias = strdup(link->path)))
                return -ENOMEM;
        return undo_add_kept(o, step, object);
}

/* All that was kept of a directory that was moved away as a whole, of which no operation tells. */
static int restore_below(UndoOrder *o, const UndoItem *item) {
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

static int bring_back(UndoOrder *o, UndoItem *item) {
        UndoObject *object = item->object;
        UndoStep *step;
        int r = clear(o, item);

        if (r < 0 || undo_is_in_unit(o, item->start))
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
                if (r >= 0 && undo_is_restorable(object))
                        r = undo_add_kept(o, step, object);
                object->entries = object->entries || item->is_dir;
        } else
                r = add_restore(o, object, item->is_dir ? KIND_DIR : KIND_FILE);
        return r < 0 || !item->is_dir ? r : restore_below(o, item);
}

static int by_place(const void *a, const void *b) {
        const UndoItem *x = *(UndoItem *const *) a, *y = *(UndoItem *const *) b;
        size_t i = undo_depth(x->start), k = undo_depth(y->start);

        return i != k ? (i < k ? -1 : 1) : strcmp(x->start, y->start);
}

static int come_home(UndoOrder *o) {
        _cleanup_free_ UndoItem **list = calloc(o->n + 1, sizeof(UndoItem *));
        size_t n = 0;
        int r = 0;

        if (!list)
                return -ENOMEM;
        for (size_t i = 0; i < o->n; i++)
                if (o->items[i].start && !o->items[i].now && is_wanted(o, &o->items[i]))
                        list[n++] = &o->items[i];
        for (size_t i = 0; i < o->n_displaced; i++)
                if (is_wanted(o, o->displaced[i]) || o->displaced[i]->aside)
                        list[n++] = o->displaced[i];
        qsort(list, n, sizeof *list, by_place);
        for (size_t i = 0; i < n && r >= 0; i++)
                r = list[i]->now ? go_home(o, list[i]) : bring_back(o, list[i]);
        /* what was put aside on the way, though nobody asked for it */
        for (size_t i = 0; i < o->n_displaced && r >= 0; i++)
                if (o->displaced[i]->aside && !o->displaced[i]->home)
                        r = go_home(o, o->displaced[i]);
        return r;
}

static int compare_strings(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

static int list_own(UndoOrder *o) {
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

static void order_done(UndoOrder *o) {
        undo_units_done(o);
        undo_items_done(o);
}

int undo_order(UndoPlanner *p) {
        _cleanup_(order_done) UndoOrder o = {.planner = p};
        int r;

        p->plan = calloc(1, sizeof *p->plan);
        if (!p->plan)
                return -ENOMEM;
        (void) strcpy(p->plan->session, p->session.session->id);
        p->plan->last = p->last;
        r = undo_items_read(&o);
        if (r >= 0)
                r = list_own(&o);
        if (r >= 0)
                r = undo_units_read(&o);
        if (r >= 0)
                r = leave_all(&o);
        if (r >= 0)
                r = come_home(&o);
        if (r >= 0)
                r = undo_put_units_back(&o);
        if (r >= 0)
                r = undo_put_contents_back(&o);
        if (r < 0)
                p->plan = undo_plan_free(p->plan);
        return r;
}
