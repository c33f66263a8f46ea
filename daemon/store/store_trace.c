/* SPDX-License-Identifier: MIT */
/*
 * Which operations touched a path: for each of an operation's names one key in a table that has
 * nothing but keys,
 *
 *      block (24 bits) | hash of the path (24 bits) | place in the block (15 bits)
 *
 * so that looking a path up is one seek in each block, and inserting stays within the newest
 * block's megabyte.
 */
#include "daemon/store/store_internal.h"

#include <errno.h>

#define HASH_BITS 24

static int64_t trace_key(int64_t block, uint64_t path_hash, int64_t place) {
        int64_t hash = (int64_t) (path_hash >> (64 - HASH_BITS));

        return block << (HASH_BITS + BLOCK_BITS) | hash << BLOCK_BITS | place;
}

int trace_put(Store *s, int64_t seq, uint64_t path_hash) {
        _cleanup_(statement_done) Statement st = {0};
        int r;

        if (path_hash == 0)
                return 0;
        r = statement_open(s, STATEMENT_TRACE_PUT, "INSERT OR IGNORE INTO trace(key) VALUES(?)",
                           &st);
        if (r < 0)
                return r;
        statement_bind_int(&st, trace_key(block_of(seq), path_hash, seq & (BLOCK_SIZE - 1)));
        return statement_run(&st);
}

int trace_find(Store *s, int64_t block, uint64_t path_hash, SeqList *list) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, STATEMENT_TRACE_FIND,
                               "SELECT key FROM trace WHERE key BETWEEN ? AND ?", &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, trace_key(block, path_hash, 0));
        statement_bind_int(&st, trace_key(block, path_hash, BLOCK_SIZE - 1));
        while ((r = statement_step(&st)) > 0) {
                int64_t place = statement_int(&st, 0) & (BLOCK_SIZE - 1);

                r = seq_list_add(list, block_first(block) + place);
                if (r < 0)
                        return r;
        }
        return r;
}

int trace_delete(Store *s, int64_t block, int64_t *left) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(
                s, STATEMENT_TRACE_DELETE,
                "DELETE FROM trace WHERE key IN (SELECT key FROM trace WHERE key >= ? AND key < ? "
                "LIMIT ?)",
                &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, trace_key(block, 0, 0));
        statement_bind_int(&st, trace_key(block + 1, 0, 0));
        statement_bind_int(&st, *left);
        r = statement_run(&st);
        if (r < 0)
                return r;
        *left -= MIN((int64_t) r, *left);
        return 0;
}

int seq_list_add(SeqList *l, int64_t seq) {
        if (l->n == l->allocated) {
                size_t n = l->allocated ? l->allocated * 2 : 16;
                int64_t *grown = reallocarray(l->seqs, n, sizeof *grown);
                if (!grown)
                        return -ENOMEM;
                l->seqs = grown;
                l->allocated = n;
        }
        l->seqs[l->n++] = seq;
        return 0;
}

void seq_list_done(SeqList *l) {
        free(l->seqs);
        *l = (SeqList){0};
}
