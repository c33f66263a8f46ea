/* SPDX-License-Identifier: MIT */
/*
 * The quarantine: what a session made and undo took away, kept until somebody restores or purges it. DIR/quarantine/SESSION/ITEM.
 */
#ifndef MOUNTWATCH_STORE_QUARANTINE_H
#define MOUNTWATCH_STORE_QUARANTINE_H

#include "daemon/store/copy.h"
#include "daemon/store/store.h"

typedef struct Quarantined {
        char session[17];
        char item[17]; /* unique in all of the quarantine */
        char *watch;
        char *path; /* where it was, and returns to */
        ObjectKind kind;
        uint64_t bytes;
        usec_t at;
} Quarantined;

void quarantined_done(Quarantined *q);

/* Rows; loop thread. */
int store_put_quarantined(Store *s, const Quarantined *q);
/* The oldest first; session NULL: of all. uid: only of that user's sessions, (uid_t) -1 of all. */
int store_list_quarantined(Store *s, const char *session, uid_t uid, Quarantined **ret,
                           size_t *ret_n);
int store_get_quarantined(Store *s, const char *item, Quarantined *ret); /* -ENOENT */
int store_remove_quarantined(Store *s, const char *item);

/* Files; worker thread. `root` is the path of the watch (foothold.h), or NULL. */
/* Moves the object (a directory with all that is in it) to the item's place: a rename where that is the same filesystem, else a
 * copy that is compared before the original is removed. When the item is there already, the last run got so far: what is left of the
 * original goes; -EEXIST when something else has come to the path. */
int quarantine_move(const char *state_dir, const char *session, const char *item, const char *root,
                    const char *path, CopyCancel cancel, uint64_t *ret_bytes);
/* Back to q->path; -EEXIST when something is there now, -ENOENT when its directory is gone. */
int quarantine_restore(const char *state_dir, const char *root, const Quarantined *q,
                       CopyCancel cancel);
int quarantine_purge(const char *state_dir, const Quarantined *q);

#endif
