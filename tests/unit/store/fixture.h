/* SPDX-License-Identifier: MIT */
/* A store in a folder of its own, and short ways to put things into it. */
#ifndef MOUNTWATCH_TESTS_STORE_FIXTURE_H
#define MOUNTWATCH_TESTS_STORE_FIXTURE_H

#include "daemon/store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include <ftw.h>

#define SECOND USEC_PER_SEC
#define NOON (1800000000 * USEC_PER_SEC)

typedef struct Fixture {
        char dir[64];
        Store *store;
} Fixture;

static inline int fixture_remove_one(const char *path, const struct stat *st, int type,
                                     struct FTW *ftw) {
        return remove(path);
}

static inline int fixture_setup(void **state) {
        Fixture *f = calloc(1, sizeof *f);

        if (!f)
                return -1;
        (void) strcpy(f->dir, "/tmp/mountwatch-store-XXXXXX");
        if (!mkdtemp(f->dir) || store_open(f->dir, &f->store) < 0) {
                free(f);
                return -1;
        }
        *state = f;
        return 0;
}

static inline int fixture_teardown(void **state) {
        Fixture *f = *state;

        f->store = store_close(f->store);
        (void) nftw(f->dir, fixture_remove_one, 16, FTW_DEPTH | FTW_PHYS);
        free(f);
        return 0;
}

static inline void fixture_reopen(Fixture *f) {
        f->store = store_close(f->store);
        assert_int_equal(store_open(f->dir, &f->store), 0);
}

/* The caller frees. */
static inline Session *start_session(Store *s, uint64_t id, uid_t uid, Session *outer) {
        Session *session;

        assert_int_equal(session_new(id, uid, NOON, &session), 0);
        session->outer = outer;
        assert_int_equal(store_put_session(s, session), 0);
        return session;
}

static inline void stop_session(Store *s, Session *session, usec_t at) {
        session->state = SESSION_STOPPED;
        session->stopped = at;
        assert_int_equal(store_put_session(s, session), 0);
}

/* What an Operation is when a test says no more about it. */
static inline Operation operation(OpType op, const char *path) {
        return (Operation){
                .op = op,
                .watch = (char *) "nas",
                .path = (char *) path,
                .count = 1,
                .first = NOON,
                .last = NOON,
                .attribution = SIGHT_EXACT,
        };
}

/* Returns its number; *ret_folded may be NULL. */
static inline int64_t put(Store *s, Operation o, bool *ret_folded) {
        bool folded;

        assert_int_equal(store_put_operation(s, &o, &folded), 0);
        assert_true(o.seq > 0);
        if (ret_folded)
                *ret_folded = folded;
        return o.seq;
}

static inline bool put_folds(Store *s, Operation o) {
        bool folded;

        (void) put(s, o, &folded);
        return folded;
}

static inline int64_t put_path(Store *s, const Session *session, OpType op, const char *path) {
        Operation o = operation(op, path);

        o.session = session ? (char *) session->id : NULL;
        return put(s, o, NULL);
}

#define READ_MAX 64

typedef struct Rows {
        Operation list[READ_MAX];
        size_t n;
} Rows;

static inline void rows_done(Rows *r) {
        for (size_t i = 0; i < r->n; i++)
                operation_done(&r->list[i]);
        r->n = 0;
}

/* All that matches, in pages of `page` rows. */
static inline void read_pages(Store *s, StoreQuery q, size_t page, Rows *ret) {
        size_t n;

        ret->n = 0;
        do {
                assert_true(ret->n + page <= READ_MAX);
                assert_int_equal(store_read_operations(s, &q, ret->list + ret->n, page, &n), 0);
                for (size_t i = 0; i < n; i++) {
                        assert_true(ret->list[ret->n + i].seq > q.after_seq);
                        q.after_seq = ret->list[ret->n + i].seq;
                }
                ret->n += n;
        } while (n > 0);
}

static inline void read_query(Store *s, StoreQuery q, Rows *ret) {
        read_pages(s, q, 16, ret);
}

static inline StoreQuery everything(void) {
        return (StoreQuery){.uid = (uid_t) -1};
}

#endif
