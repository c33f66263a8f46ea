/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "client/atomic_file.h"

/* A program that was started with a closed stream would print its messages into the file. */
static int keep_off_streams(int fd) {
        int moved;

        if (fd < 0)
                return -errno;
        if (fd > STDERR_FILENO)
                return fd;
        moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (moved < 0)
                moved = -errno;
        safe_close(fd);
        return moved;
}

/* The file itself where the name is a link to one. */
static char *follow(const char *path) {
        char *real = realpath(path, NULL);

        return real ? real : errno == ENOMEM ? NULL : strdup(path);
}

static int open_beside(AtomicFile *f, mode_t mode) {
        mode_t mask = umask(0);
        int fd;

        (void) umask(mask);
        if (asprintf(&f->temporary, "%s.XXXXXX", f->path) < 0) {
                f->temporary = NULL;
                return -ENOMEM;
        }
        fd = keep_off_streams(mkostemp(f->temporary, O_CLOEXEC));
        if (fd < 0) {
                free(TAKE_PTR(f->temporary));
                return fd;
        }
        /* filesystems without modes refuse it, and have none that could be wrong */
        (void) fchmod(fd, mode & ~mask);
        return fd;
}

int atomic_file_open(const char *path, mode_t mode, AtomicFile *ret) {
        _cleanup_(atomic_file_done) AtomicFile f = {.path = follow(path)};
        struct stat st;
        int fd;

        if (!f.path)
                return -ENOMEM;
        if (stat(f.path, &st) == 0 && !S_ISREG(st.st_mode))
                fd = keep_off_streams(open(f.path, O_WRONLY | O_CLOEXEC | O_NOCTTY));
        else
                fd = open_beside(&f, mode);
        if (fd < 0)
                return fd;
        f.file = fdopen(fd, "we");
        if (!f.file) {
                safe_close(fd);
                return -ENOMEM;
        }
        *ret = f;
        f = (AtomicFile){};
        return 0;
}

int atomic_file_commit(AtomicFile *f) {
        int r = 0;

        if (fflush(f->file) != 0 || ferror(f->file))
                r = errno > 0 ? -errno : -EIO;
        /* what cannot be synced (a pipe) says EINVAL */
        if (r == 0 && f->temporary && fsync(fileno(f->file)) < 0 && errno != EINVAL)
                r = -errno;
        if (fclose(TAKE_PTR(f->file)) != 0 && r == 0)
                r = -errno;
        if (r == 0 && f->temporary) {
                if (rename(f->temporary, f->path) == 0)
                        free(TAKE_PTR(f->temporary));
                else
                        r = -errno;
        }
        atomic_file_done(f);
        return r;
}

void atomic_file_done(AtomicFile *f) {
        if (f->file)
                (void) fclose(f->file);
        if (f->temporary)
                (void) unlink(f->temporary);
        free(f->temporary);
        free(f->path);
        *f = (AtomicFile){};
}
