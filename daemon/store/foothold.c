/* SPDX-License-Identifier: MIT */
#include "daemon/store/foothold.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

bool path_is_below(const char *path, const char *above) {
        size_t n = strlen(above);

        while (n > 0 && above[n - 1] == '/')
                n--;
        return strncmp(path, above, n) == 0 && (path[n] == 0 || path[n] == '/');
}

void foothold_done(Foothold *s) {
        s->dir_fd = safe_close(s->dir_fd);
}

static int open_directory(int dir_fd, const char *path, size_t n, uint64_t resolve) {
        struct open_how how = {
                .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                .resolve = RESOLVE_NO_MAGICLINKS | resolve,
        };
        _cleanup_free_ char *copy = strndup(path, n);
        int fd;

        if (!copy)
                return -ENOMEM;
        fd = (int) syscall(SYS_openat2, dir_fd, n > 0 ? copy : ".", &how, sizeof how);
        return fd < 0 ? -errno : fd;
}

static size_t directory_length(const char *path) {
        const char *slash = strrchr(path, '/');

        return slash && slash > path ? (size_t) (slash - path) : 1;
}

/* The configured path may lead through symlinks: whoever configures may say so. */
static int open_beside(const char *path, Foothold *ret) {
        int fd = open_directory(AT_FDCWD, path, directory_length(path), 0);

        if (fd < 0)
                return fd;
        *ret = (Foothold){.dir_fd = fd, .name = strrchr(path, '/') + 1};
        return 0;
}

static int open_root(const char *root, Foothold *ret) {
        int fd = open_directory(AT_FDCWD, root, strlen(root), 0);

        if (fd == -ENOTDIR)
                return open_beside(root, ret);
        if (fd < 0)
                return fd;
        *ret = (Foothold){.dir_fd = fd, .name = "."};
        return 0;
}

static int open_below(const char *root, const char *relative, Foothold *ret) {
        _cleanup_close_ int root_fd = open_directory(AT_FDCWD, root, strlen(root), 0);
        const char *slash = strrchr(relative, '/');
        int fd;

        if (root_fd < 0)
                return root_fd;
        fd = open_directory(root_fd, relative, slash ? (size_t) (slash - relative) : 0,
                            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
        if (fd < 0)
                return fd;
        *ret = (Foothold){.dir_fd = fd, .name = slash ? slash + 1 : relative};
        return 0;
}

static int open_anywhere(const char *path, Foothold *ret) {
        int fd = open_directory(AT_FDCWD, path, directory_length(path), RESOLVE_NO_SYMLINKS);

        if (fd < 0)
                return fd;
        *ret = (Foothold){.dir_fd = fd, .name = strrchr(path, '/') + 1};
        return 0;
}

int foothold_open(const char *root, const char *path, Foothold *ret) {
        size_t n = root ? strlen(root) : 0;

        if (path[0] != '/' || path[1] == 0)
                return -EINVAL;
        if (!root)
                return open_anywhere(path, ret);
        if (str_equal(root, path))
                return open_root(root, ret);
        if (path_is_below(path, root))
                return open_below(root, path + n + strspn(path + n, "/"), ret);
        if (strncmp(path, root, n) == 0 && !strchr(path + n, '/'))
                return open_beside(path, ret);
        return -EINVAL;
}
