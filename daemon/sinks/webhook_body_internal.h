/* SPDX-License-Identifier: MIT */
/* What the files of webhook_body share: each gives the body as JSON, or NULL for lack of memory. */
#ifndef MOUNTWATCH_SINKS_WEBHOOK_BODY_INTERNAL_H
#define MOUNTWATCH_SINKS_WEBHOOK_BODY_INTERNAL_H

#include "common/json_member.h"
#include "daemon/sinks/webhook_body.h"

/* What stands for a character, or NULL for itself. */
typedef const char *(*escape_t)(char c);

/* A copy of at most `max` bytes, whole characters, each as `escape` (may be NULL) wants it; what was cut ends in an ellipsis. */
char *body_text(const char *s, size_t max, escape_t escape);

json_object *body_slack(const Alert *a);
json_object *body_discord(const Alert *a);
json_object *body_ntfy(const Alert *a, const char *topic);

#endif
