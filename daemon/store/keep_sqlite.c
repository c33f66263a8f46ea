/* SPDX-License-Identifier: MIT */
/*
 * A SQLite database with its side files, as one consistent unit. The database is copied first, then -wal and -journal. Others who
 * use it must not notice us, so it depends on its mode:
 *
 * WAL: a shared lock of the checkpoint's byte in -shm. While it is held nobody moves rows from the -wal into the database (a
 * checkpoint that finds it locked is left for later, and is no error); rows appended meanwhile are there or not, whole transactions
 * each. Nobody waits.
 *
 * Rollback journal, or no -shm: no lock. When nothing has changed during the copy, it is of one moment, and SQLite recovers from it
 * as from a power failure at that moment. A change shows in size, times or the head of a file; times come from a clock that
 * ticks every few milliseconds, so a file that has changed within the last tick is looked at again a tick later. Only when somebody
 * writes all the time, and the database is small, it is read as any reader does, under a shared lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#include "daemon/store/keep_internal.h"

#define TRIES 5
#define LOCK_TRIES 50
#define TICK_NSEC 12000000 /* CONFIG_HZ=100, and a little */
#define MAGIC "SQLite format 3"

/* The file format's: version for reading is 2 in WAL mode. os.h: where the locks are; wal.c: that of the checkpoint in -shm. */
#define READ_VERSION_AT 19
#define PENDING_AT 0x40000000
#define SHARED_AT (PENDING_AT + 2)
#define SHARED_BYTES 510
#define CHECKPOINT_AT 121

#define LOCKED_MAX \
        (64U << 20) /* bytes of a database that is copied under a reader's lock: some 50 ms */

static const char *const side_files[] = {"-wal", "-journal", "-shm"};

static bool has_magic(int dir_fd, const char *name) {
        _cleanup_close_ int fd =
                openat(dir_fd, name,
                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | O_PATH);
        _cleanup_close_ int read_fd = -1;
        char path[32], head[sizeof MAGIC];
        struct stat st;

        /* only a regular file may be opened: a device could do something when it is */
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return false;
        (void) snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        read_fd = open(path, O_RDONLY | O_CLOEXEC);
        return read_fd >= 0 && pread(read_fd, head, sizeof head, 0) == (ssize_t) sizeof head &&
                memcmp(head, MAGIC, sizeof head) == 0;
}

bool keep_is_sqlite(int dir_fd, const char *name, size_t *ret_length) {
        size_t length = strlen(name);

        for (size_t i = 0; i < ELEMENTSOF(side_files); i++) {
                size_t n = strlen(side_files[i]);
                char main[NAME_MAX + 1];

                if (length <= n || length > NAME_MAX ||
                    strcmp(name + length - n, side_files[i]) != 0)
                        continue;
                memcpy(main, name, length - n);
                main[length - n] = 0;
                if (has_magic(dir_fd, main)) {
                        *ret_length = length - n;
                        return true;
                }
        }
        *ret_length = length;
        return has_magic(dir_fd, name);
}

/* What shows that a file has changed. */
typedef struct Stamp {
        bool there;
        ino_t ino;
        off_t size;
        int64_t mtime, ctime;
        char head[100];
} Stamp;

typedef struct Family {
        Stamp stamps[3]; /* database, -wal, -journal */
} Family;

static int64_t to_nsec(const struct timespec *t) {
        return t->tv_sec * INT64_C(1000000000) + t->tv_nsec;
}

static void read_stamp(int dir_fd, const char *name, Stamp *ret) {
        _cleanup_close_ int fd =
                openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        struct stat st;

        memset(ret, 0, sizeof *ret);
        if (fd < 0 || fstat(fd, &st) < 0)
                return;
        ret->there = true;
        ret->ino = st.st_ino;
        ret->size = st.st_size;
        ret->mtime = to_nsec(&st.st_mtim);
        ret->ctime = to_nsec(&st.st_ctim);
        if (pread(fd, ret->head, sizeof ret->head, 0) < 0)
                memset(ret->head, 0, sizeof ret->head);
}

static int side_name(const char *name, size_t i, char ret[static NAME_MAX + 1]) {
        int n = snprintf(ret, NAME_MAX + 1, "%s%s", name, i > 0 ? side_files[i - 1] : "");

        return n > NAME_MAX ? -ENAMETOOLONG : 0;
}

static int read_family(int dir_fd, const char *name, Family *ret) {
        char side[NAME_MAX + 1];
        int r = 0;

        memset(ret, 0, sizeof *ret);
        for (size_t i = 0; i < ELEMENTSOF(ret->stamps) && r >= 0; i++) {
                r = side_name(name, i, side);
                if (r >= 0)
                        read_stamp(dir_fd, side, &ret->stamps[i]);
        }
        return r;
}

static bool family_equal(const Family *a, const Family *b) {
        for (size_t i = 0; i < ELEMENTSOF(a->stamps); i++) {
                const Stamp *x = &a->stamps[i], *y = &b->stamps[i];

                if (x->there != y->there || x->ino != y->ino || x->size != y->size ||
                    x->mtime != y->mtime || x->ctime != y->ctime ||
                    memcmp(x->head, y->head, sizeof x->head) != 0)
                        return false;
        }
        return true;
}

