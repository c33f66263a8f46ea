/* SPDX-License-Identifier: MIT */
/*
 * Databases in the plan. What was kept as one unit is put back as one, whatever of it was changed: a side file alone means nothing,
 * and -shm nothing at all.
 */
#include <errno.h>

#include "daemon/store/undo_item.h"

static const char *const suffixes[] = {"", "-wal", "-journal", "-shm"};
#define LASTING 3 /* the first of them: what SQLite does not make anew */

void undo_units_done(UndoOrder *o) {
        for (size_t i = 0; i < o->n_units; i++)
                free(o->units[i].path);
        free(o->units);
}

/* A copy without the suffix; NULL: it does not end so, or no memory. */
static char *stem_of(const char *path, const char *suffix) {
        size_t n = strlen(path), m = strlen(suffix);

        return n > m && str_equal(path + n - m, suffix) ? strndup(path, n - m) : NULL;
}

/* The kept database of the unit: its first row. */
static const Kept *find_first(const UndoOrder *o, uint64_t unit) {
        const KeptList *kept = &o->planner->kept;

        for (size_t i = 0; i < kept->n; i++)
                if (kept->list[i].unit == unit)
                        return &kept->list[i];
        return NULL;
}

static UndoUnit *find_unit(const UndoOrder *o, const char *path) {
        for (size_t i = 0; i < o->n_units; i++)
                if (str_equal(o->units[i].path, path))
                        return &o->units[i];
        return NULL;
}

bool undo_is_in_unit(const UndoOrder *o, const char *path) {
        for (size_t i = 0; i < ELEMENTSOF(suffixes) && o->n_units > 0; i++) {
                _cleanup_free_ char *stem = stem_of(path, suffixes[i]);

                if (stem && find_unit(o, stem))
                        return true;
        }
        return false;
}

bool undo_is_shared_memory(const UndoOrder *o, const char *path) {
        _cleanup_free_ char *stem = stem_of(path, suffixes[LASTING]);
        const UndoShelf *shelf = stem ? undo_table_find_shelf(&o->planner->table, stem) : NULL;

        for (size_t i = 0; shelf && i < shelf->n; i++)
                if (o->planner->kept.list[shelf->kept[i]].unit != 0)
                        return true;
        return false;
}

/* Takes the path. What was kept of the database itself goes before what was kept of a side file. */
static int add_unit(UndoOrder *o, char *path, const UndoObject *object) {
        UndoUnit *unit = find_unit(o, path), *grown;

        if (unit) {
                if (str_equal(object->path, path))
                        unit->object = object;
                free(path);
                return 0;
        }
        grown = reallocarray(o->units, o->n_units + 1, sizeof *grown);
        if (!grown) {
                free(path);
                return -ENOMEM;
        }
        o->units = grown;
        grown[o->n_units++] = (UndoUnit){.path = path, .object = object};
        return 0;
}

/* The object may have had another name when it was kept: only the suffix counts. */
static int add_unit_of(UndoOrder *o, const UndoObject *object) {
        const Kept *first = find_first(o, object->content->unit);
        char *path =
                first ? stem_of(object->path, object->content->path + strlen(first->path)) : NULL;

        return path ? add_unit(o, path, object) : -ENOMEM;
}

/* A -wal or -journal that the session left: the database is as good as changed. */
static int add_unit_with(UndoOrder *o, const UndoItem *made) {
        for (size_t i = 1; i < LASTING; i++) {
                _cleanup_free_ char *stem = stem_of(made->now, suffixes[i]);
                UndoObject *object = NULL;
                int r;

                if (!stem || !undo_table_find_shelf(&o->planner->table, stem))
                        continue;
                r = undo_table_object(&o->planner->table, stem, undo_item_watch(o, made), &object);
                if (r < 0)
                        return r;
                undo_attach(o->planner, object, stem, UINT64_MAX, /* snapshot= */ false);
                if (object->content && object->content->unit != 0)
                        return add_unit_of(o, object);
        }
        return 0;
}

/* Whoever has changed one of them has changed the database. */
static void find_foreign(const UndoOrder *o, UndoUnit *unit) {
        const UndoTable *t = &o->planner->table;

        for (size_t i = 0; i < LASTING; i++) {
                _cleanup_free_ char *path = malloc(strlen(unit->path) + 16);
                const UndoObject *object;
                const UndoName *name;

                if (!path)
                        return;
                (void) stpcpy(stpcpy(path, unit->path), suffixes[i]);
                object = undo_table_find_object(t, path);
                name = undo_table_find_name(t, path);
                if (object && object->foreign != 0)
                        unit->foreign = object->foreign;
                else if (name && name->foreign != 0)
                        unit->foreign = name->foreign;
        }
}

int undo_units_read(UndoOrder *o) {
        _cleanup_free_ UndoObject **list = NULL;
        size_t n = 0;
        int r = undo_list_objects(o, &list, &n);

        for (size_t i = 0; i < n && r >= 0; i++)
                if (list[i]->content && list[i]->content->unit != 0 &&
                    (list[i]->modified || undo_object_is_lost(o, list[i])))
                        r = add_unit_of(o, list[i]);
        for (size_t i = 0; i < o->n && r >= 0; i++)
                if (!o->items[i].start && !o->items[i].foreign &&
                    undo_is_wanted(o->planner, o->items[i].now))
                        r = add_unit_with(o, &o->items[i]);
        for (size_t i = 0; i < o->n_units && r >= 0; i++)
                find_foreign(o, &o->units[i]);
        return r;
}

static int put_unit_back(UndoOrder *o, const UndoUnit *unit) {
        _cleanup_free_ char *now = undo_object_now(o, unit->object);
        const KeptList *kept = &o->planner->kept;
        UndoStep *step;
        int r = undo_add_step(o->planner,
                              &(UndoDraft){.action = UNDO_DATABASE,
                                           .watch = unit->object->watch,
                                           .path = unit->path,
                                           .now = now,
                                           .foreign = unit->foreign,
                                           .object = unit->object},
                              &step);

        for (size_t i = 0; i < kept->n && r >= 0; i++)
                if (kept->list[i].unit == unit->object->content->unit)
                        r = undo_add_kept_row(o, step, &kept->list[i]);
        for (size_t i = 0; r >= 0 && i < step->kept.n; i++)
                if (!step->kept.list[i].blob)
                        return undo_cannot(o, step, unit->object);
        return r;
}

int undo_put_units_back(UndoOrder *o) {
        int r = 0;

        for (size_t i = 0; i < o->n_units && r >= 0; i++)
                r = put_unit_back(o, &o->units[i]);
        return r;
}
