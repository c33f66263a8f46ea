/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(slot) ((void) (slot))
#include <uthash.h>
#include <utlist.h>

#include "daemon/kernel/hold_dirs.h"

#define MASK (FAN_OPEN_PERM | FAN_EVENT_ON_CHILD)
#define WATCHED (IN_CREATE | IN_MOVED_TO | IN_ONLYDIR)

typedef struct Dir {
        int wd;        /* of inotify: one for each directory, whatever its name */
        int parent;    /* wd; -1 for the root */
        unsigned read; /* in which round its entries were read */
        char *name;    /* in the parent; of the root: its path */
        UT_hash_handle hh;
} Dir;

/* A name that may be a directory. */
typedef struct Work {
        struct Work *prev, *next;
        int parent;
        bool moved; /* it was somewhere else before */
        char name[];
} Work;

struct HoldDirs {
        int group, inotify;
        Creations *creations;
        dev_t dev;
        char *root;
        int root_wd;
        unsigned round; /* everything is read again in each */
        Dir *dirs;      /* k: wd */
        Work *queue;
};

static Dir *dir_find(HoldDirs *d, int wd) {
        Dir *dir;

        HASH_FIND_INT(d->dirs, &wd, dir);
        return dir;
}

static void dir_free(Dir *dir) {
        free(dir->name);
        free(dir);
}

static int work_add(HoldDirs *d, int parent, const char *name, bool moved) {
        size_t n = strlen(name) + 1;
        Work *w = malloc(sizeof(*w) + n);

        if (!w)
                return -ENOMEM;
        w->parent = parent;
        w->moved = moved;
        memcpy(w->name, name, n);
        DL_APPEND(d->queue, w);
        return 0;
}

int hold_dirs_new(int group, const char *root, Creations *creations, HoldDirs **ret) {
        _cleanup_(hold_dirs_freep) HoldDirs *d = calloc(1, sizeof(*d));
        struct stat st;
        int r;

        if (!d)
                return -ENOMEM;
        d->group = group;
        d->creations = creations;
        d->round = 1;
        d->root_wd = -1;
        d->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (d->inotify < 0)
                return -errno;
        if (stat(root, &st) < 0)
                return -errno;
        d->dev = st.st_dev;
        d->root = strdup(root);
        r = d->root ? work_add(d, -1, root, false) : -ENOMEM;
        if (r < 0)
                return r;
        *ret = TAKE_PTR(d);
        return 0;
}

HoldDirs *hold_dirs_free(HoldDirs *d) {
        Dir *dir, *next_dir;
        Work *w, *next;

        if (!d)
                return NULL;
        HASH_ITER (hh, d->dirs, dir, next_dir) {
                HASH_DEL(d->dirs, dir);
                dir_free(dir);
        }
        DL_FOREACH_SAFE (d->queue, w, next) {
                DL_DELETE(d->queue, w);
                free(w);
        }
        safe_close(d->inotify);
        free(d->root);
        free(d);
        return NULL;
}

int hold_dirs_fd(const HoldDirs *d) {
        return d->inotify;
}

/* ---- a directory ---- */

/* Puts name and those of the directories above it before *at, which moves down to `first` at most. */
static int path_of(HoldDirs *d, int parent, const char *name, char path[static PATH_MAX]) {
        size_t at = PATH_MAX - 1, n;

        path[at] = '\0';
        /* the bound is against parents that go in a circle, should two moves ever be told the wrong way round */
        for (int depth = 0; depth < PATH_MAX; depth++) {
                const Dir *above;

                n = strlen(name);
                if (n + 1 > at)
                        return -ENAMETOOLONG;
                at -= n;
                memcpy(path + at, name, n);
                if (parent < 0) {
                        memmove(path, path + at, PATH_MAX - at);
                        return 0;
                }
                path[--at] = '/';
                above = dir_find(d, parent);
                if (!above)
                        return -ENOENT;
                name = above->name;
                parent = above->parent;
        }
        return -ELOOP;
}

