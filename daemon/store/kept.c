/* SPDX-License-Identifier: MIT */
/* The rows of what was kept. */
#include "daemon/store/kept.h"

#include <assert.h>
#include <errno.h>

#include "daemon/store/store_internal.h"

/* Stored in `flags`: never renumbered. */
enum {
        KEPT_FLAG_SHARED = 1 << 0,
        KEPT_FLAG_INCONSISTENT = 1 << 1,
        KEPT_FLAG_SNAPSHOT = 1 << 2,
};

void kept_done(Kept *k) {
        free(k->path);
        free(k->watch);
        copy_meta_done(&k->meta);
        free(k->target);
        free(k->blob);
        free(k->reason);
        *k = (Kept){};
}

static int clone_string(const char *s, char **ret) {
        char *copy = s ? strdup(s) : NULL;

        if (s && !copy)
                return -ENOMEM;
        *ret = copy;
        return 0;
}

int kept_clone(const Kept *k, Kept *ret) {
        _cleanup_(kept_done) Kept copy = *k;
        int r;

        copy.path = copy.watch = copy.target = copy.blob = copy.reason = NULL;
        copy.meta = (CopyMeta){};
        r = clone_string(k->path, &copy.path);
        if (r >= 0)
                r = clone_string(k->watch, &copy.watch);
        if (r >= 0)
                r = clone_string(k->target, &copy.target);
        if (r >= 0)
                r = clone_string(k->blob, &copy.blob);
        if (r >= 0)
                r = clone_string(k->reason, &copy.reason);
        if (r >= 0)
                r = copy_meta_clone(&k->meta, &copy.meta);
        if (r < 0)
                return r;
        *ret = copy;
        copy = (Kept){};
        return 0;
}

int kept_list_add(KeptList *l, Kept *k) {
        if (l->n == l->allocated) {
                size_t n = l->allocated ? l->allocated * 2 : 4;
                Kept *grown = reallocarray(l->list, n, sizeof *grown);

                if (!grown) {
                        kept_done(k);
                        return -ENOMEM;
                }
                l->list = grown;
                l->allocated = n;
        }
        l->list[l->n++] = *k;
        *k = (Kept){};
        return 0;
}

uint64_t kept_list_bytes(const KeptList *l) {
        uint64_t sum = 0;

        for (size_t i = 0; i < l->n; i++)
                sum += l->list[i].bytes;
        return sum;
}

void kept_list_done(KeptList *l) {
        for (size_t i = 0; i < l->n; i++)
                kept_done(&l->list[i]);
        free(l->list);
        *l = (KeptList){};
}

static int64_t encode_flags(const Kept *k) {
        return (k->shared ? KEPT_FLAG_SHARED : 0) | (k->inconsistent ? KEPT_FLAG_INCONSISTENT : 0) |
                (k->snapshot ? KEPT_FLAG_SNAPSHOT : 0);
}

/* 1: the session has kept this object at this path, with its content or (content false) without. What could not be kept for a
 * reason that will be the same the next time counts; what a snapshot had no room for is tried again when it matters. */
static int find_kept(Store *s, int64_t session, const char *path, ino_t ino, bool content) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, STATEMENT_KEPT_FIND,
                               "SELECT 1 FROM kept WHERE session = ? AND path = ? AND "
                               "(?3 = 0 OR ino = ?3) AND (?4 = 0 OR kind <> 0 OR blob IS NOT NULL "
                               "OR (reason IS NOT NULL AND flags & ?5 = 0)) LIMIT 1",
                               &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, session);
        statement_bind_string(&st, path);
        statement_bind_int(&st, (int64_t) ino);
        statement_bind_int(&st, content);
        statement_bind_int(&st, KEPT_FLAG_SNAPSHOT);
        return statement_step(&st);
}

int store_has_kept(Store *s, const char *session, const char *path, ino_t ino, bool content) {
        int64_t n;
        int r = session_number(s, session, &n);

        return r < 0 ? r : find_kept(s, n, path, ino, content);
}

static void bind_meta(Statement *st, const CopyMeta *m) {
        statement_bind_int(st, m->mode);
        statement_bind_int(st, m->uid);
        statement_bind_int(st, m->gid);
        statement_bind_int(st, (int64_t) m->rdev);
        statement_bind_int(st, m->atime);
        statement_bind_int(st, m->mtime);
        statement_bind_bytes(st, m->xattrs, m->xattrs_size);
}

static int insert_kept(Store *s, int64_t session, Kept *k) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(
                s, STATEMENT_KEPT_PUT,
                "INSERT INTO kept(session, path, watch, kind, mode, uid, gid, rdev, atime, mtime, "
                "xattrs, born, target, dev, ino, nlink, size, bytes, blob, reason, hash, flags, "
                "unit, taken) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                "?, ?, ?, ?)",
                &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, session);
        statement_bind_string(&st, k->path);
        statement_bind_string(&st, k->watch);
        statement_bind_int(&st, k->kind);
        bind_meta(&st, &k->meta);
        statement_bind_int(&st, k->born);
        statement_bind_string(&st, k->target);
        statement_bind_int(&st, (int64_t) k->dev);
        statement_bind_int(&st, (int64_t) k->ino);
        statement_bind_int(&st, (int64_t) k->nlink);
        statement_bind_int(&st, (int64_t) k->size);
        statement_bind_int(&st, (int64_t) k->bytes);
        statement_bind_string(&st, k->blob);
        statement_bind_string(&st, k->reason);
        statement_bind_bytes(&st, k->has_hash ? k->hash : NULL, sizeof k->hash);
        statement_bind_int(&st, encode_flags(k));
        statement_bind_int(&st, (int64_t) k->unit);
        statement_bind_int(&st, (int64_t) k->taken);
        r = statement_run(&st);
        if (r < 0)
                return r;
        k->id = sqlite3_last_insert_rowid(s->db);
        s->n_written++;
        return 0;
}

