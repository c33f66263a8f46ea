/* SPDX-License-Identifier: MIT */
/* The folders of kept files: DIR/preserve/SESSION/BLOB. Flat, but for what undo works in. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "daemon/store/branch.h"
#include "daemon/store/kept.h"
#include "daemon/store/store_internal.h"

/* A name from outside must not lead elsewhere. */
static bool is_id(const char *s) {
        return strlen(s) == 16 && strspn(s, "0123456789abcdef") == 16;
}

static int open_dir(int dir_fd, const char *name, bool make) {
        int fd;

        if (make && mkdirat(dir_fd, name, 0700) < 0 && errno != EEXIST)
                return errno == EDQUOT ? -ENOSPC : -errno;
        fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

static int open_top(const char *state_dir, bool make) {
        _cleanup_close_ int state = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return state < 0 ? -errno : open_dir(state, "preserve", make);
}

int preserve_open(const char *state_dir, const char *session, bool make) {
        _cleanup_close_ int top = -1;

        if (!is_id(session))
                return -EINVAL;
        top = open_top(state_dir, make);
        return top < 0 ? top : open_dir(top, session, make);
}

static void closedirp(DIR **d) {
        if (*d)
                (void) closedir(*d);
}

static DIR *take_dir(int *fd) {
        DIR *d = fdopendir(*fd);

        if (d)
                *fd = -1;
        return d;
}

static bool is_dots(const char *name) {
        return str_equal(name, ".") || str_equal(name, "..");
}

int preserve_remove_some(const char *state_dir, const char *session, size_t max) {
        _cleanup_close_ int top = is_id(session) ? open_top(state_dir, /* make= */ false) : -EINVAL;
        _cleanup_close_ int fd = top < 0 ? -1 : open_dir(top, session, /* make= */ false);
        _cleanup_(closedirp) DIR *d = NULL;
        struct dirent *e;
        int r;

        if (top < 0 || fd < 0)
                return top == -ENOENT || fd == -ENOENT ? 0 : MIN(top, fd);
        d = take_dir(&fd);
        if (!d)
                return -ENOMEM;
        for (errno = 0; (e = readdir(d)); errno = 0) {
                if (is_dots(e->d_name))
                        continue;
                if (max-- == 0)
                        return 1;
                r = branch_remove((BranchPlace){dirfd(d), e->d_name});
                if (r < 0)
                        return r;
        }
        if (errno != 0)
                return -errno;
        return unlinkat(top, session, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

int preserve_remove(const char *state_dir, const char *session) {
        int r = preserve_remove_some(state_dir, session, SIZE_MAX);

        return r < 0 ? r : 0;
}

/* 1: a row tells of the file. */
static int is_told(Store *s, const char *session, const char *blob) {
        _cleanup_(statement_done) Statement st = {0};
        int64_t n;
        int r = session_number(s, session, &n);

        if (r < 0)
                return r;
        r = statement_open(s, STATEMENT_KEPT_BLOBS,
                           "SELECT 1 FROM kept INDEXED BY kept_blob WHERE blob = ? AND session = ?",
                           &st);
        if (r < 0)
                return r;
        statement_bind_string(&st, blob);
        statement_bind_int(&st, n);
        return statement_step(&st);
}

static int sweep_session(Store *s, const char *dir, int top, const char *session) {
        _cleanup_close_ int fd = open_dir(top, session, /* make= */ false);
        _cleanup_(closedirp) DIR *d = NULL;
        struct dirent *e;
        int r;

        if (fd < 0)
                return fd == -ENOTDIR ? 0 : fd;
        d = take_dir(&fd);
        if (!d)
                return -ENOMEM;
        while ((e = readdir(d))) {
                if (!is_id(e->d_name)) /* not a blob: what undo remembers there */
                        continue;
                r = is_told(s, session, e->d_name);
                if (r == -ENOENT)
                        return preserve_remove(dir, session);
                if (r < 0)
                        return r;
                if (r == 0)
                        (void) unlinkat(dirfd(d), e->d_name, 0);
        }
        (void) unlinkat(top, session, AT_REMOVEDIR); /* when it is empty now */
        return 0;
}

int store_sweep_kept(Store *s) {
        _cleanup_free_ char *dir = NULL;
        _cleanup_close_ int top = -1;
        _cleanup_(closedirp) DIR *d = NULL;
        struct dirent *e;
        int r = store_dir(s, &dir);

        if (r < 0)
                return r;
        top = open_top(dir, /* make= */ false);
        if (top < 0)
                return top == -ENOENT ? 0 : top;
        d = take_dir(&top);
        if (!d)
                return -ENOMEM;
        while ((e = readdir(d))) {
                r = is_id(e->d_name) ? sweep_session(s, dir, dirfd(d), e->d_name) : 0;
                if (r < 0)
                        return r;
        }
        return 0;
}
