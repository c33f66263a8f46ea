/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "daemon/api/listener.h"

#define BACKLOG 128

static int make_parent(const char *path) {
        const char *slash = strrchr(path, '/');
        _cleanup_free_ char *parent = NULL;

        if (!slash || slash == path)
                return 0;
        parent = strndup(path, (size_t) (slash - path));
        if (!parent)
                return -ENOMEM;
        return mkdir(parent, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

/* A socket file outlives its server. Whether one is there, only connect() tells. */
static int is_stale(const struct sockaddr_un *address) {
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd < 0)
                return -errno;
        if (connect(fd, (const struct sockaddr *) address, sizeof *address) == 0)
                return 0;
        switch (errno) {
        case ECONNREFUSED:
        case ENOENT:
                return 1;
        case EAGAIN:     /* its backlog is full: it is alive, and busy */
        case EPROTOTYPE: /* a datagram socket */
                return 0;
        default:
                return -errno;
        }
}

/* Nobody is served between the removal of a stale file and listen(), as nobody was before: a rename over it would gain nothing,
 * and would leave the temporary name in what ss(8) and getpeername() show. */
static int remove_stale(const struct sockaddr_un *address) {
        struct stat st;
        int r;

        if (lstat(address->sun_path, &st) < 0)
                return errno == ENOENT ? 0 : -errno;
        if (!S_ISSOCK(st.st_mode))
                return -EEXIST;
        r = is_stale(address);
        if (r < 0)
                return r;
        if (r == 0)
                return -EADDRINUSE;
        return unlink(address->sun_path) < 0 && errno != ENOENT ? -errno : 0;
}

int listener_open(const char *path, Listener *ret) {
        _cleanup_close_ int fd = -1;
        _cleanup_free_ char *copy = strdup(path);
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        struct stat st;
        int r;

        if (!copy)
                return -ENOMEM;
        if (strlen(path) >= sizeof address.sun_path)
                return -ENAMETOOLONG;
        memcpy(address.sun_path, path, strlen(path) + 1);
        r = make_parent(path);
        if (r < 0)
                return r;
        r = remove_stale(&address);
        if (r < 0)
                return r;
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        if (bind(fd, (const struct sockaddr *) &address, sizeof address) < 0)
                return -errno;
        /* connect() needs write permission, and bind() has applied the umask; peer credentials decide who may do what */
        if (lstat(path, &st) < 0 || chmod(path, 0666) < 0 || listen(fd, BACKLOG) < 0) {
                r = -errno;
                (void) unlink(path);
                return r;
        }
        *ret = (Listener){
                .fd = TAKE_FD(fd), .path = TAKE_PTR(copy), .dev = st.st_dev, .ino = st.st_ino};
        return 0;
}

int listener_take(int fd, Listener *ret) {
        int flags = fcntl(fd, F_GETFL), fd_flags = fcntl(fd, F_GETFD);

        if (flags < 0 || fd_flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
            fcntl(fd, F_SETFD, fd_flags | FD_CLOEXEC) < 0)
                return -errno;
        *ret = (Listener){.fd = fd};
        return 0;
}

void listener_done(Listener *l) {
        struct stat st;

        if (l->path && lstat(l->path, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino)
                (void) unlink(l->path);
        safe_close(l->fd);
        free(l->path);
        *l = LISTENER_NULL;
}
