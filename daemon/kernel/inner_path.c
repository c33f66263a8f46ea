/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>

#include "daemon/kernel/inner_path.h"
#include "daemon/kernel/textfile.h"

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000U /* 5.8 */
#endif
#define MOUNTINFO_MAX (4 * 1024 * 1024) /* bytes, of another process */

int inner_paths_init(InnerPaths *p) {
        int r;

        *p = (InnerPaths){.fd = -1};
        r = mountinfo_open();
        if (r < 0)
                return r;
        p->fd = r;
        r = mountinfo_read(&p->table);
        if (r < 0)
                p->fd = safe_close(p->fd);
        return r;
}

void inner_paths_done(InnerPaths *p) {
        mount_table_done(&p->table);
        p->fd = safe_close(p->fd);
}

void inner_path_done(InnerPath *p) {
        free(p->path);
        *p = (InnerPath){0};
}

/* What of `path` follows `prefix`; NULL when it does not lie below it. */
static const char *below(const char *path, const char *prefix) {
        size_t n = strlen(prefix);

        if (str_equal(prefix, "/"))
                return path[0] == '/' ? path : NULL;
        if (strncmp(path, prefix, n) != 0 || (path[n] != '/' && path[n] != '\0'))
                return NULL;
        return path + n;
}

int inner_path_on_mount(const Mount *m, const char *path, char **ret) {
        const char *rest = below(path, m->target);
        const char *root = str_equal(m->root, "/") ? "" : m->root;

        if (!rest)
                return -ENOENT;
        if (str_equal(rest, "/"))
                rest = "";
        if (asprintf(ret, "%s%s", root, *root || *rest ? rest : "/") < 0)
                return -ENOMEM;
        return 0;
}

static const Mount *find_id(const MountTable *t, uint64_t id) {
        for (size_t i = 0; i < t->n; i++)
                if ((uint64_t) t->mounts[i].id == id)
                        return &t->mounts[i];
        return NULL;
}

static int refresh(InnerPaths *p) {
        struct pollfd changed = {.fd = p->fd, .events = POLLPRI};
        MountTable now;
        int r;

        /* seq_file's poll tells each change once */
        if (poll(&changed, 1, 0) <= 0 || !(changed.revents & (POLLPRI | POLLERR)))
                return 0;
        r = mountinfo_read(&now);
        if (r < 0)
                return r;
        mount_table_done(&p->table);
        p->table = now;
        return 0;
}

/* The mounts that another process sees, in the words of its root; the kernel names a file by the root of its namespace. */
static int find_as_viewer(pid_t viewer, uint64_t id, const char *path, InnerPath *ret) {
        _cleanup_(mount_table_done) MountTable table = {0};
        _cleanup_free_ char *data = NULL;
        char name[64], root[PATH_MAX];
        const Mount *m;
        const char *seen;
        size_t n;
        ssize_t k;
        int r;

        (void) snprintf(name, sizeof(name), "/proc/%d/mountinfo", (int) viewer);
        r = textfile_read_all_at(AT_FDCWD, name, MOUNTINFO_MAX, &data, &n);
        if (r < 0)
                return r;
        r = mountinfo_parse(data, n, &table);
        if (r < 0)
                return r;
        m = find_id(&table, id);
        if (!m)
                return -ENOENT;
        (void) snprintf(name, sizeof(name), "/proc/%d/root", (int) viewer);
        k = readlink(name, root, sizeof(root) - 1);
        if (k < 0)
                return -errno;
        root[k] = '\0';
        seen = below(path, root);
        ret->fs_dev = m->dev;
        return inner_path_on_mount(m, seen ? seen : path, &ret->path);
}

/* The kernel marks what has lost its name. A name that ends so by itself has a link left, or nearly so: what
 * was removed has none, unless it had other names as well. */
static void cut_mark(char *path, uint32_t links, bool *ret_removed) {
        static const char mark[] = " (deleted)";
        size_t n = strlen(path);

        *ret_removed = links == 0;
        if (links == 0 && n > sizeof(mark) && str_equal(path + n - (sizeof(mark) - 1), mark))
                path[n - (sizeof(mark) - 1)] = '\0';
}

int inner_path_of_fd(InnerPaths *p, int fd, pid_t viewer, InnerPath *ret) {
        char name[64], path[PATH_MAX];
        InnerPath found = {0};
        const Mount *m;
        struct statx st;
        ssize_t n;
        int r;

        if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_NLINK | STATX_MNT_ID, &st) < 0)
                return -errno;
        (void) snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
        n = readlink(name, path, sizeof(path) - 1);
        if (n < 0)
                return -errno;
        path[n] = '\0';
        if (path[0] != '/')
                return -ENOENT;
        cut_mark(path, st.stx_nlink, &found.removed);

        r = refresh(p);
        if (r < 0)
                return r;
        m = find_id(&p->table, st.stx_mnt_id);
        if (m) {
                found.fs_dev = m->dev;
                r = inner_path_on_mount(m, path, &found.path);
        } else {
                r = find_as_viewer(viewer, st.stx_mnt_id, path, &found);
        }
        if (r == 0)
                *ret = found;
        return r;
}
