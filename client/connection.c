/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "client/connection.h"

#define CALL_TIMEOUT_SEC 30
#define READ_SIZE (64 * 1024)

struct Connection {
        int fd;
        VarlinkReader reader;
        json_object *refusal; /* the whole message */
};

/* stdin, stdout or stderr may be closed: a socket in their place would be printed to, or read from. */
static int move_above_stdio(int fd) {
        int moved;

        if (fd < 0 || fd > STDERR_FILENO)
                return fd;
        moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (moved < 0)
                moved = -errno;
        (void) close(fd);
        return moved;
}

static int set_timeout(int fd, time_t seconds) {
        struct timeval t = {.tv_sec = seconds};

        return setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)) < 0 ? -errno : 0;
}

static int open_socket(const char *path, int *ret) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        _cleanup_close_ int fd = -1;
        int r;

        if (strlen(path) >= sizeof(address.sun_path))
                return -ENAMETOOLONG;
        strcpy(address.sun_path, path);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return -errno;
        fd = move_above_stdio(fd);
        if (fd < 0)
                return fd;
        if (connect(fd, (struct sockaddr *) &address, sizeof(address)) < 0)
                return -errno;
        r = set_timeout(fd, CALL_TIMEOUT_SEC);
        if (r < 0)
                return r;
        *ret = TAKE_FD(fd);
        return 0;
}

int connection_new(const char *socket_path, Connection **ret) {
        _cleanup_(connection_freep) Connection *c = calloc(1, sizeof(*c));
        int r;

        if (!c)
                return -ENOMEM;
        c->fd = -1;
        varlink_reader_init(&c->reader, VARLINK_REPLY_MAX);
        r = open_socket(socket_path, &c->fd);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(c);
        return 0;
}

Connection *connection_free(Connection *c) {
        if (!c)
                return NULL;
        safe_close(c->fd);
        varlink_reader_done(&c->reader);
        json_object_put(c->refusal);
        free(c);
        return NULL;
}

int connection_fd(const Connection *c) {
        return c->fd;
}

static int send_all(int fd, const char *data, size_t size) {
        while (size > 0) {
                ssize_t n = send(fd, data, size, MSG_NOSIGNAL);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return errno == EPIPE ? -ECONNRESET : -errno;
                data += n;
                size -= (size_t) n;
        }
        return 0;
}

static int send_call(Connection *c, const char *method, json_object *parameters, bool more) {
        _cleanup_free_ char *data = NULL, *name = NULL;
        size_t size;
        int r;

        json_object_put(c->refusal);
        c->refusal = NULL;
        if (asprintf(&name, "%s.%s", MOUNTWATCH_INTERFACE, method) < 0) {
                json_object_put(parameters);
                return -ENOMEM;
        }
        r = varlink_format_call(name, parameters, more, &data, &size);
        if (r < 0)
                return r;
        return send_all(c->fd, data, size);
}

static int read_more(Connection *c, bool wait) {
        char buffer[READ_SIZE];
        ssize_t n;

        do
                n = recv(c->fd, buffer, sizeof(buffer), wait ? 0 : MSG_DONTWAIT);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return errno == EAGAIN && wait ? -ETIMEDOUT : -errno;
        if (n == 0)
                return -ECONNRESET;
        return varlink_reader_feed(&c->reader, buffer, (size_t) n);
}

static int read_message(Connection *c, bool wait, json_object **ret) {
        for (;;) {
                int r = varlink_reader_next(&c->reader, ret);

                if (r < 0)
                        return r;
                if (r > 0)
                        return 0;
                r = read_more(c, wait);
                if (r < 0)
                        return r;
        }
}

