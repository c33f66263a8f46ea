/* SPDX-License-Identifier: MIT */
/*
 * A SQLite database with its side files.
 *
 * When nobody uses it, the files are put back byte by byte, under a lock that keeps SQLite out meanwhile (a write lock over the bytes
 * that it locks itself). A connection that is open in WAL mode holds a lock all the time; then, or while anybody reads or writes,
 * SQLite puts the rows back itself: its backup interface copies the recovered kept database into the living one as one
 * transaction, with all locks, and the server goes on working with the old rows.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include <sqlite3.h>

#include "daemon/store/branch.h"
#include "daemon/store/undo_internal.h"

/* Where SQLite locks: os.h, PENDING_BYTE and what follows it. Part of the file format. */
#define LOCK_FIRST 0x40000000
#define LOCK_BYTES 512

#define BUSY_MSEC 250
#define BUSY_TRIES 40

static const char *const suffixes[] = {"", "-wal", "-journal"};

/* What was kept of the database, or of one of its side files; NULL: it was not there. */
static Kept *find_member(const UndoStep *s, const char *suffix) {
        const char *database = s->kept.list[0].path; /* its name then */
        size_t n = strlen(database);

        for (size_t i = 0; i < s->kept.n; i++) {
                Kept *k = &s->kept.list[i];

                if (strncmp(k->path, database, n) == 0 && str_equal(k->path + n, suffix))
                        return k;
        }
        return NULL;
}

static int member_name(const Foothold *spot, const char *suffix, char ret[static NAME_MAX + 1]) {
        return snprintf(ret, NAME_MAX + 1, "%s%s", spot->name, suffix) > NAME_MAX ? -ENAMETOOLONG
                                                                                  : 0;
}

