/* SPDX-License-Identifier: MIT */
/*
 * Forgetting, a slice at a time: operations of ended sessions and the sessions, old untagged
 * operations and deliveries, then the blocks that have none left, the processes that only they knew, and the pages
 * that are free now.
 */
#include "daemon/store/store_internal.h"

#include <errno.h>

#define SLICE 2000 /* rows removed by one call: some milliseconds */
#define FILES 100  /* kept files, which may be large */
#define UNTAGGED_SCAN \
        (FOLD_SETS * FOLD_WAYS * 2) /* more than there can be old rows with young counts */

/* Runs a DELETE whose parameters are these and, last, how many rows it may take. Lowers *left by
 * what it took. */
static int take(Store *s, StatementSlot slot, const char *sql, int64_t a, int64_t b,
                int64_t *left) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, slot, sql, &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, a);
        statement_bind_int(&st, b);
        statement_bind_int(&st, *left);
        r = statement_run(&st);
        if (r < 0)
                return r;
        *left -= MIN((int64_t) r, *left);
        return 0;
}

/* One number out of a statement with one parameter. 1, or 0 for no row. */
static int ask(Store *s, StatementSlot slot, const char *sql, int64_t a, int64_t *ret) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, slot, sql, &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, a);
        r = statement_step(&st);
        if (r > 0)
                *ret = statement_int(&st, 0);
        return r;
}

/* Its kept files. 1 when there are more. */
static int expire_kept(Store *s, int64_t n, int64_t *left) {
        _cleanup_(statement_done) Statement st = {0};
        _cleanup_free_ char *dir = NULL, *id = NULL;
        int r = store_dir(s, &dir);

        if (r >= 0)
                r = statement_open(s, STATEMENT_SESSION_NAME, "SELECT id FROM session WHERE n = ?",
                                   &st);
        if (r < 0)
                return r;
        statement_bind_int(&st, n);
        r = statement_step(&st);
        if (r > 0)
                r = statement_string(&st, 0, &id);
        if (r < 0 || !id)
                return r;
        r = preserve_remove_some(dir, id, FILES);
        if (r > 0)
                *left = 0;
        return r;
}

/* The operations first, then the kept files, then the session with what refers to it. */
static int expire_session(Store *s, int64_t n, int64_t *left) {
        _cleanup_(statement_done) Statement st = {0};
        int r = take(s, STATEMENT_OPERATION_DELETE_SLICE,
                     "DELETE FROM operation WHERE seq IN (SELECT seq FROM operation "
                     "INDEXED BY operation_session WHERE session = ? AND seq > ? LIMIT ?)",
                     n, -1, left);

        if (r >= 0 && *left > 0)
                r = expire_kept(s, n, left);
        if (r < 0 || *left == 0)
                return r;
        r = statement_open(s, STATEMENT_SESSION_DELETE, "DELETE FROM session WHERE n = ?", &st);
        if (r < 0)
                return r;
        statement_bind_int(&st, n);
        r = statement_run(&st);
        if (r < 0)
                return r;
        memset(s->sessions, 0, sizeof s->sessions);
        (*left)--;
        return 0;
}

static int expire_sessions(Store *s, usec_t before, int64_t *left) {
        int r = 1;

        while (*left > 0 && r > 0) {
                int64_t n;

                r = ask(s, STATEMENT_SESSION_EXPIRED,
                        "SELECT n FROM session INDEXED BY session_stopped "
                        "WHERE stopped > 0 AND stopped < ? ORDER BY stopped LIMIT 1",
                        (int64_t) before, &n);
                if (r > 0) {
                        r = expire_session(s, n, left);
                        r = r < 0 ? r : 1;
                }
        }
        return r < 0 ? r : 0;
}

/* Numbers of untagged rows whose last repetition is older than that. Rows come in order of their
 * first: the first young one ends the search. */
static int find_untagged(Store *s, usec_t before, size_t max, SeqList *list) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(
                s, STATEMENT_UNTAGGED_OLDEST,
                "SELECT seq, first, first + span FROM operation INDEXED BY operation_session "
                "WHERE session = 0 ORDER BY seq LIMIT ?",
                &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, UNTAGGED_SCAN);
        while (list->n < max && (r = statement_step(&st)) > 0) {
                if ((usec_t) statement_int(&st, 1) >= before)
                        return 0;
                if ((usec_t) statement_int(&st, 2) >= before)
                        continue;
                r = seq_list_add(list, statement_int(&st, 0));
                if (r < 0)
                        return r;
        }
        return r < 0 ? r : 0;
}

