/* SPDX-License-Identifier: MIT */
#include "common/guarded_call.h"

#include <linux/audit.h>

#include <seccomp.h>

#define X32_BIT 0x40000000U

#define CALL(name_) \
        { .name = (name_), .flags = GUARDED_CALL_ALWAYS }
#define NEW_CALL(name_, number_) \
        { .name = (name_), .number = (number_), .flags = GUARDED_CALL_ALWAYS }
#define OPEN(name_, flags_) \
        { .name = (name_), .flags = (flags_) }

const GuardedCall guarded_calls[_CALL_MAX] = {
        [CALL_OPEN] = OPEN("open", 1),
        [CALL_OPENAT] = OPEN("openat", 2),
        [CALL_OPENAT2] = CALL("openat2"), /* the flags are in memory, where a filter cannot look */
        [CALL_CREAT] = CALL("creat"),
        [CALL_OPEN_BY_HANDLE_AT] = OPEN("open_by_handle_at", 2),
        [CALL_UNLINK] = CALL("unlink"),
        [CALL_UNLINKAT] = CALL("unlinkat"),
        [CALL_RMDIR] = CALL("rmdir"),
        [CALL_RENAME] = CALL("rename"),
        [CALL_RENAMEAT] = CALL("renameat"),
        [CALL_RENAMEAT2] = CALL("renameat2"),
        [CALL_MKDIR] = CALL("mkdir"),
        [CALL_MKDIRAT] = CALL("mkdirat"),
        [CALL_MKNOD] = CALL("mknod"),
        [CALL_MKNODAT] = CALL("mknodat"),
        [CALL_LINK] = CALL("link"),
        [CALL_LINKAT] = CALL("linkat"),
        [CALL_SYMLINK] = CALL("symlink"),
        [CALL_SYMLINKAT] = CALL("symlinkat"),
        [CALL_TRUNCATE] = CALL("truncate"),
        [CALL_TRUNCATE64] = CALL("truncate64"),
        [CALL_CHMOD] = CALL("chmod"),
        [CALL_FCHMOD] = CALL("fchmod"),
        [CALL_FCHMODAT] = CALL("fchmodat"),
        [CALL_FCHMODAT2] = NEW_CALL("fchmodat2", 452), /* 6.6 */
        [CALL_CHOWN] = CALL("chown"),
        [CALL_CHOWN32] = CALL("chown32"),
        [CALL_LCHOWN] = CALL("lchown"),
        [CALL_LCHOWN32] = CALL("lchown32"),
        [CALL_FCHOWN] = CALL("fchown"),
        [CALL_FCHOWN32] = CALL("fchown32"),
        [CALL_FCHOWNAT] = CALL("fchownat"),
        [CALL_UTIME] = CALL("utime"),
        [CALL_UTIMES] = CALL("utimes"),
        [CALL_FUTIMESAT] = CALL("futimesat"),
        [CALL_UTIMENSAT] = CALL("utimensat"),
        [CALL_UTIMENSAT_TIME64] = CALL("utimensat_time64"),
        [CALL_SETXATTR] = CALL("setxattr"),
        [CALL_LSETXATTR] = CALL("lsetxattr"),
        [CALL_FSETXATTR] = CALL("fsetxattr"),
        [CALL_SETXATTRAT] = NEW_CALL("setxattrat", 463), /* 6.13 */
        [CALL_REMOVEXATTR] = CALL("removexattr"),
        [CALL_LREMOVEXATTR] = CALL("lremovexattr"),
        [CALL_FREMOVEXATTR] = CALL("fremovexattr"),
        [CALL_REMOVEXATTRAT] = NEW_CALL("removexattrat", 466), /* 6.13 */
        [CALL_FILE_SETATTR] = NEW_CALL("file_setattr", 469),   /* 6.17 */
        [CALL_CHROOT] = CALL("chroot"),
        [CALL_PIVOT_ROOT] = CALL("pivot_root"),
        [CALL_SETNS] = CALL("setns"),
        [CALL_UNSHARE] = CALL("unshare"),
        [CALL_SECCOMP] = {.name = "seccomp", .flags = GUARDED_CALL_LISTENER},
};

const GuardedArch guarded_archs[] = {
#if defined(__x86_64__)
        {SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64, 0},
        {SCMP_ARCH_X86, AUDIT_ARCH_I386, 0},
        {SCMP_ARCH_X32, AUDIT_ARCH_X86_64, X32_BIT},
#elif defined(__aarch64__)
        {SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64, 0},
        {SCMP_ARCH_ARM, AUDIT_ARCH_ARM, 0},
#elif defined(__i386__)
        {SCMP_ARCH_X86, AUDIT_ARCH_I386, 0},
#elif defined(__arm__)
        {SCMP_ARCH_ARM, AUDIT_ARCH_ARM, 0},
#elif defined(__riscv) && __riscv_xlen == 64
        {SCMP_ARCH_RISCV64, AUDIT_ARCH_RISCV64, 0},
#else
#error "the guard does not know this architecture"
#endif
};

size_t guarded_arch_count(void) {
        return ELEMENTSOF(guarded_archs);
}

/* A name that the architecture does not have, or that the library does not know, is a negative pseudo number to it. */
int guarded_call_number(GuardedCallId id, const GuardedArch *arch) {
        const GuardedCall *c = &guarded_calls[id];
        int n = seccomp_syscall_resolve_name_arch(arch->token, c->name);

        if (n >= 0)
                return n | (int) arch->bit;
        return c->number ? c->number | (int) arch->bit : -1;
}
