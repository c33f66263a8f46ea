/* SPDX-License-Identifier: MIT */
/* An alert and a webhook as what is sent. */
#ifndef MOUNTWATCH_WEBHOOK_REQUEST_H
#define MOUNTWATCH_WEBHOOK_REQUEST_H

#include "daemon/config.h"
#include "daemon/sinks/http_client.h"

typedef struct WebhookRequest {
        char *url; /* as it is posted to: for ntfy without the topic */
        char **headers;
        char *body;
} WebhookRequest;

/* `now` is what the signature says; the id is that of the alert, so it is the same with each attempt. */
int webhook_request_make(const Webhook *w, const Alert *a, usec_t now, WebhookRequest *ret);
void webhook_request_done(WebhookRequest *q);
int webhook_request_post(const WebhookRequest *q, const Webhook *w, HttpClient *http,
                         http_done_t done, void *userdata, HttpPost **ret);

/* "HTTP 500", or the error, without the secrets of the address. NULL for lack of memory. */
char *webhook_reply_text(const Webhook *w, const HttpReply *reply);
/* What the server asks for, when its status is one with which it may: 429 or 503. False: nothing. */
bool webhook_reply_pause(const HttpReply *reply, usec_t now, usec_t *ret);

#endif
