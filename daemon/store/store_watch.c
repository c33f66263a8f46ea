/* SPDX-License-Identifier: MIT */
/* What the watches of a session were like when it began. */
#include "daemon/store/store_internal.h"

#include <errno.h>

void stored_watch_done(StoredWatch *w) {
        w->spec = watch_spec_unref(w->spec);
}

/* Two bits for each kind of operation, in the order of OpType. */
static int64_t encode_sight(const Coverage *c) {
        int64_t v = 0;

        for (int i = 0; i < _OP_MAX; i++)
                v |= (int64_t) c->op[i] << (2 * i);
        return v;
}

static int64_t encode_deny(const Coverage *c) {
        int64_t v = 0;

        for (int i = 0; i < _OP_MAX; i++)
                v |= (int64_t) c->deny[i] << i;
        return v;
}

int store_put_session_watch(Store *s, const char *session, const WatchSpec *spec, Scope scope,
                            const Coverage *coverage) {
        _cleanup_(statement_done) Statement st = {0};
        int64_t n;
        int r = session_number(s, session, &n);

        if (r >= 0)
                r = store_begin(s);
        if (r >= 0)
                r = statement_open(
                        s, STATEMENT_WATCH_PUT,
                        "INSERT OR REPLACE INTO session_watch(session, name, path, policy, "
                        "scope, sight, deny) VALUES(?, ?, ?, ?, ?, ?, ?)",
                        &st);
        if (r < 0)
                return r;
        statement_bind_int(&st, n);
        statement_bind_string(&st, spec->name);
        statement_bind_string(&st, spec->path);
        statement_bind_int(&st, spec->policy);
        statement_bind_int(&st, scope);
        statement_bind_int(&st, encode_sight(coverage));
        statement_bind_int(&st, encode_deny(coverage));
        r = statement_run(&st);
        return r < 0 ? r : 0;
}

static int read_coverage(Statement *st, int column, Coverage *ret) {
        int64_t sight = statement_int(st, column), deny = statement_int(st, column + 1);

        for (int i = 0; i < _OP_MAX; i++) {
                int64_t value = sight >> (2 * i) & 3;
                if (value >= _SIGHT_MAX)
                        return -EUCLEAN;
                ret->op[i] = (Sight) value;
                ret->deny[i] = deny >> i & 1;
        }
        return 0;
}

static int read_watch(Statement *st, StoredWatch *ret) {
        _cleanup_(stored_watch_done) StoredWatch w = {0};
        _cleanup_free_ char *name = NULL, *path = NULL;
        int64_t policy = statement_int(st, 2), scope = statement_int(st, 3);
        int r;

        if (policy < 0 || policy >= _POLICY_MAX || scope < 0 || scope >= _SCOPE_MAX)
                return -EUCLEAN;
        r = statement_string(st, 0, &name);
        if (r >= 0)
                r = watch_spec_new(name, &w.spec);
        if (r >= 0)
                r = statement_string(st, 1, &path);
        if (r >= 0)
                r = read_coverage(st, 4, &w.coverage);
        if (r < 0)
                return r;
        free(w.spec->path);
        w.spec->path = TAKE_PTR(path);
        w.spec->policy = (Policy) policy;
        w.scope = (Scope) scope;
        *ret = w;
        w.spec = NULL;
        return 0;
}

int store_get_session_watches(Store *s, const char *session, StoredWatch **ret, size_t *ret_n) {
        _cleanup_(statement_done) Statement st = {0};
        StoredWatch *list = NULL;
        size_t n = 0;
        int64_t number;
        int r = session_number(s, session, &number);

        if (r >= 0)
                r = statement_open(
                        s, STATEMENT_WATCH_GET,
                        "SELECT name, path, policy, scope, sight, deny FROM session_watch "
                        "WHERE session = ? ORDER BY name",
                        &st);
        if (r < 0)
                return r;
        statement_bind_int(&st, number);
        while ((r = statement_step(&st)) > 0) {
                StoredWatch *grown = reallocarray(list, n + 1, sizeof *grown);
                r = grown ? read_watch(&st, &grown[n]) : -ENOMEM;
                if (grown)
                        list = grown;
                if (r < 0)
                        break;
                n++;
        }
        if (r < 0) {
                for (size_t i = 0; i < n; i++)
                        stored_watch_done(&list[i]);
                free(list);
                return r;
        }
        *ret = list;
        *ret_n = n;
        return 0;
}
