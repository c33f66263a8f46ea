/* SPDX-License-Identifier: MIT */
/*
 * The ground: the watched filesystem as it is now, which is after the events that are being worked on. Only the thread of
 * the watch may touch it, since any call may hang on a dead share.
 *
 * The root is opened when it is needed, through a private copy of its mount (open_tree, 5.2): a descriptor on the mount itself
 * would make umount(8) fail while this program catches up. The copy keeps the filesystem alive beyond its unmounting, so it
 * is let go by ground_release() as soon as there is nothing to do.
 */
#ifndef MOUNTWATCH_KERNEL_GROUND_H
#define MOUNTWATCH_KERNEL_GROUND_H

#include "daemon/kernel/fan_decode.h"
#include "daemon/kernel/tree.h"

#include <sys/types.h>

typedef struct Ground {
        char *root; /* owned; the watched directory, without symlinks */
        dev_t dev;  /* of it */
        ino_t ino;
        uint64_t root_id;
        bool fid;    /* ids are made of what events have where it differs (AT_HANDLE_FID, 6.5) */
        bool closed; /* handles name objects but cannot be opened */
        bool remote; /* attributes may come from a server: take what the client knows */
        int fd;      /* -1 while released */
        int copy;    /* keeps the copy of the mount that fd is on; -1 where there is none */
} Ground;

typedef struct GroundStat {
        ObjectKind kind;
        uint64_t id; /* 0 when not asked for */
        uint64_t size;
        int64_t mtime; /* ns since 1970 */
        int64_t btime; /* the same; 0 where the filesystem keeps none */
        uint64_t ino;
        unsigned links;
        bool mount_root; /* something is mounted here: it is another filesystem */
} GroundStat;

typedef enum GroundFlags {
        GROUND_ID = 1,     /* the id is wanted as well */
        GROUND_CACHED = 2, /* on a share: what the client knows is good enough */
} GroundFlags;

/* Takes a copy of `root`. -ENOTDIR, -ENOENT, …, -EOPNOTSUPP when objects have no handles at all. */
int ground_init(Ground *g, const char *root);
void ground_done(Ground *g);
void ground_release(Ground *g);
/* Does the path of the root still lead to it? Holds nothing. */
bool ground_is_there(const Ground *g);
bool ground_is_held(const Ground *g);
/* Opens the root unless it is open. -ESTALE: the path leads elsewhere by now. The descriptor stays the ground's. */
int ground_fd(Ground *g);

ObjectKind ground_kind(mode_t mode);
/* The id of what `name` is in the directory fd; "" is the directory itself. */
int ground_id_at(const Ground *g, int fd, const char *name, uint64_t *ret);
/* Does not follow symlinks. */
int ground_stat_at(const Ground *g, int fd, const char *name, int flags, GroundStat *ret);
/* Of the object itself, whatever its names. -ESTALE: it is gone. -EOPNOTSUPP: handles cannot be opened here. */
int ground_stat_handle(Ground *g, const FanHandle *h, GroundStat *ret);
/* The same, by the names that the tree has for it where there is no other way. */
int ground_stat_object(Ground *g, const FanHandle *h, const Node *n, GroundStat *ret);
/* An object by the names that the tree has for it; n is the first of them. -ESTALE: none leads to it. */
int ground_stat_names(Ground *g, const Node *n, GroundStat *ret);
/* The directory of a node, for reading. -ESTALE: another object has that path by now. Caller closes. */
int ground_open_node(Ground *g, const Node *n);
/* Of the name of a node, found by its path. ret->id is set. */
int ground_stat_node(Ground *g, const Node *n, GroundStat *ret);
/* The path that a directory has now, in this program's view of the mount. Caller frees. */
int ground_directory_path(Ground *g, const FanHandle *h, char **ret);

#endif
