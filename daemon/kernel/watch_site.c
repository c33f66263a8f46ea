/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/watch_site.h"

#include "daemon/kernel/inner_path.h"
#include "daemon/kernel/mountinfo.h"
#include "daemon/kernel/place.h"

#include <errno.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* What SQLite keeps beside its file. */
static const char *const siblings[] = {"", "-wal", "-shm", "-journal"};

WatchSites *watch_sites_new(void) {
        WatchSites *s = calloc(1, sizeof(*s));

        if (s)
                s->n_ref = 1;
        return s;
}

WatchSites *watch_sites_ref(WatchSites *s) {
        (void) __atomic_add_fetch(&s->n_ref, 1, __ATOMIC_RELAXED);
        return s;
}

static void site_done(WatchSite *s) {
        free(s->path);
        free(s->inner);
        free(s->file);
}

WatchSites *watch_sites_unref(WatchSites *s) {
        if (!s || __atomic_sub_fetch(&s->n_ref, 1, __ATOMIC_ACQ_REL) > 0)
                return NULL;
        for (size_t i = 0; i < s->n; i++)
                site_done(&s->sites[i]);
        free(s->sites);
        free(s);
        return NULL;
}

static int locate(WatchSite *s, const Place *p) {
        MountTable t = {};
        const Mount *m;
        struct statfs fs;
        struct stat st;
        int r;

        if (stat(p->root, &st) < 0 || statfs(p->root, &fs) < 0)
                return -errno;
        r = mountinfo_read(&t);
        if (r < 0)
                return r;
        m = mount_table_covering(&t, p->root);
        r = m ? inner_path_on_mount(m, p->root, &s->inner) : -ENOENT;
        if (r == 0) {
                s->fs_dev = m->dev;
                s->dev = st.st_dev;
                s->fs_type = fs.f_type;
                s->by_type = st.st_dev != m->dev || fs.f_type == OVERLAYFS_SUPER_MAGIC ||
                        fs.f_type == BTRFS_SUPER_MAGIC;
        }
        mount_table_done(&t);
        return r;
}

static int make_site(const char *name, const char *path, WatchSite *ret) {
        _cleanup_(place_done) Place p = {};
        WatchSite s = {};
        int r;

        if (strlen(name) >= sizeof(s.name))
                return -ENAMETOOLONG;
        memcpy(s.name, name, strlen(name) + 1);
        r = place_resolve(path, &p);
        if (r >= 0)
                r = locate(&s, &p);
        s.path = strdup(path);
        s.file = p.file ? strdup(p.file) : NULL;
        if (r >= 0 && (!s.path || (p.file && !s.file)))
                r = -ENOMEM;
        if (r < 0) {
                site_done(&s);
                return r;
        }
        *ret = s;
        return 0;
}

static int grow(WatchSites *s) {
        WatchSite *grown = reallocarray(s->sites, s->n + 1, sizeof(*grown));

        if (!grown)
                return -ENOMEM;
        s->sites = grown;
        return 0;
}

static void take(WatchSites *s, WatchSite *site) {
        s->sites[s->n++] = *site;
        s->by_type = s->by_type || site->by_type;
        *site = (WatchSite){};
}

int watch_sites_put(WatchSites *s, const WatchSite *site) {
        WatchSite copy = *site;
        int r = grow(s);

        copy.path = strdup(site->path);
        copy.inner = strdup(site->inner);
        copy.file = site->file ? strdup(site->file) : NULL;
        if (r >= 0 && (!copy.path || !copy.inner || (site->file && !copy.file)))
                r = -ENOMEM;
        if (r < 0) {
                site_done(&copy);
                return r;
        }
        take(s, &copy);
        return 0;
}

int watch_sites_add(WatchSites *s, const char *name, const char *path) {
        WatchSite site;
        int r = grow(s);

        if (r >= 0)
                r = make_site(name, path, &site);
        if (r < 0)
                return r;
        take(s, &site);
        return 0;
}

static bool has_type(const WatchSites *s, int fd) {
        struct statfs fs;

        if (fstatfs(fd, &fs) < 0)
                return false;
        for (size_t i = 0; i < s->n; i++)
                if (s->sites[i].by_type && s->sites[i].fs_type == fs.f_type)
                        return true;
        return false;
}

bool watch_sites_may_hold(const WatchSites *s, int fd, dev_t dev) {
        for (size_t i = 0; i < s->n; i++)
                if (s->sites[i].dev == dev)
                        return true;
        return s->by_type && has_type(s, fd);
}

static const char *rest_of_file(const WatchSite *s, const char *rest) {
        size_t n = strlen(s->file);

        if (rest[0] == '/')
                rest++;
        if (strncmp(rest, s->file, n) != 0)
                return NULL;
        for (size_t i = 0; i < ELEMENTSOF(siblings); i++)
                if (str_equal(rest + n, siblings[i]))
                        return rest + n;
        return NULL;
}

static const char *rest_of(const WatchSite *s, const char *inner) {
        size_t n = str_equal(s->inner, "/") ? 0 : strlen(s->inner);

        if (strncmp(s->inner, inner, n) != 0 || (inner[n] != '/' && inner[n] != '\0'))
                return NULL;
        if (s->file)
                return rest_of_file(s, inner + n);
        return str_equal(inner + n, "/") ? "" : inner + n;
}

const WatchSite *watch_sites_find(const WatchSites *s, dev_t fs_dev, const char *inner,
                                  const char **ret_rest) {
        const WatchSite *best = NULL;

        for (size_t i = 0; i < s->n; i++) {
                const WatchSite *site = &s->sites[i];
                const char *rest = site->fs_dev == fs_dev ? rest_of(site, inner) : NULL;

                /* a file is a narrower place than the directory it is in */
                if (!rest ||
                    (best && !site->file &&
                     (best->file || strlen(best->inner) > strlen(site->inner))))
                        continue;
                best = site;
                *ret_rest = rest;
        }
        return best;
}
