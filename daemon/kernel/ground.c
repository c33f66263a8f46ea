/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/ground.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#ifndef AT_HANDLE_FID
#define AT_HANDLE_FID 0x200 /* 6.5 */
#endif

typedef union HandleBuffer {
        struct file_handle handle;
        unsigned char bytes[sizeof(struct file_handle) + FAN_HANDLE_MAX];
} HandleBuffer;

static int handle_at(int fd, const char *name, int flags, uint64_t *ret) {
        HandleBuffer b = {};
        FanHandle h;
        int mount_id;

        b.handle.handle_bytes = FAN_HANDLE_MAX;
        if (name_to_handle_at(fd, name, &b.handle, &mount_id, flags) < 0)
                return -errno;
        h = (FanHandle){.data = b.handle.f_handle,
                        .size = b.handle.handle_bytes,
                        .type = b.handle.handle_type};
        *ret = fan_handle_id(&h);
        return 0;
}

int ground_id_at(const Ground *g, int fd, const char *name, uint64_t *ret) {
        return handle_at(fd, name, (*name ? 0 : AT_EMPTY_PATH) | (g->fid ? AT_HANDLE_FID : 0), ret);
}

ObjectKind ground_kind(mode_t mode) {
        switch (mode & S_IFMT) {
        case S_IFREG:
                return KIND_FILE;
        case S_IFDIR:
                return KIND_DIR;
        case S_IFLNK:
                return KIND_SYMLINK;
        default:
                return KIND_OTHER;
        }
}

int ground_stat_at(const Ground *g, int fd, const char *name, int want, GroundStat *ret) {
        int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, r;
        GroundStat s = {};
        struct statx x;

        if (!*name)
                flags |= AT_EMPTY_PATH;
        if (g->remote && want & GROUND_CACHED)
                flags |= AT_STATX_DONT_SYNC;
        if (statx(fd, name, flags, STATX_BASIC_STATS | STATX_BTIME, &x) < 0)
                return -errno;
        s.kind = ground_kind(x.stx_mode);
        s.size = x.stx_size;
        s.mtime = x.stx_mtime.tv_sec * (int64_t) NSEC_PER_SEC + x.stx_mtime.tv_nsec;
        if (x.stx_mask & STATX_BTIME)
                s.btime = x.stx_btime.tv_sec * (int64_t) NSEC_PER_SEC + x.stx_btime.tv_nsec;
        s.ino = x.stx_ino;
        s.links = x.stx_nlink;
        s.mount_root = *name && (x.stx_attributes & STATX_ATTR_MOUNT_ROOT);
        if (want & GROUND_ID && !s.mount_root) {
                r = ground_id_at(g, fd, name, &s.id);
                if (r < 0)
                        return r;
        }
        *ret = s;
        return 0;
}

static int open_directory(int fd, const char *path) {
        struct open_how how = {
                .flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOATIME,
                .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
        };
        int r;

        r = (int) syscall(SYS_openat2, fd, path, &how, sizeof(how));
        if (r < 0 && errno == EPERM) {
                /* Not the owner, for instance through a user id mapping: the access time is no reason to give up. */
                how.flags &= ~(uint64_t) O_NOATIME;
                r = (int) syscall(SYS_openat2, fd, path, &how, sizeof(how));
        }
        return r < 0 ? -errno : r;
}

/* Events have the handles that AT_HANDLE_FID gives. Where those are the plain ones they can be opened as well. */
static int learn_handles(Ground *g, int fd) {
        uint64_t plain = 0, fid = 0;
        int p, f;

        p = handle_at(fd, "", AT_EMPTY_PATH, &plain);
        f = handle_at(fd, "", AT_EMPTY_PATH | AT_HANDLE_FID, &fid);
        if (p < 0 && f < 0)
                return p == -EINVAL ? -EOPNOTSUPP : p;
        g->closed = p < 0 || (f == 0 && fid != plain);
        g->fid = f == 0 && g->closed;
        g->root_id = g->fid ? fid : plain;
        return 0;
}

