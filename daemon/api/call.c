/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "daemon/api/call.h"

#define SERVICE "org.varlink.service."

static json_object *object_with(const char *key, json_object *value) {
        json_object *o = value ? json_object_new_object() : NULL;

        if (o && json_object_object_add(o, key, value) == 0)
                return o;
        json_object_put(value);
        json_object_put(o);
        return NULL;
}

ApiCall *api_call_ref(ApiCall *c) {
        c->n_ref++;
        return c;
}

ApiCall *api_call_unref(ApiCall *c) {
        if (!c || --c->n_ref > 0)
                return NULL;
        /* nobody is left who could answer: the peer, and the calls behind this one, must not wait for ever */
        if (c->connection) {
                c->n_ref = 1;
                c->on_drained = NULL;
                (void) api_call_error(c, "Unavailable",
                                      object_with("reason",
                                                  json_object_new_string("the call was given up")));
        }
        json_object_put(c->message);
        free(c);
        return NULL;
}

bool api_call_is_gone(const ApiCall *c) {
        return c->gone;
}

size_t api_call_pending(const ApiCall *c) {
        return c->connection ? c->connection->n_pending : 0;
}

void api_call_set_on_drained(ApiCall *c, void (*f)(ApiCall *c, void *userdata), void *userdata) {
        c->on_drained = f;
        c->userdata = userdata;
}

void call_drained(ApiCall *c) {
        if (!c->on_drained)
                return;
        (void) api_call_ref(c);
        c->on_drained(c, c->userdata);
        (void) api_call_unref(c);
}

void call_detach(ApiCall *c) {
        c->connection = NULL;
        c->gone = true;
        call_drained(c);
}

/* The last answer is on its way, or dropped: the next call may run. */
static void call_finish(ApiCall *c) {
        Connection *connection = TAKE_PTR(c->connection);

        connection_call_done(connection);
}

/* An answer larger than all that a peer may owe can never be sent; the peer learns why. */
static int call_refuse_size(ApiCall *c) {
        json_object *p = json_object_new_object();

        if (p) {
                json_object_object_add(p, "limit", json_object_new_string("reply size"));
                json_object_object_add(p, "max", json_object_new_int64(API_QUEUE_MAX));
        }
        (void) api_call_error(c, "LimitReached", p);
        return -EMSGSIZE;
}

/* Sends one answer, made of `data` (taken) or of `r` when making it failed. */
static int call_answer(ApiCall *c, int r, char *data, size_t size, bool continues) {
        if (r >= 0 && size > API_QUEUE_MAX) {
                free(data);
                return continues ? -ENOBUFS : call_refuse_size(c);
        }
        if (r >= 0)
                r = connection_send(c->connection, data, size, /* may_drop= */ continues);
        else if (!continues)
                (void) connection_send(c->connection, NULL, 0, /* may_drop= */ false);
        if (!continues)
                call_finish(c);
        return r;
}

int api_call_reply(ApiCall *c, json_object *parameters, bool continues) {
        char *data = NULL;
        size_t size = 0;
        int r;

        if (!c->connection || c->oneway || (continues && !c->more)) {
                json_object_put(parameters);
                if (c->connection && !continues)
                        call_finish(c);
                return continues && !c->gone ? -EINVAL : 0;
        }
        r = varlink_format_reply(parameters, continues, &data, &size);
        return call_answer(c, r, data, size, continues);
}

int api_call_error(ApiCall *c, const char *error, json_object *parameters) {
        _cleanup_free_ char *name = NULL;
        char *data = NULL;
        size_t size = 0;
        int r;

        if (!c->connection || c->oneway) {
                json_object_put(parameters);
                if (c->connection)
                        call_finish(c);
                return 0;
        }
        if (!strchr(error, '.')) {
                if (asprintf(&name, MOUNTWATCH_INTERFACE ".%s", error) < 0) {
                        json_object_put(parameters);
                        return call_answer(c, -ENOMEM, NULL, 0, /* continues= */ false);
                }
                error = name;
        }
        r = varlink_format_error(error, parameters, &data, &size);
        return call_answer(c, r, data, size, /* continues= */ false);
}

/* An error of org.varlink.service; each has at most one parameter. */
static void call_refuse(ApiCall *c, const char *error, const char *key, const char *value,
                        size_t value_size) {
        json_object *p =
                key ? object_with(key, json_object_new_string_len(value, (int) value_size)) : NULL;

        (void) api_call_error(c, error, p);
}

/* Answers what no method can. */
static void call_run(ApiCall *c, const VarlinkCall *call) {
        const char *dot = strrchr(call->method, '.'), *name = dot ? dot + 1 : call->method;
        size_t n = dot ? (size_t) (dot - call->method) : 0;
        const ApiInterface *interface;
        const ApiMethod *method;
        const IdlType *input;
        const char *parameter = NULL;

        interface = api_server_find_interface(c->connection->server, call->method, n);
        if (!interface) {
                call_refuse(c, SERVICE "InterfaceNotFound", "interface", call->method, n);
                return;
        }
        input = idl_method_input(interface->idl, name);
        method = api_interface_find_method(interface, name);
        if (!input)
                call_refuse(c, SERVICE "MethodNotFound", "method", call->method,
                            strlen(call->method));
        else if (!method || call->upgrade) /* no method of ours hands the connection over */
                call_refuse(c, SERVICE "MethodNotImplemented", "method", call->method,
                            strlen(call->method));
        else if (method->needs_more && !call->more)
                call_refuse(c, SERVICE "ExpectedMore", NULL, NULL, 0);
        else if (idl_check(input, call->parameters, &parameter) < 0)
                call_refuse(c, SERVICE "InvalidParameter", "parameter", parameter,
                            strlen(parameter));
        else
                method->run(c, &c->peer, call->parameters, interface->userdata);
}

int call_dispatch(Connection *c, json_object *message) {
        _cleanup_(api_call_unrefp) ApiCall *call = NULL;
        VarlinkCall parsed;
        int r;

        r = varlink_call_parse(message, &parsed);
        if (r >= 0 && !parsed.parameters) {
                /* methods get an object in any case */
                parsed.parameters = json_object_new_object();
                if (!parsed.parameters ||
                    json_object_object_add(message, "parameters", parsed.parameters) < 0) {
                        json_object_put(parsed.parameters);
                        r = -ENOMEM;
                }
        }
        if (r >= 0) {
                call = calloc(1, sizeof *call);
                if (!call)
                        r = -ENOMEM;
        }
        if (r < 0) {
                json_object_put(message);
                return r;
        }
        *call = (ApiCall){
                .n_ref = 1,
                .connection = c,
                .peer = c->peer,
                .message = message,
                .oneway = parsed.oneway,
                .more = parsed.more,
        };
        c->call = call;
        call_run(call, &parsed);
        return 0;
}
