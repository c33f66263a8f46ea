/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/guard_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000U
#endif

#define LINKS_MAX 40    /* MAXSYMLINKS of the kernel */
#define PROC_ROOT_INO 1 /* of any procfs */
#define PAGE \
        4096U /* the smallest there is: a read that stays in one of these faults as a whole or not at all */
#define SHORT 256U     /* most paths are shorter than that */
#define HANDLE_MAX 128 /* MAX_HANDLE_SZ */

typedef char ProcName[32]; /* of a file of a thread, below /proc */

/* ---- the caller ---- */

static void proc_name(const Walker *w, const char *what, ProcName ret) {
        (void) snprintf(ret, sizeof(ProcName), "%d/%s", (int) w->tid, what);
}

static int own_root(Walker *w) {
        struct statx st;

        w->root_inode =
                0; /* no root at all, so that a failure is made good by the next walker_enter() */
        if (statx(AT_FDCWD, "/", 0, STATX_INO | STATX_MNT_ID, &st) < 0)
                return -errno;
        w->root_mount = st.stx_mnt_id;
        w->root_inode = st.stx_ino;
        w->root_dev = makedev(st.stx_dev_major, st.stx_dev_minor);
        return 0;
}

int walker_init(Walker *w) {
        int r;

        *w = (Walker){.proc_fd = -1};
        if (unshare(CLONE_FS) < 0)
                return -errno;
        w->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (w->proc_fd < 0)
                return -errno;
        r = own_root(w);
        if (r < 0)
                w->proc_fd = safe_close(w->proc_fd);
        return r;
}

void walker_done(Walker *w) {
        w->proc_fd = safe_close(w->proc_fd);
}

static int move_root(Walker *w, const char *name) {
        _cleanup_close_ int fd = openat(w->proc_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0 || fchdir(fd) < 0 || chroot(".") < 0)
                return -errno;
        w->n_moves++;
        return own_root(w);
}

void walker_enter(Walker *w, pid_t tid, nsec_t now, bool may_trust) {
        w->tid = tid;
        w->now = now;
        w->rooted = false;
        w->may_trust = may_trust;
}

static bool is_known_root(const Walker *w) {
        for (size_t i = 0; w->may_trust && i < WALKER_RECENT; i++)
                if (w->recent[i].tid == w->tid && w->recent[i].n_moves == w->n_moves &&
                    w->now - w->recent[i].at < WALKER_TRUST_NSEC)
                        return true;
        return false;
}

static void remember_root(Walker *w) {
        size_t i;

        for (i = 0; i < WALKER_RECENT && w->recent[i].tid != w->tid; i++)
                ;
        if (i == WALKER_RECENT) {
                i = w->next;
                w->next = (i + 1) % WALKER_RECENT;
        }
        w->recent[i].tid = w->tid;
        w->recent[i].at = w->now;
        w->recent[i].n_moves = w->n_moves;
}

int walker_take_root(Walker *w) {
        struct statx st;
        ProcName name;
        int r = 0;

        if (w->rooted || is_known_root(w)) {
                w->rooted = true;
                return 0;
        }
        proc_name(w, "root", name);
        if (statx(w->proc_fd, name, 0, STATX_INO | STATX_MNT_ID, &st) < 0)
                return errno == ENOENT ? -ESRCH : -errno;
        if (st.stx_ino != w->root_inode || st.stx_mnt_id != w->root_mount ||
            makedev(st.stx_dev_major, st.stx_dev_minor) != w->root_dev)
                r = move_root(w, name);
        if (r < 0)
                return r;
        remember_root(w);
        w->rooted = true;
        return 0;
}

int walker_read(const Walker *w, uint64_t address, void *ret, size_t size) {
        const struct iovec local = {ret, size};
        const struct iovec remote = {(void *) (uintptr_t) address,
                                     size}; // NOLINT(performance-no-int-to-ptr)
        ssize_t n;

        if (address > UINTPTR_MAX - size)
                return -EFAULT;
        n = process_vm_readv(w->tid, &local, 1, &remote, 1, 0);
        if (n < 0)
                return -errno;
        return (size_t) n == size ? 0 : -EFAULT;
}

