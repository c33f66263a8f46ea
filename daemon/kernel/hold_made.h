/* SPDX-License-Identifier: MIT */
/*
 * Has an open that waits made the file that it opens? The kernel asks after the file has been made, and does not say.
 *
 * O_EXCL says it. Else a group of notifications does: the kernel queues "created" (object, thread) before it asks. So it is where names
 * can be had from a mark; over SMB, NFS and FUSE the file is made by the server in one go with the open, and told later.
 *
 * Looking at the file itself is no help: an empty file that is a moment old may be somebody's lock.
 */
#ifndef MOUNTWATCH_KERNEL_HOLD_MADE_H
#define MOUNTWATCH_KERNEL_HOLD_MADE_H

#include "daemon/kernel/proc_intent.h"

#include <pthread.h>

#define CREATIONS 1024 /* those that are remembered; older ones are of no interest */

/* A file that was made by the call in question, and is empty. */
typedef struct Made {
        bool yes;
        dev_t dev;
        uint64_t ino;
        int64_t born; /* ns since 1970; 0: the filesystem does not tell */
} Made;

/* What has been created. Thread-safe. */
typedef struct Creations {
        pthread_mutex_t lock;
        int group;         /* fanotify; -1: this kernel has none that tells the object */
        bool by_directory; /* one mark for all was refused */
        struct {
                pid_t tid;
                uint64_t id; /* of the object; 0: none */
        } ring[CREATIONS];
        size_t next;
} Creations;

void creations_init(Creations *c);
void creations_done(Creations *c);
/* Everything on the filesystem, or, where that is refused, the directories that follow. */
void creations_mark_filesystem(Creations *c, const char *root);
void creations_mark_directory(Creations *c, int fd);
/* Readable when creations_read() has something to do; -1: never. */
int creations_fd(const Creations *c);
/* Takes in what has been told. */
void creations_read(Creations *c);

/* `fd` is what the thread is opening. What is found is taken out: it is the answer for one open. */
Made creations_judge(Creations *c, int fd, pid_t tid, const Intent *intent);

/* Removes it if `path` still leads to it, and it is still empty, and has that name alone. Touches the filesystem. */
int made_remove(const Made *m, const char *path);
/* Is it what fd is open on? */
bool made_is(const Made *m, int fd);

#endif
