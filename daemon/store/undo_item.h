/* SPDX-License-Identifier: MIT */
/* The objects of a plan while their steps are put in order: those that operations have told of, where they were and are. */
#ifndef MOUNTWATCH_STORE_UNDO_ITEM_H
#define MOUNTWATCH_STORE_UNDO_ITEM_H

#include "daemon/store/undo_internal.h"

typedef struct UndoItem {
        char *start, *now; /* NULL: made; lost */
        bool is_dir, foreign;
        struct UndoItem *parent; /* nearest known object above, now */
        UndoObject *object;      /* of one that was there at the start */
        const UndoName *name;    /* of `now` */
        char *aside;             /* where it has been put */
        bool home;               /* has been brought to where it was */
        UT_hash_handle by_now, by_start;
} UndoItem;

/* An object of the start that had several names, by what it was. */
typedef struct UndoLinked {
        UndoObjectId id;
        const UndoObject *object;
        UT_hash_handle hh;
} UndoLinked;

/* A SQLite database that is put back as a whole, with its side files. */
typedef struct UndoUnit {
        char *path;               /* of the database, at the start */
        const UndoObject *object; /* the database, or a side file of it, with what was kept */
        int64_t foreign;          /* as in UndoObject, of all of them */
} UndoUnit;

typedef struct UndoOrder {
        UndoPlanner *planner;
        UndoItem *items;
        size_t n, allocated;
        UndoItem *by_now, *by_start;
        UndoItem **displaced; /* there at the start and now, elsewhere */
        size_t n_displaced;
        UndoLinked *linked; /* alive */
        UndoUnit *units;
        size_t n_units;
} UndoOrder;

int undo_items_read(UndoOrder *o);
void undo_items_done(UndoOrder *o);
UndoItem *undo_item_now(const UndoOrder *o, const char *path, size_t length);
UndoItem *undo_item_start(const UndoOrder *o, const char *path, size_t length);
const char *undo_item_watch(const UndoOrder *o, const UndoItem *item);
/* Where the object is at this point of the order. The caller frees; NULL for lack of memory. */
char *undo_item_present(const UndoItem *item);
/* The object of the start that stands at a place of the start now, or NULL. */
UndoItem *undo_item_occupant(const UndoOrder *o, const char *place);
/* The name now of an object of the start that is not lost. The caller frees; NULL: not known, or no memory. */
char *undo_object_now(const UndoOrder *o, const UndoObject *object);
bool undo_object_is_lost(const UndoOrder *o, const UndoObject *object);
/* Another name that the same file had and has, or NULL. */
const UndoObject *undo_object_link(const UndoOrder *o, const UndoObject *object);
size_t undo_depth(const char *path);

/* undo_content.c: what is put back of the kept ones. */
bool undo_is_restorable(const UndoObject *object);
/* Adds to the step what was kept of the object. */
int undo_add_kept(UndoOrder *o, UndoStep *step, const UndoObject *object);
int undo_add_kept_row(UndoOrder *o, UndoStep *step, const Kept *k);
/* Nothing that would help was kept: says why. */
int undo_cannot(UndoOrder *o, UndoStep *step, const UndoObject *object);
int undo_put_contents_back(UndoOrder *o);
/* All objects that are wanted, the deepest first. The caller frees the list. */
int undo_list_objects(const UndoOrder *o, UndoObject ***ret, size_t *ret_n);

/* undo_unit.c. Before anything else: side files of databases are no objects of their own. */
int undo_units_read(UndoOrder *o);
void undo_units_done(UndoOrder *o);
bool undo_is_in_unit(const UndoOrder *o, const char *path);
/* The -shm of a kept database, which changes whenever it is read. */
bool undo_is_shared_memory(const UndoOrder *o, const char *path);
int undo_put_units_back(UndoOrder *o);

#endif
