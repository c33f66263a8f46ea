/* SPDX-License-Identifier: MIT */
/*
 * The Varlink service on its Unix socket: connections, limits, introspection, and the translation of io.mountwatch calls to
 * the Backend that the manager provides. Knows JSON; knows nothing of fanotify, sessions' inner life or SQLite.
 */
#ifndef MOUNTWATCH_API_API_H
#define MOUNTWATCH_API_API_H

#include "common/varlink.h"

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#define API_CONNECTIONS_MAX 256        /* the last 16 are root's */
#define API_CONNECTIONS_PER_UID_MAX 64 /* root is not counted */
/* Bytes of output a slow reader may owe; beyond: a stream drops and counts, a call's connection is closed. */
#define API_QUEUE_MAX (8 * 1024 * 1024)

typedef struct ApiServer ApiServer;
typedef struct ApiCall ApiCall;

typedef struct Peer {
        pid_t pid;
        uid_t uid;
        gid_t gid;
        bool privileged; /* root, or member of the configured group */
} Peer;

/*
 * One function for each method of io.mountwatch. It gets the call, and its parameters already checked against the
 * description (unknown and missing ones, and wrong types, have been answered with InvalidParameter).
 *
 * It answers with exactly one api_call_reply()/api_call_error() now or later; a reference keeps the call alive until
 * then, and `peer` and `parameters` with it. A call whose peer went away stays valid and its answers go nowhere. A call whose
 * last reference is dropped without an answer is answered with Unavailable.
 */
typedef void (*api_method_t)(ApiCall *call, const Peer *peer, json_object *parameters,
                             void *userdata);

typedef struct ApiMethod {
        const char *name; /* "StartSession" */
        api_method_t run;
        bool needs_more; /* else ExpectedMore */
} ApiMethod;

ApiCall *api_call_ref(ApiCall *c);
ApiCall *api_call_unref(ApiCall *c);
DEFINE_CLEANUP(ApiCall *, api_call_unref)

bool api_call_is_gone(const ApiCall *c); /* the peer has closed */
/* Bytes that this connection still owes its peer: a stream pauses above API_STREAM_LOW and goes on in on_drained. */
#define API_STREAM_LOW (256 * 1024)
size_t api_call_pending(const ApiCall *c);
/* Called when pending has fallen below API_STREAM_LOW, and when the peer has gone. */
void api_call_set_on_drained(ApiCall *c, void (*f)(ApiCall *c, void *userdata), void *userdata);

/* Each consumes `parameters` (may be NULL). `continues`: one of several replies of a `more` call. -ENOBUFS when the peer owes
 * more than API_QUEUE_MAX: the reply was dropped (continues) or the connection closed (final). -EMSGSIZE: a final reply that is
 * larger than that by itself; LimitReached was sent in its place. -EINVAL: continues, but the call did not ask for more. */
int api_call_reply(ApiCall *c, json_object *parameters, bool continues);
/* error without a dot is taken as one of io.mountwatch. */
int api_call_error(ApiCall *c, const char *error, json_object *parameters);

/* Listens on `path` (a stale socket is replaced, a live one is -EADDRINUSE; mode 0666, since peer credentials decide), or on
 * `listen_fd` when it is not -1 (socket activation; taken on success). `group`: name of the privileged group, or NULL; one
 * that does not exist has no members. */
int api_server_new(sd_event *event, const char *path, int listen_fd, const char *group,
                   const ApiMethod *methods, size_t n_methods, void *userdata, ApiServer **ret);
ApiServer *api_server_free(ApiServer *s);
DEFINE_CLEANUP(ApiServer *, api_server_free)
/* Holds for the peers that are connected, too (not for calls that run). -ESRCH: no such group, only root is privileged. */
int api_server_set_group(ApiServer *s, const char *group);

#endif