/* Changed so lately that a further change would bear the same time. A clock of a server that is ahead does not count. */
static bool is_fresh(const Family *f) {
        struct timespec t;
        int64_t now;

        (void) clock_gettime(CLOCK_REALTIME, &t);
        now = to_nsec(&t);
        for (size_t i = 0; i < ELEMENTSOF(f->stamps); i++) {
                int64_t age = now - MAX(f->stamps[i].mtime, f->stamps[i].ctime);

                if (f->stamps[i].there && age >= 0 && age < TICK_NSEC)
                        return true;
        }
        return false;
}

static int copy_family(Keeping *k, int dir_fd, const char *name, const char *path, KeptList *list) {
        char side[NAME_MAX + 1];
        int r = 0;

        for (size_t i = 0; i < ELEMENTSOF(side_files) && r >= 0; i++) {
                _cleanup_free_ char *side_path = NULL;
                _cleanup_(kept_done) Kept kept = {};

                r = side_name(name, i, side);
                if (r < 0)
                        break;
                if (asprintf(&side_path, "%s%s", path, i > 0 ? side_files[i - 1] : "") < 0) {
                        side_path = NULL;
                        return -ENOMEM;
                }
                r = keep_look(k, dir_fd, side, side_path, &kept);
                if (r == -ENOENT && i > 0) {
                        r = 0;
                        continue;
                }
                if (r >= 0)
                        r = keep_content(k, dir_fd, side, &kept);
                if (r >= 0)
                        r = kept_list_add(list, &kept);
        }
        return r;
}

static void drop(Keeping *k, KeptList *list) {
        keep_forget(k->q->state_dir, k->q->session, list);
        k->bytes_left += kept_list_bytes(list);
        kept_list_done(list);
}

static void wait_tick(void) {
        (void) nanosleep(&(struct timespec){.tv_nsec = TICK_NSEC}, NULL);
}

static bool lock_bytes(int fd, off_t at, off_t n, short type) {
        struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = n};

        return fcntl(fd, F_OFD_SETLK, &l) == 0;
}

/* A descriptor that holds the lock; -EAGAIN: a checkpoint is being made; -ENOENT: nobody uses the database in WAL mode. */
static int lock_checkpoint(int dir_fd, const char *name) {
        char side[NAME_MAX + 1];
        _cleanup_close_ int fd = -1;
        int r = side_name(name, 3, side);

        if (r < 0)
                return r;
        fd = openat(dir_fd, side, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        if (!lock_bytes(fd, CHECKPOINT_AT, 1, F_RDLCK))
                return errno == EACCES ? -EAGAIN : -errno;
        return TAKE_FD(fd);
}

/* As every reader does it: not while a writer waits for the readers to go. */
static int lock_reader(int dir_fd, const char *name) {
        _cleanup_close_ int fd =
                openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

        if (fd < 0)
                return -errno;
        if (!lock_bytes(fd, PENDING_AT, 1, F_RDLCK) ||
            !lock_bytes(fd, SHARED_AT, SHARED_BYTES, F_RDLCK))
                return errno == EACCES ? -EAGAIN : -errno;
        (void) lock_bytes(fd, PENDING_AT, 1, F_UNLCK);
        return TAKE_FD(fd);
}

static int try_lock(int dir_fd, const char *name, const Stamp *database, bool last) {
        if (database->head[READ_VERSION_AT] == 2)
                return lock_checkpoint(dir_fd, name);
        return last && database->size <= LOCKED_MAX ? lock_reader(dir_fd, name) : -ENOENT;
}

/* Writers hold their locks for some milliseconds. */
static int lock_family(int dir_fd, const char *name, const Stamp *database, bool last) {
        int fd = try_lock(dir_fd, name, database, last);

        for (int i = 0; i < LOCK_TRIES && fd == -EAGAIN; i++) {
                (void) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
                fd = try_lock(dir_fd, name, database, last);
        }
        return fd;
}

/* 1: the copies are of one moment. */
static int try_family(Keeping *k, int dir_fd, const char *name, const char *path, bool last,
                      KeptList *list) {
        _cleanup_close_ int lock = -1;
        Family before, after;
        int r = read_family(dir_fd, name, &before);

        if (r < 0)
                return r;
        lock = lock_family(dir_fd, name, &before.stamps[0], last);
        if (lock < 0 && (lock == -EAGAIN || is_fresh(&before))) {
                wait_tick();
                r = read_family(dir_fd, name, &before);
        }
        if (r >= 0)
                r = copy_family(k, dir_fd, name, path, list);
        if (r >= 0 && lock < 0)
                r = read_family(dir_fd, name, &after);
        if (r < 0 || lock >= 0)
                return r < 0 ? r : 1;
        return family_equal(&before, &after) && !is_fresh(&before);
}

static int take_family(Keeping *k, KeptList *list, bool consistent) {
        uint64_t unit = 0;
        int r = 0;

        if (getrandom(&unit, sizeof unit, 0) != (ssize_t) sizeof unit)
                return -EIO;
        unit = (unit & INT64_MAX) | 1;
        for (size_t i = 0; i < list->n && r >= 0; i++) {
                list->list[i].unit = unit;
                list->list[i].inconsistent = !consistent;
                r = kept_list_add(&k->list, &list->list[i]);
        }
        return r;
}

int keep_sqlite(Keeping *k, int dir_fd, const char *name, const char *path) {
        _cleanup_(kept_list_done) KeptList list = {};
        int r = 0;

        for (int i = 0; i < TRIES && r == 0; i++) {
                if (i > 0)
                        drop(k, &list);
                r = try_family(k, dir_fd, name, path, i == TRIES - 1, &list);
        }
        if (r < 0) {
                drop(k, &list);
                return r;
        }
        return take_family(k, &list, r > 0);
}
