/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdio.h>

#include "daemon/kernel/mount_helper.h"
#include "daemon/kernel/proc.h"

/* A helper opens it first of all. */
#define DESCRIPTORS_MAX 64

static bool has_fuse_open(pid_t pid) {
        char path[32], target[sizeof("/dev/fuse")];
        const struct dirent *e;
        bool found = false;
        DIR *d;

        (void) snprintf(path, sizeof(path), "/proc/%d/fd", (int) pid);
        d = opendir(path);
        if (!d)
                return false;
        for (int n = 0; !found && n < DESCRIPTORS_MAX && (e = readdir(d)); n++) {
                ssize_t k = readlinkat(dirfd(d), e->d_name, target, sizeof(target));

                found = k == sizeof("/dev/fuse") - 1 &&
                        memcmp(target, "/dev/fuse", (size_t) k) == 0;
        }
        (void) closedir(d);
        return found;
}

bool mount_helper_is(MountHelpers *h, pid_t pid) {
        size_t i = (size_t) pid % MOUNT_HELPERS;
        ProcStat st;

        if (proc_read_stat(pid, &st) < 0)
                return false;
        if (h->known[i].pid != pid || h->known[i].start_ticks != st.start_ticks) {
                h->known[i].pid = pid;
                h->known[i].start_ticks = st.start_ticks;
                h->known[i].yes = has_fuse_open(pid);
        }
        return h->known[i].yes;
}