/* 1: every file is there as it was, or is not there as it was not. An empty -wal is as good as none. */
static int is_as_kept(const UndoRun *run, UndoStep *s, const Foothold *spot) {
        char name[NAME_MAX + 1];
        int r = 1;

        for (size_t i = 0; i < ELEMENTSOF(suffixes) && r > 0; i++) {
                Kept *k = find_member(s, suffixes[i]);
                struct stat st;

                r = member_name(spot, suffixes[i], name);
                if (r < 0)
                        return r;
                if (k)
                        r = undo_has_content(run, spot->dir_fd, name, k);
                else
                        r = fstatat(spot->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
                                st.st_size == 0;
        }
        return r;
}

/* 1: locked, and nobody else uses it. The lock is the descriptor's. */
static int lock(int fd) {
        struct flock l = {.l_type = F_WRLCK,
                          .l_whence = SEEK_SET,
                          .l_start = LOCK_FIRST,
                          .l_len = LOCK_BYTES};

        if (fcntl(fd, F_OFD_SETLK, &l) == 0)
                return 1;
        return 0;
}

static int put_file(UndoRun *run, const Foothold *spot, const char *suffix, Kept *k) {
        _cleanup_close_ int fd = -1;
        char name[NAME_MAX + 1];
        int r = member_name(spot, suffix, name);

        if (r < 0)
                return r;
        if (!k)
                return unlinkat(spot->dir_fd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
        fd = openat(spot->dir_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
                return errno == ENOENT ? undo_create(run, spot->dir_fd, name, k) : -errno;
        r = undo_write(run, fd, k);
        if (r >= 0)
                (void) copy_meta_write(spot->dir_fd, name, &k->meta);
        return r;
}

/* Side files leave first: the old -wal must never meet the new database. */
static int put_files(UndoRun *run, UndoStep *s, const Foothold *spot) {
        int r = 0;

        for (size_t i = ELEMENTSOF(suffixes); i-- > 1 && r >= 0;)
                r = put_file(run, spot, suffixes[i], NULL);
        if (r >= 0)
                r = put_file(run, spot, "-shm", NULL);
        for (size_t i = 0; i < ELEMENTSOF(suffixes) && r >= 0; i++) {
                Kept *k = find_member(s, suffixes[i]);

                r = k ? put_file(run, spot, suffixes[i], k) : 0;
        }
        return MIN(r, 0);
}

/* A folder with copies of the kept files, for SQLite to recover in. */
typedef struct Workshop {
        int store_fd; /* borrowed */
        int fd;
        char name[32];
} Workshop;

static void workshop_done(Workshop *w) {
        w->fd = safe_close(w->fd);
        if (w->name[0])
                (void) branch_remove((BranchPlace){w->store_fd, w->name});
}

static int workshop_open(const UndoRun *run, UndoStep *s, Workshop *w) {
        w->store_fd = run->store_fd;
        (void) snprintf(w->name, sizeof w->name, "db-%016llx", (unsigned long long) s->key);
        (void) branch_remove((BranchPlace){w->store_fd, w->name});
        if (mkdirat(w->store_fd, w->name, 0700) < 0)
                return -errno;
        w->fd = openat(w->store_fd, w->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (w->fd < 0)
                return -errno;
        for (size_t i = 0; i < ELEMENTSOF(suffixes); i++) {
                Kept *k = find_member(s, suffixes[i]);
                _cleanup_close_ int blob = -1, to = -1;
                CopyMethod method;
                char name[16];
                int r;

                if (!k)
                        continue;
                (void) snprintf(name, sizeof name, "db%s", suffixes[i]);
                blob = undo_open_blob(run, k);
                if (blob < 0)
                        return blob;
                to = openat(w->fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
                if (to < 0)
                        return -errno;
                r = copy_content(blob, to, UINT64_MAX, run->options->cancel, &method);
                if (r < 0)
                        return r;
        }
        return 0;
}

static void sqlite_closep(sqlite3 **db) {
        (void) sqlite3_close(*db);
}

static int sqlite_errno(int code) {
        switch (code & 0xff) {
        case SQLITE_OK:
        case SQLITE_DONE:
                return 0;
        case SQLITE_FULL:
                return -ENOSPC;
        case SQLITE_NOMEM:
                return -ENOMEM;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
                return -EBUSY;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
                return -EUCLEAN;
        case SQLITE_READONLY:
                return -EROFS;
        default:
                return -EIO;
        }
}

static int open_database(int dir_fd, const char *name, sqlite3 **ret) {
        _cleanup_free_ char *path = NULL;
        int code;

        if (asprintf(&path, "/proc/self/fd/%d/%s", dir_fd, name) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        code = sqlite3_open_v2(path, ret,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                                       SQLITE_OPEN_PRIVATECACHE,
                               NULL);
        if (code == SQLITE_OK)
                (void) sqlite3_busy_timeout(*ret, BUSY_MSEC);
        return sqlite_errno(code);
}

/* All pages in one step: it is one transaction in any case, and others wait only while they are written. */
static int backup(const UndoRun *run, sqlite3 *from, sqlite3 *to) {
        sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
        int code, tries = 0;

        if (!b)
                return sqlite_errno(sqlite3_errcode(to));
        do
                code = sqlite3_backup_step(b, -1);
        while ((code == SQLITE_BUSY || code == SQLITE_LOCKED) && ++tries < BUSY_TRIES &&
               !(run->options->cancel && atomic_load(run->options->cancel)));
        (void) sqlite3_backup_finish(b);
        return sqlite_errno(code);
}

/* 1: the living database is sound. */
static int is_sound(sqlite3 *db) {
        sqlite3_stmt *st = NULL;
        int code = sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &st, NULL);
        bool sound = false;

        if (code == SQLITE_OK)
                code = sqlite3_step(st);
        if (code == SQLITE_ROW)
                sound = str_equal((const char *) sqlite3_column_text(st, 0), "ok");
        (void) sqlite3_finalize(st);
        return code == SQLITE_ROW ? sound : sqlite_errno(code);
}

static int put_rows(UndoRun *run, UndoStep *s, const Foothold *spot) {
        _cleanup_(workshop_done) Workshop w = {.fd = -1};
        _cleanup_(sqlite_closep) sqlite3 *from = NULL, *to = NULL;
        int r = workshop_open(run, s, &w);

        if (r >= 0)
                r = open_database(w.fd, "db", &from);
        if (r >= 0)
                r = open_database(spot->dir_fd, spot->name, &to);
        if (r >= 0)
                r = backup(run, from, to);
        if (r >= 0)
                r = is_sound(to);
        return r < 0 ? r : r == 0 ? -EUCLEAN : 0;
}

static int fail(UndoStep *s, int error) {
        switch (error) {
        case -EBUSY:
                return undo_set_reason(s, UNDO_FAILED,
                                       "the database is locked by a program that uses it");
        case -EUCLEAN:
        case -EROFS:
                return undo_set_reason(
                        s, UNDO_FAILED,
                        "the database is in use and cannot be written: stop what uses it, then "
                        "undo again");
        case -ESTALE:
                return undo_set_reason(s, UNDO_FAILED, "the kept copy is damaged");
        default:
                return undo_fail(s, error);
        }
}

static int done(UndoStep *s, bool by_rows) {
        bool torn = s->kept.list[0].inconsistent;

        s->state = UNDO_DONE;
        if (torn)
                return undo_set_reason(
                        s, UNDO_DONE,
                        "it was written to while it was kept: it is as after a power "
                        "failure at that moment");
        if (by_rows)
                return undo_set_reason(s, UNDO_DONE,
                                       "its rows were put back while a program has it open");
        return 0;
}

static int put_back(UndoRun *run, UndoStep *s, const Foothold *spot) {
        _cleanup_close_ int fd =
                openat(spot->dir_fd, spot->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        struct stat st = {};
        bool by_rows;
        int r;

        if (fd < 0 && errno != ENOENT)
                return undo_fail(s, -errno);
        if (fd >= 0 && fstat(fd, &st) < 0)
                return undo_fail(s, -errno);
        r = undo_begin_writing(run, s, &st);
        if (r < 0)
                return undo_fail(s, r);
        by_rows = fd >= 0 && !lock(fd);
        if (by_rows) {
                fd = safe_close(fd);
                r = put_rows(run, s, spot);
        } else
                r = put_files(run, s, spot);
        return r < 0 ? fail(s, r) : done(s, by_rows);
}

/* The rows that somebody else has added may be in the -wal only. */
static int check_foreign(UndoRun *run, UndoStep *s, const Foothold *spot) {
        char wal[NAME_MAX + 1];
        int r = undo_check_foreign(run, s, spot->dir_fd, spot->name);

        if (r == 0)
                r = member_name(spot, "-wal", wal);
        return r != 0 ? r : undo_check_foreign(run, s, spot->dir_fd, wal);
}

int undo_run_database(UndoRun *run, UndoStep *s) {
        _cleanup_(foothold_done) Foothold spot = FOOTHOLD_NULL;
        int r = undo_spot(s, undo_where(run, s), &spot);

        if (r < 0)
                return run->options->dry_run ? 0 : undo_fail(s, r);
        r = is_as_kept(run, s, &spot);
        if (r > 0) {
                s->state = UNDO_NOTHING;
                return 0;
        }
        if (r == 0)
                r = check_foreign(run, s, &spot);
        if (r < 0)
                return fail(s, r);
        return r > 0 || run->options->dry_run ? 0 : put_back(run, s, &spot);
}
