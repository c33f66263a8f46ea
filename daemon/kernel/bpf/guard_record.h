/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the program in the kernel (guard.bpf.c) and the daemon (bpf_engine.c) share: the maps' keys and values, and the records. */
#ifndef MOUNTWATCH_KERNEL_BPF_GUARD_RECORD_H
#define MOUNTWATCH_KERNEL_BPF_GUARD_RECORD_H

#include <linux/types.h>

#define GUARD_WATCHES_MAX 256
#define GUARD_SESSIONS_MAX 4096
#define GUARD_NODES_MAX 16384
#define GUARD_NAME_MAX 128    /* of a component of a pattern, with its NUL */
#define GUARD_PATTERN_DEPTH 8 /* components of a pattern */
#define GUARD_CLIMB_MAX 128   /* directories between an object and the root of its watch */
#define GUARD_PARTS_MAX 32    /* components that a record can tell */
#define GUARD_ROOM 1280       /* bytes for their names */
#define GUARD_CGROUP_DEPTH 32
#define GUARD_RING_BYTES (4U << 20)
#define GUARD_POLICY_DENY 3 /* POLICY_DENY, common/operation.h */

/* "config", one entry: nothing is looked at while n_sessions is 0. */
struct guard_config {
        __u32 n_sessions;
        __u32 exempt;       /* thread group that is never refused: the daemon itself */
        __u32 creat, trunc; /* O_CREAT and O_TRUNC, which are not the same on every architecture */
};

/* "sessions": by the id of the session's cgroup. */
struct guard_session {
        __u32 policy;
        __u32 exempt;
};

/* "roots": of the inode that is the root of a watch, or the directory of a watch of one file. */
struct guard_root {
        __u32 watch;
        __u32 only_named; /* nothing but what "nodes" has with GUARD_NODE_WATCHED */
};

/* How a root is introduced and dropped: the argument of fcntl(2) on a descriptor of it. */
#define GUARD_TOKEN_WATCH 0xfff
#define GUARD_TOKEN_ONLY_NAMED 0x1000
#define GUARD_TOKEN_DROP 0x2000
#define GUARD_TOKEN_MASK 0xffff0000U
#define GUARD_TOKEN_MAGIC 0x4d570000U

/* "watches": by their numbers. */
struct guard_watch {
        __u32 policy;
        __u32 lets_all; /* Allow=** */
};

/* "nodes": the names of Allow=, Ignore= and of watches of one file, as a tree: parent 0 is the root of the watch. */
struct guard_node_key {
        __u32 watch;
        __u32 parent;
        char name[GUARD_NAME_MAX]; /* filled up with NUL */
};

enum {
        GUARD_NODE_EXACT = 1, /* this name is let */
        GUARD_NODE_TREE = 2,  /* and all below it */
        GUARD_NODE_WATCHED = 4,
};

struct guard_node {
        __u32 number;
        __u32 flags;
};

/* "counts" */
enum {
        GUARD_COUNT_LOST, /* records that found the buffer full */
        GUARD_COUNT_DEEP, /* refused because the climb found no end */
        _GUARD_COUNT_MAX,
};

enum guard_op {
        GUARD_OPEN,
        GUARD_TRUNCATE,
        GUARD_CREATE, /* by an open, perhaps */
        GUARD_MAKE,
        GUARD_DELETE,
        GUARD_RENAME,
        GUARD_METADATA,
        /* The create that was refused a moment ago was none: the name turned out to exist, and its open was not refused. */
        GUARD_VOID,
};

enum {
        GUARD_INSIDE =
                1, /* of the path: it lies in the watch `watch`, and its names begin below the root of that */
        GUARD_CUT = 2, /* names at the beginning are missing */
};

struct guard_path {
        __u32 watch;
        __u32 flags;
        __u32 n_parts;
        __u32 bytes;
        char names[GUARD_ROOM]; /* each with its NUL, the last component first */
};

struct guard_record {
        __u64 cgroup; /* of the session */
        __u64 start;  /* of the thread group, ns since boot */
        __u64 at;     /* CLOCK_MONOTONIC */
        __u32 pid;    /* thread group */
        __u32 tid;
        __u32 op;
        __u32 kind;     /* ObjectKind */
        __u32 replaces; /* a rename whose target exists */
        __u32 voids; /* takes the place of the create before it: open(O_CREAT) of a name that was not looked up yet */
        __u32 device;
        __u32 n_paths;
        struct guard_path path[2]; /* of a rename: the old name, the new name */
};

#endif