/* Page by page: the string may end on the last one that is mapped. */
int walker_read_string(const Walker *w, uint64_t address, char ret[static PATH_MAX]) {
        size_t n = 0;

        while (n < PATH_MAX) {
                size_t k = MIN(PAGE - (size_t) ((address + n) % PAGE),
                               n ? (size_t) PATH_MAX - n : SHORT);
                const char *end;
                int r;

                if (address > UINT64_MAX - PATH_MAX)
                        return -EFAULT;
                r = walker_read(w, address + n, ret + n, k);
                if (r < 0)
                        return r;
                end = memchr(ret + n, '\0', k);
                if (end)
                        return (int) (end - ret);
                n += k;
        }
        return -ENAMETOOLONG;
}

/* ---- walking ---- */

void spot_done(Spot *s) {
        s->object = safe_close(s->object);
        s->parent = safe_close(s->parent);
}

static int open_path(int base, const char *path, unsigned flags, uint64_t resolve) {
        struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags, .resolve = resolve};
        int fd = (int) syscall(SYS_openat2, base, path, &how, sizeof(how));

        return fd < 0 ? -errno : fd;
}

/* The directory that a relative path begins at, or the object behind a descriptor. */
static int open_base(const Walker *w, int dirfd) {
        ProcName name;
        int fd;

        if (dirfd == AT_FDCWD)
                proc_name(w, "cwd", name);
        else if (dirfd < 0)
                return -EBADF;
        else
                (void) snprintf(name, sizeof(name), "%d/fd/%d", (int) w->tid, dirfd);
        fd = openat(w->proc_fd, name, O_PATH | O_CLOEXEC);
        if (fd >= 0)
                return fd;
        return errno == ENOENT && dirfd != AT_FDCWD ? -EBADF : -errno;
}

static bool is_procfs(int fd) {
        struct statfs st;

        return fstatfs(fd, &st) == 0 && st.f_type == PROC_SUPER_MAGIC;
}

static bool is_procfs_top(int fd) {
        struct stat st;

        return is_procfs(fd) && fstat(fd, &st) == 0 && st.st_ino == PROC_ROOT_INO;
}

