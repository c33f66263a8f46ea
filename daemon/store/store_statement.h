/* SPDX-License-Identifier: MIT */
/*
 * A prepared statement in use. Each SQL text has a slot in the Store, where it stays prepared; a
 * Statement borrows it and puts it back on every way out, so that no read transaction is left open.
 * A slot must not be borrowed twice at a time.
 *
 * Errors of binding are kept and come out of the first step. Byte strings are bound without a copy:
 * they must live until the statement is done.
 */
#ifndef MOUNTWATCH_STORE_STORE_STATEMENT_H
#define MOUNTWATCH_STORE_STORE_STATEMENT_H

#include "common/macro.h"

#include <sqlite3.h>

typedef struct Store Store;

typedef enum StatementSlot {
        STATEMENT_BEGIN,
        STATEMENT_COMMIT,
        STATEMENT_ROLLBACK,
        STATEMENT_SAVEPOINT,
        STATEMENT_RELEASE,
        STATEMENT_ROLLBACK_TO,
        STATEMENT_BLOCK_PUT,
        STATEMENT_BLOCK_NEXT,
        STATEMENT_BLOCK_BEFORE,
        STATEMENT_BLOCK_OLDEST,
        STATEMENT_BLOCK_EMPTY,
        STATEMENT_BLOCK_DELETE,
        STATEMENT_BLOCK_DELETE_TEXT,
        STATEMENT_TEXT_PUT,
        STATEMENT_TRACE_PUT,
        STATEMENT_TRACE_FIND,
        STATEMENT_TRACE_DELETE,
        STATEMENT_FOLD_PUT,
        STATEMENT_OPERATION_PUT,
        STATEMENT_OPERATION_AMEND,
        STATEMENT_OPERATION_READ,
        STATEMENT_OPERATION_READ_ALL,
        STATEMENT_OPERATION_READ_ONE,
        STATEMENT_OPERATION_NEXT,
        STATEMENT_OPERATION_DELETE,
        STATEMENT_OPERATION_DELETE_SLICE,
        STATEMENT_UNTAGGED_OLDEST,
        STATEMENT_SESSION_FIND,
        STATEMENT_SESSION_NAME,
        STATEMENT_SESSION_STATE,
        STATEMENT_SESSION_SPAN,
        STATEMENT_SESSION_PUT,
        STATEMENT_SESSION_UPDATE,
        STATEMENT_SESSION_GET,
        STATEMENT_SESSION_LIST,
        STATEMENT_SESSION_LIST_LIVE,
        STATEMENT_SESSION_INNER,
        STATEMENT_SESSION_OF_UID,
        STATEMENT_SESSION_EXPIRED,
        STATEMENT_SESSION_DELETE,
        STATEMENT_LOSS_CLEAR,
        STATEMENT_LOSS_PUT,
        STATEMENT_LOSS_GET,
        STATEMENT_WATCH_PUT,
        STATEMENT_WATCH_GET,
        STATEMENT_PROGRAM_PUT,
        STATEMENT_PROGRAM_TOUCH,
        STATEMENT_PROGRAM_DELETE,
        STATEMENT_PROCESS_PUT,
        STATEMENT_PROCESS_TOUCH,
        STATEMENT_PROCESS_GET,
        STATEMENT_PROCESS_DELETE,
        STATEMENT_KEPT_PUT,
        STATEMENT_KEPT_FIND,
        STATEMENT_KEPT_HASH,
        STATEMENT_KEPT_LIST,
        STATEMENT_KEPT_SUM,
        STATEMENT_KEPT_OLDEST,
        STATEMENT_KEPT_EVICT,
        STATEMENT_KEPT_BLOBS,
        STATEMENT_QUARANTINE_PUT,
        STATEMENT_QUARANTINE_LIST,
        STATEMENT_QUARANTINE_GET,
        STATEMENT_QUARANTINE_DELETE,
        STATEMENT_UNDO_INSIDE,
        STATEMENT_UNDO_PUT,
        STATEMENT_UNDO_GET,
        STATEMENT_DELIVERY_PUT,
        STATEMENT_DELIVERY_NEXT,
        STATEMENT_DELIVERY_COUNT,
        STATEMENT_DELIVERY_DELAY,
        STATEMENT_DELIVERY_BURY,
        STATEMENT_DELIVERY_REMOVE,
        STATEMENT_DELIVERY_DROP,
        STATEMENT_DELIVERY_HURRY,
        STATEMENT_DELIVERY_EXPIRE,
        STATEMENT_VACUUM,
        _STATEMENT_MAX,
} StatementSlot;

typedef struct Statement {
        Store *store;
        sqlite3_stmt *stmt;
        int bound; /* columns bound so far */
        int error; /* SQLite code of the first bind that failed */
} Statement;

/* `sql` is prepared when the slot is used for the first time. */
int statement_open(Store *s, StatementSlot slot, const char *sql, Statement *ret);
void statement_done(Statement *st);

/* Bind the next parameter. */
void statement_bind_int(Statement *st, int64_t value);
void statement_bind_null(Statement *st);
void statement_bind_text(Statement *st, const char *s);               /* NULL is NULL */
void statement_bind_string(Statement *st, const char *s);             /* as bytes; NULL is NULL */
void statement_bind_bytes(Statement *st, const void *p, size_t size); /* p NULL is NULL */

/* 1 for a row, 0 for the end, negative errno. */
int statement_step(Statement *st);
/* Steps a statement without rows, and makes it ready to be bound again. Returns how many rows it
 * changed. */
int statement_run(Statement *st);

int64_t statement_int(Statement *st, int column);
/* A copy; NULL for NULL. */
int statement_string(Statement *st, int column, char **ret);
/* The bytes in place, valid until the next step; *ret NULL for NULL. */
void statement_bytes(Statement *st, int column, const char **ret, size_t *ret_size);

/* What SQLite says, as an errno. */
int statement_errno(Store *s, int code);

#endif
