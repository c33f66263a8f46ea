/* SPDX-License-Identifier: MIT */
#include "daemon/store/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

void walk_leave(Walk *w) {
        WalkLevel *level = &w->levels[--w->depth];

        w->path[level->path_length] = 0;
        (void) safe_close(level->pair_fd);
        (void) closedir(level->dir);
}

void walk_done(Walk *w) {
        while (w->depth > 0)
                walk_leave(w);
}

int walk_dir_fd(const Walk *w) {
        return dirfd(w->levels[w->depth - 1].dir);
}

int *walk_pair_fd(Walk *w) {
        return &w->levels[w->depth - 1].pair_fd;
}

static int enter(Walk *w, int dir_fd, const char *name) {
        _cleanup_close_ int fd =
                openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;
        DIR *dir;

        if (fd < 0)
                return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
        if (fstat(fd, &st) < 0)
                return -errno;
        if ((w->depth > 0 && st.st_dev != w->dev) || w->depth == WALK_DEPTH_MAX)
                return 0;
        dir = fdopendir(fd);
        if (!dir)
                return -ENOMEM;
        (void) TAKE_FD(fd);
        w->dev = st.st_dev;
        w->levels[w->depth++] =
                (WalkLevel){.dir = dir, .pair_fd = -1, .path_length = strlen(w->path)};
        return 1;
}

int walk_start(Walk *w, int dir_fd, const char *name, const char *path) {
        int r;

        *w = (Walk){};
        if (strlen(path) >= sizeof w->path)
                return -ENAMETOOLONG;
        (void) strcpy(w->path, path);
        r = enter(w, dir_fd, name);
        return r == 0 ? -ENOTDIR : MIN(r, 0);
}

int walk_enter(Walk *w, const char *name) {
        return enter(w, walk_dir_fd(w), name);
}

const char *walk_next(Walk *w) {
        WalkLevel *level = &w->levels[w->depth - 1];
        struct dirent *e;

        while ((e = readdir(level->dir))) {
                size_t left = sizeof w->path - level->path_length;
                int n;

                if (str_equal(e->d_name, ".") || str_equal(e->d_name, ".."))
                        continue;
                n = snprintf(w->path + level->path_length, left, "/%s", e->d_name);
                if ((size_t) n < left)
                        return e->d_name;
        }
        w->path[level->path_length] = 0;
        return NULL;
}
