/* SPDX-License-Identifier: MIT */
/*
 * Owner, mode, times, extended attributes. All by an O_PATH descriptor: it opens nothing (no event, no lease is broken, a fifo
 * does not wait), and /proc/self/fd/N leads to a symlink itself.
 */
#include "daemon/store/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/xattr.h>

#define XATTRS_MAX (1024 * 1024) /* one value is at most 64 KiB on Linux */
#define NSEC INT64_C(1000000000)

void copy_meta_done(CopyMeta *m) {
        free(m->xattrs);
        *m = (CopyMeta){};
}

int copy_meta_clone(const CopyMeta *m, CopyMeta *ret) {
        CopyMeta copy = *m;

        copy.xattrs = NULL;
        if (m->xattrs) {
                copy.xattrs = malloc(m->xattrs_size + 1);
                if (!copy.xattrs)
                        return -ENOMEM;
                memcpy(copy.xattrs, m->xattrs, m->xattrs_size);
        }
        *ret = copy;
        return 0;
}

/* An O_PATH descriptor, and the path that names its object to calls that take only a path. */
typedef struct Handle {
        int fd;
        char path[32];
} Handle;

static void handle_done(Handle *h) {
        h->fd = safe_close(h->fd);
}

static int handle_open(int dir_fd, const char *name, Handle *ret) {
        int fd = name[0] ? openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)
                         : fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);

        if (fd < 0)
                return -errno;
        ret->fd = fd;
        (void) snprintf(ret->path, sizeof ret->path, "/proc/self/fd/%d", fd);
        return 0;
}

static bool lacks_xattrs(int error) {
        return error == EOPNOTSUPP || error == ENOSYS;
}

/* The names, as listxattr gives them. *ret NULL: none. */
static int list_xattrs(const Handle *h, char **ret, size_t *ret_size) {
        for (size_t size = 1024; size <= XATTRS_MAX; size *= 2) {
                _cleanup_free_ char *names = malloc(size);
                ssize_t n;

                if (!names)
                        return -ENOMEM;
                n = listxattr(h->path, names, size);
                if (n < 0 && errno == ERANGE)
                        continue;
                if (n < 0 && !lacks_xattrs(errno))
                        return -errno;
                *ret = n > 0 ? TAKE_PTR(names) : NULL;
                *ret_size = n > 0 ? (size_t) n : 0;
                return 0;
        }
        return -E2BIG;
}

static int read_xattr(const Handle *h, const char *name, char **ret, size_t *ret_size) {
        for (size_t size = 256; size <= XATTRS_MAX; size *= 2) {
                _cleanup_free_ char *value = malloc(size);
                ssize_t n;

                if (!value)
                        return -ENOMEM;
                n = getxattr(h->path, name, value, size);
                if (n < 0 && errno == ERANGE)
                        continue;
                if (n < 0)
                        return -errno;
                *ret = TAKE_PTR(value);
                *ret_size = (size_t) n;
                return 0;
        }
        return -E2BIG;
}

static int append_xattr(CopyMeta *m, const char *name, const char *value, size_t size) {
        size_t name_size = strlen(name) + 1;
        uint32_t length = (uint32_t) size;
        char *grown, *at;

        if (m->xattrs_size + name_size + sizeof length + size > XATTRS_MAX)
                return -E2BIG;
        grown = realloc(m->xattrs, m->xattrs_size + name_size + sizeof length + size);
        if (!grown)
                return -ENOMEM;
        m->xattrs = grown;
        at = grown + m->xattrs_size;
        memcpy(at, name, name_size);
        memcpy(at + name_size, &length, sizeof length);
        if (size > 0)
                memcpy(at + name_size + sizeof length, value, size);
        m->xattrs_size += name_size + sizeof length + size;
        return 0;
}

