/* SPDX-License-Identifier: MIT */
/* What the planner of an undo remembers while it reads the operations: objects of the start, and names that were touched. */
#ifndef MOUNTWATCH_STORE_UNDO_TABLE_H
#define MOUNTWATCH_STORE_UNDO_TABLE_H

#include "common/hash.h"
#include "daemon/store/kept.h"

/* An object that was there at the start, by its path then. */
typedef struct UndoObject {
        char *path;
        char *watch;
        const Kept
                *meta; /* as it was first kept; borrowed from the list of kept ones; NULL: never */
        const Kept *content; /* first kept with content, or with the reason why without */
        char *went_to;       /* outside name, when it was moved out */
        bool modified, metadata;
        bool missed; /* its content was changed before any was kept: what was kept later is not of the start */
        bool entries; /* a directory: names in it came or went */
        int64_t first_seq, last_seq;
        usec_t last;
        int64_t foreign; /* process of somebody else's operation on it since; 0: none, -1: unknown process */
        UT_hash_handle hh;
} UndoObject;

/* A name that the session touched. */
typedef struct UndoName {
        char *path;
        char *watch;
        char *came_from; /* outside name, when the object here was moved in */
        ObjectKind kind;
        int64_t last_seq;
        usec_t last;
        int64_t foreign;
        UT_hash_handle hh;
} UndoName;

/* All that was kept of one path, in the order in which it was taken. */
typedef struct UndoShelf {
        const char *path;
        size_t *kept; /* positions in the list */
        size_t n, next;
        UT_hash_handle hh;
} UndoShelf;

typedef struct UndoTable {
        UndoObject *objects;
        UndoName *names;
        UndoShelf *shelves;
} UndoTable;

void undo_table_done(UndoTable *t);
UndoObject *undo_table_find_object(const UndoTable *t, const char *path);
int undo_table_object(UndoTable *t, const char *path, const char *watch, UndoObject **ret);
UndoName *undo_table_find_name(const UndoTable *t, const char *path);
int undo_table_name(UndoTable *t, const char *path, const char *watch, UndoName **ret);
/* Sorts the list onto shelves; it must live on and stay as it is. */
int undo_table_shelve(UndoTable *t, const KeptList *list);
UndoShelf *undo_table_find_shelf(const UndoTable *t, const char *path);

#endif
