/* SPDX-License-Identifier: MIT */
/*
 * Reading operations in order, a page at a time.
 *
 * "Of any or none" runs along the table, and passes over blocks that can hold nothing of the watch
 * or the time asked for. Everything else is a set of members (sessions, or the untagged ones), each
 * with an index in order of seq: a page is a merge that starts with one seek for each member,
 * whatever lies between their operations.
 */
#include "daemon/store/store_internal.h"

#include <errno.h>

typedef struct Member {
        int64_t session;     /* row number; 0: untagged */
        int64_t after, last; /* after < seq <= last */
        int64_t next;        /* no operation of it comes before this one */
} Member;

typedef struct Members {
        Member *list;
        size_t n, allocated;
} Members;

static void members_done(Members *m) {
        free(m->list);
}

static int members_add(Members *m, int64_t session, int64_t after, int64_t last) {
        if (m->n == m->allocated) {
                size_t n = m->allocated ? m->allocated * 2 : 8;
                Member *grown = reallocarray(m->list, n, sizeof *grown);
                if (!grown)
                        return -ENOMEM;
                m->list = grown;
                m->allocated = n;
        }
        m->list[m->n++] = (Member){.session = session, .after = after, .last = last};
        return 0;
}

/* Where the page goes. */
typedef struct Page {
        const StoreQuery *query;
        Operation *list;
        size_t n, max;
        int64_t after; /* seq of the last one, or where to start */
} Page;

static int read_rows(Statement *st, Page *page) {
        int r = 1;

        while (page->n < page->max && (r = statement_step(st)) > 0) {
                r = row_to_operation(st, &page->list[page->n]);
                if (r < 0)
                        return r;
                page->after = page->list[page->n].seq;
                page->n++;
        }
        return r < 0 ? r : 0;
}

#define FILTERS                                                                 \
        "(?3 IS NULL OR (SELECT bytes FROM text WHERE id = o.watch) = ?3) AND " \
        "o.first + o.span >= ?4 "

static void bind_filters(Statement *st, const StoreQuery *q) {
        statement_bind_string(st, q->watch);
        statement_bind_int(st, (int64_t) MIN(q->since, (usec_t) INT64_MAX));
}

static int read_block(Store *s, int64_t block, Page *page) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, STATEMENT_OPERATION_READ_ALL,
                               "SELECT " OPERATION_COLUMNS " FROM operation o "
                               "WHERE o.seq > ?1 AND o.seq <= ?2 AND " FILTERS "ORDER BY o.seq",
                               &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, MAX(page->after, block_first(block) - 1));
        statement_bind_int(&st, block_first(block + 1) - 1);
        bind_filters(&st, page->query);
        return read_rows(&st, page);
}

static int read_all(Store *s, Page *page) {
        while (page->n < page->max) {
                int64_t block;
                int r = block_find(s, block_of(page->after + 1), page->query->watch,
                                   page->query->since, &block);

                if (r <= 0)
                        return r;
                r = read_block(s, block, page);
                if (r < 0)
                        return r;
                if (page->n < page->max)
                        page->after = block_first(block + 1) - 1;
        }
        return 0;
}

/* The session's rows after page->after and up to `last`. */
static int read_run(Store *s, int64_t session, int64_t last, Page *page) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, STATEMENT_OPERATION_READ,
                               "SELECT " OPERATION_COLUMNS
                               " FROM operation o INDEXED BY operation_session "
                               "WHERE o.seq > ?1 AND o.seq <= ?2 AND " FILTERS
                               "AND o.session = ?5 ORDER BY o.seq",
                               &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, page->after);
        statement_bind_int(&st, last);
        bind_filters(&st, page->query);
        statement_bind_int(&st, session);
        return read_rows(&st, page);
}

/* Sets m->next to its first operation after `after`; INT64_MAX when there is none. */
static int seek(Store *s, Member *m, int64_t after) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, STATEMENT_OPERATION_NEXT,
                               "SELECT seq FROM operation INDEXED BY operation_session "
                               "WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT 1",
                               &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, m->session);
        statement_bind_int(&st, MAX(after, m->after));
        statement_bind_int(&st, m->last);
        r = statement_step(&st);
        if (r < 0)
                return r;
        m->next = r > 0 ? statement_int(&st, 0) : INT64_MAX;
        return 0;
}

/* The member whose turn it is, and how far it may go before it is another's turn. NULL: all are
 * at their end. */
