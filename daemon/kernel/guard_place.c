/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/guard_place.h"

#include "daemon/kernel/inner_path.h"
#include "daemon/kernel/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x4000U /* 6.8 */
#endif

#define MOUNTINFO_MAX (64 * 1024 * 1024)

void placer_init(Placer *p, Walker *w) {
        *p = (Placer){.walker = w};
}

static void forget(Placer *p, size_t i) {
        if (p->known[i].id)
                mount_done(&p->known[i].mount);
        p->known[i].id = 0;
}

static void forget_all(Placer *p) {
        for (size_t i = 0; i < PLACER_MOUNTS; i++)
                forget(p, i);
}

void placer_done(Placer *p) {
        forget_all(p);
}

void found_done(Found *f) {
        free(f->path);
        *f = (Found){};
}

static int mount_id(int fd, unsigned mask, uint64_t *ret) {
        struct statx st;

        if (statx(fd, "", AT_EMPTY_PATH, mask, &st) < 0)
                return -errno;
        if (!(st.stx_mask & mask))
                return -EOPNOTSUPP;
        *ret = st.stx_mnt_id;
        return 0;
}

static int take_from(const Placer *p, const char *table, uint64_t id, Mount *ret) {
        _cleanup_(mount_table_done) MountTable t = {};
        _cleanup_free_ char *data = NULL;
        size_t n;
        int r;

        r = textfile_read_all_at(p->walker->proc_fd, table, MOUNTINFO_MAX, &data, &n);
        if (r >= 0)
                r = mountinfo_parse(data, n, &t);
        for (size_t i = 0; r >= 0 && i < t.n; i++) {
                if ((uint64_t) t.mounts[i].id != id)
                        continue;
                *ret = t.mounts[i];
                t.mounts[i] = (Mount){};
                return 0;
        }
        return r < 0 ? r : -ENODEV;
}

/* What lies outside of the caller's root (a descriptor from before its chroot) is not in its table, but may be in ours. */
static int read_mount(const Placer *p, int fd, Mount *ret) {
        char table[32];
        uint64_t id = 0;
        int r;

        r = mount_id(fd, STATX_MNT_ID, &id);
        if (r < 0)
                return r;
        (void) snprintf(table, sizeof(table), "%d/mountinfo", (int) p->walker->tid);
        r = take_from(p, table, id, ret);
        return r == -ENODEV ? take_from(p, "self/mountinfo", id, ret) : r;
}

static ssize_t find_known(const Placer *p, uint64_t id) {
        for (size_t i = 0; id && i < PLACER_MOUNTS; i++)
                if (p->known[i].id == id)
                        return (ssize_t) i;
        return -1;
}

static void remember(Placer *p, uint64_t id, const Mount *m) {
        size_t i = p->next;

        p->next = (i + 1) % PLACER_MOUNTS;
        forget(p, i);
        p->known[i].mount = *m;
        p->known[i].id = id;
}

/* A mount that is known may have been moved since: then its target is no beginning of the path any more. */
static int find_inner_path(Placer *p, int fd, const char *path, dev_t *ret_dev, char **ret) {
        Mount m;
        uint64_t id = 0;
        ssize_t k;
        int r;

        if (p->n_moves != p->walker->n_moves) {
                forget_all(p);
                p->n_moves = p->walker->n_moves;
        }
        (void) mount_id(fd, STATX_MNT_ID_UNIQUE, &id);
        k = find_known(p, id);
        if (k >= 0) {
                *ret_dev = p->known[k].mount.dev;
                r = inner_path_on_mount(&p->known[k].mount, path, ret);
                if (r != -ENOENT)
                        return r;
                forget(p, (size_t) k);
        }
        r = read_mount(p, fd, &m);
        if (r < 0)
                return r;
        *ret_dev = m.dev;
        r = inner_path_on_mount(&m, path, ret);
        if (r >= 0 && id)
                remember(p, id, &m);
        else
                mount_done(&m);
        return r;
}

static int join(const char *directory, const char *name, char **ret) {
        size_t n = strlen(directory);
        const char *slash = n && directory[n - 1] == '/' ? "" : "/";

        return asprintf(ret, "%s%s%s", directory, name ? slash : "", name ? name : "") < 0 ? -ENOMEM
                                                                                           : 0;
}

/* The configured path and what follows the root of the watch; siblings of a watched file are "" or "-wal" and the like. */
static int name_found(const WatchSite *site, const char *rest, char **ret) {
        return asprintf(ret, "%s%s", site->path, rest) < 0 ? -ENOMEM : 0;
}

int placer_find(Placer *p, const WatchSites *sites, int fd, const char *name, Found *ret) {
        _cleanup_free_ char *directory = NULL, *inner = NULL;
        char path[PATH_MAX];
        const char *rest;
        Found f = {};
        dev_t dev;
        int r;

        r = walker_take_root(p->walker);
        if (r >= 0)
                r = walker_path_of(p->walker, fd, path);
        if (r >= 0)
                r = find_inner_path(p, fd, path, &dev, &directory);
        if (r >= 0)
                r = join(directory, name, &inner);
        if (r < 0)
                return r;
        f.site = watch_sites_find(sites, dev, inner, &rest);
        r = f.site ? name_found(f.site, rest, &f.path) : join(path, name, &f.path);
        if (r < 0)
                return r;
        *ret = f;
        return 0;
}
