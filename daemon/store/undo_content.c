/* SPDX-License-Identifier: MIT */
/* The steps that put content and metadata back, where the object itself is at its place. */
#include <errno.h>
#include <stdio.h>

#include "daemon/store/undo_item.h"

int undo_add_kept_row(UndoOrder *o, UndoStep *step, const Kept *k) {
        UndoPlan *plan = o->planner->plan;
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

int undo_cannot(UndoOrder *o, UndoStep *step, const UndoObject *object) {
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

bool undo_is_restorable(const UndoObject *object) {
        return object && object->meta &&
                (object->meta->kind != KIND_FILE || (object->content && object->content->blob));
}

/* What of it was kept: the content's row has metadata too, but the first row has the older. */
int undo_add_kept(UndoOrder *o, UndoStep *step, const UndoObject *object) {
        int r = undo_add_kept_row(o, step, object->content ? object->content : object->meta);
        Kept *k = r >= 0 ? &step->kept.list[0] : NULL;

        if (!k || !object->content || object->content == object->meta)
                return r;
        copy_meta_done(&k->meta);
        return copy_meta_clone(&object->meta->meta, &k->meta);
}

static int add_content(UndoOrder *o, UndoObject *object) {
        _cleanup_free_ char *now = undo_object_now(o, object);
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
        return undo_is_restorable(object) ? undo_add_kept(o, step, object)
                                          : undo_cannot(o, step, object);
}

static int add_metadata(UndoOrder *o, UndoObject *object) {
        _cleanup_free_ char *now = undo_object_now(o, object);
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
        return object->meta ? undo_add_kept_row(o, step, object->meta)
                            : undo_cannot(o, step, object);
}

/* Shallow last, so that nothing changes the times of a directory after they were put back. */
static int deepest_first(const void *a, const void *b) {
        const UndoObject *x = *(UndoObject *const *) a, *y = *(UndoObject *const *) b;
        size_t i = undo_depth(x->path), k = undo_depth(y->path);

        return i != k ? (i > k ? -1 : 1) : strcmp(x->path, y->path);
}

int undo_list_objects(const UndoOrder *o, UndoObject ***ret, size_t *ret_n) {
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

int undo_put_contents_back(UndoOrder *o) {
        _cleanup_free_ UndoObject **list = NULL;
        size_t n = 0;
        int r = undo_list_objects(o, &list, &n);

        for (size_t i = 0; i < n && r >= 0; i++)
                if (list[i]->modified && !undo_object_is_lost(o, list[i]) &&
                    !undo_is_in_unit(o, list[i]->path) && !undo_is_shared_memory(o, list[i]->path))
                        r = add_content(o, list[i]);
        for (size_t i = 0; i < n && r >= 0; i++)
                if ((list[i]->metadata || list[i]->entries) && !list[i]->modified &&
                    (!undo_object_is_lost(o, list[i]) || list[i]->entries))
                        r = add_metadata(o, list[i]);
        return r;
}
