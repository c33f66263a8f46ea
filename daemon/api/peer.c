/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <grp.h>
#include <sys/socket.h>

#include "daemon/api/peer.h"

#define GROUPS_MAX 65536 /* NGROUPS_MAX of the kernel */
#define GROUP_ENTRY_MAX (1024 * 1024)

int group_find(const char *name, gid_t *ret) {
        for (size_t size = 1024; size <= GROUP_ENTRY_MAX; size *= 2) {
                _cleanup_free_ char *buffer = malloc(size);
                struct group entry, *found = NULL;
                int r;

                if (!buffer)
                        return -ENOMEM;
                r = getgrnam_r(name, &entry, buffer, size, &found);
                if (r == ERANGE)
                        continue;
                if (found) {
                        *ret = entry.gr_gid;
                        return 0;
                }
                /* the values that getgrnam(3) allows for "no such name" */
                return r == 0 || r == ENOENT || r == EBADF || r == EPERM ? -ESRCH : -r;
        }
        return -ERANGE;
}

/* SO_PEERGROUPS (since 4.13) are the groups at connect(), as SO_PEERCRED is the uid then; /proc and the group database tell
 * what they are now. */
static int peer_is_in_group(int fd, gid_t group) {
        _cleanup_free_ gid_t *groups = NULL;
        socklen_t size = 0;

        if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) == 0)
                return 0; /* there are none */
        if (errno != ERANGE)
                return -errno;
        if (size > GROUPS_MAX * sizeof *groups)
                return -ERANGE;
        groups = malloc(size);
        if (!groups)
                return -ENOMEM;
        if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
                return -errno;
        for (size_t i = 0; i < size / sizeof *groups; i++)
                if (groups[i] == group)
                        return 1;
        return 0;
}

int peer_read(int fd, gid_t privileged_group, Peer *ret) {
        struct ucred cred;
        socklen_t size = sizeof cred;
        int r;

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0)
                return -errno;
        r = cred.uid == 0;
        if (!r && privileged_group != GROUP_NONE) {
                r = cred.gid == privileged_group ? 1 : peer_is_in_group(fd, privileged_group);
                if (r < 0)
                        return r;
        }
        *ret = (Peer){.pid = cred.pid, .uid = cred.uid, .gid = cred.gid, .privileged = r};
        return 0;
}
