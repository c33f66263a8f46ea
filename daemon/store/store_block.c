/* SPDX-License-Identifier: MIT */
#include "daemon/store/store_internal.h"

#include <errno.h>

static int begin_block(Store *s, int64_t id) {
        int r;

        if (id >= BLOCK_MAX)
                return -EOVERFLOW;
        /* Committed before the next one begins: load_numbers() relies on it, and no transaction
         * grows beyond a block. */
        if (s->block.id >= 0) {
                r = store_flush(s);
                if (r < 0)
                        return r;
        }
        text_forget(s);
        fold_bump(s);
        s->block = (Block){.id = id, .last_seq = block_first(id), .dirty = true};
        return 0;
}

int block_next_seq(Store *s, int64_t *ret) {
        int64_t seq = ++s->seq; /* a number is used once, also when what follows fails */
        int r;

        if (block_of(seq) != s->block.id) {
                r = begin_block(s, block_of(seq));
                if (r < 0)
                        return r;
        }
        s->text_next = seq * TEXT_PER_OPERATION;
        s->block.last_seq = seq;
        s->block.dirty = true;
        *ret = seq;
        return 0;
}

uint64_t block_watch_bit(const Store *s, const char *watch) {
        return watch ? UINT64_C(1) << (hash_string(&s->hash_key, watch) & 63) : 0;
}

void block_add(Store *s, const Operation *o) {
        s->block.watches |= block_watch_bit(s, o->watch);
        s->block.last = MAX(s->block.last, o->last);
        s->block.dirty = true;
}

int block_write(Store *s) {
        _cleanup_(statement_done) Statement st = {0};
        int r;

        if (!s->block.dirty)
                return 0;
        r = store_begin(s);
        if (r >= 0)
                r = statement_open(s, STATEMENT_BLOCK_PUT,
                                   "INSERT OR REPLACE INTO block(id, last_seq, last, watches) "
                                   "VALUES(?, ?, ?, ?)",
                                   &st);
        if (r < 0)
                return r;
        statement_bind_int(&st, s->block.id);
        statement_bind_int(&st, s->block.last_seq);
        statement_bind_int(&st, (int64_t) s->block.last);
        statement_bind_int(&st, (int64_t) s->block.watches);
        r = statement_run(&st);
        if (r < 0)
                return r;
        s->block.dirty = false;
        return 0;
}

int block_find(Store *s, int64_t from, const char *watch, usec_t since, int64_t *ret) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, STATEMENT_BLOCK_NEXT,
                               "SELECT id FROM block WHERE id >= ?1 AND last >= ?2 AND "
                               "(?3 = 0 OR (watches & ?3) <> 0) ORDER BY id LIMIT 1",
                               &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, from);
        statement_bind_int(&st, (int64_t) since);
        statement_bind_int(&st, (int64_t) block_watch_bit(s, watch));
        r = statement_step(&st);
        if (r > 0)
                *ret = statement_int(&st, 0);
        return r;
}
