/* SPDX-License-Identifier: MIT */
/*
 * Keeping an object as it is now, before its change is let go. Runs in a worker thread: it touches the watched filesystem, and
 * may hang with it. No SQLite of the store, no logging.
 *
 * Symlinks are never followed, mount points never entered. Content is not hashed while somebody waits: hash with keep_hash()
 * when the held process has been let go. The blob is ours alone and does not change.
 *
 * SQLite: when the path is a database or one of its side files (-wal, -journal, -shm), the database and its -wal and -journal are kept
 * as one unit, whose files have one number. -shm is not kept: SQLite makes it from the -wal.
 */
#ifndef MOUNTWATCH_STORE_KEEP_H
#define MOUNTWATCH_STORE_KEEP_H

#include "daemon/store/kept.h"

typedef enum KeepWhat {
        KEEP_CONTENT,  /* before it may be written, truncated, removed or replaced */
        KEEP_METADATA, /* before mode, owner, times or xattrs may change */
        KEEP_NAME, /* before it is made or renamed: its directory (for the times); metadata, to know it again */
        KEEP_TREE, /* with all that is below: the snapshot of a watch, a directory that is moved out or replaced */
} KeepWhat;

typedef struct KeepRequest {
        const char *state_dir;
        const char *session;
        const char *watch;      /* name */
        const char *watch_path; /* nothing above it is looked at */
        const char *path;
        KeepWhat what;
        bool snapshot;     /* marks the rows so */
        uint64_t file_max; /* PreserveMax=: a larger file is kept without content, and says so */
        uint64_t
                bytes_max; /* what may be written for this request (the room that the store has left) */
        size_t entries_max;  /* of a tree */
        char *const *ignore; /* globs of the watch, left out of a tree; or NULL */
        CopyCancel cancel;
} KeepRequest;

/* The directory of the object (metadata) is kept with it, whatever `what` is. Rows that lack their content say why in `reason`. Nothing
 * at the path is no error: the list then has only the directory; -ENOENT: that is not there either. -ENOSPC: the state folder is
 * full or bytes_max is used up, and nothing has been kept; a tree is then kept as far as it goes, and *ret_complete is false, as it is
 * when there are more entries, mount points or levels than are taken. -ECANCELED. */
int keep_object(const KeepRequest *q, KeptList *ret, bool *ret_complete);
/* How large a tree is, up to these limits: -E2BIG beyond. To decide whether a snapshot is worth while. */
int keep_measure(const char *path, uint64_t bytes_max, size_t entries_max, CopyCancel cancel,
                 uint64_t *ret_bytes, size_t *ret_entries);
/* Fills in the hash of a blob. */
int keep_hash(const char *state_dir, const char *session, Kept *k, CopyCancel cancel);
/* Removes the blobs of a list that was not stored after all. */
void keep_forget(const char *state_dir, const char *session, const KeptList *l);

#endif
