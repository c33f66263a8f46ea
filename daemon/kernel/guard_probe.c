/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/guard_probe.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

bool guard_probe(void) {
        uint32_t action = SECCOMP_RET_USER_NOTIF;

        if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) < 0)
                return false;
        /* it came after "continue", so it stands for both: -1 is no descriptor */
        return syscall(SYS_pidfd_getfd, -1, -1, 0) >= 0 || errno != ENOSYS;
}
