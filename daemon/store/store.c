/* SPDX-License-Identifier: MIT */
/*
 * Opening, the transaction, and what is asked of the files.
 *
 * The first write begins a transaction, store_flush() ends it. Counts of folded rows and the
 * summary of the block stay in memory until a flush or a read (store_settle).
 */
#include "daemon/store/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#define BUSY_TIMEOUT_MSEC 20 /* somebody looks into the database with another program */
#define SMALL_TRANSACTION 1000

static int take_lock(const char *dir) {
        _cleanup_free_ char *path = NULL;
        _cleanup_close_ int fd = -1;

        if (asprintf(&path, "%s/lock", dir) < 0)
                return -ENOMEM;
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return -errno;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0)
                return errno == EWOULDBLOCK ? -EEXIST : -errno;
        return TAKE_FD(fd);
}

/* SQLite gives -wal and -shm the mode of the database, so the database is made here first. */
static int make_database(const char *path) {
        _cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

        return fd < 0 ? -errno : 0;
}

static int open_database(Store *s) {
        int code =
                sqlite3_open_v2(s->path, &s->db,
                                SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                                NULL);

        if (code != SQLITE_OK)
                return s->db ? statement_errno(s, code) : -ENOMEM;
        (void) sqlite3_busy_timeout(s->db, BUSY_TIMEOUT_MSEC);
        return schema_bring_up(s);
}

int store_open(const char *dir, Store **ret) {
        _cleanup_(store_closep) Store *s = calloc(1, sizeof *s);
        int r;

        if (!s)
                return -ENOMEM;
        s->lock_fd = -1;
        s->block.id = -1;
        if (mkdir(dir, 0700) < 0 && errno != EEXIST)
                return -errno;
        r = take_lock(dir);
        if (r < 0)
                return r;
        s->lock_fd = r;

        /* "./" keeps a folder named file: from being taken for a URI. */
        if (asprintf(&s->path, "%s%s/mountwatch.db", dir[0] == '/' ? "" : "./", dir) < 0) {
                s->path = NULL;
                return -ENOMEM;
        }
        r = make_database(s->path);
        if (r >= 0)
                r = open_database(s);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}

Store *store_close(Store *s) {
        if (!s)
                return NULL;
        if (s->in_transaction)
                (void) store_flush(s);
        for (size_t i = 0; i < _STATEMENT_MAX; i++)
                (void) sqlite3_finalize(s->statements[i]);
        (void) sqlite3_close(s->db);
        s->lock_fd = safe_close(s->lock_fd);
        free(s->path);
        free(s);
        return NULL;
}

static int run(Store *s, StatementSlot slot, const char *sql) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, slot, sql, &st);

        if (r >= 0)
                r = statement_run(&st);
        return r < 0 ? r : 0;
}

int store_begin(Store *s) {
        int r;

        if (s->in_transaction)
                return 0;
        r = run(s, STATEMENT_BEGIN, "BEGIN IMMEDIATE");
        if (r < 0)
                return r;
        s->in_transaction = true;
        s->n_written = 0;
        return 0;
}

void store_check_rollback(Store *s) {
        if (!s->in_transaction || !sqlite3_get_autocommit(s->db))
                return;
        s->in_transaction = false;
        text_forget(s);
        process_forget(s);
        fold_forget(s);
        memset(s->sessions, 0, sizeof s->sessions);
        s->block.dirty = s->block.id >= 0;
}

/* Without a transaction and without counts, the summary of the block is ahead of its row only by
 * what has been rolled back. */
static int settle(Store *s) {
        int r;

        if (!s->in_transaction && s->fold.n_dirty == 0)
                return 0;
        r = fold_write(s);
        return r < 0 ? r : block_write(s);
}

void store_settle(Store *s) {
        int r = settle(s);

        if (r < 0)
                s->settle_error = r;
}

bool store_is_dirty(const Store *s) {
        return s->in_transaction || s->fold.n_dirty > 0 || s->settle_error < 0;
}

int store_flush(Store *s) {
        int r;

        if (!store_is_dirty(s))
                return 0;
        r = settle(s);
        if (r < 0)
                return r;
        r = s->in_transaction ? run(s, STATEMENT_COMMIT, "COMMIT") : 0;
        if (r < 0) {
                /* A COMMIT that fails and leaves the transaction open would keep it open for ever. */
                if (s->in_transaction)
                        (void) run(s, STATEMENT_ROLLBACK, "ROLLBACK");
                store_check_rollback(s);
                return r;
        }
        s->in_transaction = false;
        r = s->settle_error;
        s->settle_error = 0;
        /* While little happens, no page is kept: they are in the kernel's cache anyway. */
        if (s->n_written < SMALL_TRANSACTION)
                (void) sqlite3_db_release_memory(s->db);
        return r;
}

int store_dir(const Store *s, char **ret) {
        char *dir = strndup(s->path, (size_t) (strrchr(s->path, '/') - s->path));

        if (!dir)
                return -ENOMEM;
        *ret = dir;
        return 0;
}

int store_size(Store *s, uint64_t *ret) {
        _cleanup_free_ char *wal = NULL;
        struct stat st;
        uint64_t size;

        if (asprintf(&wal, "%s-wal", s->path) < 0) {
                wal = NULL;
                return -ENOMEM;
        }
        if (stat(s->path, &st) < 0)
                return -errno;
        size = (uint64_t) st.st_size;
        if (stat(wal, &st) >= 0)
                size += (uint64_t) st.st_size;
        else if (errno != ENOENT)
                return -errno;
        *ret = size;
        return 0;
}
