/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "daemon/kernel/connector_socket.h"

/* The kernel doubles it; memory is used as messages wait. */
#define RECEIVE_BUFFER (64 * 1024 * 1024)

#define AT_WHAT (NLMSG_HDRLEN + sizeof(struct cn_msg))
#define AT_DATA(member) (AT_WHAT + offsetof(struct proc_event, event_data.member))
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define IF_EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(value), (yes), (no))

/* Lets pass: answers, exec, and of fork, uid and exit those of main threads. A load is big-endian; where
 * two loads are compared with each other that does not matter. */
static int attach_filter(int fd) {
        struct sock_filter code[] = {
                LOAD(AT_WHAT),
                IF_EQUAL(PROC_EVENT_NONE, 13, 0),
                IF_EQUAL(PROC_EVENT_EXEC, 12, 0),
                IF_EQUAL(PROC_EVENT_FORK, 6, 0),
                IF_EQUAL(PROC_EVENT_UID, 1, 0),
                IF_EQUAL(PROC_EVENT_EXIT, 0, 8),
                /* uid and exit begin alike */
                LOAD(AT_DATA(exit.process_pid)),
                BPF_STMT(BPF_MISC | BPF_TAX, 0),
                LOAD(AT_DATA(exit.process_tgid)),
                BPF_STMT(BPF_JMP | BPF_JA, 3),
                LOAD(AT_DATA(fork.child_pid)),
                BPF_STMT(BPF_MISC | BPF_TAX, 0),
                LOAD(AT_DATA(fork.child_tgid)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 1, 0),
                BPF_STMT(BPF_RET | BPF_K, 0),
                BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        };
        struct sock_fprog program = {.len = ELEMENTSOF(code), .filter = code};

        if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0)
                return -errno;
        return 0;
}

int connector_socket_open(int *ret, uint32_t *ret_token) {
        struct sockaddr_nl own = {.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC};
        const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
        _cleanup_close_ int fd = -1;
        socklen_t size = sizeof(own);
        const int wanted = RECEIVE_BUFFER;
        int r;

        fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
        if (fd < 0)
                return errno == EPROTONOSUPPORT || errno == EAFNOSUPPORT ? -ENOENT : -errno;
        if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof(wanted)) < 0 &&
            setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof(wanted)) < 0)
                return -errno;
        r = attach_filter(fd);
        if (r < 0)
                return r;
        if (bind(fd, (const struct sockaddr *) &own, sizeof(own)) < 0)
                return -errno;
        /* A connected socket takes unicasts from its peer alone: nobody else can fill our receive buffer. */
        if (connect(fd, (const struct sockaddr *) &kernel, sizeof(kernel)) < 0)
                return -errno;
        if (getsockname(fd, (struct sockaddr *) &own, &size) < 0)
                return -errno;
        *ret = TAKE_FD(fd);
        *ret_token = own.nl_pid; /* the kernel gives each netlink socket another one */
        return 0;
}

static int request(int fd, uint32_t token, enum proc_cn_mcast_op op) {
        struct cn_msg head = {
                .id = {CN_IDX_PROC, CN_VAL_PROC},
                .ack = token,
                .len = sizeof(op),
        };
        struct nlmsghdr netlink = {
                .nlmsg_len = NLMSG_HDRLEN + sizeof(head) + sizeof(op),
                .nlmsg_type = NLMSG_DONE,
        };
        const struct iovec parts[] = {
                {&netlink, sizeof(netlink)},
                {&head, sizeof(head)},
                {&op, sizeof(op)},
        };

        if (writev(fd, parts, ELEMENTSOF(parts)) < 0)
                return errno == ECONNREFUSED ? -ENOENT : -errno;
        return 0;
}

int connector_socket_listen(int fd, uint32_t token) {
        return request(fd, token, PROC_CN_MCAST_LISTEN);
}

int connector_socket_ignore(int fd, uint32_t token) {
        return request(fd, token, PROC_CN_MCAST_IGNORE);
}