int ground_init(Ground *g, const char *root) {
        _cleanup_close_ int fd = -1;
        struct stat st;
        int r;

        *g = (Ground){.fd = -1, .copy = -1};
        fd = open(root, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        if (fstat(fd, &st) < 0)
                return -errno;
        r = learn_handles(g, fd);
        if (r < 0)
                return r;
        g->root = strdup(root);
        if (!g->root)
                return -ENOMEM;
        g->dev = st.st_dev;
        g->ino = st.st_ino;
        return 0;
}

void ground_release(Ground *g) {
        g->fd = safe_close(g->fd);
        g->copy = safe_close(g->copy);
}

bool ground_is_there(const Ground *g) {
        struct stat st;

        return lstat(g->root, &st) == 0 && st.st_dev == g->dev && st.st_ino == g->ino;
}

bool ground_is_held(const Ground *g) {
        return g->fd >= 0;
}

void ground_done(Ground *g) {
        ground_release(g);
        free(g->root);
        *g = (Ground){.fd = -1, .copy = -1};
}

static int open_real(const char *path) {
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

/* What open_tree() returns is an O_PATH descriptor, which is not good for handles on older kernels: the directory is opened. */
static int open_copy(const char *path, int *ret_copy) {
        _cleanup_close_ int copy = -1;
        int fd;

        copy = (int) syscall(SYS_open_tree, AT_FDCWD, path,
                             OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
        if (copy < 0)
                return -errno;
        fd = openat(copy, ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        *ret_copy = TAKE_FD(copy);
        return fd;
}

int ground_fd(Ground *g) {
        _cleanup_close_ int fd = -1, copy = -1;
        struct stat st;
        uint64_t id = 0;
        int r;

        if (g->fd >= 0)
                return g->fd;
        fd = open_copy(g->root, &copy);
        /* A mount that must not be copied (unbindable, or locked by a user namespace), or a sandbox without the call. */
        if (fd == -EINVAL || fd == -EPERM || fd == -ENOSYS)
                fd = open_real(g->root);
        if (fd < 0)
                return fd;
        if (fstat(fd, &st) < 0)
                return -errno;
        r = ground_id_at(g, fd, "", &id);
        if (r < 0)
                return r;
        if (st.st_dev != g->dev || id != g->root_id)
                return -ESTALE;
        g->copy = TAKE_FD(copy);
        g->fd = TAKE_FD(fd);
        return g->fd;
}

/* Something on the filesystem that this program has mounted: the root, or when that was moved away, what is above its old place.
 * Caller closes. */
static int open_anchor(const Ground *g) {
        _cleanup_free_ char *path = strdup(g->root);
        struct stat st;
        char *slash;
        int fd;

        while (path) {
                fd = open_real(*path ? path : "/");
                if (fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == g->dev)
                        return fd;
                safe_close(fd);
                slash = strrchr(path, '/');
                if (!slash)
                        break;
                *slash = '\0';
        }
        return -ESTALE;
}

/* O_PATH: neither the owner's permissions nor the events of an open are touched. Caller closes. */
static int open_handle(const Ground *g, int mount_fd, const FanHandle *h, int flags) {
        HandleBuffer b = {};
        int fd;

        if (!h->data || h->size > FAN_HANDLE_MAX)
                return -EINVAL;
        if (g->closed)
                return -EOPNOTSUPP;
        if (mount_fd < 0)
                return mount_fd;
        b.handle.handle_bytes = h->size;
        b.handle.handle_type = h->type;
        memcpy(b.handle.f_handle, h->data, h->size);
        fd = open_by_handle_at(mount_fd, &b.handle, O_PATH | O_CLOEXEC | flags);
        return fd < 0 ? -errno : fd;
}

int ground_stat_handle(Ground *g, const FanHandle *h, GroundStat *ret) {
        _cleanup_close_ int fd = -1, anchor = -1;
        int r;

        r = ground_fd(g);
        if (r < 0)
                r = anchor = open_anchor(g);
        fd = open_handle(g, r, h, O_NOFOLLOW);
        if (fd < 0)
                return fd;
        r = ground_stat_at(g, fd, "", 0, ret);
        if (r == 0)
                ret->id = fan_handle_id(h);
        return r;
}

int ground_open_node(Ground *g, const Node *n) {
        _cleanup_close_ int fd = -1;
        _cleanup_free_ char *path = NULL;
        uint64_t id = 0;
        char *p;
        int r;

        r = ground_fd(g);
        if (r < 0)
                return r;
        if (!n->parent) {
                r = open_directory(r, ".");
                return r;
        }
        path = node_path(n, "", NULL);
        if (!path)
                return -ENOMEM;
        /* A path longer than PATH_MAX is walked in pieces. */
        for (p = path + 1; *p;) {
                char *end = p + strlen(p);
                int next;

                if (end - p >= PATH_MAX) {
                        end = p + PATH_MAX - 1;
                        while (*end != '/')
                                end--;
                        *end++ = '\0';
                }
                next = open_directory(fd >= 0 ? fd : r, p);
                if (next < 0)
                        return next;
                safe_close(fd);
                fd = next;
                p = end;
        }
        r = ground_id_at(g, fd, "", &id);
        if (r < 0)
                return r;
        if (n->id && id != n->id)
                return -ESTALE;
        return TAKE_FD(fd);
}

int ground_stat_node(Ground *g, const Node *n, GroundStat *ret) {
        _cleanup_close_ int fd = -1;

        if (!n->parent) {
                fd = ground_open_node(g, n);
                return fd < 0 ? fd : ground_stat_at(g, fd, "", GROUND_ID, ret);
        }
        fd = ground_open_node(g, n->parent);
        return fd < 0 ? fd : ground_stat_at(g, fd, n->name, GROUND_ID, ret);
}

int ground_stat_names(Ground *g, const Node *n, GroundStat *ret) {
        uint64_t id = n ? n->id : 0;
        GroundStat s = {};

        for (; n && n->parent; n = node_next_name(n)) {
                if (ground_stat_node(g, n, &s) == 0 && s.id == id) {
                        *ret = s;
                        return 0;
                }
        }
        return -ESTALE;
}

int ground_stat_object(Ground *g, const FanHandle *h, const Node *n, GroundStat *ret) {
        int r = ground_stat_handle(g, h, ret);

        return r == -EOPNOTSUPP ? ground_stat_names(g, n, ret) : r;
}

int ground_directory_path(Ground *g, const FanHandle *h, char **ret) {
        _cleanup_close_ int fd = -1, anchor = -1;
        char link[sizeof("/proc/self/fd/") + 12], path[PATH_MAX + 16];
        static const char deleted[] = " (deleted)";
        ssize_t n;

        /* Through the copy of the mount there is no path to it. */
        anchor = open_anchor(g);
        fd = open_handle(g, anchor, h, O_DIRECTORY);
        if (fd < 0)
                return fd;
        (void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        n = readlink(link, path, sizeof(path) - 1);
        if (n < 0)
                return -errno;
        path[n] = '\0';
        /* Not below the mount that the handle was opened on, or removed since. */
        if (path[0] != '/' || n == sizeof(path) - 1)
                return -ENOENT;
        if ((size_t) n > sizeof(deleted) && str_equal(path + n - (sizeof(deleted) - 1), deleted))
                return -ESTALE;
        *ret = strdup(path);
        return *ret ? 0 : -ENOMEM;
}
