/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/fan_group.h"

#include "daemon/kernel/fan_decode.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/fanotify.h>

/* Kernel ABI that glibc 2.36 lacks. */
#define INIT_REPORT_PIDFD 0x00000080
#define INIT_REPORT_DFID_NAME_TARGET (0x00000200 | 0x00000400 | 0x00000800 | 0x00001000)

#define MASK_NAMES                                                                            \
        (FAN_BIT_CREATE | FAN_BIT_DELETE | FAN_BIT_RENAME | FAN_BIT_MODIFY | FAN_BIT_ATTRIB | \
         FAN_BIT_CLOSE_WRITE | FAN_BIT_ONDIR)

int fan_group_open_names(bool limited, int *ret_fd) {
        unsigned flags = FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | INIT_REPORT_PIDFD |
                INIT_REPORT_DFID_NAME_TARGET;
        int fd;

        if (!limited)
                flags |= FAN_UNLIMITED_QUEUE | FAN_UNLIMITED_MARKS;
        fd = fanotify_init(flags, O_RDONLY | O_LARGEFILE | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        *ret_fd = fd;
        return 0;
}

static int mark(int group, unsigned flags, uint64_t mask, int fd) {
        if (fanotify_mark(group, FAN_MARK_ADD | flags, mask, fd, NULL) < 0)
                return -errno;
        return 0;
}

int fan_group_mark_filesystem(int group, int fd) {
        return mark(group, FAN_MARK_FILESYSTEM, MASK_NAMES, fd);
}

int fan_group_mark_directory(int group, int fd, bool is_root) {
        uint64_t mask = MASK_NAMES | FAN_EVENT_ON_CHILD;

        /* Nobody else tells of the root itself: its parent has no mark. */
        if (is_root)
                mask |= FAN_BIT_DELETE_SELF | FAN_BIT_MOVE_SELF;
        return mark(group, FAN_MARK_ONLYDIR, mask, fd);
}

const char *fan_group_refusal(int error) {
        switch (-error) {
        case EOPNOTSUPP:
                return "the filesystem has no file handles";
        case ENODEV:
                return "the filesystem has no identity (fsid)";
        case EXDEV:
                return "the path is a subvolume with an identity of its own";
        case ENOSPC:
                return "the limit of fanotify marks is reached";
        case EMFILE:
                return "the limit of fanotify groups is reached";
        case EPERM:
                return "CAP_SYS_ADMIN is missing";
        case EACCES:
                return "the filesystem does not let this user in";
        case EINVAL:
                return "the kernel is too old for name events";
        default:
                return strerror(-error);
        }
}
