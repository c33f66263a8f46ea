/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "daemon/kernel/proc_intent.h"
#include "daemon/kernel/textfile.h"

#define TMPFILE_BIT \
        020000000U /* O_TMPFILE without its O_DIRECTORY; the same on every architecture but alpha and sparc */
#define X32_BIT 0x40000000L

typedef enum CallType {
        CALL_OPEN, /* flags in an argument */
        CALL_CREAT,
        CALL_OPENAT2,
        CALL_EXEC,
} CallType;

typedef struct Call {
        long number;
        CallType type;
        unsigned flags; /* CALL_OPEN: in which argument */
} Call;

static const Call calls[] = {
#ifdef SYS_open
        {SYS_open, CALL_OPEN, 1},
#endif
#ifdef SYS_creat
        {SYS_creat, CALL_CREAT, 0},
#endif
        {SYS_openat, CALL_OPEN, 2},
        {SYS_openat2, CALL_OPENAT2, 0},
        {SYS_open_by_handle_at, CALL_OPEN, 2},
        {SYS_execve, CALL_EXEC, 0},
        {SYS_execveat, CALL_EXEC, 0},
#if defined(__x86_64__)
        /* i386: here fstat, lseek, munmap, preadv, and two that are not in use */
        {5, CALL_OPEN, 1},
        {8, CALL_CREAT, 0},
        {11, CALL_EXEC, 0},
        {295, CALL_OPEN, 2},
        {342, CALL_OPEN, 2},
        {358, CALL_EXEC, 0},
        /* x32 has numbers of its own for these */
        {520, CALL_EXEC, 0},
        {545, CALL_EXEC, 0},
#elif defined(__aarch64__)
        /* arm: here setxattr, getxattr, lgetxattr, and three that are not in use */
        {5, CALL_OPEN, 1},
        {8, CALL_CREAT, 0},
        {11, CALL_EXEC, 0},
        {322, CALL_OPEN, 2},
        {371, CALL_OPEN, 2},
        {387, CALL_EXEC, 0},
#endif
};

/* ---- /proc/TID/syscall ---- */

typedef struct Text {
        const char *p, *end;
} Text;

static int take_hex(Text *t, uint64_t *ret) {
        uint64_t v = 0;
        const char *first;

        if (t->end - t->p < 4 || memcmp(t->p, " 0x", 3) != 0)
                return -EBADMSG;
        t->p += 3;
        for (first = t->p; t->p < t->end; t->p++) {
                unsigned char c = (unsigned char) *t->p;
                unsigned digit;

                if (c >= '0' && c <= '9')
                        digit = c - '0';
                else if (c >= 'a' && c <= 'f')
                        digit = c - 'a' + 10U;
                else
                        break;
                if (v >> 60)
                        return -EBADMSG;
                v = v << 4 | digit;
        }
        if (t->p == first)
                return -EBADMSG;
        *ret = v;
        return 0;
}

static int take_number(Text *t, long *ret) {
        const char *first = t->p;
        long v = 0;

        for (; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++) {
                v = v * 10 + (*t->p - '0');
                if (v > INT_MAX)
                        return -EBADMSG;
        }
        if (t->p == first)
                return -EBADMSG;
        *ret = v;
        return 0;
}

static bool begins_with(const Text *t, const char *s) {
        size_t n = strlen(s);

        return (size_t) (t->end - t->p) >= n && memcmp(t->p, s, n) == 0;
}

/* "257 0xffffff9c 0x7ffc3b0 0x241 0x1b6 0x0 0x0 0x7ffc2f8 0x7f31c5", "-1 0x7ffc2f8 0x7f31c5", "running":
 * proc_pid_syscall(5). The last two are stack and instruction pointer. */
int proc_syscall_parse(const char *data, size_t size, ProcSyscall *ret) {
        Text t = {data, data + size};
        ProcSyscall s = {.number = -1};
        uint64_t skipped;
        int r;

        if (begins_with(&t, "running") || begins_with(&t, "-1 ")) {
                s.running = t.p[0] == 'r';
                *ret = s;
                return 0;
        }
        r = take_number(&t, &s.number);
        for (size_t i = 0; r == 0 && i < ELEMENTSOF(s.args); i++)
                r = take_hex(&t, &s.args[i]);
        for (int i = 0; r == 0 && i < 2; i++)
                r = take_hex(&t, &skipped);
        if (r < 0)
                return r;
        *ret = s;
        return 0;
}

int proc_syscall_read(pid_t tid, ProcSyscall *ret) {
        char path[64], buf[256];
        size_t n;
        int r;

        (void) snprintf(path, sizeof(path), "/proc/%d/syscall", (int) tid);
        r = textfile_read_at(AT_FDCWD, path, buf, sizeof(buf), &n);
        if (r < 0)
                return r == -ENOENT ? -ESRCH : r;
        return proc_syscall_parse(buf, n, ret);
}

/* ---- what it means ---- */

Intent intent_of_flags(uint64_t flags) {
        bool nameless = flags & TMPFILE_BIT;

        return (Intent){
                .known = true,
                .may_write = (flags & O_ACCMODE) != O_RDONLY,
                .truncates = flags & O_TRUNC,
                .creates = (flags & O_CREAT) && !nameless,
                .exclusive = (flags & O_CREAT) && (flags & O_EXCL) && !nameless,
                .nameless = nameless,
        };
}

static const Call *call_find(long number) {
#ifdef __x86_64__
        number &= ~X32_BIT;
#endif
        for (size_t i = 0; i < ELEMENTSOF(calls); i++)
                if (calls[i].number == number)
                        return &calls[i];
        return NULL;
}

Intent intent_of_open(const ProcSyscall *s, uint64_t *ret_how) {
        const Call *call = s->number < 0 ? NULL : call_find(s->number);

        *ret_how = 0;
        if (!call)
                return (Intent){.may_write = true, .running = s->running};
        switch (call->type) {
        case CALL_OPEN:
                return intent_of_flags(s->args[call->flags]);
        case CALL_CREAT:
                return intent_of_flags(O_WRONLY | O_CREAT | O_TRUNC);
        case CALL_EXEC:
                return (Intent){.known = true};
        case CALL_OPENAT2:
                *ret_how = s->args[2];
                break;
        }
        return (Intent){.may_write = true};
}

/* The flags come first in struct open_how. Memory that has to be read from a disk first would have been read by the call
 * itself a moment ago. */
static int read_how(pid_t tid, uint64_t address, uint64_t *ret_flags) {
        uint64_t flags;
        struct iovec local = {&flags, sizeof(flags)};
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        struct iovec remote = {(void *) (uintptr_t) address, sizeof(flags)};
        ssize_t n = process_vm_readv(tid, &local, 1, &remote, 1, 0);

        if (n != sizeof(flags))
                return n < 0 ? -errno : -EFAULT;
        *ret_flags = flags;
        return 0;
}

Intent intent_read_open(pid_t tid) {
        ProcSyscall s;
        uint64_t how, flags = 0;
        Intent intent;

        if (proc_syscall_read(tid, &s) < 0)
                return (Intent){.may_write = true};
        intent = intent_of_open(&s, &how);
        if (how && read_how(tid, how, &flags) == 0)
                intent = intent_of_flags(flags);
        return intent;
}
