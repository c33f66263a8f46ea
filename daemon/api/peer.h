/* SPDX-License-Identifier: MIT */
/* Who is at the other end of a connection: what the kernel noted when it was made. */
#ifndef MOUNTWATCH_API_PEER_H
#define MOUNTWATCH_API_PEER_H

#include "daemon/api/api.h"

#define GROUP_NONE ((gid_t) -1)

/* The id of a group by its name. -ESRCH: there is none. May wait for the name service. */
int group_find(const char *name, gid_t *ret);

/* `privileged_group` may be GROUP_NONE. */
int peer_read(int fd, gid_t privileged_group, Peer *ret);

#endif
