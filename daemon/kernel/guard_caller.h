/* SPDX-License-Identifier: MIT */
/* Who waits in a guarded call, as far as it matters for the answer. */
#ifndef MOUNTWATCH_KERNEL_GUARD_CALLER_H
#define MOUNTWATCH_KERNEL_GUARD_CALLER_H

#include "common/macro.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct CallerStatus {
        pid_t pid; /* thread group id */
        uint64_t
                pending; /* signals that have come for the thread or its process, and that it does not block; bit N-1 */
} CallerStatus;

/* With whose rights it touches files. */
typedef struct CallerRights {
        uid_t uid;      /* fsuid */
        gid_t gid;      /* fsgid */
        bool overrides; /* CAP_DAC_OVERRIDE */
        gid_t *groups;  /* owned */
        size_t n_groups;
} CallerRights;

void caller_rights_done(CallerRights *r);

/* /proc/TID/status. -EBADMSG. */
int caller_parse_status(const char *data, size_t size, CallerStatus *ret);
int caller_parse_rights(const char *data, size_t size, CallerRights *ret);
/* -ESRCH: gone. */
int caller_read_status(int proc_fd, pid_t tid, CallerStatus *ret);
int caller_read_rights(int proc_fd, pid_t tid, CallerRights *ret);
/* Someone wants it to end: what it waits in must not stand in the way. */
bool caller_is_called_off(const CallerStatus *s);

/* This thread touches files with those rights from now on (setfsuid(2) and its like, for the thread alone), or with its own again.
 * 0, or why not: then with its own. */
int caller_rights_take(const CallerRights *r);
void caller_rights_give_back(void);

#endif
