/* SPDX-License-Identifier: MIT */
/*
 * Webhooks: alerts on their way to the targets of the configuration.
 *
 * alert → store (committed) → one post at a time for each target → removed from the store, or tried again later. What the daemon
 * did not finish is there when the next one starts.
 */
#ifndef MOUNTWATCH_WEBHOOKS_H
#define MOUNTWATCH_WEBHOOKS_H

#include "common/alert.h"
#include "daemon/manager.h"
#include "daemon/sinks/http_client.h"

int webhooks_new(Manager *m, Webhooks **ret);
/* Never waits: what is under way is sent again by the next daemon. */
Webhooks *webhooks_free(Webhooks *w);
DEFINE_CLEANUP(Webhooks *, webhooks_free)

/* Takes over the targets of `config`, which stays the manager's and must live until the next call. */
void webhooks_apply(Webhooks *w, const Config *config);
/* To every target that wants alerts of this kind and severity. */
void webhooks_publish(Manager *m, const Alert *a);

/* Type Webhook of io.mountwatch, of each. NULL for lack of memory. */
json_object *webhooks_to_json(Webhooks *w);
/* For `alert test`, which goes past the queue. NULL: it cannot be had. */
HttpClient *webhooks_http(Webhooks *w);

#endif
