/* SPDX-License-Identifier: MIT */
/*
 * Has an open that waits made the file that it opens? The kernel asks after the file has been made, and does not say.
 *
 * O_EXCL says it. Else: the file is empty, has one name, was born a moment ago, and nobody has opened it before. Every open of the
 * watch passes the hold, so the young ones among them are remembered (MadeTable). What mknod(2) made is opened by nobody and can
 * be mistaken, within that moment.
 */
#ifndef MOUNTWATCH_KERNEL_HOLD_MADE_H
#define MOUNTWATCH_KERNEL_HOLD_MADE_H

#include "daemon/kernel/proc_intent.h"

#define MADE_TABLE 2048

/* A file that was made by the call in question, and is empty. */
typedef struct Made {
        bool yes;
        dev_t dev;
        uint64_t ino;
        int64_t born; /* ns since 1970; 0: the filesystem does not tell */
} Made;

typedef struct MadeTable {
        struct {
                dev_t dev;
                uint64_t ino;
                int64_t born;
        } opened[MADE_TABLE];
} MadeTable;

/* Somebody's open of this has been let. Not thread-safe; `now` is CLOCK_REALTIME. */
void made_table_note(MadeTable *t, int fd, usec_t now);
Made made_table_judge(const MadeTable *t, int fd, const Intent *intent, usec_t now);
bool made_table_has(const MadeTable *t, const Made *m);

/* Removes it if `path` still leads to it, and it is still empty, and has that name alone. Touches the filesystem. */
int made_remove(const Made *m, const char *path);

#endif
