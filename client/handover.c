/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "client/handover.h"
#include "client/keeper.h"
#include "common/guard_filter.h"
#include "common/json_member.h"

/* What is said to the child: one byte. */
enum {
        WORD_GO_ON,
        WORD_INSTALL,
        WORD_INSTALL_NO_RINGS, /* io_uring is not to be had either */
};

/* Above the standard descriptors, which may be closed. */
static int move_up(int *fd) {
        int moved = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

        safe_close(*fd);
        *fd = moved;
        return moved < 0 ? -errno : 0;
}

int handover_init(Handover *h) {
        int fds[2], r;

        *h = (Handover) HANDOVER_INIT;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
                return -errno;
        h->ours = fds[0];
        h->theirs = fds[1];
        r = move_up(&h->ours);
        if (r >= 0)
                r = move_up(&h->theirs);
        if (r < 0)
                handover_done(h);
        return r;
}

void handover_done(Handover *h) {
        h->ours = safe_close(h->ours);
        h->theirs = safe_close(h->theirs);
        h->ledger = guard_ledger_free(h->ledger);
        /* it has ended by now, unless something still has the filter: then it is left behind */
        if (h->keeper > 0)
                (void) waitpid(h->keeper, NULL, WNOHANG);
        h->keeper = -1;
}

/* ---- one message with a number, and a descriptor or none ---- */

static int send_result(int sock, int result, int fd) {
        union {
                struct cmsghdr header;
                char room[CMSG_SPACE(sizeof(int))];
        } control = {};
        struct iovec data = {&result, sizeof(result)};
        struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};

        if (fd >= 0) {
                m.msg_control = &control;
                m.msg_controllen = sizeof(control);
                control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
                                                  .cmsg_type = SCM_RIGHTS,
                                                  .cmsg_len = CMSG_LEN(sizeof(int))};
                memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
        }
        return sendmsg(sock, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int receive_result(int sock, int *ret_fd) {
        union {
                struct cmsghdr header;
                char room[CMSG_SPACE(sizeof(int))];
        } control = {};
        int result;
        struct iovec data = {&result, sizeof(result)};
        struct msghdr m = {.msg_iov = &data,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof(control)};
        ssize_t n;

        do
                n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        if (n != (ssize_t) sizeof(result))
                return -EPIPE;
        if (result < 0)
                return result;
        if (!CMSG_FIRSTHDR(&m) || control.header.cmsg_type != SCM_RIGHTS)
                return -EBADMSG;
        memcpy(ret_fd, CMSG_DATA(&control.header), sizeof(*ret_fd));
        return 0;
}

static int send_word(const Handover *h, char word) {
        return send(h->ours, &word, 1, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

/* ---- the child ---- */

static int receive_word(int sock, char *ret) {
        ssize_t n;

        do
                n = recv(sock, ret, 1, 0);
        while (n < 0 && errno == EINTR);
        return n == 1 ? 0 : -EPIPE;
}

int handover_child(void *handover) {
        Handover *h = handover;
        char word;
        int r;

        /* so that the end of the other program is the end of this socket */
        h->ours = safe_close(h->ours);
        r = receive_word(h->theirs, &word);
        while (r == 0 && word != WORD_GO_ON) {
                /* Descriptors that the command inherits are not looked at here; what this opens is close-on-exec. From the
                 * install on, no guarded call is made before execve(2), since nobody answers yet. */
                _cleanup_close_ int listener = guard_filter_install(word == WORD_INSTALL_NO_RINGS);

                r = send_result(h->theirs, MIN(listener, 0), listener);
                if (r == 0)
                        r = receive_word(h->theirs, &word);
        }
        return r;
}

/* ---- this program ---- */

int handover_skip(Handover *h) {
        h->theirs = safe_close(h->theirs);
        return send_word(h, WORD_GO_ON);
}

int handover_install(Handover *h, bool no_io_uring, int *ret_listener) {
        int r;

        h->theirs = safe_close(h->theirs);
        r = send_word(h, no_io_uring ? WORD_INSTALL_NO_RINGS : WORD_INSTALL);
        return r < 0 ? r : receive_result(h->ours, ret_listener);
}

static int call_attach(Connection *c, const char *session, int listener, int ledger) {
        _cleanup_json_ json_object *parameters = json_object_new_object(), *reply = NULL;

        if (!parameters || json_add_text(parameters, "id", session) < 0 ||
            json_add_int(parameters, "listener", listener) < 0 ||
            json_add_int(parameters, "ledger", ledger) < 0)
                return -ENOMEM;
        return connection_call(c, "AttachGuard", TAKE_PTR(parameters), &reply);
}

int handover_attach(Handover *h, Connection *c, const char *session, int listener) {
        _cleanup_close_ int listener_fd = listener, ledger_fd = -1;
        int r, k;

        r = guard_ledger_new(&h->ledger, &ledger_fd);
        if (r < 0)
                return r;
        r = call_attach(c, session, listener, ledger_fd);
        if (r != 0)
                guard_ledger_release(h->ledger);
        k = keeper_start(listener_fd, r == 0 ? connection_fd(c) : -1, h->ledger, &h->keeper);
        /* without a keeper this program keeps the listener itself, so that calls do not fail at least while it runs */
        if (k < 0)
                (void) TAKE_FD(listener_fd);
        return r != 0 ? r : k;
}

uint64_t handover_lapses(const Handover *h) {
        return h->ledger ? guard_ledger_lapses(h->ledger) : 0;
}

bool handover_was_in_the_way(const Handover *h) {
        return h->ledger && guard_ledger_wanted_listener(h->ledger);
}
