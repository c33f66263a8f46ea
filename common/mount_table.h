/* SPDX-License-Identifier: MIT */
/* The mounts of a mount namespace, as /proc/PID/mountinfo tells them. Pure: the text is an argument. */
#ifndef MOUNTWATCH_COMMON_MOUNT_TABLE_H
#define MOUNTWATCH_COMMON_MOUNT_TABLE_H

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
void mount_done(Mount *m);
void mount_table_done(MountTable *t);
/* The topmost mount whose target is exactly `path`, or NULL. */
const Mount *mount_table_find(const MountTable *t, const char *path);
/* The topmost mount that `path` lies on. */
const Mount *mount_table_covering(const MountTable *t, const char *path);

#endif
