/* SPDX-License-Identifier: MIT */
/*
 * Which process a waiting thread belongs to. Nothing tells when threads come and go, so what is remembered is checked by
 * tgkill(2) with signal 0: one system call, which says whether that thread is in that process now. Two milliseconds later it still
 * is, or at least its number has not been given away: numbers go round (pid_max is 301 at least), and a clone takes ten microseconds.
 */
#ifndef MOUNTWATCH_KERNEL_THREAD_GROUP_H
#define MOUNTWATCH_KERNEL_THREAD_GROUP_H

#include "common/macro.h"

#include <stdbool.h>
#include <sys/types.h>

#define THREAD_GROUPS 1024

typedef struct ThreadGroups {
        struct {
                pid_t tid, pid;
                nsec_t checked;
        } known[THREAD_GROUPS];
} ThreadGroups;

/* Is it the main thread of a process? */
bool thread_is_main(pid_t tid);
/* 0 when it is gone, or of a pid namespace that we do not see. */
pid_t thread_group_of(ThreadGroups *g, pid_t tid, nsec_t now);

#endif