static int next_reply(Connection *c, bool wait, json_object **ret, bool *ret_continues) {
        json_object *message = NULL, *parameters;
        VarlinkReply reply;
        int r;

        r = read_message(c, wait, &message);
        if (r < 0)
                return r;
        r = varlink_reply_parse(message, &reply);
        if (r < 0) {
                json_object_put(message);
                return r;
        }
        if (reply.error) {
                c->refusal = message;
                return CONNECTION_E_REFUSED;
        }
        parameters =
                reply.parameters ? json_object_get(reply.parameters) : json_object_new_object();
        *ret_continues = reply.continues;
        json_object_put(message);
        if (!parameters)
                return -ENOMEM;
        *ret = parameters;
        return 0;
}

int connection_next(Connection *c, json_object **ret, bool *ret_continues) {
        return next_reply(c, /* wait= */ true, ret, ret_continues);
}

int connection_try_next(Connection *c, json_object **ret, bool *ret_continues) {
        return next_reply(c, /* wait= */ false, ret, ret_continues);
}

int connection_post(Connection *c, const char *method, json_object *parameters, bool more) {
        return send_call(c, method, parameters, more);
}

int connection_call(Connection *c, const char *method, json_object *parameters, json_object **ret) {
        json_object *reply;
        bool continues;
        int r;

        r = send_call(c, method, parameters, /* more= */ false);
        if (r < 0)
                return r;
        r = connection_next(c, &reply, &continues);
        if (r != 0)
                return r;
        if (continues) { /* nobody asked for more */
                json_object_put(reply);
                return -EBADMSG;
        }
        *ret = reply;
        return 0;
}

int connection_call_more(Connection *c, const char *method, json_object *parameters, bool patient) {
        int r;

        r = set_timeout(c->fd, patient ? 0 : CALL_TIMEOUT_SEC);
        if (r < 0) {
                json_object_put(parameters);
                return r;
        }
        return send_call(c, method, parameters, /* more= */ true);
}

const char *connection_refusal(const Connection *c, json_object **ret_parameters) {
        VarlinkReply reply;

        *ret_parameters = NULL;
        if (!c->refusal || varlink_reply_parse(c->refusal, &reply) < 0 || !reply.error)
                return "unknown";
        *ret_parameters = reply.parameters;
        return reply.error;
}

char *connection_explain(const char *socket_path, int error) {
        char *text = NULL;
        int r;

        switch (-error) {
        case ENOENT:
        case ENOTDIR:
                r = asprintf(
                        &text,
                        "the daemon is not running: there is no socket '%s'. Start it with 'systemctl start "
                        "mountwatch', or name another socket with --socket",
                        socket_path);
                break;
        case ECONNREFUSED:
                r = asprintf(
                        &text,
                        "nobody listens on '%s': the daemon has ended and left its socket. 'systemctl "
                        "status mountwatch' says why",
                        socket_path);
                break;
        case EACCES:
        case EPERM:
                r = asprintf(&text,
                             "no permission to use '%s'. Look at 'ls -ld' of it and of its folder",
                             socket_path);
                break;
        case ENOTSOCK:
        case EPROTOTYPE:
        case ENAMETOOLONG:
                r = asprintf(
                        &text,
                        "'%s' cannot be the daemon's socket: %s. Name the right one with --socket or "
                        "MOUNTWATCH_SOCKET",
                        socket_path, strerror(-error));
                break;
        case EBADMSG:
        case EMSGSIZE:
                r = asprintf(
                        &text,
                        "what answers on '%s' does not speak mountwatch's protocol (%s). 'mountwatch "
                        "version' and 'mountwatchd --version' should be the same",
                        socket_path, error == -EBADMSG ? "a broken message" : "a message too long");
                break;
        case ECONNRESET:
                r = asprintf(
                        &text,
                        "the daemon on '%s' closed the connection in the middle. 'journalctl -u "
                        "mountwatch' says why",
                        socket_path);
                break;
        case ETIMEDOUT:
                r = asprintf(
                        &text,
                        "the daemon on '%s' does not answer. 'systemctl status mountwatch' shows its state",
                        socket_path);
                break;
        default:
                r = asprintf(&text, "failed to talk to the daemon on '%s': %s", socket_path,
                             strerror(-error));
        }
        return r < 0 ? NULL : text;
}
