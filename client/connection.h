/* SPDX-License-Identifier: MIT */
/*
 * A blocking Varlink connection to the daemon on its Unix socket. Knows messages, not what they mean.
 *
 * Calls return 0; CONNECTION_E_REFUSED when the daemon answered with an error (connection_refusal() has it); or a negative
 * errno when there is no answer to be had: the connection is of no more use then, and connection_explain() has the sentence.
 */
#ifndef MOUNTWATCH_CLIENT_CONNECTION_H
#define MOUNTWATCH_CLIENT_CONNECTION_H

#include <stdbool.h>

#include "common/varlink.h"

enum {
        CONNECTION_E_REFUSED = 1,
};

typedef struct Connection Connection;

/* -ENOENT: no socket; -ECONNREFUSED: nobody listens; -EACCES; -ENOTSOCK, -EPROTOTYPE, -ENAMETOOLONG: a wrong path. */
int connection_new(const char *socket_path, Connection **ret);
Connection *connection_free(Connection *c);
DEFINE_CLEANUP(Connection *, connection_free)

/* For whoever wants to see it end. Stays the connection's. */
int connection_fd(const Connection *c);

/* One call, one reply. Consumes `parameters` (may be NULL). *ret is the caller's; never NULL on success. */
int connection_call(Connection *c, const char *method, json_object *parameters, json_object **ret);

/* One call, many replies: connection_next() gives them until *ret_continues is false. With `patient`, silence between two
 * replies is no fault; otherwise it is -ETIMEDOUT after half a minute, as for calls. */
int connection_call_more(Connection *c, const char *method, json_object *parameters, bool patient);
int connection_next(Connection *c, json_object **ret, bool *ret_continues);

/* The same without waiting, for whoever polls: sends a call (consumes `parameters`); then, when the descriptor is readable, takes
 * replies until -EAGAIN says that no whole one is here. */
int connection_post(Connection *c, const char *method, json_object *parameters, bool more);
int connection_try_next(Connection *c, json_object **ret, bool *ret_continues);

/* The error of the last CONNECTION_E_REFUSED: its full name, and its parameters (or NULL). Borrowed until the next call. */
const char *connection_refusal(const Connection *c, json_object **ret_parameters);

/* Why there is no daemon, with the next step, for the negative errno of any call above. NULL: no memory. */
char *connection_explain(const char *socket_path, int error);

#endif
