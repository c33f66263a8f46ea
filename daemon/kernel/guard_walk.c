/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/guard_walk.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#define LINKS_MAX 40    /* MAXSYMLINKS of the kernel */
#define PROC_ROOT_INO 1 /* of any procfs */

static bool is_procfs(int fd) {
        struct statfs st;

        return fstatfs(fd, &st) == 0 && st.f_type == PROC_SUPER_MAGIC;
}

static bool is_procfs_top(int fd) {
        struct stat st;

        return is_procfs(fd) && fstat(fd, &st) == 0 && st.st_ino == PROC_ROOT_INO;
}

static bool is_directory(int fd) {
        struct stat st;

        return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A walk by hand: what is left of the path, and where it has got to. */
typedef struct Walk {
        const Walker *walker;
        char rest[PATH_MAX];
        int at; /* owned */
        unsigned n_links;
        bool follow;
} Walk;

static int walk_to(Walk *k, int fd) {
        if (fd < 0)
                return fd;
        safe_close(k->at);
        k->at = fd;
        return 0;
}

/* Puts the text of a symlink before what is left. */
static int insert_link(Walk *k, const char *name, const char *rest) {
        char text[PATH_MAX + PATH_MAX];
        ssize_t n = readlinkat(k->at, name, text, PATH_MAX);
        size_t more = strlen(rest);

        if (n < 0)
                return -errno;
        if (n == 0)
                return -ENOENT;
        if ((size_t) n + more >= PATH_MAX)
                return -ENAMETOOLONG;
        memcpy(text + n, rest, more + 1);
        memcpy(k->rest, text, (size_t) n + more + 1);
        return k->rest[0] == '/' ? walk_to(k, open_path(AT_FDCWD, "/", O_DIRECTORY, 0)) : 0;
}

/* A symlink of procfs. "self" and "thread-self" would be ourselves; the others lead by themselves to where they lead. */
static int follow_proc_link(Walk *k, const char *name, const char *rest) {
        ProcName own;
        int fd;

        if (is_procfs_top(k->at) && (str_equal(name, "self") || str_equal(name, "thread-self"))) {
                (void) snprintf(own, sizeof(own), "%d", (int) k->walker->tid);
                fd = open_path(k->walker->proc_fd, own, O_DIRECTORY, 0);
        } else if (is_procfs_top(k->at))
                return insert_link(k, name, rest);
        else
                fd = open_path(k->at, name, 0, 0);
        if (fd >= 0)
                memmove(k->rest, rest, strlen(rest) + 1);
        return walk_to(k, fd);
}

/* Takes the next component off; *ret_rest is what follows it, slashes included. False at the end. */
static bool next_component(const Walk *k, char name[static NAME_MAX + 1], const char **ret_rest,
                           int *ret_error) {
        const char *p = k->rest + strspn(k->rest, "/");
        size_t n = strcspn(p, "/");

        *ret_error = n > NAME_MAX ? -ENAMETOOLONG : 0;
        if (n == 0 || n > NAME_MAX)
                return false;
        memcpy(name, p, n);
        name[n] = '\0';
        *ret_rest = p + n;
        return true;
}

static bool is_last(const char *rest) {
        return rest[strspn(rest, "/")] == '\0';
}

/* 1: it goes on; 0: `name` in `at` is the end of the path. */
static int step(Walk *k, const char *name, const char *rest) {
        bool last = is_last(rest);
        struct stat st;

        if (is_dots(name)) {
                int r = walk_to(k, open_path(k->at, name, O_DIRECTORY, 0));

                memmove(k->rest, rest, strlen(rest) + 1);
                return r < 0 ? r : 1;
        }
        if (fstatat(k->at, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
                return last && errno == ENOENT ? 0 : -errno;
        if (S_ISLNK(st.st_mode) && (!last || k->follow || *rest)) {
                int r;

                if (++k->n_links > LINKS_MAX)
                        return -ELOOP;
                r = is_procfs(k->at) ? follow_proc_link(k, name, rest) : insert_link(k, name, rest);
                return r < 0 ? r : 1;
        }
        if (last)
                return 0;
        memmove(k->rest, rest, strlen(rest) + 1);
        return walk_to(k, open_path(k->at, name, O_NOFOLLOW | O_DIRECTORY, 0)) < 0 ? -ENOTDIR : 1;
}

/* Ends with a name in a directory, or with an object (name empty). */
static int walk(Walk *k, Spot *ret) {
        const char *rest;
        int r;

        if (k->rest[0] == '/') {
                r = walk_to(k, open_path(AT_FDCWD, "/", O_DIRECTORY, 0));
                if (r < 0)
                        return r;
        }
        while (next_component(k, ret->name, &rest, &r)) {
                r = step(k, ret->name, rest);
                if (r < 0)
                        return r;
                if (r == 0) {
                        ret->slash = *rest != '\0';
                        ret->parent = TAKE_FD(k->at);
                        return 0;
                }
        }
        if (r < 0)
                return r;
        if (k->rest[0] && !is_directory(k->at))
                return -ENOTDIR;
        ret->name[0] = '\0';
        ret->slash = k->rest[0] != '\0';
        ret->object = TAKE_FD(k->at);
        return 0;
}

int walk_by_hand(Walker *w, int base, const char *path, bool follow, Spot *ret) {
        Walk k = {.walker = w, .at = -1, .follow = follow};
        int r;

        if (strlen(path) >= sizeof(k.rest))
                return -ENAMETOOLONG;
        r = walker_take_root(w);
        if (r < 0)
                return r;
        memcpy(k.rest, path, strlen(path) + 1);
        if (base >= 0) {
                k.at = fcntl(base, F_DUPFD_CLOEXEC, 3);
                if (k.at < 0)
                        return -errno;
        }
        r = walk(&k, ret);
        safe_close(k.at);
        return r;
}
