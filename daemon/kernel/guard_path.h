/* SPDX-License-Identifier: MIT */
/*
 * Paths as the kernel will take them for another process: from its memory, its working directory, its descriptors, below its root, in
 * its mount namespace. Belongs to one thread, which must have a filesystem context of its own (unshare(CLONE_FS)): its root
 * is made that of the caller whenever the two differ, so that the kernel itself does the walking.
 * (Looking at the caller's root costs as much as all the rest, so it is put off until it matters, and trusted for a moment.)
 *
 * Two things it would do differently for us, and are done by hand: /proc/self, and the magic links behind it.
 *
 * Touches the caller's filesystems: may hang as long as the call itself would.
 */
#ifndef MOUNTWATCH_KERNEL_GUARD_PATH_H
#define MOUNTWATCH_KERNEL_GUARD_PATH_H

#include "daemon/kernel/guard_call.h"

#include <limits.h>
#include <sys/stat.h>

#define WALKER_RECENT 8
#define WALKER_TRUST_NSEC \
        (50 * 1000 * 1000ULL) /* a thread's number is not used again as soon as that */

typedef struct Walker {
        int proc_fd;                     /* our own /proc, whatever the root is */
        uint64_t root_mount, root_inode; /* of the thread's root */
        dev_t root_dev;
        uint64_t n_moves; /* grows with each change of root */
        pid_t tid;        /* the caller of the moment */
        nsec_t now;
        bool rooted;    /* its root has been taken */
        bool may_trust; /* that a root is still what it was a moment ago */
        struct {
                pid_t tid;
                nsec_t at;
                uint64_t n_moves;
        } recent[WALKER_RECENT]; /* whose root ours was known to be, and when */
        size_t next;
} Walker;

/* In the thread that will use it. */
int walker_init(Walker *w);
void walker_done(Walker *w);

/* Turns to a caller. `may_trust`: no caller has changed its root or its mount namespace of late. */
void walker_enter(Walker *w, pid_t tid, nsec_t now, bool may_trust);
/* Takes its root, which the functions below do when they need it; walker_path_of() wants it taken. -ESRCH: the caller is gone.
 * -EPERM, -EACCES, ...: it cannot be looked at. */
int walker_take_root(Walker *w);

/* A string from its memory. -EFAULT and -ENAMETOOLONG: the call will fail by itself. Returns the length. */
int walker_read_string(const Walker *w, uint64_t address, char ret[static PATH_MAX]);
/* Exactly `size` bytes. */
int walker_read(const Walker *w, uint64_t address, void *ret, size_t size);

/*
 * What is found. Either an object that exists, by whatever way it was reached, or a name in a directory.
 * Errors are those the call will get: -ENOENT, -ENOTDIR, -ELOOP, -EBADF, ...; see walker_is_fault().
 */
typedef struct Spot {
        int object;              /* O_PATH; -1: does not exist, or was not looked for */
        int parent;              /* O_PATH; -1 for an object that was reached without one */
        char name[NAME_MAX + 1]; /* in parent */
        bool slash;              /* the name had a slash behind it: only a directory will do */
} Spot;

#define SPOT_INIT \
        { .object = -1, .parent = -1 }
void spot_done(Spot *s);

/* The object that the path leads to. When there is none, and `create`: the directory and the name it would get. */
int walker_find_object(Walker *w, const CallPath *p, uint64_t resolve, bool create, Spot *ret);
/* The directory and the last component, which is not looked at. -EINVAL: the last component is "." or ".." or the root. */
int walker_find_name(Walker *w, const CallPath *p, Spot *ret);
/* The object of open_by_handle_at(2). */
int walker_find_handle(Walker *w, int mount_fd, uint64_t address, Spot *ret);

/* Whether an error says that the call fails by itself; otherwise it is we who cannot tell. */
bool walker_is_fault(int error);

/* The path of what is open, as the caller would call it. -ESTALE: it has been removed. */
int walker_path_of(const Walker *w, int fd, char ret[static PATH_MAX]);

#endif
