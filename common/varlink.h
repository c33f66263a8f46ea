/* SPDX-License-Identifier: MIT */
/*
 * Varlink messages (UAPI.20): JSON objects with a NUL after each. Framing and the shape of calls and replies; no sockets.
 */
#ifndef MOUNTWATCH_COMMON_VARLINK_H
#define MOUNTWATCH_COMMON_VARLINK_H

#include "common/macro.h"

#include <json-c/json.h>
#include <stdbool.h>

#define VARLINK_MESSAGE_MAX (1024 * 1024)    /* bytes of one call the daemon accepts */
#define VARLINK_REPLY_MAX (16 * 1024 * 1024) /* bytes of one reply the client accepts */
#define VARLINK_DEPTH_MAX 32

#define MOUNTWATCH_INTERFACE "io.mountwatch"
extern const char
        *const mountwatch_varlink_description; /* text of io.mountwatch.varlink, linked in */

/* Collects bytes, gives messages. data[start..size) is unread; its last `unfinished` bytes have no NUL yet. */
typedef struct VarlinkReader {
        char *data;
        size_t size, start, unfinished, allocated, max;
} VarlinkReader;

void varlink_reader_init(VarlinkReader *r, size_t max);
void varlink_reader_done(VarlinkReader *r);
/* -EMSGSIZE when a message grows past max: nothing more can be read from this peer. -ENOBUFS when more than max bytes of
 * complete messages were not taken before: take them, then feed the same bytes again. */
int varlink_reader_feed(VarlinkReader *r, const void *data, size_t size);
/* 1 and a message (owned by the caller; always a JSON object), 0 when none is complete, -EBADMSG for what is not a JSON
 * object in strict UTF-8, at most VARLINK_DEPTH_MAX deep: nothing more can be read from this peer. */
int varlink_reader_next(VarlinkReader *r, json_object **ret);

typedef struct VarlinkCall {
        const char *method;      /* points into the message */
        json_object *parameters; /* borrowed; an object, or NULL when the message had none */
        bool oneway, more, upgrade;
} VarlinkCall;

/* -EBADMSG: not a call (unknown member, wrong type, two flags). A null member is an absent one; members of vendors, whose
 * names have a dot, are passed over. Likewise for replies, and there for an error that continues. */
int varlink_call_parse(json_object *message, VarlinkCall *ret);

typedef struct VarlinkReply {
        json_object *parameters; /* borrowed or NULL */
        const char *error;       /* NULL: none */
        bool continues;
} VarlinkReply;

int varlink_reply_parse(json_object *message, VarlinkReply *ret);

/* Makes the bytes of a message, NUL included. Consume `parameters` (may be NULL). The caller frees *ret. */
int varlink_format_call(const char *method, json_object *parameters, bool more, char **ret,
                        size_t *ret_size);
int varlink_format_reply(json_object *parameters, bool continues, char **ret, size_t *ret_size);
int varlink_format_error(const char *error, json_object *parameters, char **ret, size_t *ret_size);

#endif
