/* SPDX-License-Identifier: MIT */
/*
 * What a thread that waits in the kernel is about to do: /proc/TID/syscall, which shows the call and its arguments while the
 * thread sleeps in it. The group of held opens says who and what, never how.
 *
 * When in doubt it may write: io_uring's submitters show io_uring_enter, whatever they submit.
 */
#ifndef MOUNTWATCH_KERNEL_PROC_INTENT_H
#define MOUNTWATCH_KERNEL_PROC_INTENT_H

#include "common/macro.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct ProcSyscall {
        long number; /* -1: not in a call, or running */
        bool running;
        uint64_t args[6];
} ProcSyscall;

typedef struct Intent {
        bool known;     /* else may_write is set, and nothing else but running */
        bool running;   /* not asleep yet: ask again */
        bool may_write; /* the descriptor will be, or the call itself does */
        bool truncates; /* O_TRUNC of what exists */
        bool creates;   /* O_CREAT: what does not exist, is made */
        bool exclusive; /* O_EXCL with it: what it opens, it has made */
        bool nameless;  /* O_TMPFILE */
} Intent;

/* The content of /proc/TID/syscall. -EBADMSG. */
int proc_syscall_parse(const char *data, size_t size, ProcSyscall *ret);
int proc_syscall_read(pid_t tid, ProcSyscall *ret);

/* The flags of open(2), as the kernel of this machine reads them. */
Intent intent_of_flags(uint64_t flags);
/*
 * Of a call in which a file is being opened. Numbers are looked up for 64- and 32-bit callers alike: the number says which, since
 * none that opens a file in one of them does so in the other. `ret_how` is set to the address of a struct open_how
 * when the flags lie there (openat2), else to 0.
 */
Intent intent_of_open(const ProcSyscall *s, uint64_t *ret_how);
/* For a thread that waits while it opens a file. Never fails: what cannot be read may write. */
Intent intent_read_open(pid_t tid);

#endif
