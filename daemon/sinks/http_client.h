/* SPDX-License-Identifier: MIT */
/*
 * Posts over HTTP and HTTPS (libcurl) that never make the event loop wait: not for names, not for connections, not for answers. Names are
 * looked up in a thread, which may hang and is then left behind.
 *
 * https: the certificate and its name are checked, TLS 1.2 at least. Proxies are those of the environment. No cookies, no .netrc,
 * no other protocols; each post has a connection of its own.
 */
#ifndef MOUNTWATCH_SINKS_HTTP_CLIENT_H
#define MOUNTWATCH_SINKS_HTTP_CLIENT_H

#include "common/macro.h"

#include <stdbool.h>
#include <systemd/sd-event.h>

#define HTTP_REPLY_MAX \
        (64 * 1024) /* bytes of the answer's body, and of its headers, that are read */

typedef struct HttpClient HttpClient;
typedef struct HttpPost HttpPost;

/* Only looked at during the call. */
typedef struct HttpRequest {
        const char *url;
        char *const *headers; /* "Name: value" */
        const char *body;     /* text */
        const char *ca_file;  /* instead of the system's CAs; NULL: those */
        const char *cert_file, *key_file;
        bool follow_redirects; /* never from https to http */
        usec_t timeout;        /* for all of it */
} HttpRequest;

/* Valid during the callback. Headers and body are bytes of a stranger, cut at a NUL. */
typedef struct HttpReply {
        int status;          /* 0: there was no answer */
        const char *error;   /* why, in words; NULL when there was one */
        const char *headers; /* of the last answer, its first line too */
        const char *body;
        const char *retry_after; /* that header; NULL: none */
        usec_t took;
} HttpReply;

typedef void (*http_done_t)(const HttpReply *reply, void *userdata);

int http_client_new(sd_event *event, HttpClient **ret);
/* What is under way is dropped; nobody is called. Never waits. */
HttpClient *http_client_free(HttpClient *c);
DEFINE_CLEANUP(HttpClient *, http_client_free)

/* `done` is called once, later, unless the post is cancelled first; the post is gone then. */
int http_post(HttpClient *c, const HttpRequest *q, http_done_t done, void *userdata,
              HttpPost **ret);
void http_post_cancel(HttpPost *p);

#endif
