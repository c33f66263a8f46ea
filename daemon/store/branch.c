/* SPDX-License-Identifier: MIT */
#include "daemon/store/branch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "daemon/store/walk.h"

/* What is done with one object and its place in the other tree. Positive: go on, into it when it is a directory; 0: that is the answer. */
typedef int (*visit_t)(BranchPlace from, BranchPlace to, CopyCancel cancel);

/* Both trees at once: `enter` for each object before, `leave` (or NULL) for each directory after what is in it. */
typedef struct Pair {
        visit_t enter, leave;
        CopyCancel cancel;
} Pair;

static int open_pair(Walk *w, BranchPlace to) {
        int fd = openat(to.dir_fd, to.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (fd < 0)
                return -errno;
        *walk_pair_fd(w) = fd;
        return 1;
}

static int visit(Walk *w, const Pair *p, const char *name) {
        BranchPlace from = {walk_dir_fd(w), name}, to = {*walk_pair_fd(w), name};
        struct stat st;
        int r;

        if (p->cancel && atomic_load(p->cancel))
                return -ECANCELED;
        r = p->enter(from, to, p->cancel);
        if (r <= 0)
                return r;
        if (fstatat(from.dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        if (!S_ISDIR(st.st_mode))
                return 1;
        r = walk_enter(w, name);
        return r <= 0 ? (r < 0 ? r : -EXDEV) : open_pair(w, to);
}

/* The directory at hand has no more entries. */
static int visit_left(Walk *w, const Pair *p, BranchPlace from, BranchPlace to) {
        const char *name = strrchr(w->path, '/') + 1;

        walk_leave(w);
        if (!p->leave)
                return 1;
        if (w->depth > 0) {
                from = (BranchPlace){walk_dir_fd(w), name};
                to = (BranchPlace){*walk_pair_fd(w), name};
        }
        return p->leave(from, to, p->cancel);
}

static int walk_pair(BranchPlace from, BranchPlace to, const Pair *p) {
        _cleanup_(walk_done) Walk w = {};
        int r = p->enter(from, to, p->cancel);

        if (r <= 0)
                return r;
        r = walk_start(&w, from.dir_fd, from.name, "/");
        if (r < 0)
                return r == -ENOTDIR ? 1 : r;
        r = open_pair(&w, to);
        while (w.depth > 0 && r > 0) {
                const char *name = walk_next(&w);

                r = name ? visit(&w, p, name) : visit_left(&w, p, from, to);
        }
        return r;
}

typedef struct Object {
        CopyMeta meta;
        char *target;
        int fd;
} Object;

static void object_done(Object *o) {
        copy_meta_done(&o->meta);
        free(o->target);
        o->fd = safe_close(o->fd);
}

static int read_object(BranchPlace place, Object *o) {
        char target[PATH_MAX + 1];
        ssize_t n;
        int r = copy_meta_read(place.dir_fd, place.name, &o->meta);

        if (r < 0)
                return r;
        if (S_ISREG(o->meta.mode)) {
                o->fd = openat(place.dir_fd, place.name,
                               O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
                return o->fd < 0 ? -errno : 0;
        }
        if (!S_ISLNK(o->meta.mode))
                return 0;
        n = readlinkat(place.dir_fd, place.name, target, sizeof target - 1);
        if (n < 0)
                return -errno;
        o->target = strndup(target, (size_t) n);
        return o->target ? 0 : -ENOMEM;
}

static int copy_one(BranchPlace from, BranchPlace to, CopyCancel cancel) {
        _cleanup_(object_done) Object o = {.fd = -1};
        int r = read_object(from, &o);

        if (r < 0)
                return r;
        r = copy_make(to.dir_fd, to.name,
                      &(CopySource){.meta = &o.meta, .target = o.target, .fd = o.fd}, cancel);
        return r < 0 ? r : 1;
}

/* The times that its entries have changed. */
static int finish_directory(BranchPlace from, BranchPlace to, CopyCancel cancel) {
        _cleanup_(copy_meta_done) CopyMeta meta = {};
        int r = copy_meta_read(from.dir_fd, from.name, &meta);

        if (r >= 0)
                (void) copy_meta_write(to.dir_fd, to.name, &meta);
        return r < 0 ? r : 1;
}

int branch_copy(BranchPlace from, BranchPlace to, CopyCancel cancel) {
        struct stat st;
        int r;

        if (fstatat(to.dir_fd, to.name, &st, AT_SYMLINK_NOFOLLOW) == 0)
                return -EEXIST;
        r = walk_pair(from, to,
                      &(Pair){.enter = copy_one, .leave = finish_directory, .cancel = cancel});
        if (r < 0)
                (void) branch_remove(to);
        return MIN(r, 0);
}

static int compare_content(const Object *a, const Object *b, CopyCancel cancel) {
        uint8_t x[COPY_HASH_SIZE], y[COPY_HASH_SIZE];
        int r;

        if (a->fd < 0)
                return str_equal(a->target, b->target);
        r = copy_hash(a->fd, cancel, x);
        if (r >= 0)
                r = copy_hash(b->fd, cancel, y);
        return r < 0 ? r : memcmp(x, y, sizeof x) == 0;
}

/* Attributes that the other filesystem cannot have are no difference: what could be copied has been. */
static int compare_one(BranchPlace from, BranchPlace to, CopyCancel cancel) {
        _cleanup_(object_done) Object a = {.fd = -1}, b = {.fd = -1};
        int r = read_object(from, &a);

        if (r >= 0)
                r = read_object(to, &b);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        if ((a.meta.mode & S_IFMT) != (b.meta.mode & S_IFMT))
                return 0;
        return compare_content(&a, &b, cancel);
}

int branch_equal(BranchPlace from, BranchPlace to, CopyCancel cancel) {
        int r = walk_pair(from, to, &(Pair){.enter = compare_one, .cancel = cancel});

        return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

static int remove_one(int dir_fd, const char *name) {
        if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
                return 0;
        if (errno != EISDIR && errno != EPERM)
                return -errno;
        return unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

int branch_remove(BranchPlace place) {
        _cleanup_(walk_done) Walk w = {};
        int r = walk_start(&w, place.dir_fd, place.name, "/");

        if (r == -ENOTDIR || r == -ELOOP)
                return remove_one(place.dir_fd, place.name);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        while (w.depth > 0 && r >= 0) {
                const char *name = walk_next(&w);

                if (!name) {
                        name = strrchr(w.path, '/') + 1;
                        walk_leave(&w);
                        r = w.depth > 0 ? remove_one(walk_dir_fd(&w), name)
                                        : remove_one(place.dir_fd, place.name);
                        continue;
                }
                r = walk_enter(&w, name);
                if (r == 0 || r == -ELOOP)
                        r = remove_one(walk_dir_fd(&w), name);
        }
        return MIN(r, 0);
}

static int rename_free(BranchPlace from, BranchPlace to) {
        struct stat st;

        if (renameat2(from.dir_fd, from.name, to.dir_fd, to.name, RENAME_NOREPLACE) == 0)
                return 0;
        if (errno != EINVAL && errno != ENOSYS)
                return -errno;
        /* the filesystem cannot be told not to replace */
        if (fstatat(to.dir_fd, to.name, &st, AT_SYMLINK_NOFOLLOW) == 0)
                return -EEXIST;
        return renameat(from.dir_fd, from.name, to.dir_fd, to.name) < 0 ? -errno : 0;
}

/* Under its own name the copy is complete. */
static int move_by_copy(BranchPlace from, BranchPlace to, CopyCancel cancel) {
        char name[COPY_TEMP_SIZE];
        BranchPlace temp = {to.dir_fd, name};
        int r;

        copy_temp_name(to.name, name);
        r = branch_remove(temp);
        if (r >= 0)
                r = branch_copy(from, temp, cancel);
        if (r < 0)
                return r;
        r = branch_equal(from, temp, cancel);
        if (r > 0)
                r = rename_free(temp, to);
        else if (r == 0)
                r = -ESTALE;
        if (r >= 0 && syncfs(to.dir_fd) < 0)
                r = -errno;
        if (r < 0) {
                (void) branch_remove(temp);
                return r;
        }
        return branch_remove(from);
}

int branch_move(BranchPlace from, BranchPlace to, CopyCancel cancel) {
        int r = rename_free(from, to);

        return r == -EXDEV ? move_by_copy(from, to, cancel) : r;
}
