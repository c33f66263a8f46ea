/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>

#include "daemon/kernel/mountinfo.h"
#include "daemon/kernel/textfile.h"

#define MOUNTINFO_MAX (64 * 1024 * 1024) /* bytes; the kernel allows 100,000 mounts */

int mountinfo_read(MountTable *ret) {
        _cleanup_free_ char *data = NULL;
        size_t n;
        int r;

        r = textfile_read_all_at(AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_MAX, &data, &n);
        if (r < 0)
                return r;
        return mountinfo_parse(data, n, ret);
}

int mountinfo_open(void) {
        int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}