static Member *choose(const Members *members, int64_t *ret_until) {
        Member *first = NULL;
        int64_t until = INT64_MAX;

        for (size_t i = 0; i < members->n; i++) {
                Member *m = &members->list[i];

                if (m->next == INT64_MAX)
                        continue;
                if (!first || m->next < first->next) {
                        until = first ? first->next : until;
                        first = m;
                } else
                        until = MIN(until, m->next);
        }
        *ret_until = until;
        return first;
}

static int read_members(Store *s, Members *members, Page *page) {
        int r = 0;

        for (size_t i = 0; i < members->n && r >= 0; i++)
                r = seek(s, &members->list[i], page->after);
        while (r >= 0 && page->n < page->max) {
                int64_t until;
                Member *m = choose(members, &until);

                if (!m)
                        return 0;
                page->after = MAX(page->after, m->next - 1);
                r = read_run(s, m->session, MIN(until, m->last), page);
                if (r >= 0)
                        r = seek(s, m, until);
        }
        return r;
}

static int add_rows(Statement *st, uid_t uid, Members *members) {
        int r;

        while ((r = statement_step(st)) > 0) {
                if (uid != (uid_t) -1 && (uid_t) statement_int(st, 1) != uid)
                        continue;
                r = members_add(members, statement_int(st, 0), -1, INT64_MAX);
                if (r < 0)
                        return r;
        }
        return r;
}

static int add_of_uid(Store *s, uid_t uid, int64_t after, Members *members) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(
                s, STATEMENT_SESSION_OF_UID,
                "SELECT n, uid FROM session INDEXED BY session_uid WHERE uid = ? AND last_seq > ?",
                &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, uid);
        statement_bind_int(&st, after);
        return add_rows(&st, uid, members);
}

static int add_inner(Store *s, const char *id, uid_t uid, Members *members) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(
                s, STATEMENT_SESSION_INNER,
                "WITH RECURSIVE inside(id) AS (SELECT ? UNION "
                "SELECT session.id FROM inside JOIN session ON session.outer_id = inside.id) "
                "SELECT session.n, session.uid FROM inside JOIN session USING (id)",
                &st);

        if (r < 0)
                return r;
        statement_bind_text(&st, id);
        return add_rows(&st, uid, members);
}

static int add_session(Store *s, const StoreQuery *q, Members *members) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, STATEMENT_SESSION_SPAN,
                               "SELECT n, uid, first_seq, last_seq FROM session WHERE id = ?", &st);

        if (r < 0)
                return r;
        statement_bind_text(&st, q->session);
        r = statement_step(&st);
        if (r <= 0)
                return r < 0 ? r : -ENOENT;
        if (q->uid != (uid_t) -1 && (uid_t) statement_int(&st, 1) != q->uid)
                return 0;
        if (q->untagged)
                return members_add(members, 0, statement_int(&st, 2), statement_int(&st, 3));
        if (q->with_inner)
                return add_inner(s, q->session, q->uid, members);
        return members_add(members, statement_int(&st, 0), -1, INT64_MAX);
}

static int find_members(Store *s, const StoreQuery *q, int64_t after, Members *members) {
        if (q->session)
                return add_session(s, q, members);
        if (!q->untagged)
                return add_of_uid(s, q->uid, after, members);
        return q->uid == (uid_t) -1 ? members_add(members, 0, -1, INT64_MAX) : 0;
}

/* Moves the start to the first block that has anything as young as `since`. 0: there is none. */
static int skip_old(Store *s, Page *page) {
        int64_t block;
        int r;

        if (page->query->since == 0)
                return 1;
        r = block_find(s, block_of(page->after + 1), NULL, page->query->since, &block);
        if (r > 0)
                page->after = MAX(page->after, block_first(block) - 1);
        return r;
}

static int fill(Store *s, Page *page) {
        _cleanup_(members_done) Members members = {0};
        const StoreQuery *q = page->query;
        int r = skip_old(s, page);

        if (r <= 0)
                return r;
        if (!q->session && !q->untagged && q->uid == (uid_t) -1)
                return read_all(s, page);
        r = find_members(s, q, page->after, &members);
        return r < 0 ? r : read_members(s, &members, page);
}

int store_read_operations(Store *s, const StoreQuery *q, Operation *ret, size_t max,
                          size_t *ret_n) {
        Page page = {.query = q, .list = ret, .max = max, .after = MAX(q->after_seq, INT64_C(-1))};
        int r;

        store_settle(s);
        r = fill(s, &page);
        if (r < 0) {
                for (size_t i = 0; i < page.n; i++)
                        operation_done(&ret[i]);
                return r;
        }
        *ret_n = page.n;
        return 0;
}
