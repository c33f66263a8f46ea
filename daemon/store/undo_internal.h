/* SPDX-License-Identifier: MIT */
/* What the files of undo share. */
#ifndef MOUNTWATCH_STORE_UNDO_INTERNAL_H
#define MOUNTWATCH_STORE_UNDO_INTERNAL_H

#include "common/net.h"
#include "daemon/store/foothold.h"
#include "daemon/store/undo.h"
#include "daemon/store/undo_table.h"

struct UndoPlanner {
        Store *store;
        StoredSession session;
        char **paths; /* NULL: all */
        char **own;   /* ids of the session and those in it */
        StoredWatch *watches;
        size_t n_watches;
        KeptList kept;
        const UndoObject **owners; /* of each kept one, or NULL */
        UndoTable table;
        Net *net;
        int64_t after_seq;
        usec_t last;
        UndoPlan *plan; /* when it is made */
};

/* undo_order.c: the steps, from what has been read. */
int undo_order(UndoPlanner *p);

/* undo_plan.c */
/* Attaches what was kept of the object under that path before `before`. snapshot: only what was taken at the start. */
void undo_attach(UndoPlanner *p, UndoObject *o, const char *path, usec_t before, bool snapshot);
const char *undo_watch_root(const UndoPlanner *p, const char *watch);
bool undo_is_wanted(const UndoPlanner *p, const char *path);

/* undo_step.c: steps made, and added to the plan. Paths are copied. */
typedef struct UndoDraft {
        UndoAction action;
        ObjectKind kind;
        const char *watch, *path, *from, *now;
        const UndoObject *object; /* or NULL */
        const UndoName *name;     /* or NULL */
} UndoDraft;
int undo_add_step(UndoPlanner *p, const UndoDraft *draft, UndoStep **ret);
int undo_set_reason(UndoStep *s, UndoState state, const char *format, ...) _printf_(3, 4);

/* What runs a plan. */
typedef struct UndoObjectId {
        uint64_t dev, ino;
} UndoObjectId;

/* The journal consists of these. */
typedef struct UndoRecord {
        uint64_t key;  /* of the step */
        uint64_t done; /* 0: begun, and with which object; 1: done */
        UndoObjectId id;
} UndoRecord;

typedef struct UndoTouch {
        UndoObjectId id;
        UT_hash_handle hh;
} UndoTouch;

typedef struct UndoRun {
        UndoPlan *plan;
        const UndoOptions *options;
        int store_fd;   /* DIR/preserve/SESSION; -1: it is not there */
        int journal_fd; /* `undo` in it; -1: dry run */
        UndoTouch *
                touches; /* objects of this run and all before: what their times tell is our doing */
        char **linked;   /* restored files that had several names */
        size_t n_linked;
} UndoRun;

/* Tells the journal, before anything is changed. dev and ino 0: there is no object yet. */
int undo_begin(UndoRun *run, UndoStep *s, dev_t dev, ino_t ino);
/* Has somebody else changed it? Then the step is refused, unless forced: 1. `name` in dir_fd may be missing. */
int undo_check_foreign(const UndoRun *run, UndoStep *s, int dir_fd, const char *name);
/* Takes away what stands at the path of a step, when forced; else 1: refused. */
int undo_make_way(UndoRun *run, UndoStep *s);
/* The state of a step that could not be done. Gives the error on when it stops the run. */
int undo_fail(UndoStep *s, int error);
/* Where the object of the step is to be looked for: a dry run finds it where the earlier steps have left it. */
const char *undo_where(const UndoRun *run, const UndoStep *s);
/* A spot for a path of the step, which may lie outside the watch (a rename). */
int undo_spot(const UndoStep *s, const char *path, Foothold *ret);

/* Each sets the state of the step; negative only for what stops the run. */
int undo_run_quarantine(UndoRun *run, UndoStep *s);
int undo_run_rename(UndoRun *run, UndoStep *s);
int undo_run_restore(UndoRun *run, UndoStep *s);
int undo_run_content(UndoRun *run, UndoStep *s);
int undo_run_database(UndoRun *run, UndoStep *s);
int undo_run_metadata(UndoRun *run, UndoStep *s);

/* undo_put.c: the kept content, open and found undamaged. -ESTALE: it is damaged. */
int undo_open_blob(const UndoRun *run, Kept *k);
/* 1: the object has this content (kind, target) */
int undo_has_content(const UndoRun *run, int dir_fd, const char *name, Kept *k);
/* Writes into the file in place, and looks whether it is there then. */
int undo_write(const UndoRun *run, int fd, Kept *k);
int undo_create(UndoRun *run, int dir_fd, const char *name, Kept *k);

#endif
