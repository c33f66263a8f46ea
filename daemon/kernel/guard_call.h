/* SPDX-License-Identifier: MIT */
/* What a notification of the guard's filter asks for: which paths, and what is to be done with them. Pure: memory and descriptors
 * of the caller are only named here. */
#ifndef MOUNTWATCH_KERNEL_GUARD_CALL_H
#define MOUNTWATCH_KERNEL_GUARD_CALL_H

#include "common/guarded_call.h"

#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/types.h>

typedef enum CallKind {
        CALL_KIND_OPEN,
        CALL_KIND_DELETE,
        CALL_KIND_RENAME,
        CALL_KIND_MAKE, /* mkdir, mknod */
        CALL_KIND_LINK, /* path[0] is what is linked, path[1] the new name */
        CALL_KIND_SYMLINK,
        CALL_KIND_TRUNCATE,
        CALL_KIND_METADATA,
        CALL_KIND_VIEW,     /* of another root or mount namespace from now on; no paths */
        CALL_KIND_LISTENER, /* wants to supervise calls itself; no paths */
} CallKind;

/* As the kernel takes it: a path in the caller's memory, relative to a descriptor; or the object behind the descriptor itself. */
typedef struct CallPath {
        int dirfd;        /* or AT_FDCWD */
        bool by_fd;       /* there is no path */
        uint64_t address; /* of the path */
        bool follow;      /* a symlink at the end */
        bool may_be_empty; /* AT_EMPTY_PATH: an empty path is the object behind dirfd, or the working directory */
} CallPath;

typedef struct GuardCall {
        GuardedCallId id;
        CallKind kind;
        CallPath path[2];
        unsigned n_paths;
        unsigned flags;   /* of an open: O_*; of a rename: RENAME_* */
        uint64_t resolve; /* RESOLVE_*, openat2 */
        mode_t mode;      /* mkdir and mknod: S_IF* of what is made */
        bool removes_directory;
        uint64_t how,
                how_size; /* openat2: where the flags are in the caller's memory; guard_call_set_how() */
        uint64_t
                handle; /* open_by_handle_at: address of the struct file_handle; path[0] is the mount descriptor */
} GuardCall;

/* All numbers of all architectures, for a quick look-up; about 5 KiB. */
typedef struct CallTable {
        struct {
                uint32_t audit, bit;
                int8_t id[512]; /* by number; -1: none */
        } arch[4];
        size_t n;
} CallTable;

void call_table_init(CallTable *t);

/* -ENOENT: not one of ours. */
int guard_call_decode(const CallTable *t, const struct seccomp_data *data, GuardCall *ret);
/* The struct open_how of openat2, as much of it as the caller gave. -EINVAL, -E2BIG: the call will fail by itself. */
int guard_call_set_how(GuardCall *c, const void *how, size_t size);
/* Of an open: can it change anything, by itself or later? */
bool guard_call_may_write(const GuardCall *c);

#endif
