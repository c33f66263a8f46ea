/* SPDX-License-Identifier: MIT */
/* What the files of undo share. */
#ifndef MOUNTWATCH_STORE_UNDO_INTERNAL_H
#define MOUNTWATCH_STORE_UNDO_INTERNAL_H

#include "common/net.h"
#include "daemon/store/foothold.h"
#include "daemon/store/store_internal.h"
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
        SeqList done;              /* keys of steps done in earlier runs, sorted */
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

int undo_read_done(UndoPlanner *p);
/* undo_step.c: steps made, and added to the plan. Paths are copied. */
typedef struct UndoDraft {
        UndoAction action;
        ObjectKind kind;
        const char *watch, *path, *from, *now;
        const UndoObject *object; /* or NULL */
        const UndoName *name;     /* or NULL */
        int64_t foreign;          /* besides what they tell */
} UndoDraft;
int undo_add_step(UndoPlanner *p, const UndoDraft *draft, UndoStep **ret);
int undo_set_reason(UndoStep *s, UndoState state, const char *format, ...) _printf_(3, 4);

/* What runs a plan. */
typedef struct UndoObjectId {
        uint64_t dev, ino;
} UndoObjectId;

/* For tables: HASH_FUNCTION of the file. */
static inline unsigned undo_id_hash(const UndoObjectId *id) {
        return hash_fold(hash_mix(hash_mix(HASH_SEED, id->dev), id->ino));
}

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

typedef struct UndoMade {
        UndoObjectId id; /* what it was when it was kept */
        char *path;
        UT_hash_handle hh;
} UndoMade;

/* How the times of a filesystem relate to ours. */
typedef struct UndoClock {
        dev_t dev;
        bool measured, known;
        int64_t ahead, slack; /* microseconds */
} UndoClock;

/* Something changed that is not on disk yet. */
#define UNDO_UNSYNCED_MAX 128
typedef struct UndoUnsynced {
        int fd;
        size_t step;
} UndoUnsynced;

typedef struct UndoRun {
        UndoPlan *plan;
        const UndoOptions *options;
        size_t at, told; /* the step at hand; steps that have been told */
        nsec_t told_at;
        int store_fd;   /* DIR/preserve/SESSION; -1: it is not there */
        int journal_fd; /* `undo` in it; -1: dry run */
        UndoTouch *
                touches; /* objects of this run and all before: what their times tell is our doing */
        UndoUnsynced unsynced[UNDO_UNSYNCED_MAX];
        size_t n_unsynced;
        UndoObjectId last_dir; /* among them */
        UndoClock clock;       /* of the filesystem at hand */
        UndoMade *made;        /* restored files that had several names */
} UndoRun;

/* undo_journal.c */
int undo_journal_open(UndoRun *run);
void undo_journal_done(UndoRun *run);
/* Tells the journal, before anything is changed. dev and ino 0: there is no object yet. */
int undo_begin(UndoRun *run, UndoStep *s, dev_t dev, ino_t ino);
/* The same before a file is written over: then a power failure must not make it somebody else's change. */
int undo_begin_writing(UndoRun *run, UndoStep *s, const struct stat *st);
bool undo_has_touched(const UndoRun *run, const struct stat *st);
/* Takes the descriptor: it is synced before the step is told. */
void undo_sync_later(UndoRun *run, int fd);
/* Tells the steps that are finished; with all, at once. */
int undo_tell(UndoRun *run, bool all);
/* The name in the quarantine of what a step takes away, or of what stood in its way. */
void undo_item(const UndoStep *s, bool in_the_way, char ret[static 17]);
bool undo_is_in_quarantine(const UndoRun *run, const char *item);

/* Has somebody else changed it? Then the step is refused, unless forced: 1. `name` in dir_fd may be missing. */
int undo_check_foreign(UndoRun *run, UndoStep *s, int dir_fd, const char *name);
/* undo_clock.c: by the time of its last change; *ret_when is of our clock. What we have touched ourselves does not count. */
bool undo_has_changed_since(UndoRun *run, const UndoStep *s, int dir_fd, const char *name,
                            usec_t *ret_when);
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

/* undo_put.c */
void undo_made_done(UndoRun *run);
/* The kept content, open and found undamaged. -ESTALE: it is damaged. */
int undo_open_blob(const UndoRun *run, Kept *k);
/* 1: the object has this content (kind, target) */
int undo_has_content(const UndoRun *run, int dir_fd, const char *name, Kept *k);
/* Writes into the file in place, and looks whether it is there then. */
int undo_write(UndoRun *run, int fd, Kept *k);
int undo_create(UndoRun *run, int dir_fd, const char *name, Kept *k);

#endif