/* What is listed but cannot be read is not ours to bring back. */
static int read_xattrs(const Handle *h, CopyMeta *m) {
        _cleanup_free_ char *names = NULL;
        size_t size;
        int r = list_xattrs(h, &names, &size);

        if (r < 0)
                return r;
        for (const char *name = names; names && name < names + size; name += strlen(name) + 1) {
                _cleanup_free_ char *value = NULL;
                size_t length = 0;

                r = read_xattr(h, name, &value, &length);
                if (r == -ENOMEM)
                        return r;
                if (r < 0)
                        continue;
                r = append_xattr(m, name, value, length);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int64_t to_nsec(const struct timespec *t) {
        return t->tv_sec * NSEC + t->tv_nsec;
}

static struct timespec to_timespec(int64_t nsec) {
        int64_t rest = nsec % NSEC;

        rest += rest < 0 ? NSEC : 0;
        return (struct timespec){.tv_sec = (nsec - rest) / NSEC, .tv_nsec = rest};
}

static void from_stat(const struct stat *st, CopyMeta *m) {
        m->mode = st->st_mode;
        m->uid = st->st_uid;
        m->gid = st->st_gid;
        m->rdev = st->st_rdev;
        m->atime = to_nsec(&st->st_atim);
        m->mtime = to_nsec(&st->st_mtim);
}

int copy_meta_read(int dir_fd, const char *name, CopyMeta *ret) {
        _cleanup_(handle_done) Handle h = {.fd = -1};
        _cleanup_(copy_meta_done) CopyMeta m = {};
        struct stat st;
        int r = handle_open(dir_fd, name, &h);

        if (r < 0)
                return r;
        if (fstat(h.fd, &st) < 0)
                return -errno;
        from_stat(&st, &m);
        r = read_xattrs(&h, &m);
        if (r < 0)
                return r;
        *ret = m;
        m.xattrs = NULL;
        return 0;
}

/* The next attribute of a list; false at its end. */
typedef struct Xattr {
        const char *name, *value;
        size_t size;
} Xattr;

static bool next_xattr(const CopyMeta *m, size_t *at, Xattr *ret) {
        const char *end = m->xattrs ? m->xattrs + m->xattrs_size : NULL;
        const char *p = m->xattrs ? m->xattrs + *at : NULL, *nul;
        uint32_t size;

        nul = p && p < end ? memchr(p, 0, (size_t) (end - p)) : NULL;
        if (!nul || (size_t) (end - nul - 1) < sizeof size)
                return false;
        memcpy(&size, nul + 1, sizeof size);
        if ((size_t) (end - nul - 1) - sizeof size < size)
                return false;
        *ret = (Xattr){.name = p, .value = nul + 1 + sizeof size, .size = size};
        *at = (size_t) (ret->value + size - m->xattrs);
        return true;
}

static bool find_xattr(const CopyMeta *m, const char *name, Xattr *ret) {
        size_t at = 0;

        while (next_xattr(m, &at, ret))
                if (str_equal(ret->name, name))
                        return true;
        return false;
}

static bool has_xattr(const CopyMeta *m, const Xattr *x) {
        Xattr other;

        return find_xattr(m, x->name, &other) && other.size == x->size &&
                memcmp(other.value, x->value, x->size) == 0;
}

static void note(int *r, int error) {
        if (*r == 0 && error != 0)
                *r = -error;
}

/* An attribute that is as it should be is not written: some cannot be (security.selinux in a container). */
static int write_xattrs(const Handle *h, const CopyMeta *m) {
        _cleanup_(copy_meta_done) CopyMeta now = {};
        size_t at = 0;
        Xattr x;
        int r = read_xattrs(h, &now);

        if (r < 0)
                return r;
        while (next_xattr(&now, &at, &x))
                if (!find_xattr(m, x.name, &(Xattr){}) && removexattr(h->path, x.name) < 0 &&
                    errno != ENODATA)
                        note(&r, lacks_xattrs(errno) ? 0 : errno);
        at = 0;
        while (next_xattr(m, &at, &x))
                if (!has_xattr(&now, &x) && setxattr(h->path, x.name, x.value, x.size, 0) < 0)
                        note(&r, lacks_xattrs(errno) ? 0 : errno);
        return r;
}

/* A change of owner clears set-id bits and file capabilities, and an ACL is part of the mode: so in this order. */
int copy_meta_write(int dir_fd, const char *name, const CopyMeta *m) {
        struct timespec times[] = {to_timespec(m->atime), to_timespec(m->mtime)};
        _cleanup_(handle_done) Handle h = {.fd = -1};
        struct stat st;
        int r = handle_open(dir_fd, name, &h), q;

        if (r < 0)
                return r;
        if (fstat(h.fd, &st) < 0)
                return -errno;
        if ((st.st_uid != m->uid || st.st_gid != m->gid) &&
            fchownat(h.fd, "", m->uid, m->gid, AT_EMPTY_PATH) < 0)
                note(&r, errno);
        q = write_xattrs(&h, m);
        note(&r, -q);
        if (!S_ISLNK(m->mode) && chmod(h.path, m->mode & 07777) < 0)
                note(&r, errno);
        if (utimensat(h.fd, "", times, AT_EMPTY_PATH) < 0)
                note(&r, errno);
        return r;
}

bool copy_meta_equal(const CopyMeta *a, const CopyMeta *b, bool with_times) {
        size_t at = 0;
        Xattr x;

        if (a->mode != b->mode || a->uid != b->uid || a->gid != b->gid || a->rdev != b->rdev)
                return false;
        if (with_times && a->mtime != b->mtime)
                return false;
        if (a->xattrs_size != b->xattrs_size)
                return false;
        while (next_xattr(a, &at, &x))
                if (!has_xattr(b, &x))
                        return false;
        return true;
}
