/* SPDX-License-Identifier: MIT */
/*
 * /proc/PID, read and parsed. Parsers take bytes; readers take a pid. A process that is gone is -ESRCH, never a half answer.
 */
#ifndef MOUNTWATCH_KERNEL_PROC_H
#define MOUNTWATCH_KERNEL_PROC_H

#include "daemon/core/process.h"

#define PROC_CMDLINE_MAX \
        (64 * 1024) /* bytes of a command line that are kept; the rest is cut, and marked by "…" */

typedef struct ProcStat {
        pid_t pid, ppid;
        char state;
        unsigned long num_threads;
        unsigned long flags; /* PF_* ; 0x00200000 is PF_KTHREAD */
        uint64_t start_ticks;
} ProcStat;

/* A line of /proc/PID/stat. The name in it may hold anything, ") " and newlines included. -EBADMSG. */
int proc_parse_stat(const char *data, size_t size, ProcStat *ret);
/* Effective uid from /proc/PID/status. -EBADMSG. */
int proc_parse_status_uid(const char *data, size_t size, uid_t *ret);
/* The process that a thread belongs to, from /proc/TID/status. -EBADMSG. */
int proc_parse_status_tgid(const char *data, size_t size, pid_t *ret);
/* /proc/PID/cmdline to a NULL-terminated vector (bounded). */
int proc_parse_cmdline(const char *data, size_t size, char ***ret);

int proc_read_stat(pid_t pid, ProcStat *ret);
int proc_read_tgid(pid_t tid, pid_t *ret);
/* Everything; the program reference belongs to the caller. Fields that cannot be read (kernel threads) stay NULL. */
int proc_read_details(pid_t pid, ProcessDetails *ret);
/* Whether any thread of it has children (CONFIG_PROC_CHILDREN); true when that cannot be told. */
bool proc_has_children(pid_t pid);
/* All pids of the machine, in no order. The caller frees. */
int proc_list(pid_t **ret, size_t *ret_n);

#endif
