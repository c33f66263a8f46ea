/* SPDX-License-Identifier: MIT */
/* What the server keeps; for the files of this room. */
#ifndef MOUNTWATCH_API_SERVER_H
#define MOUNTWATCH_API_SERVER_H

#include "daemon/api/api.h"
#include "daemon/api/idl.h"
#include "daemon/api/listener.h"

typedef struct Connection Connection;

typedef struct ApiInterface {
        const char *description;
        Idl *idl;
        const ApiMethod *methods;
        size_t n_methods;
        void *userdata;
} ApiInterface;

enum {
        INTERFACE_SERVICE, /* org.varlink.service */
        INTERFACE_MOUNTWATCH,
        _INTERFACE_MAX,
};

struct ApiServer {
        sd_event *event;
        Listener listener;
        sd_event_source *on_connect;
        int spare_fd; /* given up to take, and close, a connection when the process has no descriptor left */
        gid_t group;
        ApiInterface interfaces[_INTERFACE_MAX];
        Connection *connections; /* list */
        size_t n_connections;
};

/* NULL: there is no such interface. */
const ApiInterface *api_server_find_interface(const ApiServer *s, const char *name, size_t size);
const ApiMethod *api_interface_find_method(const ApiInterface *i, const char *name);

#endif
