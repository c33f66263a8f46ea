/* SPDX-License-Identifier: MIT */
/* What all sessions keep together, and who has to give way when it becomes too much. */
#include "daemon/store/kept.h"

#include <errno.h>

#include "daemon/store/store_internal.h"

int store_kept_bytes(Store *s, uint64_t *ret) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, STATEMENT_KEPT_SUM,
                               "SELECT ifnull(sum(bytes), 0) FROM kept INDEXED BY kept_bytes "
                               "WHERE bytes > 0",
                               &st);

        if (r >= 0)
                r = statement_step(&st);
        if (r < 0)
                return r;
        *ret = (uint64_t) statement_int(&st, 0);
        return 0;
}

static int read_evictions(Statement *st, uint64_t *excess, Eviction **list, size_t *n) {
        int r = 1;

        while (*excess > 0 && (r = statement_step(st)) > 0) {
                Eviction *grown = reallocarray(*list, *n + 1, sizeof *grown), *e;
                _cleanup_free_ char *id = NULL;

                if (!grown)
                        return -ENOMEM;
                *list = grown;
                r = statement_string(st, 0, &id);
                if (r < 0)
                        return r;
                e = &grown[(*n)++];
                *e = (Eviction){.stopped = (usec_t) statement_int(st, 1),
                                .bytes = (uint64_t) statement_int(st, 2)};
                (void) stpncpy(e->session, id ? id : "", sizeof e->session - 1);
                *excess -= MIN(*excess, e->bytes);
        }
        return r < 0 ? r : 0;
}

int store_plan_eviction(Store *s, uint64_t limit, uint64_t need, Eviction **ret, size_t *ret_n,
                        uint64_t *ret_short) {
        _cleanup_(statement_done) Statement st = {0};
        _cleanup_free_ Eviction *list = NULL;
        uint64_t have, excess;
        size_t n = 0;
        int r = store_kept_bytes(s, &have);

        if (r < 0)
                return r;
        have += MIN(need, UINT64_MAX - have);
        excess = have > limit ? have - limit : 0;
        r = statement_open(s, STATEMENT_KEPT_OLDEST,
                           "SELECT s.id, s.stopped, sum(k.bytes) FROM kept k INDEXED BY kept_bytes "
                           "JOIN session s ON s.n = k.session WHERE k.bytes > 0 AND s.stopped > 0 "
                           "GROUP BY k.session ORDER BY s.stopped, s.n",
                           &st);
        if (r >= 0)
                r = read_evictions(&st, &excess, &list, &n);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(list);
        *ret_n = n;
        *ret_short = excess;
        return 0;
}

int store_evict(Store *s, const char *session, usec_t now) {
        _cleanup_(statement_done) Statement st = {0};
        int64_t n;
        int r = session_number(s, session, &n);

        if (r >= 0)
                r = store_begin(s);
        if (r >= 0)
                r = statement_open(
                        s, STATEMENT_KEPT_EVICT,
                        "UPDATE kept SET blob = NULL, bytes = 0, hash = NULL, reason = "
                        "CAST('given up on ' || strftime('%Y-%m-%d', ?1, 'unixepoch') || "
                        "' to make room in the store' AS BLOB) "
                        "WHERE session = ?2 AND blob IS NOT NULL",
                        &st);
        if (r < 0)
                return r;
        statement_bind_int(&st, (int64_t) (now / USEC_PER_SEC));
        statement_bind_int(&st, n);
        r = statement_run(&st);
        return r < 0 ? r : 0;
}