int store_put_kept(Store *s, const char *session, KeptList *list) {
        int64_t n;
        int r = session_number(s, session, &n);

        if (r >= 0)
                r = store_begin(s);
        for (size_t i = 0; i < list->n && r >= 0; i++) {
                Kept *k = &list->list[i];

                if (!k->path || k->kind < 0 || k->kind >= _KIND_MAX)
                        return -EINVAL;
                if (!k->blob && !k->reason) {
                        r = find_kept(s, n, k->path, k->ino, /* content= */ false);
                        if (r != 0)
                                continue;
                }
                r = insert_kept(s, n, k);
        }
        return r < 0 ? r : 0;
}

int store_set_kept_hash(Store *s, int64_t id, const uint8_t hash[static COPY_HASH_SIZE]) {
        _cleanup_(statement_done) Statement st = {0};
        int r = store_begin(s);

        if (r >= 0)
                r = statement_open(s, STATEMENT_KEPT_HASH, "UPDATE kept SET hash = ? WHERE id = ?",
                                   &st);
        if (r < 0)
                return r;
        statement_bind_bytes(&st, hash, COPY_HASH_SIZE);
        statement_bind_int(&st, id);
        r = statement_run(&st);
        return r < 0 ? r : r == 0 ? -ENOENT : 0;
}

#define KEPT_COLUMNS                                                                           \
        "k.id, k.kind, k.mode, k.uid, k.gid, k.rdev, k.atime, k.mtime, k.born, k.dev, k.ino, " \
        "k.nlink, k.size, k.bytes, k.flags, k.unit, k.taken, k.path, k.watch, k.target, "      \
        "k.blob, k.reason, k.xattrs, k.hash"

static void read_numbers(Statement *st, Kept *k) {
        int64_t flags = statement_int(st, 14);

        k->id = statement_int(st, 0);
        k->kind = (ObjectKind) statement_int(st, 1);
        k->meta.mode = (mode_t) statement_int(st, 2);
        k->meta.uid = (uid_t) statement_int(st, 3);
        k->meta.gid = (gid_t) statement_int(st, 4);
        k->meta.rdev = (dev_t) statement_int(st, 5);
        k->meta.atime = statement_int(st, 6);
        k->meta.mtime = statement_int(st, 7);
        k->born = statement_int(st, 8);
        k->dev = (dev_t) statement_int(st, 9);
        k->ino = (ino_t) statement_int(st, 10);
        k->nlink = (nlink_t) statement_int(st, 11);
        k->size = (uint64_t) statement_int(st, 12);
        k->bytes = (uint64_t) statement_int(st, 13);
        k->shared = flags & KEPT_FLAG_SHARED;
        k->inconsistent = flags & KEPT_FLAG_INCONSISTENT;
        k->snapshot = flags & KEPT_FLAG_SNAPSHOT;
        k->unit = (uint64_t) statement_int(st, 15);
        k->taken = (usec_t) statement_int(st, 16);
}

static int read_xattrs(Statement *st, int column, CopyMeta *m) {
        const char *p;
        size_t size;

        statement_bytes(st, column, &p, &size);
        if (!p || size == 0)
                return 0;
        m->xattrs = malloc(size);
        if (!m->xattrs)
                return -ENOMEM;
        memcpy(m->xattrs, p, size);
        m->xattrs_size = size;
        return 0;
}

static void read_hash(Statement *st, int column, Kept *k) {
        const char *p;
        size_t size;

        statement_bytes(st, column, &p, &size);
        k->has_hash = p && size == sizeof k->hash;
        if (k->has_hash)
                memcpy(k->hash, p, size);
}

static int read_kept(Statement *st, Kept *ret) {
        _cleanup_(kept_done) Kept k = {};
        int64_t kind = statement_int(st, 1);
        int r;

        if (kind < 0 || kind >= _KIND_MAX)
                return -EUCLEAN;
        read_numbers(st, &k);
        r = statement_string(st, 17, &k.path);
        if (r >= 0)
                r = statement_string(st, 18, &k.watch);
        if (r >= 0)
                r = statement_string(st, 19, &k.target);
        if (r >= 0)
                r = statement_string(st, 20, &k.blob);
        if (r >= 0)
                r = statement_string(st, 21, &k.reason);
        if (r >= 0)
                r = read_xattrs(st, 22, &k.meta);
        if (r < 0)
                return r;
        read_hash(st, 23, &k);
        *ret = k;
        k = (Kept){};
        return 0;
}

int store_list_kept(Store *s, const char *session, bool with_inner, KeptList *ret) {
        _cleanup_(statement_done) Statement st = {0};
        _cleanup_(kept_list_done) KeptList list = {};
        int64_t n;
        int r = session_number(s, session, &n);

        if (r >= 0)
                r = statement_open(
                        s, STATEMENT_KEPT_LIST,
                        "WITH RECURSIVE inside(n, id) AS (SELECT n, id FROM session WHERE id = ?1 "
                        "UNION SELECT session.n, session.id FROM inside JOIN session "
                        "ON session.outer_id = inside.id WHERE ?2) SELECT " KEPT_COLUMNS
                        " FROM inside JOIN kept k ON k.session = inside.n ORDER BY k.taken, k.id",
                        &st);
        if (r < 0)
                return r;
        statement_bind_text(&st, session);
        statement_bind_int(&st, with_inner);
        while ((r = statement_step(&st)) > 0) {
                Kept k = {};

                r = read_kept(&st, &k);
                if (r >= 0)
                        r = kept_list_add(&list, &k);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;
        *ret = list;
        list = (KeptList){};
        return 0;
}
