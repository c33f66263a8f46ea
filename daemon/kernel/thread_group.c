/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/syscall.h>

#include "daemon/kernel/proc.h"
#include "daemon/kernel/thread_group.h"

#define FRESH_NSEC (2 * 1000 * 1000ULL)

static bool is_in(pid_t pid, pid_t tid) {
        return syscall(SYS_tgkill, pid, tid, 0) == 0 || errno == EPERM;
}

bool thread_is_main(pid_t tid) {
        return is_in(tid, tid);
}

static bool is_known(ThreadGroups *g, size_t i, pid_t tid, nsec_t now) {
        if (g->known[i].tid != tid)
                return false;
        if (now - g->known[i].checked < FRESH_NSEC)
                return true;
        g->known[i].checked = now;
        return is_in(g->known[i].pid, tid);
}

pid_t thread_group_of(ThreadGroups *g, pid_t tid, nsec_t now) {
        size_t i = (size_t) tid % THREAD_GROUPS;
        pid_t pid;

        if (tid <= 0)
                return 0;
        if (is_known(g, i, tid, now))
                return g->known[i].pid;
        g->known[i].tid = 0;
        if (thread_is_main(tid))
                return tid;
        if (proc_read_tgid(tid, &pid) < 0)
                return 0;
        g->known[i].tid = tid;
        g->known[i].pid = pid;
        g->known[i].checked = now;
        return pid;
}
