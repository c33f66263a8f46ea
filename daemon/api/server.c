/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utlist.h>

#include "daemon/api/connection.h"
#include "daemon/api/peer.h"
#include "daemon/api/service.h"

#define ACCEPTS_PER_TURN 16
#define CONNECTIONS_RESERVED 16 /* of API_CONNECTIONS_MAX, for root */

const ApiInterface *api_server_find_interface(const ApiServer *s, const char *name, size_t size) {
        for (size_t i = 0; i < _INTERFACE_MAX; i++) {
                const char *is = idl_interface(s->interfaces[i].idl);

                if (strlen(is) == size && memcmp(is, name, size) == 0)
                        return &s->interfaces[i];
        }
        return NULL;
}

const ApiMethod *api_interface_find_method(const ApiInterface *interface, const char *name) {
        for (size_t i = 0; i < interface->n_methods; i++)
                if (str_equal(interface->methods[i].name, name))
                        return &interface->methods[i];
        return NULL;
}

/* The limit that one more connection of this peer would break, or 0. */
static int server_limit(const ApiServer *s, const Peer *peer, const char **ret_limit) {
        size_t n = 0, max = API_CONNECTIONS_MAX - (peer->uid == 0 ? 0 : CONNECTIONS_RESERVED);
        const Connection *c;

        *ret_limit = "connections";
        if (s->n_connections >= max)
                return API_CONNECTIONS_MAX;
        if (peer->uid == 0)
                return 0;
        DL_FOREACH (s->connections, c) {
                n += c->peer.uid == peer->uid;
        }
        *ret_limit = "connections of one user";
        return n >= API_CONNECTIONS_PER_UID_MAX ? API_CONNECTIONS_PER_UID_MAX : 0;
}

/* The socket is new, so this little fits into its buffer. */
static void refuse(int fd, const char *limit, int max) {
        json_object *p = json_object_new_object();
        _cleanup_free_ char *data = NULL;
        size_t size;

        if (p) {
                json_object_object_add(p, "limit", json_object_new_string(limit));
                json_object_object_add(p, "max", json_object_new_int(max));
        }
        if (varlink_format_error(MOUNTWATCH_INTERFACE ".LimitReached", p, &data, &size) == 0)
                (void) send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void server_add(ApiServer *s, int fd) {
        _cleanup_close_ int owned = fd;
        Connection *c;
        const char *limit;
        Peer peer;
        int max;

        if (peer_read(fd, s->group, &peer) < 0)
                return;
        max = server_limit(s, &peer, &limit);
        if (max > 0)
                refuse(fd, limit, max);
        else if (connection_new(s, fd, &peer, &c) >= 0)
                TAKE_FD(owned);
}

/* accept() would fail for ever, and the loop spin, while a connection waits that there is no descriptor for. */
static void server_turn_away(ApiServer *s) {
        int fd;

        s->spare_fd = safe_close(s->spare_fd);
        fd = accept4(s->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0)
                refuse(fd, "open files", (int) sysconf(_SC_OPEN_MAX));
        safe_close(fd);
        s->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int server_on_connect(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        ApiServer *s = userdata;

        for (unsigned i = 0; i < ACCEPTS_PER_TURN; i++) {
                int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

                if (peer >= 0)
                        server_add(s, peer);
                else if (errno == EMFILE || errno == ENFILE)
                        server_turn_away(s);
                else
                        break;
        }
        return 0;
}

/* -EINVAL: a method that its description does not have. */
static int interface_init(ApiInterface *i, const char *description, const ApiMethod *methods,
                          size_t n_methods, void *userdata) {
        int r = idl_parse(description, &i->idl, NULL);

        if (r < 0)
                return r;
        i->description = description;
        i->methods = methods;
        i->n_methods = n_methods;
        i->userdata = userdata;
        for (size_t k = 0; k < n_methods; k++)
                if (!idl_method_input(i->idl, methods[k].name))
                        return -EINVAL;
        return 0;
}

static int server_listen(ApiServer *s, const char *path, int listen_fd) {
        int r;

        r = listen_fd >= 0 ? listener_take(listen_fd, &s->listener)
                           : listener_open(path, &s->listener);
        if (r < 0)
                return r;
        r = sd_event_add_io(s->event, &s->on_connect, s->listener.fd, EPOLLIN, server_on_connect,
                            s);
        if (r < 0) {
                if (listen_fd >= 0)
                        s->listener.fd = -1; /* stays the caller's */
                return r;
        }
        (void) sd_event_source_set_description(s->on_connect, "api-listener");
        return 0;
}

int api_server_new(sd_event *event, const char *path, int listen_fd, const char *group,
                   const ApiMethod *methods, size_t n_methods, void *userdata, ApiServer **ret) {
        _cleanup_(api_server_freep) ApiServer *s = calloc(1, sizeof *s);
        int r;

        if (!s)
                return -ENOMEM;
        s->event = sd_event_ref(event);
        s->listener = LISTENER_NULL;
        s->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        s->group = GROUP_NONE;
        if (s->spare_fd < 0)
                return -errno;
        r = interface_init(&s->interfaces[INTERFACE_SERVICE], service_description, service_methods,
                           SERVICE_METHODS, s);
        if (r >= 0)
                r = interface_init(&s->interfaces[INTERFACE_MOUNTWATCH],
                                   mountwatch_varlink_description, methods, n_methods, userdata);
        if (r >= 0)
                r = api_server_set_group(s, group);
        if (r >= 0 || r == -ESRCH)
                r = server_listen(s, path, listen_fd);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}

ApiServer *api_server_free(ApiServer *s) {
        if (!s)
                return NULL;
        sd_event_source_disable_unref(s->on_connect);
        listener_done(&s->listener);
        while (s->connections)
                (void) connection_free(s->connections);
        for (size_t i = 0; i < _INTERFACE_MAX; i++)
                (void) idl_free(s->interfaces[i].idl);
        safe_close(s->spare_fd);
        sd_event_unref(s->event);
        free(s);
        return NULL;
}

int api_server_set_group(ApiServer *s, const char *group) {
        Connection *c;
        int r = 0;

        s->group = GROUP_NONE;
        if (group)
                r = group_find(group, &s->group);
        DL_FOREACH (s->connections, c) {
                /* on failure, who was privileged under the old group is not any more */
                if (peer_read(c->fd, s->group, &c->peer) < 0)
                        c->peer.privileged = c->peer.uid == 0;
        }
        return r;
}
