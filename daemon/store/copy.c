/* SPDX-License-Identifier: MIT */
#include "daemon/store/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define PIECE (8 * 1024 * 1024)
#define BUFFER (256 * 1024)

/* A copy that goes on. */
typedef struct Copy {
        int from, to;
        int64_t size;
        int64_t old;   /* length of `to` before */
        uint64_t left; /* bytes of data it may still take */
        CopyCancel cancel;
        bool by_buffer;
        char *buffer; /* owned; NULL until needed */
} Copy;

static void copy_done(Copy *c) {
        free(c->buffer);
}

static int space_errno(int error) {
        return error == EDQUOT ? -ENOSPC : -error;
}

static int write_all(int fd, const char *p, size_t n, int64_t at) {
        while (n > 0) {
                ssize_t w = pwrite(fd, p, n, at);

                if (w < 0 && errno == EINTR)
                        continue;
                if (w < 0)
                        return space_errno(errno);
                p += w;
                at += w;
                n -= (size_t) w;
        }
        return 0;
}

/* Bytes copied, 0 at the end of the file. */
static ssize_t piece_by_buffer(Copy *c, int64_t at, size_t n) {
        ssize_t got;
        int r;

        if (!c->buffer) {
                c->buffer = malloc(BUFFER);
                if (!c->buffer)
                        return -ENOMEM;
        }
        do
                got = pread(c->from, c->buffer, MIN(n, (size_t) BUFFER), at);
        while (got < 0 && errno == EINTR);
        if (got < 0)
                return -errno;
        r = write_all(c->to, c->buffer, (size_t) got, at);
        return r < 0 ? r : got;
}

/* Any error but lack of space is for the other way to find again, or not: which errors copy_file_range gives for "cannot do
 * that here" differs between kernels and filesystems. */
static ssize_t copy_piece(Copy *c, int64_t at, size_t n) {
        int64_t in = at, out = at;
        ssize_t got;

        if (c->by_buffer)
                return piece_by_buffer(c, at, n);
        got = copy_file_range(c->from, &in, c->to, &out, n, 0);
        if (got > 0)
                return got;
        if (got < 0 && (errno == ENOSPC || errno == EDQUOT))
                return -ENOSPC;
        c->by_buffer = true;
        return piece_by_buffer(c, at, n);
}

/* From `at` to `end` there is data. */
static int copy_data(Copy *c, int64_t at, int64_t end) {
        while (at < end) {
                ssize_t n;

                if (c->cancel && atomic_load(c->cancel))
                        return -ECANCELED;
                n = copy_piece(c, at, (size_t) MIN(end - at, (int64_t) PIECE));
                if (n <= 0) /* 0: it has become shorter meanwhile */
                        return (int) n;
                if ((uint64_t) n > c->left)
                        return -EFBIG;
                c->left -= (uint64_t) n;
                at += n;
        }
        return 0;
}

/* From `at` to `end` there is a hole. */
static int copy_hole(Copy *c, int64_t at, int64_t end) {
        static const char zeros[4096];

        end = MIN(end, c->old);
        if (at >= end ||
            fallocate(c->to, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, end - at) == 0)
                return 0;
        while (at < end) {
                size_t n = (size_t) MIN(end - at, (int64_t) sizeof zeros);
                int r = write_all(c->to, zeros, n, at);

                if (r < 0)
                        return r;
                at += (int64_t) n;
        }
        return 0;
}

static int copy_extents(Copy *c) {
        int64_t at = 0, data, hole;
        int r = 0;

        while (at < c->size && r == 0) {
                data = lseek(c->from, at, SEEK_DATA);
                if (data < 0)
                        data = errno == ENXIO ? c->size : at;
                data = MIN(data, c->size);
                hole = data < c->size ? lseek(c->from, data, SEEK_HOLE) : c->size;
                if (hole < 0 || hole > c->size)
                        hole = c->size;
                r = copy_hole(c, at, data);
                if (r == 0)
                        r = copy_data(c, data, hole);
                at = hole;
        }
        return r;
}

/* Blocks of the filesystem, where it tells; an empty answer (some remote ones) is "as many as the length". */
uint64_t copy_data_size(const struct stat *st) {
        uint64_t size = (uint64_t) st->st_size, blocks = (uint64_t) st->st_blocks * 512;

        return blocks > 0 ? MIN(size, blocks) : size;
}

