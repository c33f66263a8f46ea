/* SPDX-License-Identifier: MIT */
/* From a descriptor in the caller's view to a watch. Belongs to one thread. Touches proc only, and what is open already. */
#ifndef MOUNTWATCH_KERNEL_GUARD_PLACE_H
#define MOUNTWATCH_KERNEL_GUARD_PLACE_H

#include "daemon/kernel/guard_path.h"
#include "daemon/kernel/mountinfo.h"
#include "daemon/kernel/watch_site.h"

#define PLACER_MOUNTS 8

typedef struct Placer {
        Walker *walker; /* borrowed */
        struct {
                uint64_t id; /* never used again for another mount (6.8); 0: none */
                Mount mount;
        } known[PLACER_MOUNTS];
        size_t next;
        uint64_t n_moves; /* of the walker: targets are seen from its root */
} Placer;

void placer_init(Placer *p, Walker *w);
void placer_done(Placer *p);

typedef struct Found {
        const WatchSite *site; /* NULL: outside */
        char *path; /* owned; in the words of the configuration, or, outside, in those of the caller */
} Found;

void found_done(Found *f);

/* `name` in the directory fd, or, when NULL, what is open itself. -ESTALE: it is gone. */
int placer_find(Placer *p, const WatchSites *sites, int fd, const char *name, Found *ret);

#endif