static int expire_untagged(Store *s, usec_t before, int64_t *left) {
        _cleanup_(seq_list_done) SeqList list = {0};
        _cleanup_(statement_done) Statement st = {0};
        int r = find_untagged(s, before, (size_t) *left, &list);

        if (r >= 0)
                r = statement_open(s, STATEMENT_OPERATION_DELETE,
                                   "DELETE FROM operation WHERE seq = ?", &st);
        for (size_t i = 0; i < list.n && r >= 0; i++) {
                statement_bind_int(&st, list.seqs[i]);
                r = statement_run(&st);
                (*left)--;
        }
        return r < 0 ? r : 0;
}

/* Takes the rest of a block without operations, and the block itself when nothing is left of it. */
static int expire_block(Store *s, int64_t block, int64_t *left) {
        int r = take(
                s, STATEMENT_BLOCK_DELETE_TEXT,
                "DELETE FROM text WHERE id IN (SELECT id FROM text WHERE id >= ? AND id < ? LIMIT ?)",
                block_first(block) * TEXT_PER_OPERATION,
                block_first(block + 1) * TEXT_PER_OPERATION, left);

        if (r >= 0 && *left > 0)
                r = trace_delete(s, block, left);
        if (r < 0 || *left == 0)
                return r;
        return take(s, STATEMENT_BLOCK_DELETE,
                    "DELETE FROM block WHERE id >= ? AND id <= ? AND ? > 0", block, block, left);
}

/* The newest row of `block` stays: it says which numbers were given out. */
static int expire_blocks(Store *s, int64_t *left) {
        int r = 1;

        while (*left > 0 && r > 0) {
                int64_t block;

                r = ask(s, STATEMENT_BLOCK_EMPTY,
                        "SELECT id FROM block WHERE id < (SELECT max(id) FROM block) AND NOT EXISTS ("
                        "SELECT 1 FROM operation WHERE seq >= block.id << ?1 AND seq < (block.id + 1) << ?1) "
                        "ORDER BY id LIMIT 1",
                        BLOCK_BITS, &block);
                if (r > 0) {
                        r = expire_block(s, block, left);
                        r = r < 0 ? r : 1;
                }
        }
        return r < 0 ? r : 0;
}

/* A process last used in a block that is gone. One block of grace: it is marked just before its
 * operation gets a number. */
static int expire_processes(Store *s, int64_t *left) {
        int64_t oldest = 0;
        int r = ask(s, STATEMENT_BLOCK_OLDEST,
                    "SELECT id FROM block WHERE id >= ? ORDER BY id LIMIT 1", 0, &oldest);

        if (r > 0)
                r = take(
                        s, STATEMENT_PROCESS_DELETE,
                        "DELETE FROM process WHERE id IN (SELECT id FROM process INDEXED BY process_used "
                        "WHERE used >= ? AND used < ? LIMIT ?)",
                        0, oldest - 1, left);
        if (r >= 0 && *left > 0)
                r = take(
                        s, STATEMENT_PROGRAM_DELETE,
                        "DELETE FROM program WHERE id IN (SELECT id FROM program INDEXED BY program_used "
                        "WHERE used >= ? AND used < ? LIMIT ?)",
                        0, oldest - 1, left);
        return r < 0 ? r : 0;
}

/* Gives some free pages back to the filesystem. 1 when there may be more. */
static int vacuum(Store *s) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, STATEMENT_VACUUM, "PRAGMA incremental_vacuum(256)", &st);
        int pages = 0;

        if (r < 0)
                return r;
        /* One step for each page. */
        while ((r = statement_step(&st)) > 0)
                pages++;
        return r < 0 ? r : pages > 0;
}

static int expire_deliveries(Store *s, usec_t before, int64_t *left) {
        return take(s, STATEMENT_DELIVERY_EXPIRE,
                    "DELETE FROM delivery WHERE id IN (SELECT id FROM delivery "
                    "WHERE created < ? AND id > ? LIMIT ?)",
                    (int64_t) before, 0, left);
}

static int expire_slice(Store *s, usec_t before) {
        int64_t left = SLICE;
        int r = expire_sessions(s, before, &left);

        if (r >= 0 && left > 0)
                r = expire_untagged(s, before, &left);
        if (r >= 0 && left > 0)
                r = expire_deliveries(s, before, &left);
        if (r >= 0 && left > 0)
                r = expire_blocks(s, &left);
        if (r >= 0 && left > 0)
                r = expire_processes(s, &left);
        if (r < 0)
                return r;
        return left < SLICE ? 1 : vacuum(s);
}

int store_expire(Store *s, usec_t before) {
        int more, r;

        store_settle(s);
        r = store_begin(s);
        if (r < 0)
                return r;
        more = expire_slice(s, before);
        if (more < 0)
                return more;
        r = store_flush(s);
        return r < 0 ? r : more;
}
