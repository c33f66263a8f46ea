/* SPDX-License-Identifier: MIT */
/*
 * The calls that the guard is told of: what can change a name, a length or an attribute, and what can open for writing. One list
 * for the filter (guard_filter.c) and for the daemon that decodes what the filter sends (daemon/kernel/guard_call.h).
 *
 * Not among them: calls on a descriptor that was opened for writing (write, ftruncate, fallocate, ...), since that open was told.
 */
#ifndef MOUNTWATCH_COMMON_GUARDED_CALL_H
#define MOUNTWATCH_COMMON_GUARDED_CALL_H

#include "common/macro.h"

typedef enum GuardedCallId {
        CALL_OPEN,
        CALL_OPENAT,
        CALL_OPENAT2,
        CALL_CREAT,
        CALL_OPEN_BY_HANDLE_AT,
        CALL_UNLINK,
        CALL_UNLINKAT,
        CALL_RMDIR,
        CALL_RENAME,
        CALL_RENAMEAT,
        CALL_RENAMEAT2,
        CALL_MKDIR,
        CALL_MKDIRAT,
        CALL_MKNOD,
        CALL_MKNODAT,
        CALL_LINK,
        CALL_LINKAT,
        CALL_SYMLINK,
        CALL_SYMLINKAT,
        CALL_TRUNCATE,
        CALL_TRUNCATE64,
        CALL_CHMOD,
        CALL_FCHMOD,
        CALL_FCHMODAT,
        CALL_FCHMODAT2,
        CALL_CHOWN,
        CALL_CHOWN32,
        CALL_LCHOWN,
        CALL_LCHOWN32,
        CALL_FCHOWN,
        CALL_FCHOWN32,
        CALL_FCHOWNAT,
        CALL_UTIME,
        CALL_UTIMES,
        CALL_FUTIMESAT,
        CALL_UTIMENSAT,
        CALL_UTIMENSAT_TIME64,
        CALL_SETXATTR,
        CALL_LSETXATTR,
        CALL_FSETXATTR,
        CALL_SETXATTRAT,
        CALL_REMOVEXATTR,
        CALL_LREMOVEXATTR,
        CALL_FREMOVEXATTR,
        CALL_REMOVEXATTRAT,
        CALL_FILE_SETATTR,
        CALL_CHROOT, /* these change nothing, but what the paths of later calls mean */
        CALL_PIVOT_ROOT,
        CALL_SETNS,
        CALL_UNSHARE,
        CALL_SECCOMP, /* with a listener of its own, which fails: the kernel allows one in a tree */
        _CALL_MAX,
} GuardedCallId;

#define GUARDED_CALL_ALWAYS (-1)
#define GUARDED_CALL_LISTENER (-2)

typedef struct GuardedCall {
        const char *name;
        int number; /* 0; or, for a call younger than libseccomp may be, its number, which is the same on all architectures */
        int flags; /* index of the argument with the flags of an open: told only when these may write; or GUARDED_CALL_ALWAYS */
} GuardedCall;

/* Indexed by GuardedCallId. */
extern const GuardedCall guarded_calls[_CALL_MAX];

/* The architectures that a process of this machine may enter the kernel with, as libseccomp (SCMP_ARCH_*) and as the kernel
 * (AUDIT_ARCH_*) name them. The first one is our own. */
typedef struct GuardedArch {
        uint32_t token, audit;
        uint32_t bit; /* set in the number of each of its calls (x32) */
} GuardedArch;

extern const GuardedArch guarded_archs[];
size_t guarded_arch_count(void);

/* The number of a call there, or -1 when it has none. */
int guarded_call_number(GuardedCallId id, const GuardedArch *arch);

#endif
