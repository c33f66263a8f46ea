/* SPDX-License-Identifier: MIT */
/*
 * What the files of the store share.
 *
 * Blocks. Operations are numbered by seq; BLOCK_SIZE consecutive numbers are a block. What an
 * operation leans on (texts, the trace by which store_blame() finds it, the row it folds into) is
 * in its own block, so that a block that has lost its last operation can be removed whole, without
 * asking who else uses what. It also keeps each part of the trace, which grows in random order,
 * small enough for the page cache: one part for all paths takes four times as long to fill
 * (measured with a million).
 *
 * Caches (texts, programs, touched processes, rows to fold into) have a fixed size and may forget:
 * a miss costs a row or an UPDATE more, never a wrong answer. All are dropped when a block ends and
 * when SQLite has rolled back.
 */
#ifndef MOUNTWATCH_STORE_STORE_INTERNAL_H
#define MOUNTWATCH_STORE_STORE_INTERNAL_H

#include "daemon/store/store.h"
#include "daemon/store/store_hash.h"
#include "daemon/store/store_statement.h"

#define BLOCK_BITS 15
#define BLOCK_SIZE (INT64_C(1) << BLOCK_BITS)
#define BLOCK_MAX \
        (INT64_C(1) << 24) /* block, hash and place in the block share the 63 bits of a trace key */

static inline int64_t block_of(int64_t seq) {
        return seq >> BLOCK_BITS;
}
static inline int64_t block_first(int64_t block) {
        return block << BLOCK_BITS;
}

/* One text has the number seq * TEXT_PER_OPERATION + 0, 1, … of the operation that brought it. */
#define TEXT_PER_OPERATION 8
#define TEXT_CACHE_SIZE 4096
#define PROGRAM_CACHE_SIZE 1024
#define TOUCHED_SIZE 8192
#define SESSION_CACHE_SIZE 64
#define FOLD_SETS 2048
#define FOLD_WAYS 4

typedef struct CachedId {
        uint64_t hash;
        int64_t id; /* 0: empty */
} CachedId;

/* The last row that touched a path. */
typedef struct FoldEntry {
        uint64_t path; /* hash; 0: empty */
        /* Hash of all that has to be equal; 0 when the row is another path's and only stands here. */
        uint64_t key;
        int64_t seq;
        uint64_t generation;
        uint64_t count;
        usec_t last;
        bool dirty; /* count and last are ahead of the row */
} FoldEntry;

typedef struct Fold {
        uint64_t generation; /* entries of an older one no longer count */
        size_t n_dirty;
        FoldEntry entries[FOLD_SETS][FOLD_WAYS];
} Fold;

typedef struct Block {
        int64_t id;       /* -1: none begun yet */
        int64_t last_seq; /* highest number given out in it */
        usec_t last;      /* latest Operation.last in it */
        uint64_t watches; /* one bit of 64 for each watch that has an operation in it */
        bool dirty;
} Block;

typedef struct CachedSession {
        char id[17];
        int64_t n;
} CachedSession;

struct Store {
        sqlite3 *db;
        int lock_fd;
        char *path;
        sqlite3_stmt *statements[_STATEMENT_MAX];
        HashKey hash_key;

        /* As we believe; store_check_rollback() finds out when SQLite thinks otherwise. */
        bool in_transaction;
        unsigned n_written; /* operations in this transaction */
        int settle_error;   /* of a store_settle(), not told to anybody yet */
        int64_t seq;        /* the last one given out */
        int64_t next_process, next_program;

        Block block;
        int64_t text_next; /* number of the next text of the operation at hand */
        CachedId texts[TEXT_CACHE_SIZE];
        CachedId programs[PROGRAM_CACHE_SIZE];
        int64_t touched[TOUCHED_SIZE]; /* processes already marked as used in touched_block */
        int64_t touched_block;
        CachedSession sessions[SESSION_CACHE_SIZE];
        Fold fold;
};

/* store.c */
/* Before every write. */
int store_begin(Store *s);
/* Before every read: what is still in memory goes into the tables. A full disk does not stop
 * reading: the next store_flush() tells of the failure. */
