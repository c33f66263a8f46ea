/* SPDX-License-Identifier: MIT */
/*
 * Where the watches are, for a guard or hold thread that must find out whether an object lies in one: by device and by path
 * within the filesystem, so that bind mounts, chroots and other mount namespaces do not matter. Refcounted; immutable from
 * the moment that it is handed to a thread.
 */
#ifndef MOUNTWATCH_KERNEL_WATCH_SITE_H
#define MOUNTWATCH_KERNEL_WATCH_SITE_H

#include "common/macro.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct WatchSite {
        char name[65];
        char *path;  /* as configured */
        dev_t dev;   /* st_dev of the watch root */
        char *inner; /* path of the watch root within its filesystem, "/" for its top */
        char *file;  /* file scope: name in inner; NULL otherwise */
        dev_t fs_dev; /* of the superblock, as mountinfo has it; on btrfs every subvolume has another st_dev than that */
        long fs_type; /* f_type */
        bool by_type; /* st_dev of what lies in it may be another (subvolumes; files of an overlay): f_type must do to begin with */
} WatchSite;

typedef struct WatchSites {
        unsigned n_ref; /* atomic */
        WatchSite *sites;
        size_t n;
        bool by_type; /* of any */
} WatchSites;

/* NULL: no memory. */
WatchSites *watch_sites_new(void);
WatchSites *watch_sites_ref(WatchSites *s);
WatchSites *watch_sites_unref(WatchSites *s);
DEFINE_CLEANUP(WatchSites *, watch_sites_unref)
/* Adds what `path` leads to now; touches the filesystem, so only in a thread that may hang. -ENOENT: skipped. */
int watch_sites_add(WatchSites *s, const char *name, const char *path);

/* Adds a copy. */
int watch_sites_put(WatchSites *s, const WatchSite *site);

/* Whether something on the device `dev` (of `fd`) may lie in a watch. Cheap: for nearly all it is the last word. */
bool watch_sites_may_hold(const WatchSites *s, int fd, dev_t dev);

/*
 * The site that a path within a filesystem lies in, or NULL; the innermost of several. *ret_rest is what follows the root of the
 * watch: "" for the root itself, or begins with a slash; for a watch of one file it is "" or "-wal", "-shm", "-journal".
 */
const WatchSite *watch_sites_find(const WatchSites *s, dev_t fs_dev, const char *inner,
                                  const char **ret_rest);

#endif