static bool is_directory(int fd) {
        struct stat st;

        return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_dots(const char *name) {
        return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static bool has_dots(const char *path) {
        const char *p = path;

        while ((p = strstr(p, ".."))) {
                if ((p == path || p[-1] == '/') && (p[2] == '/' || p[2] == '\0'))
                        return true;
                p += 2;
        }
        return false;
}

/* Without symlinks and without "..", a relative path leads to the same from every root. -ELOOP: there are magic links on the
 * way, or too many others. */
static int open_walked(Walker *w, int base, const char *path, unsigned flags) {
        int r;

        if (!w->rooted && path[0] != '/' && !has_dots(path)) {
                r = open_path(base, path, flags, RESOLVE_NO_SYMLINKS);
                if (r != -ELOOP)
                        return r;
        }
        r = walker_take_root(w);
        return r < 0 ? r : open_path(base, path, flags, RESOLVE_NO_MAGICLINKS);
}

/* A walk by hand: what is left of the path, and where it has got to. */
typedef struct Walk {
        const Walker *walker;
        char rest[PATH_MAX];
        int at; /* owned */
        unsigned n_links;
        bool follow;
} Walk;

static int walk_to(Walk *k, int fd) {
        if (fd < 0)
                return fd;
        safe_close(k->at);
        k->at = fd;
        return 0;
}

/* Puts the text of a symlink before what is left. */
static int insert_link(Walk *k, const char *name, const char *rest) {
        char text[PATH_MAX + PATH_MAX];
        ssize_t n = readlinkat(k->at, name, text, PATH_MAX);
        size_t more = strlen(rest);

        if (n < 0)
                return -errno;
        if (n == 0)
                return -ENOENT;
        if ((size_t) n + more >= PATH_MAX)
                return -ENAMETOOLONG;
        memcpy(text + n, rest, more + 1);
        memcpy(k->rest, text, (size_t) n + more + 1);
        return k->rest[0] == '/' ? walk_to(k, open_path(AT_FDCWD, "/", O_DIRECTORY, 0)) : 0;
}

/* A symlink of procfs. "self" and "thread-self" would be ourselves; the others lead by themselves to where they lead. */
static int follow_proc_link(Walk *k, const char *name, const char *rest) {
        ProcName own;
        int fd;

        if (is_procfs_top(k->at) && (str_equal(name, "self") || str_equal(name, "thread-self"))) {
                (void) snprintf(own, sizeof(own), "%d", (int) k->walker->tid);
                fd = open_path(k->walker->proc_fd, own, O_DIRECTORY, 0);
        } else if (is_procfs_top(k->at))
                return insert_link(k, name, rest);
        else
                fd = open_path(k->at, name, 0, 0);
        if (fd >= 0)
                memmove(k->rest, rest, strlen(rest) + 1);
        return walk_to(k, fd);
}

/* Takes the next component off; *ret_rest is what follows it, slashes included. False at the end. */
static bool next_component(const Walk *k, char name[static NAME_MAX + 1], const char **ret_rest,
                           int *ret_error) {
        const char *p = k->rest + strspn(k->rest, "/");
        size_t n = strcspn(p, "/");

        *ret_error = n > NAME_MAX ? -ENAMETOOLONG : 0;
        if (n == 0 || n > NAME_MAX)
                return false;
        memcpy(name, p, n);
        name[n] = '\0';
        *ret_rest = p + n;
        return true;
}

static bool is_last(const char *rest) {
        return rest[strspn(rest, "/")] == '\0';
}

/* 1: it goes on; 0: `name` in `at` is the end of the path. */
static int step(Walk *k, const char *name, const char *rest) {
        bool last = is_last(rest);
        struct stat st;

        if (is_dots(name)) {
                int r = walk_to(k, open_path(k->at, name, O_DIRECTORY, 0));

                memmove(k->rest, rest, strlen(rest) + 1);
                return r < 0 ? r : 1;
        }
        if (fstatat(k->at, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
                return last && errno == ENOENT ? 0 : -errno;
        if (S_ISLNK(st.st_mode) && (!last || k->follow || *rest)) {
                int r;

                if (++k->n_links > LINKS_MAX)
                        return -ELOOP;
                r = is_procfs(k->at) ? follow_proc_link(k, name, rest) : insert_link(k, name, rest);
                return r < 0 ? r : 1;
        }
        if (last)
                return 0;
        memmove(k->rest, rest, strlen(rest) + 1);
        return walk_to(k, open_path(k->at, name, O_NOFOLLOW | O_DIRECTORY, 0)) < 0 ? -ENOTDIR : 1;
}

/* Ends with a name in a directory, or with an object (name empty). */
static int walk(Walk *k, Spot *ret) {
        const char *rest;
        int r;

        if (k->rest[0] == '/') {
                r = walk_to(k, open_path(AT_FDCWD, "/", O_DIRECTORY, 0));
                if (r < 0)
                        return r;
        }
        while (next_component(k, ret->name, &rest, &r)) {
                r = step(k, ret->name, rest);
                if (r < 0)
                        return r;
                if (r == 0) {
                        ret->slash = *rest != '\0';
                        ret->parent = TAKE_FD(k->at);
                        return 0;
                }
        }
        if (r < 0)
                return r;
        if (k->rest[0] && !is_directory(k->at))
                return -ENOTDIR;
        ret->name[0] = '\0';
        ret->slash = k->rest[0] != '\0';
        ret->object = TAKE_FD(k->at);
        return 0;
}

static int walk_by_hand(Walker *w, int base, const char *path, bool follow, Spot *ret) {
        Walk k = {.walker = w, .at = -1, .follow = follow};
        int r;

        if (strlen(path) >= sizeof(k.rest))
                return -ENAMETOOLONG;
        r = walker_take_root(w);
        if (r < 0)
                return r;
        memcpy(k.rest, path, strlen(path) + 1);
        if (base >= 0) {
                k.at = fcntl(base, F_DUPFD_CLOEXEC, 3);
                if (k.at < 0)
                        return -errno;
        }
        r = walk(&k, ret);
        safe_close(k.at);
        return r;
}

/* ---- what calls ask for ---- */

/* "a/b/c//" to "a/b" and "c". -EINVAL when there is no last component to speak of. */
static int split(char *path, const char **ret_parent, Spot *ret) {
        size_t n = strlen(path), k;
        char *slash;

        for (k = n; k > 0 && path[k - 1] == '/'; k--)
                ;
        ret->slash = k < n;
        if (k == 0)
                return n ? -EINVAL : -ENOENT;
        path[k] = '\0';
        slash = strrchr(path, '/');
        if (strlen(slash ? slash + 1 : path) > NAME_MAX)
                return -ENAMETOOLONG;
        memcpy(ret->name, slash ? slash + 1 : path, strlen(slash ? slash + 1 : path) + 1);
        if (is_dots(ret->name))
                return -EINVAL;
        if (!slash)
                *ret_parent = ".";
        else if (slash == path)
                *ret_parent = "/";
        else {
                *slash = '\0';
                *ret_parent = path;
        }
        return 0;
}

/* The kernel walks, unless there are magic links on the way. May take *base. */
static int find_name(Walker *w, int *base, const char *path, Spot *ret) {
        char copy[PATH_MAX];
        const char *parent;
        int fd, r;

        memcpy(copy, path, strlen(path) + 1);
        r = split(copy, &parent, ret);
        if (r < 0)
                return r;
        if (*base >= 0 && str_equal(parent, ".")) {
                ret->parent = TAKE_FD(*base);
                return 0;
        }
        fd = open_walked(w, *base, parent, O_DIRECTORY);
        if (fd == -ELOOP) {
                r = walk_by_hand(w, *base, path, /* follow= */ false, ret);
                if (r < 0)
                        return r;
                return ret->parent < 0 ? -EINVAL : 0;
        }
        if (fd < 0)
                return fd;
        ret->parent = fd;
        return 0;
}

/* `always`: also of an absolute path. Otherwise that does not look at the descriptor, be it good or bad. */
static int read_path(Walker *w, const CallPath *p, bool always, char path[static PATH_MAX],
                     int *ret_base) {
        int r = walker_read_string(w, p->address, path);

        if (r < 0)
                return r;
        if (r == 0 && !p->may_be_empty)
                return -ENOENT;
        r = path[0] == '/' && !always ? AT_FDCWD : open_base(w, p->dirfd);
        if (r < 0 && r != AT_FDCWD)
                return r;
        *ret_base = r;
        return 0;
}

int walker_find_name(Walker *w, const CallPath *p, Spot *ret) {
        _cleanup_(spot_done) Spot s = SPOT_INIT;
        _cleanup_close_ int base = -1;
        char path[PATH_MAX];
        int r;

        if (p->by_fd)
                return -EINVAL;
        r = read_path(w, p, /* always= */ false, path, &base);
        if (r < 0)
                return r;
        r = find_name(w, &base, path, &s);
        if (r < 0)
                return r;
        *ret = s;
        s = (Spot) SPOT_INIT;
        return 0;
}

static int find_by_hand(Walker *w, int base, const char *path, bool follow, bool create, Spot *s) {
        int r = walk_by_hand(w, base, path, follow, s);

        if (r < 0 || s->object >= 0)
                return r;
        r = open_path(s->parent, s->name, O_NOFOLLOW | (s->slash ? O_DIRECTORY : 0), 0);
        if (r == -ENOENT && create)
                return 0;
        if (r < 0)
                return r;
        s->object = r;
        return 0;
}

/* A new file: its directory, and what the end of a chain of symlinks says it will be called. */
static int find_new(Walker *w, int base, const char *path, bool follow, Spot *s) {
        struct stat st;
        _cleanup_close_ int copy = base >= 0 ? fcntl(base, F_DUPFD_CLOEXEC, 3) : base;
        int r = find_name(w, &copy, path, s);

        if (r < 0)
                return r;
        if (!follow || fstatat(s->parent, s->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISLNK(st.st_mode))
                return 0;
        spot_done(s);
        return find_by_hand(w, base, path, follow, /* create= */ true, s);
}

static int find_object(Walker *w, int base, const char *path, bool follow, bool create, Spot *s) {
        int fd = open_walked(w, base, path, follow ? 0 : O_NOFOLLOW);

        if (fd == -ELOOP)
                return find_by_hand(w, base, path, follow, create, s);
        if (fd == -ENOENT && create)
                return find_new(w, base, path, follow, s);
        if (fd < 0)
                return fd;
        s->object = fd;
        return 0;
}

/* With RESOLVE_IN_ROOT the descriptor is the root: the thread moves there for the time of the walk. */
static int find_in_root(Walker *w, int base, const char *path, bool follow, bool create, Spot *s) {
        int r, back;

        if (fchdir(base) < 0 || chroot(".") < 0)
                return -errno;
        w->n_moves++;
        w->root_inode = 0;
        w->rooted = true;
        r = find_object(w, base, path + strspn(path, "/"), follow, create, s);
        w->rooted = false;
        back = walker_take_root(w);
        return back < 0 ? back : r;
}

int walker_find_object(Walker *w, const CallPath *p, uint64_t resolve, bool create, Spot *ret) {
        _cleanup_(spot_done) Spot s = SPOT_INIT;
        _cleanup_close_ int base = -1;
        char path[PATH_MAX];
        int r;

        if (p->by_fd) {
                if (p->dirfd == AT_FDCWD && !p->may_be_empty)
                        return -EBADF;
                path[0] = '\0';
                r = base = open_base(w, p->dirfd);
        } else
                r = read_path(w, p, resolve & RESOLVE_IN_ROOT, path, &base);
        if (r < 0)
                return r;
        if (path[0] == '\0')
                s.object = TAKE_FD(base);
        else if (resolve & RESOLVE_IN_ROOT)
                r = find_in_root(w, base, path, p->follow, create, &s);
        else
                r = find_object(w, base, path, p->follow, create, &s);
        if (r < 0)
                return r;
        *ret = s;
        s = (Spot) SPOT_INIT;
        return 0;
}

int walker_find_handle(Walker *w, int mount_fd, uint64_t address, Spot *ret) {
        union {
                struct file_handle h;
                char room[sizeof(struct file_handle) + HANDLE_MAX];
        } handle = {};
        _cleanup_close_ int base = -1;
        ProcName name;
        int r;

        r = walker_read(w, address, &handle.h, sizeof(handle.h));
        if (r < 0)
                return r;
        if (handle.h.handle_bytes > HANDLE_MAX)
                return -EINVAL;
        r = walker_read(w, address + sizeof(handle.h), handle.h.f_handle, handle.h.handle_bytes);
        if (r < 0)
                return r;
        if (mount_fd == AT_FDCWD)
                proc_name(w, "cwd", name);
        else
                (void) snprintf(name, sizeof(name), "%d/fd/%d", (int) w->tid, mount_fd);
        /* an O_PATH descriptor will not do; anything but a directory is rare, and might block */
        base = openat(w->proc_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (base < 0)
                return -errno;
        r = open_by_handle_at(base, &handle.h, O_PATH | O_CLOEXEC);
        if (r < 0)
                return -errno;
        *ret = (Spot) SPOT_INIT;
        ret->object = r;
        return 0;
}

/* What is our own trouble rather than the caller's. */
bool walker_is_fault(int error) {
        switch (error) {
        case -ENOMEM:
        case -EMFILE:
        case -ENFILE:
        case -EPERM:
        case -EACCES:
        case -ENOSYS:
        case -EINTR:
                return false;
        default:
                return true;
        }
}

/* The kernel marks what has no name any more, and a name may look as if it was marked: then it is looked up. */
static bool is_removed(int fd, const char *path) {
        static const char mark[] = " (deleted)";
        size_t n = strlen(path);
        struct stat st, now;

        if (fstat(fd, &st) < 0 || st.st_nlink == 0)
                return true;
        if (n < sizeof(mark) || !str_equal(path + n - (sizeof(mark) - 1), mark))
                return false;
        return lstat(path, &now) < 0 || now.st_dev != st.st_dev || now.st_ino != st.st_ino;
}

int walker_path_of(const Walker *w, int fd, char ret[static PATH_MAX]) {
        char name[32];
        ssize_t n;

        (void) snprintf(name, sizeof(name), "self/fd/%d", fd);
        n = readlinkat(w->proc_fd, name, ret, PATH_MAX);
        if (n < 0)
                return -errno;
        if (n == PATH_MAX)
                return -ENAMETOOLONG;
        ret[n] = '\0';
        return is_removed(fd, ret) ? -ESTALE : 0;
}
