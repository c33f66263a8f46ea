/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/hash.h"
#include "common/report_row.h"

struct ReportRow {
        Operation op; /* owns path, from, to; its other texts are shared words */
        pid_t pid;    /* with start_ticks: whose it is, see RowKey */
        uint64_t start_ticks;
};

struct ReportWord {
        char *text;
        UT_hash_handle hh;
};

/* With its NUL: "ab", "c" is not "a", "bc". */
static uint64_t mix_text(uint64_t h, const char *s) {
        return s ? hash_mix_bytes(h, s, strlen(s) + 1) : hash_mix(h, 1);
}

/* What makes two operations the same row. `test` is a shared word, so its address is enough. */
typedef struct RowKey {
        const char *path, *from, *test;
        pid_t pid;
        uint64_t start_ticks;
        OpType op;
        bool denied;
} RowKey;

static uint32_t key_hash(const RowKey *k) {
        uint64_t h = mix_text(mix_text(HASH_SEED, k->path), k->from);

        h = hash_mix(h, (uint64_t) (uintptr_t) k->test >> 4);
        h = hash_mix(h, k->start_ticks);
        h = hash_mix(h, (uint64_t) k->pid);
        h = hash_mix(h, (uint64_t) k->op << 1 | k->denied);
        return hash_fold(h);
}

static bool row_has_key(const void *element, const void *key) {
        const ReportRow *row = element;
        const RowKey *k = key;

        return row->op.op == k->op && operation_has_happened(&row->op) != k->denied &&
                row->pid == k->pid && row->start_ticks == k->start_ticks &&
                row->op.test == k->test && str_equal(row->op.path, k->path) &&
                str_equal(row->op.from, k->from);
}

static void row_free(ReportRow *row) {
        free(row->op.path);
        free(row->op.from);
        free(row->op.to);
        free(row);
}

void report_rows_done(ReportRows *rs) {
        ReportWord *word, *next;

        hash_index_done(&rs->table);
        for (size_t i = 0; i < rs->n; i++)
                row_free(rs->rows[i]);
        free(rs->rows);
        HASH_ITER (hh, rs->words, word, next) {
                HASH_DEL(rs->words, word);
                free(word->text);
                free(word);
        }
        *rs = (ReportRows){};
}

/* The one copy of a text that all rows share. */
static int share(ReportRows *rs, const char *text, char **ret) {
        ReportWord *word = NULL;

        if (!text) {
                *ret = NULL;
                return 0;
        }
        HASH_FIND_STR(rs->words, text, word);
        if (!word) {
                word = calloc(1, sizeof *word);
                if (!word)
                        return -ENOMEM;
                word->text = strdup(text);
                if (word->text)
                        HASH_ADD_KEYPTR(hh, rs->words, word->text, strlen(word->text), word);
                if (!word->hh.tbl) {
                        free(word->text);
                        free(word);
                        return -ENOMEM;
                }
        }
        *ret = word->text;
        return 0;
}

static void fold(Operation *row, const Operation *o) {
        row->count += o->count;
        row->first = MIN(row->first, o->first);
        row->last = MAX(row->last, o->last);
        row->violation |= o->violation;
        row->replaced |= o->replaced;
        row->preserved |= o->preserved;
        row->action = MAX(row->action, o->action);
        row->attribution = MIN(row->attribution, o->attribution);
        /* a pattern that covered only some of them covers no row */
        if (!str_equal(row->rule, o->rule))
                row->rule = NULL;
}

static int add_row(ReportRows *rs, ReportRow *row, uint32_t hash) {
        int r;

        if ((rs->n & (rs->n - 1)) == 0) {
                void *grown = reallocarray(rs->rows, MAX(2 * rs->n, (size_t) 1), sizeof *rs->rows);

                if (!grown)
                        return -ENOMEM;
                rs->rows = grown;
        }
        r = hash_index_add(&rs->table, hash, row);
        if (r < 0)
                return r;
        rs->rows[rs->n++] = row;
        return 0;
}

static int new_row(ReportRows *rs, Operation *o, const RowKey *key) {
        ReportRow *row = calloc(1, sizeof *row);
        Operation op = *o;
        int r = row ? 0 : -ENOMEM;

        op.test = (char *) key->test;
        r = r < 0 ? r : share(rs, o->session, &op.session);
        r = r < 0 ? r : share(rs, o->watch, &op.watch);
        r = r < 0 ? r : share(rs, o->rule, &op.rule);
        if (r == 0) {
                row->op = op;
                row->pid = key->pid;
                row->start_ticks = key->start_ticks;
                r = add_row(rs, row, key_hash(key));
        }
        if (r < 0) {
                free(row);
                return r;
        }
        o->path = o->from = o->to = NULL;
        operation_done(o);
        return 0;
}

int report_rows_take(ReportRows *rs, Operation *o, const ProcessInfo *process) {
        bool named = process && process->start_ticks != 0;
        RowKey key = {
                .path = o->path,
                .from = o->from,
                .pid = named ? process->pid : 0,
                .start_ticks = named ? process->start_ticks : (uint64_t) o->process_id,
                .op = o->op,
                .denied = !operation_has_happened(o),
        };
        ReportRow *row;
        char *test;
        int r;

        r = share(rs, o->test, &test);
        if (r < 0)
                return r;
        key.test = test;
        row = hash_index_find(&rs->table, key_hash(&key), row_has_key, &key);
        if (!row)
                return new_row(rs, o, &key);
        fold(&row->op, o);
        operation_done(o);
        return 0;
}

const Operation *report_rows_get(const ReportRows *rs, size_t i) {
        return &rs->rows[i]->op;
}
