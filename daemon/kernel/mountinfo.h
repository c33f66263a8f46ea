/* SPDX-License-Identifier: MIT */
/* /proc/self/mountinfo: parsed, and followed (poll). Nothing here touches a mounted filesystem. */
#ifndef MOUNTWATCH_KERNEL_MOUNTINFO_H
#define MOUNTWATCH_KERNEL_MOUNTINFO_H

#include "common/macro.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct Mount {
        int id, parent_id;
        dev_t dev;
        char *root;   /* of the mount within its filesystem, unescaped */
        char *target; /* unescaped */
        char *options;
        char *fstype;
        char *source;
        char *super_options;
} Mount;

typedef struct MountTable {
        Mount *mounts;
        size_t n;
} MountTable;

/* -EBADMSG with nothing in ret for garbage. */
int mountinfo_parse(const char *data, size_t size, MountTable *ret);
int mountinfo_read(MountTable *ret);
void mount_done(Mount *m);
void mount_table_done(MountTable *t);
/* The topmost mount whose target is exactly `path`, or NULL. */
const Mount *mount_table_find(const MountTable *t, const char *path);
/* The topmost mount that `path` lies on. */
const Mount *mount_table_covering(const MountTable *t, const char *path);
/* A descriptor that polls EPOLLPRI on each change. */
int mountinfo_open(void);

#endif
