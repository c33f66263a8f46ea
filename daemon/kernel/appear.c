/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/appear.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/inotify.h>

#define LINKS_MAX 16
#define EVENTS                                                                              \
        (IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | \
         IN_EXCL_UNLINK)

/* The last '/' of a path ends its parent; "/" is its own. Changes the string. */
static char *cut_last(char *path) {
        char *slash = strrchr(path, '/');

        if (!slash || slash == path)
                return NULL;
        *slash = '\0';
        return slash + 1;
}

/* A dangling symlink: what it points to is what has to appear. 1: *path was replaced by it. */
static int follow_link(char **path) {
        char target[PATH_MAX];
        char *joined = NULL, *parent;
        ssize_t n;
        int r;

        n = readlink(*path, target, sizeof(target) - 1);
        if (n <= 0)
                return 0;
        target[n] = '\0';
        if (target[0] == '/') {
                joined = strdup(target);
        } else {
                parent = strdup(*path);
                if (!parent)
                        return -ENOMEM;
                r = asprintf(&joined, "%s/%s", cut_last(parent) ? parent : "", target);
                free(parent);
                if (r < 0)
                        return -ENOMEM;
        }
        if (!joined)
                return -ENOMEM;
        free(*path);
        *path = joined;
        return 1;
}

int appear_watch(const char *path, int *ret_fd) {
        _cleanup_close_ int fd = -1;
        _cleanup_free_ char *p = strdup(path);
        unsigned links = 0;
        int r;

        if (!p)
                return -ENOMEM;
        fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (fd < 0)
                return -errno;
        for (;;) {
                if (inotify_add_watch(fd, *p ? p : "/", EVENTS) >= 0)
                        break;
                if (errno != ENOENT && errno != ENOTDIR)
                        return -errno;
                r = links < LINKS_MAX ? follow_link(&p) : 0;
                if (r < 0)
                        return r;
                if (r > 0)
                        links++;
                else if (!cut_last(p)) {
                        if (inotify_add_watch(fd, "/", EVENTS) < 0)
                                return -errno;
                        break;
                }
        }
        *ret_fd = TAKE_FD(fd);
        return 0;
}