void store_settle(Store *s);
/* After every error: forget what SQLite has forgotten. */
void store_check_rollback(Store *s);

/* store_schema.c */
int schema_bring_up(Store *s);

/* store_block.c: next number, with all that a new block asks for. */
int block_next_seq(Store *s, int64_t *ret);
void block_add(Store *s, const Operation *o);
int block_write(Store *s);
uint64_t block_watch_bit(const Store *s, const char *watch);
/* The first block >= `from` that may hold operations of `watch` (or NULL) with last >= since. 1,
 * or 0 when there is none. */
int block_find(Store *s, int64_t from, const char *watch, usec_t since, int64_t *ret);

/* store_text.c: the number of a text of the present block. NULL is 0. */
int text_intern(Store *s, const char *p, size_t size, uint64_t hash, int64_t *ret);
void text_forget(Store *s);

/* store_trace.c: which operations touched a path. */
int trace_put(Store *s, int64_t seq, uint64_t path_hash);
/* Appends the numbers of a block's operations that may have touched the path (a hash of 24 bits:
 * the row decides). */
typedef struct SeqList {
        int64_t *seqs;
        size_t n, allocated;
} SeqList;
void seq_list_done(SeqList *l);
int seq_list_add(SeqList *l, int64_t seq);
int trace_find(Store *s, int64_t block, uint64_t path_hash, SeqList *list);
/* Removes at most *left keys of the block, and lowers *left by as many. */
int trace_delete(Store *s, int64_t block, int64_t *left);

/* store_fold.c */
typedef struct FoldKey {
        uint64_t path, from, to; /* hashes; 0: none */
        uint64_t key;
} FoldKey;

void fold_bump(Store *s);
void fold_forget(Store *s);
/* True when the operation has been added to an earlier row, whose number *ret_seq then is. */
bool fold_into(Store *s, const FoldKey *key, const Operation *o, int64_t *ret_seq);
/* Remembers a new row as the last one of its paths. */
int fold_remember(Store *s, const FoldKey *key, const Operation *o, int64_t seq);
int fold_write(Store *s);

/* store_session.c: the row number of a session; -ENOENT. */
int session_number(Store *s, const char *id, int64_t *ret);

/* store.c: the folder of the database. Owned by the caller. */
int store_dir(const Store *s, char **ret);

/* preserve.c: removes at most `max` of a session's kept files: 1 when there are more. */
int preserve_remove_some(const char *state_dir, const char *session, size_t max);

/* store_process.c */
void process_forget(Store *s);

/* store_row.c: an operation out of a statement with these columns. */
#define OPERATION_COLUMNS                                                                          \
        "o.seq, (SELECT id FROM session WHERE n = o.session), o.process, o.op, o.kind, o.action, " \
        "o.flags, (SELECT bytes FROM text WHERE id = o.watch), "                                   \
        "(SELECT bytes FROM text WHERE id = o.dir), o.name, "                                      \
        "(SELECT bytes FROM text WHERE id = o.from_dir), o.from_name, "                            \
        "(SELECT bytes FROM text WHERE id = o.to_dir), o.to_name, o.first, o.span, o.count, "      \
        "(SELECT bytes FROM text WHERE id = o.test), (SELECT bytes FROM text WHERE id = o.rule)"

enum {
        FLAG_REPLACED = 1 << 0,
        FLAG_VIOLATION = 1 << 1,
        FLAG_PRESERVED = 1 << 2,
        FLAG_INFERRED = 1 << 3,
        FLAG_ATTEMPT = 1 << 4,
};

/* Length of the directory part of a path, without the slash; -1 when there is none. */
ssize_t path_split(const char *path);
int row_to_operation(Statement *st, Operation *ret);

/* Vectors of strings as bytes: each with its NUL. NULL is NULL. */
int strv_encode(char *const *v, char **ret, size_t *ret_size);
int strv_decode(const char *p, size_t size, char ***ret);

#endif