static int watch(HoldDirs *d, int fd, int *ret) {
        char link[32];
        int wd;

        (void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        wd = inotify_add_watch(d->inotify, link, WATCHED);
        if (wd < 0)
                return -errno;
        *ret = wd;
        return 0;
}

/* The directory as it is called now: a new one, or one that has been moved. */
static int dir_put(HoldDirs *d, int wd, int parent, const char *name, Dir **ret) {
        Dir *dir = dir_find(d, wd);
        char *copy = strdup(name);

        if (!copy)
                return -ENOMEM;
        if (!dir) {
                dir = calloc(1, sizeof(*dir));
                if (dir) {
                        dir->wd = wd;
                        HASH_ADD_INT(d->dirs, wd, dir);
                }
                if (!dir || !dir->hh.tbl) {
                        free(dir);
                        free(copy);
                        return -ENOMEM;
                }
        }
        free(dir->name);
        dir->name = copy;
        dir->parent = parent;
        *ret = dir;
        return 0;
}

static bool may_be_directory(const struct dirent *e) {
        if (str_equal(e->d_name, ".") || str_equal(e->d_name, ".."))
                return false;
        return e->d_type == DT_DIR || e->d_type == DT_UNKNOWN;
}

/* Takes fd. */
static int read_entries(HoldDirs *d, int fd, int wd) {
        DIR *entries = fdopendir(fd);
        const struct dirent *e;
        int r = 0;

        if (!entries) {
                r = -errno;
                safe_close(fd);
                return r;
        }
        while (r == 0 && (e = readdir(entries)))
                if (may_be_directory(e))
                        r = work_add(d, wd, e->d_name, false);
        (void) closedir(entries);
        return r;
}

/* Another filesystem, or another part of this one, that is mounted here is not what was meant. */
static bool is_ours(const HoldDirs *d, int fd, bool is_root) {
        struct statx st;

        if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) < 0)
                return false;
        if (makedev(st.stx_dev_major, st.stx_dev_minor) != d->dev)
                return false;
        return is_root || !(st.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

/* -ENOENT and the like: it is gone, or no directory. */
static int open_directory(const char *path, int *ret) {
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

        if (fd < 0)
                return -errno;
        *ret = fd;
        return 0;
}

static bool is_below(HoldDirs *d, const Dir *dir, int wd) {
        for (int depth = 0; dir && depth < PATH_MAX; depth++) {
                if (dir->wd == wd)
                        return true;
                dir = dir->parent < 0 ? NULL : dir_find(d, dir->parent);
        }
        return false;
}

/* While it was elsewhere, what was told of it could not be followed: it is read again. */
static void forget_below(HoldDirs *d, int wd) {
        Dir *dir, *next;

        HASH_ITER (hh, d->dirs, dir, next)
                if (is_below(d, dir, wd))
                        dir->read = 0;
}

static int enter(HoldDirs *d, const Work *w) {
        _cleanup_close_ int fd = -1;
        char path[PATH_MAX];
        Dir *dir = NULL;
        int r, wd = -1;

        r = path_of(d, w->parent, w->name, path);
        if (r == 0)
                r = open_directory(path, &fd);
        if (r == 0 && !is_ours(d, fd, w->parent < 0))
                return 0;
        if (r == 0)
                r = watch(d, fd, &wd);
        if (r == 0)
                r = dir_put(d, wd, w->parent, w->name, &dir);
        if (r < 0 || !dir)
                return r;
        if (w->parent < 0)
                d->root_wd = wd;
        if (w->moved)
                forget_below(d, wd);
        if (fanotify_mark(d->group, FAN_MARK_ADD | FAN_MARK_ONLYDIR, MASK, fd, NULL) < 0)
                return -errno;
        creations_mark_directory(d->creations, fd);
        if (dir->read == d->round)
                return 0;
        dir->read = d->round;
        return read_entries(d, TAKE_FD(fd), wd);
}

static bool is_gone(int r) {
        return r == -ENOENT || r == -ENOTDIR || r == -ELOOP || r == -ESTALE || r == -ENAMETOOLONG;
}

int hold_dirs_step(HoldDirs *d) {
        Work *w = d->queue;
        int r;

        if (!w)
                return 0;
        DL_DELETE(d->queue, w);
        r = enter(d, w);
        if (is_gone(r) && w->parent >= 0)
                r = 0;
        free(w);
        return r < 0 ? r : d->queue != NULL;
}

/* ---- what is told ---- */

static int take(HoldDirs *d, const struct inotify_event *e) {
        if (e->mask & IN_Q_OVERFLOW) {
                d->round++;
                return work_add(d, -1, d->root, false);
        }
        if (e->mask & IN_IGNORED) { /* removed, or unmounted */
                Dir *dir = dir_find(d, e->wd);

                if (dir) {
                        HASH_DEL(d->dirs, dir);
                        dir_free(dir);
                }
                return e->wd == d->root_wd ? -ESTALE : 0;
        }
        if (!(e->mask & IN_ISDIR) || e->len == 0)
                return 0;
        return work_add(d, e->wd, e->name, e->mask & IN_MOVED_TO);
}

int hold_dirs_read(HoldDirs *d) {
        _Alignas(struct inotify_event) char buffer[8192];
        ssize_t n = read(d->inotify, buffer, sizeof(buffer));
        int r = 0;

        if (n < 0)
                return errno == EAGAIN || errno == EINTR ? 0 : -errno;
        for (ssize_t i = 0; r == 0 && i < n;) {
                const struct inotify_event *e = (const void *) (buffer + i);

                r = take(d, e);
                i += (ssize_t) (sizeof(*e) + e->len);
        }
        return r;
}