int copy_content(int from, int to, uint64_t bytes_max, CopyCancel cancel, CopyMethod *ret_method) {
        _cleanup_(copy_done) Copy c = {.from = from, .to = to, .left = bytes_max, .cancel = cancel};
        struct stat st, old;
        bool cloned;
        int r;

        if (fstat(from, &st) < 0 || fstat(to, &old) < 0)
                return -errno;
        c.size = st.st_size;
        c.old = old.st_size;
        if (copy_data_size(&st) > bytes_max)
                return -EFBIG;
        cloned = ioctl(to, FICLONE, from) == 0;
        if (!cloned) {
                r = copy_extents(&c);
                if (r < 0)
                        return r;
        }
        /* Only now is what was longer cut off. A clone has the length of its moment. */
        if ((!cloned || c.old > c.size) && ftruncate(to, c.size) < 0)
                return space_errno(errno);
        *ret_method = cloned ? COPY_REFLINK : c.by_buffer ? COPY_BUFFER : COPY_RANGE;
        return 0;
}

/* The object before it has its name: a file without one, or under a name that is only for this. */
typedef struct Making {
        int dir_fd;
        int fd;        /* of a regular file */
        bool nameless; /* O_TMPFILE */
        char temp[COPY_TEMP_SIZE];
} Making;

static void making_done(Making *m) {
        m->fd = safe_close(m->fd);
        if (m->temp[0] && unlinkat(m->dir_fd, m->temp, 0) < 0 && errno == EISDIR)
                (void) unlinkat(m->dir_fd, m->temp, AT_REMOVEDIR);
}

void copy_temp_name(const char *name, char ret[static COPY_TEMP_SIZE]) {
        uint64_t h = 0xcbf29ce484222325ULL;

        for (; *name; name++)
                h = (h ^ (unsigned char) *name) * 0x100000001b3ULL;
        (void) snprintf(ret, COPY_TEMP_SIZE, ".mountwatch-%016llx", (unsigned long long) h);
}

static int make_file(Making *m) {
        m->fd = openat(m->dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (m->fd >= 0) {
                m->nameless = true;
                m->temp[0] = 0;
                return 0;
        }
        m->fd = openat(m->dir_fd, m->temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       0600);
        return m->fd < 0 ? space_errno(errno) : 0;
}

static int make_object(Making *m, const CopySource *source) {
        mode_t mode = source->meta->mode;
        int r;

        if (S_ISREG(mode))
                return make_file(m);
        if (S_ISDIR(mode))
                r = mkdirat(m->dir_fd, m->temp, 0700);
        else if (S_ISLNK(mode))
                r = symlinkat(source->target, m->dir_fd, m->temp);
        else
                r = mknodat(m->dir_fd, m->temp, (mode & S_IFMT) | 0600, source->meta->rdev);
        return r < 0 ? space_errno(errno) : 0;
}

/* Not every filesystem can be told not to replace (NFS, SMB): there we look first. */
static int give_name(Making *m, const char *name) {
        struct stat st;

        if (renameat2(m->dir_fd, m->temp, m->dir_fd, name, RENAME_NOREPLACE) == 0)
                return 0;
        if (errno != EINVAL && errno != ENOSYS)
                return -errno;
        if (fstatat(m->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
                return -EEXIST;
        return renameat(m->dir_fd, m->temp, m->dir_fd, name) < 0 ? -errno : 0;
}

static int come_to_name(Making *m, const char *name) {
        char path[32];
        int r;

        if (!m->nameless) {
                r = give_name(m, name);
                if (r == 0)
                        m->temp[0] = 0;
                return r;
        }
        (void) snprintf(path, sizeof path, "/proc/self/fd/%d", m->fd);
        return linkat(AT_FDCWD, path, m->dir_fd, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

int copy_make(int dir_fd, const char *name, const CopySource *source, CopyCancel cancel) {
        _cleanup_(making_done) Making m = {.dir_fd = dir_fd, .fd = -1};
        CopyMethod method;
        int r, meta;

        copy_temp_name(name, m.temp);
        if (unlinkat(dir_fd, m.temp, 0) < 0 && errno == EISDIR)
                (void) unlinkat(dir_fd, m.temp, AT_REMOVEDIR);
        r = make_object(&m, source);
        if (r < 0) {
                m.temp[0] = 0;
                return r;
        }
        if (m.fd >= 0 && source->fd >= 0)
                r = copy_content(source->fd, m.fd, UINT64_MAX, cancel, &method);
        if (r < 0)
                return r;
        meta = m.fd >= 0 ? copy_meta_write(m.fd, "", source->meta)
                         : copy_meta_write(dir_fd, m.temp, source->meta);
        r = come_to_name(&m, name);
        return r < 0 ? r : meta < 0;
}
