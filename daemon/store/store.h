/* SPDX-License-Identifier: MIT */
/*
 * The store: sessions, processes, operations and losses in SQLite (WAL), so that a daemon killed at
 * any moment loses nothing it has stored. Owned by the event loop thread.
 *
 * Operations are kept in the order of arrival. An operation that repeats the one before it on the
 * same path (same session, type, names, process and test) raises that row's count instead of making
 * a new row, so order is kept and a log file written a million times is one row. Rows are folded
 * further, and netted, by common/report.
 *
 * Errors: negative errno; a full disk is -ENOSPC, a damaged database -EUCLEAN (it is left as it
 * is). The store stays usable. After an error of any function that writes, of store_flush()
 * included, the caller has to assume that the operations since the last store_flush() are lost,
 * since SQLite may have rolled back: every live session has a loss then. Sessions are not lost:
 * their start and end are committed by store_put_session() itself.
 */
#ifndef MOUNTWATCH_STORE_STORE_H
#define MOUNTWATCH_STORE_STORE_H

#include "daemon/core/process.h"
#include "daemon/core/session.h"
#include "daemon/core/watch.h"

typedef struct Store Store;

/* Makes DIR (0700, its parent must be there), opens or makes DIR/mountwatch.db (0600) and brings
 * its schema up to date. -EEXIST when another daemon has it open (flock on DIR/lock), -EUCLEAN
 * when it is damaged or not ours, -EPROTONOSUPPORT when a newer version made it. */
int store_open(const char *dir, Store **ret);
Store *store_close(Store *s);
DEFINE_CLEANUP(Store *, store_close)

/* Operations are written in a transaction that store_flush() commits; reads see them at once.
 * The manager flushes before it answers a client that waits for the session's end, and at the
 * latest half a second after a write. */
int store_flush(Store *s);
bool store_is_dirty(const Store *s);

/* Makes a session's row, or updates it. Losses included. The first time, and the first time that
 * it has `stopped`, it sets the span of numbers that is the session's, and commits: so put the
 * start before its first operation, the end after its last one. */
int store_put_session(Store *s, const Session *session);
/* What a watch was like when the session began (for the report): spec, scope and coverage as of
 * now. Replaces. */
int store_put_session_watch(Store *s, const char *session, const WatchSpec *spec, Scope scope,
                            const Coverage *coverage);

/* Stores the image and its ancestors (128 of them) if they are not there yet; sets
 * image->store_id. Call it before each operation, also when store_id is set already: it is a
 * look-up then, and keeps store_expire() from removing a process still in use. */
int store_put_image(Store *s, Image *image);
/* Assigns o->seq, which is higher than any before, also over restarts; numbers have gaps. Folds
 * into the previous row of that path where it can: then *ret_folded is true and o->seq is the
 * old one (o->count stays what it was). Never over the start or end of a session. -ENOENT:
 * o->session was never put. */
int store_put_operation(Store *s, Operation *o, bool *ret_folded);

/* What is known of an operation has changed: it was refused after all. */
int store_amend_action(Store *s, int64_t seq, Action action);

/* Reading. An id of NULL is "any". */
typedef struct StoredSession {
        Session *session; /* owned; created set empty, outer NULL */
        char outer[17];   /* "" for none */
        /* Operations that came while it ran have first_seq < seq <= last_seq; INT64_MAX: it runs. */
        int64_t first_seq, last_seq;
        /* The last moment at which the store was written to while it ran (or its start). */
        usec_t last_seen;
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
        /* With session: the untagged operations of its time span instead of its own; without: all. */
        bool untagged;
        const char *watch; /* or NULL */
        usec_t since;      /* last >= since; 0 is all */
        int64_t after_seq; /* seq > after_seq */
        /* Only sessions of that uid; (uid_t) -1: of all, and untagged. With session and untagged it is
         * the session that must be of that uid. */
        uid_t uid;
} StoreQuery;

/* Fills at most `max` operations that match, in order; *ret_n 0 means the end. Go on with
 * after_seq = the last one's seq. -ENOENT: no such session. */
int store_read_operations(Store *s, const StoreQuery *q, Operation *ret, size_t max, size_t *ret_n);
int store_get_process(Store *s, int64_t id, ProcessInfo *ret); /* -ENOENT */

/* Operations whose path, from or to is `path` or, for directories created, renamed or removed,
 * an ancestor of it; newest first. Refused ones are among them (ACTION_DENIED). Returns 1 when
 * the record is so long that it stopped before its beginning. */
int store_blame(Store *s, const char *path, Operation **ret, size_t *ret_n, size_t limit);

/* Removes sessions that ended before `before`, with all that hangs on them, and untagged
 * operations older than that, and gives the space back. Does a slice of some milliseconds and
 * commits: returns 1 when there is more to do (call again, from the loop), 0 when done. */
int store_expire(Store *s, usec_t before);
/* File size in bytes, database and WAL together. */
int store_size(Store *s, uint64_t *ret);

#endif
