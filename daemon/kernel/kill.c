/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <sys/pidfd.h>

#include "daemon/kernel/kill.h"
#include "daemon/kernel/proc.h"

/* PF_KTHREAD in include/linux/sched.h, part of /proc/PID/stat. */
#define PROC_FLAG_KTHREAD 0x00200000UL
#define START_SLACK_SECONDS 1

static bool is_own_task(pid_t pid) {
        char path[48];

        (void) snprintf(path, sizeof(path), "/proc/self/task/%d", (int) pid);
        return access(path, F_OK) == 0;
}

/* A start time that was computed from the moment of the fork message (connector.h) is a little later than the one in
 * /proc, never earlier; a recycled number starts later than what is expected. */
static bool is_same_start(uint64_t actual, uint64_t expected) {
        uint64_t slack = START_SLACK_SECONDS * (uint64_t) sysconf(_SC_CLK_TCK);

        return actual <= expected && expected - actual <= slack;
}

int kill_process(pid_t pid, uint64_t start_ticks, int sig) {
        _cleanup_close_ int pidfd = -1;
        ProcStat st;
        int r;

        if (pid <= 1 || is_own_task(pid))
                return -EPERM;

        pidfd = pidfd_open(pid, 0);
        if (pidfd < 0) /* a thread that leads no process: EINVAL, from 6.15 on ENOENT */
                return errno == EINVAL || errno == ENOENT ? -ESRCH : -errno;

        /* Read after the pidfd was opened: when these words are about somebody else, who has the number by now, then
         * the pidfd's process is dead and the signal goes nowhere. */
        r = proc_read_stat(pid, &st);
        if (r < 0)
                return r;
        if (st.flags & PROC_FLAG_KTHREAD)
                return -EPERM;
        if (start_ticks > 0 && !is_same_start(st.start_ticks, start_ticks))
                return -ESRCH;

        if (pidfd_send_signal(pidfd, sig, NULL, 0) < 0)
                return -errno;
        return 0;
}
