/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/syscall.h>

#include "daemon/kernel/proc.h"
#include "daemon/kernel/thread_group.h"

static bool is_in(pid_t pid, pid_t tid) {
        return syscall(SYS_tgkill, pid, tid, 0) == 0 || errno == EPERM;
}

bool thread_is_main(pid_t tid) {
        return is_in(tid, tid);
}

pid_t thread_group_of(ThreadGroups *g, pid_t tid) {
        size_t i = (size_t) tid % THREAD_GROUPS;
        pid_t pid;

        if (tid <= 0)
                return 0;
        if (g->known[i].tid == tid && is_in(g->known[i].pid, tid))
                return g->known[i].pid;
        if (thread_is_main(tid))
                return tid;
        if (proc_read_tgid(tid, &pid) < 0)
                return 0;
        g->known[i].tid = tid;
        g->known[i].pid = pid;
        return pid;
}
