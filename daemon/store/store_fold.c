/* SPDX-License-Identifier: MIT */
/*
 * Folding: an operation that repeats the last row of its paths raises that row's count.
 *
 * Order is what a later reader relies on, so the row must be the last one on *every* name the
 * operation has, and nothing is folded across the start or end of a session (its untagged
 * operations are selected by number) or across a directory that went away (the same name below it
 * would be another file).
 *
 * Counts stay here until fold_write(). A set of FOLD_WAYS entries gives up its oldest for a new
 * path.
 */
#include "daemon/store/store_internal.h"

void fold_bump(Store *s) {
        s->fold.generation++;
}

void fold_forget(Store *s) {
        s->fold.n_dirty = 0;
        memset(s->fold.entries, 0, sizeof s->fold.entries);
}

static FoldEntry *find(Store *s, uint64_t path) {
        FoldEntry *set = s->fold.entries[path % FOLD_SETS];

        for (int i = 0; i < FOLD_WAYS; i++)
                if (set[i].path == path)
                        return &set[i];
        return NULL;
}

/* The entry of the path, or the one to give up for it. */
static FoldEntry *place(Store *s, uint64_t path) {
        FoldEntry *set = s->fold.entries[path % FOLD_SETS], *oldest = find(s, path);

        if (oldest)
                return oldest;
        oldest = &set[0];
        for (int i = 1; i < FOLD_WAYS; i++)
                if (set[i].seq < oldest->seq)
                        oldest = &set[i];
        return oldest;
}

static int write_entry(Store *s, FoldEntry *e) {
        _cleanup_(statement_done) Statement st = {0};
        int r;

        if (!e->dirty)
                return 0;
        r = store_begin(s);
        if (r >= 0)
                r = statement_open(s, STATEMENT_FOLD_PUT,
                                   "UPDATE operation SET count = ?, span = ? - first WHERE seq = ?",
                                   &st);
        if (r < 0)
                return r;
        statement_bind_int(&st, (int64_t) e->count);
        statement_bind_int(&st, (int64_t) e->last);
        statement_bind_int(&st, e->seq);
        r = statement_run(&st);
        if (r < 0)
                return r;
        e->dirty = false;
        s->fold.n_dirty--;
        return 0;
}

int fold_write(Store *s) {
        for (size_t i = 0; i < FOLD_SETS && s->fold.n_dirty > 0; i++)
                for (int j = 0; j < FOLD_WAYS; j++) {
                        int r = write_entry(s, &s->fold.entries[i][j]);
                        if (r < 0)
                                return r;
                }
        return 0;
}

static bool is_last_on(Store *s, uint64_t path, int64_t seq) {
        const FoldEntry *e = path ? find(s, path) : NULL;

        return path == 0 || (e && e->seq == seq);
}

bool fold_into(Store *s, const FoldKey *key, const Operation *o, int64_t *ret_seq) {
        FoldEntry *e = find(s, key->path);

        if (!e || e->key != key->key || e->generation != s->fold.generation ||
            !is_last_on(s, key->from, e->seq) || !is_last_on(s, key->to, e->seq))
                return false;
        e->count += MAX(o->count, 1U);
        e->last = o->last;
        if (!e->dirty)
                s->fold.n_dirty++;
        e->dirty = true;
        *ret_seq = e->seq;
        return true;
}

static int remember(Store *s, uint64_t path, const FoldEntry *entry) {
        FoldEntry *e;
        int r;

        if (path == 0)
                return 0;
        e = place(s, path);
        r = write_entry(s, e);
        if (r < 0)
                return r;
        *e = *entry;
        e->path = path;
        return 0;
}

int fold_remember(Store *s, const FoldKey *key, const Operation *o, int64_t seq) {
        FoldEntry entry = {.seq = seq, .generation = s->fold.generation};
        int r = 0;

        /* The row's own path last, so that it wins where names or sets are the same. */
        if (key->from != key->path)
                r = remember(s, key->from, &entry);
        if (r >= 0 && key->to != key->path)
                r = remember(s, key->to, &entry);
        if (r < 0)
                return r;
        entry.key = key->key;
        entry.count = MAX(o->count, 1U);
        entry.last = o->last;
        return remember(s, key->path, &entry);
}
