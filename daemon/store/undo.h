/* SPDX-License-Identifier: MIT */
/*
 * Undo: what a session did to the watches is put back.
 *
 * The plan is made from the operations and what was kept, not one step for each operation backwards but one for each object that
 * is different: what was at the start is compared with what is now (common/net.h), so a file written a million times is one
 * step, and one made and removed is none. The steps come in the order in which they undo: the session's own objects leave, what
 * was renamed goes back, what was removed returns (directories first), then content, then metadata and times of directories.
 *
 * A plan is a value of its own: made in the loop thread, run in a worker thread, where it asks the present state before each
 * step: what is as it should be is left alone. Stopped at any moment, the next run goes on: a file in the state folder tells
 * which steps have been begun, so that a half-written file is not taken for somebody else's change.
 */
#ifndef MOUNTWATCH_STORE_UNDO_H
#define MOUNTWATCH_STORE_UNDO_H

#include "daemon/store/kept.h"

typedef enum UndoAction {
        UNDO_QUARANTINE, /* the session's own new object leaves the watch */
        UNDO_RENAME,     /* from the name it has now back to the one it had */
        UNDO_RESTORE,    /* a removed or replaced object returns */
        UNDO_CONTENT,    /* content of a file that is there */
        UNDO_DATABASE, /* the same for a SQLite database with its side files, under SQLite's own locks */
        UNDO_METADATA, /* mode, owner, times, xattrs */
        _UNDO_ACTION_MAX,
} UndoAction;

typedef enum UndoState {
        UNDO_PENDING,
        UNDO_DONE,
        UNDO_NOTHING,    /* it is as it should be already */
        UNDO_REFUSED,    /* somebody else has changed it since: see reason; force does it */
        UNDO_IMPOSSIBLE, /* not preserved: see reason */
        UNDO_FAILED,     /* error and reason say how; another run tries again */
        _UNDO_STATE_MAX,
} UndoState;

typedef struct UndoStep {
        /* The same in every plan, until the session does more to the object. */
        uint64_t key;
        UndoAction action;
        ObjectKind kind;
        char *watch;
        char *root; /* path of the watch */
        char *path; /* where it lies, or (rename, restore) will lie */
        char *from; /* rename: where it lies */
        char *now;  /* where it lies before the undo begins: a dry run looks there; NULL: there */
        /* What is put back: one, or the files of a database. Of a rename: what returns when `from`
         * is gone. */
        KeptList kept;
        /* restore: another name that the file had, to which a hard link is made if it is that file
         * still. */
        char *alias;
        usec_t last;   /* the session's last operation on it */
        bool foreign;  /* an operation of somebody else on it is known: reason tells whose */
        bool begun;    /* by this run or an earlier one */
        bool moved_in; /* rename to the place outside the watch that it came from, else quarantine */
        UndoState state;
        int error;
        char *reason;   /* in words; NULL: nothing to say */
        char item[17];  /* what has been moved to the quarantine under this name, if anything */
        uint64_t bytes; /* to be written, for a progress bar */
} UndoStep;

typedef struct UndoPlan {
        char session[17];
        UndoStep *steps;
        size_t n, allocated;
        uint64_t bytes;
        usec_t last; /* the session's last operation on anything */
        char **own;  /* sorted: all paths at which objects of the session lie now */
        size_t n_own;
} UndoPlan;

const char *undo_action_to_string(UndoAction a);
const char *undo_state_to_string(UndoState s);
void undo_step_done(UndoStep *s);
UndoPlan *undo_plan_free(UndoPlan *p);
DEFINE_CLEANUP(UndoPlan *, undo_plan_free)

/*
 * Makes the plan, a slice at a time: undo_planner_step() gives 1 when it wants to be called again (from the loop), 0 when the plan
 * is made. Inner sessions are undone with it. `paths`: only objects that lie, or lay, at or below one of these; NULL is all. Steps
 * finished in earlier runs come as UNDO_DONE. -ENOENT: no such session.
 */
typedef struct UndoPlanner UndoPlanner;
int undo_planner_new(Store *s, const char *session, char *const *paths, UndoPlanner **ret);
UndoPlanner *undo_planner_free(UndoPlanner *p);
DEFINE_CLEANUP(UndoPlanner *, undo_planner_free)
int undo_planner_step(UndoPlanner *p);
UndoPlan *undo_planner_take(UndoPlanner *p);
/* All slices at once. */
int undo_plan(Store *s, const char *session, char *const *paths, UndoPlan **ret);

typedef struct UndoOptions {
        const char *state_dir;
        bool dry_run; /* looks, and says in `state` what would become of each step (UNDO_PENDING: it would be done) */
        bool force;        /* over the changes of others */
        CopyCancel cancel; /* between steps and within copies */
        nsec_t batch; /* how long finished steps wait to be synced and told together; 0: a quarter of a second */
        /* After each step, in the thread that runs the plan; `step` is borrowed. Store it with store_put_undo_step(). */
        void (*progress)(const UndoPlan *plan, const UndoStep *step, void *userdata);
        void *userdata;
} UndoOptions;

/* Runs in a worker thread. 0 when it came to the end (each step tells for itself), -ECANCELED, -ENOSPC, or another error that stops
 * everything. */
int undo_run(UndoPlan *p, const UndoOptions *options);

/* Loop thread: a step that is done is not planned again, a quarantined object is listed. */
int store_put_undo_step(Store *s, const char *session, const UndoStep *step, usec_t now);

#endif
