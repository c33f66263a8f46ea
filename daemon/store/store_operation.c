/* SPDX-License-Identifier: MIT */
/* Storing one operation: fold, or its texts, its trace and at last its row. */
#include "daemon/store/store_internal.h"

#include <errno.h>

typedef struct Hashes {
        uint64_t path, from, to;
        uint64_t watch, test, rule;
} Hashes;

static void hash_operation(const Store *s, const Operation *o, Hashes *ret) {
        *ret = (Hashes){
                .path = hash_string(&s->hash_key, o->path),
                .from = hash_string(&s->hash_key, o->from),
                .to = hash_string(&s->hash_key, o->to),
                .watch = hash_string(&s->hash_key, o->watch),
                .test = hash_string(&s->hash_key, o->test),
                .rule = hash_string(&s->hash_key, o->rule),
        };
}

static int64_t operation_flags(const Operation *o) {
        return (o->replaced ? FLAG_REPLACED : 0) | (o->violation ? FLAG_VIOLATION : 0) |
                (o->preserved ? FLAG_PRESERVED : 0) |
                (o->attribution == SIGHT_INFERRED ? FLAG_INFERRED : 0) |
                (o->attempt ? FLAG_ATTEMPT : 0);
}

/* Equal keys: equal in everything but number, times and count. */
static FoldKey fold_key(const Store *s, const Operation *o, int64_t session, const Hashes *h) {
        uint64_t parts[] = {
                (uint64_t) session,
                (uint64_t) o->process_id,
                (uint64_t) operation_flags(o),
                (uint64_t) o->op << 16 | (uint64_t) o->kind << 8 | (uint64_t) o->action,
                h->from,
                h->to,
                h->watch,
                h->test,
                h->rule,
        };

        return (FoldKey){
                .path = h->path,
                .from = h->from,
                .to = h->to,
                .key = hash_bytes(&s->hash_key, parts, sizeof parts),
        };
}

typedef struct Texts {
        int64_t watch, test, rule;
        int64_t dir, from_dir, to_dir;
} Texts;

static int intern_string(Store *s, const char *text, uint64_t hash, int64_t *ret) {
        return text_intern(s, text, text ? strlen(text) : 0, hash, ret);
}

static int intern_dir(Store *s, const char *path, int64_t *ret) {
        ssize_t n = path_split(path);

        if (n < 0) {
                *ret = 0;
                return 0;
        }
        return text_intern(s, path, (size_t) n, hash_bytes(&s->hash_key, path, (size_t) n), ret);
}

static int intern(Store *s, const Operation *o, const Hashes *h, Texts *ret) {
        int r = intern_string(s, o->watch, h->watch, &ret->watch);

        if (r >= 0)
                r = intern_string(s, o->test, h->test, &ret->test);
        if (r >= 0)
                r = intern_string(s, o->rule, h->rule, &ret->rule);
        if (r >= 0)
                r = intern_dir(s, o->path, &ret->dir);
        if (r >= 0)
                r = intern_dir(s, o->from, &ret->from_dir);
        return r < 0 ? r : intern_dir(s, o->to, &ret->to_dir);
}

static void bind_text_id(Statement *st, int64_t id) {
        if (id == 0)
                statement_bind_null(st);
        else
                statement_bind_int(st, id);
}

static void bind_path(Statement *st, int64_t dir, const char *path) {
        bind_text_id(st, dir);
        statement_bind_string(st, path ? path + (path_split(path) + 1) : NULL);
}

static int insert_row(Store *s, const Operation *o, int64_t seq, int64_t session,
                      const Texts *texts) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(
                s, STATEMENT_OPERATION_PUT,
                "INSERT INTO operation VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                "?, ?, ?, ?)",
                &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, seq);
        statement_bind_int(&st, session);
        statement_bind_int(&st, o->process_id);
        statement_bind_int(&st, o->op);
        statement_bind_int(&st, o->kind);
        statement_bind_int(&st, o->action);
        statement_bind_int(&st, operation_flags(o));
        bind_text_id(&st, texts->watch);
        bind_path(&st, texts->dir, o->path);
        bind_path(&st, texts->from_dir, o->from);
        bind_path(&st, texts->to_dir, o->to);
        statement_bind_int(&st, (int64_t) o->first);
        statement_bind_int(&st, (int64_t) (o->last - o->first));
        statement_bind_int(&st, (int64_t) MAX(o->count, 1U));
        bind_text_id(&st, texts->test);
        bind_text_id(&st, texts->rule);
        return statement_run(&st);
}

/* The row comes last: what a failure before it leaves behind is a text nobody names and a trace
 * that leads nowhere. */
static int put_row(Store *s, const Operation *o, int64_t session, const Hashes *h,
                   int64_t *ret_seq) {
        Texts texts;
        int64_t seq;
        int r = block_next_seq(s, &seq);

        if (r >= 0)
                r = store_begin(s);
        if (r >= 0)
                r = intern(s, o, h, &texts);
        if (r >= 0)
                r = trace_put(s, seq, h->path);
        if (r >= 0)
                r = trace_put(s, seq, h->from);
        if (r >= 0)
                r = trace_put(s, seq, h->to);
        if (r >= 0)
                r = insert_row(s, o, seq, session, &texts);
        if (r < 0)
                return r;
        s->n_written++;
        *ret_seq = seq;
        return 0;
}

static bool is_valid(const Operation *o) {
        return o->path && o->op >= 0 && o->op < _OP_MAX && o->kind >= 0 && o->kind < _KIND_MAX &&
                o->action >= 0 && o->action < _ACTION_MAX;
}

int store_put_operation(Store *s, Operation *o, bool *ret_folded) {
        int64_t session = 0, seq;
        Hashes h;
        FoldKey key;
        bool folded;
        int r;

        if (!is_valid(o))
                return -EINVAL;
        if (o->session) {
                r = session_number(s, o->session, &session);
                if (r < 0)
                        return r;
        }
        hash_operation(s, o, &h);
        key = fold_key(s, o, session, &h);
        folded = fold_into(s, &key, o, &seq);
        if (!folded) {
                r = put_row(s, o, session, &h, &seq);
                if (r < 0)
                        return r;
                r = fold_remember(s, &key, o, seq);
                if (r < 0) {
                        fold_bump(s); /* the rows it knows are no longer the last ones */
                        return r;
                }
        }
        block_add(s, o);
        if (o->kind == KIND_DIR && (o->op == OP_DELETE || o->op == OP_RENAME))
                fold_bump(s);
        o->seq = seq;
        *ret_folded = folded;
        return 0;
}

int store_amend_action(Store *s, int64_t seq, Action action) {
        _cleanup_(statement_done) Statement st = {0};
        int r = store_begin(s);

        if (r >= 0)
                r = statement_open(s, STATEMENT_OPERATION_AMEND,
                                   "UPDATE operation SET action = ? WHERE seq = ?", &st);
        if (r < 0)
                return r;
        statement_bind_int(&st, action);
        statement_bind_int(&st, seq);
        /* what is remembered for folding is no longer so */
        fold_bump(s);
        return statement_run(&st);
}
