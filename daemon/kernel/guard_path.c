/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/guard_walk.h"

#define HANDLE_MAX 128 /* MAX_HANDLE_SZ */

void spot_done(Spot *s) {
        s->object = safe_close(s->object);
        s->parent = safe_close(s->parent);
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
