/* SPDX-License-Identifier: MIT */
/*
 * libseccomp makes the program for all architectures. It is loaded by hand, for a flag that the library learned late, and
 * behind a few instructions of our own for the calls that it has not learned yet.
 */
#include "common/guard_filter.h"

#include "common/guarded_call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <seccomp.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5) /* 5.19 */
#endif

#define PROGRAM_MAX 4096          /* BPF_MAXINSNS */
#define ANY_ARCH_MASK 0xbfffffffU /* x32 has the same numbers with this bit set */

static void filter_releasep(scmp_filter_ctx *filter) {
        if (*filter)
                seccomp_release(*filter);
}

static int add_archs(scmp_filter_ctx filter) {
        int r;

        /* what enters by a way that is not in the list is none of our business, and must not be killed for it */
        r = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW);
        for (size_t i = 1; r >= 0 && i < guarded_arch_count(); i++) {
                r = seccomp_arch_add(filter, guarded_archs[i].token);
                if (r == -EEXIST)
                        r = 0;
        }
        return r;
}

/* Told when any of the bits is set: a rule cannot say "not equal" of a masked value, so there is one for each. Reading
 * only, or O_PATH alone, is not told. */
static int add_open(scmp_filter_ctx filter, int number, unsigned argument) {
        static const int bits[] = {O_WRONLY, O_RDWR, O_CREAT, O_TRUNC};

        for (size_t i = 0; i < ELEMENTSOF(bits); i++) {
                struct scmp_arg_cmp compare = {.arg = argument,
                                               .op = SCMP_CMP_MASKED_EQ,
                                               .datum_a = (uint64_t) bits[i],
                                               .datum_b = (uint64_t) bits[i]};
                int r = seccomp_rule_add_array(filter, SCMP_ACT_NOTIFY, number, 1, &compare);

                if (r < 0)
                        return r;
        }
        return 0;
}

static int add_listener(scmp_filter_ctx filter, int number) {
        const struct scmp_arg_cmp compare = {.arg = 1,
                                             .op = SCMP_CMP_MASKED_EQ,
                                             .datum_a = SECCOMP_FILTER_FLAG_NEW_LISTENER,
                                             .datum_b = SECCOMP_FILTER_FLAG_NEW_LISTENER};

        return seccomp_rule_add_array(filter, SCMP_ACT_NOTIFY, number, 1, &compare);
}

static int add_call(scmp_filter_ctx filter, int number, const GuardedCall *c) {
        if (c->flags == GUARDED_CALL_ALWAYS)
                return seccomp_rule_add(filter, SCMP_ACT_NOTIFY, number, 0);
        if (c->flags == GUARDED_CALL_LISTENER)
                return add_listener(filter, number);
        return add_open(filter, number, (unsigned) c->flags);
}

static int add_calls(scmp_filter_ctx filter) {
        for (size_t i = 0; i < _CALL_MAX; i++) {
                const GuardedCall *c = &guarded_calls[i];
                /* the number is our own architecture's; the library translates it, also from its pseudo numbers */
                int number = seccomp_syscall_resolve_name(c->name), r;

                if (number == __NR_SCMP_ERROR)
                        continue;
                r = add_call(filter, number, c);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int export(scmp_filter_ctx filter, struct sock_filter *program, size_t *n) {
        _cleanup_close_ int fd = memfd_create("mountwatch-filter", MFD_CLOEXEC);
        size_t room = (PROGRAM_MAX - *n) * sizeof(*program);
        ssize_t size;
        int r;

        if (fd < 0)
                return -errno;
        r = seccomp_export_bpf(filter, fd);
        if (r < 0)
                return r;
        size = pread(fd, program + *n, room, 0);
        if (size < 0)
                return -errno;
        if (size == 0 || (size_t) size == room || (size_t) size % sizeof(*program) != 0)
                return -E2BIG;
        *n += (size_t) size / sizeof(*program);
        return 0;
}

/* Calls that libseccomp does not know have the same number everywhere (all that came after 5.1). */
static size_t put_new_calls(struct sock_filter *program) {
        size_t n = 0;

        program[n++] = (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                     offsetof(struct seccomp_data, nr));
        program[n++] = (struct sock_filter) BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ANY_ARCH_MASK);
        for (size_t i = 0; i < _CALL_MAX; i++) {
                const GuardedCall *c = &guarded_calls[i];

                if (!c->number || seccomp_syscall_resolve_name(c->name) != __NR_SCMP_ERROR)
                        continue;
                program[n++] = (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                             (uint32_t) c->number, 0, 1);
                program[n++] =
                        (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
        }
        return n;
}

static int make_program(bool no_io_uring, struct sock_filter *program, size_t *ret_n) {
        _cleanup_(filter_releasep) scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
        size_t n;
        int r;

        if (!filter)
                return -ENOMEM;
        r = add_archs(filter);
        if (r >= 0)
                r = add_calls(filter);
        if (r >= 0 && no_io_uring)
                r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(io_uring_setup), 0);
        if (r < 0)
                return r;
        n = put_new_calls(program);
        r = export(filter, program, &n);
        if (r < 0)
                return r;
        *ret_n = n;
        return 0;
}

static int load(const struct sock_fprog *program, unsigned long flags) {
        int fd = (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, program);

        return fd < 0 ? -errno : fd;
}

/* A call whose notification has been received waits killable: without that, any handled signal starts the call anew, and
 * what is signalled more often than it is answered (Go preempts every 10 ms) would never get on. */
static int load_killable(const struct sock_fprog *program) {
        int fd = load(program,
                      SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);

        return fd == -EINVAL ? load(program, SECCOMP_FILTER_FLAG_NEW_LISTENER) : fd;
}

int guard_filter_install(bool no_io_uring) {
        _cleanup_free_ struct sock_filter *instructions =
                calloc(PROGRAM_MAX, sizeof(*instructions));
        struct sock_fprog program = {.filter = instructions};
        size_t n;
        int r;

        if (!instructions)
                return -ENOMEM;
        r = make_program(no_io_uring, instructions, &n);
        if (r < 0)
                return r;
        program.len = (unsigned short) n;
        r = load_killable(&program);
        if (r != -EACCES)
                return r;
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
                return -errno;
        return load_killable(&program);
}
