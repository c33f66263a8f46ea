/* SPDX-License-Identifier: MIT */
/*
 * The store: sessions, processes, operations and losses in SQLite (WAL), so that a daemon killed at any moment loses
 * nothing it has stored. Owned by the event loop thread.
 *
 * Operations are kept in the order of arrival. An operation that repeats the one before it on the same path (same session,
 * type, names, process and test) raises that row's count instead of making a new row, so order is kept and a log file
 * written a million times is one row. Rows are folded further, and netted, by common/report.
 *
 * Errors: negative errno; a full disk is -ENOSPC, a damaged database -EUCLEAN. After an error the transaction is
 * rolled back or goes on, as SQLite says; the store stays usable.
 */
#ifndef MOUNTWATCH_STORE_STORE_H
#define MOUNTWATCH_STORE_STORE_H

#include "daemon/core/process.h"
#include "daemon/core/session.h"
#include "daemon/core/watch.h"

typedef struct Store Store;

/* Opens or makes DIR/mountwatch.db (0600) and brings its schema up to date. -EEXIST when another daemon has it open. */
int store_open(const char *dir, Store **ret);
Store *store_close(Store *s);
DEFINE_CLEANUP(Store *, store_close)

/* Operations are written in a transaction that store_flush() commits; reads see them at once. The manager flushes before
 * it answers a client that waits for the session's end, and at the latest half a second after a write. */
int store_flush(Store *s);
bool store_is_dirty(const Store *s);

/* Makes a session's row, or updates it. Losses included. */
int store_put_session(Store *s, const Session *session);
/* What a watch was like when the session began (for the report): spec, scope and coverage as of now. Replaces. */
int store_put_session_watch(Store *s, const char *session, const WatchSpec *spec, Scope scope,
                            const Coverage *coverage);

/* Stores the image and its ancestors if they are not there yet; sets image->store_id. */
int store_put_image(Store *s, Image *image);
/* Assigns o->seq. Folds into the previous row of that path where it can: then *ret_folded is true and o->seq is the old one. */
int store_put_operation(Store *s, Operation *o, bool *ret_folded);

/* Reading. An id of NULL is "any". */
typedef struct StoredSession {
        Session *session; /* owned; created set empty, outer NULL */
        char outer[17];   /* "" for none */
        int64_t first_seq,
                last_seq; /* operations that came while it ran have first_seq < seq <= last_seq; last_seq is
                                        INT64_MAX while it runs */
        usec_t last_seen; /* the last moment at which the store was written to while it ran (or its start) */
} StoredSession;

void stored_session_done(StoredSession *s);
int store_get_session(Store *s, const char *id, StoredSession *ret); /* -ENOENT */
/* The session that was started last (of that uid, or of any with (uid_t) -1). -ENOENT */
int store_get_last_session(Store *s, uid_t uid, StoredSession *ret);
/* Newest first, at most `limit`. */
int store_list_sessions(Store *s, uid_t uid, bool live_only, size_t limit, StoredSession **ret,
                        size_t *ret_n);

typedef struct StoredWatch {
        WatchSpec *spec; /* owned reference; name, path and policy are filled */
        Scope scope;
        Coverage coverage;
} StoredWatch;

void stored_watch_done(StoredWatch *w);
int store_get_session_watches(Store *s, const char *session, StoredWatch **ret, size_t *ret_n);

/* A cursor over operations in order of seq. Does not hold a lock that stops writing. */
typedef struct StoreQuery {
        const char *session; /* NULL: of any or none */
        bool with_inner;     /* sessions started inside it too */
        bool untagged; /* with session: the untagged operations of its time span instead of its own */
        const char *watch; /* or NULL */
        usec_t since;      /* last >= since; 0 is all */
        int64_t after_seq; /* seq > after_seq */
        uid_t uid;         /* only sessions of that uid ((uid_t) -1: of all, and untagged) */
} StoreQuery;

/* Fills at most `max` operations that match, in order; *ret_n 0 means the end. Go on with after_seq = the last one's seq. */
int store_read_operations(Store *s, const StoreQuery *q, Operation *ret, size_t max, size_t *ret_n);
int store_get_process(Store *s, int64_t id, ProcessInfo *ret); /* -ENOENT */

/* Operations whose path, from or to is `path` or, for directories renamed or removed, an ancestor of it; newest first. */
int store_blame(Store *s, const char *path, Operation **ret, size_t *ret_n, size_t limit);

/* Removes sessions that ended before `before`, with all that hangs on them, and untagged operations older than that. */
int store_expire(Store *s, usec_t before);
/* File size in bytes, database and WAL together. */
int store_size(Store *s, uint64_t *ret);

#endif
