/* SPDX-License-Identifier: MIT */
/* The socket that the process connector's messages come from: opened, filtered in the kernel, asked to begin and end. */
#ifndef MOUNTWATCH_KERNEL_CONNECTOR_SOCKET_H
#define MOUNTWATCH_KERNEL_CONNECTOR_SOCKET_H

#include "common/macro.h"

/* A non-blocking socket that gets nothing yet. *ret_token: a number for requests that no other listener uses. -EPERM without
 * CAP_NET_ADMIN, -ENOENT when the kernel has no connector. */
int connector_socket_open(int *ret, uint32_t *ret_token);
/* Begins or ends the messages; answered by an acknowledgement of that number (connector_parse_ack). */
int connector_socket_listen(int fd, uint32_t token);
int connector_socket_ignore(int fd, uint32_t token);

#endif
