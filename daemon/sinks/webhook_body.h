/* SPDX-License-Identifier: MIT */
/*
 * An alert as the body of a webhook: what each service takes, within its limits. What comes from file names and command lines is text
 * in all of them: it mentions nobody, links nowhere, breaks no line. No system calls.
 */
#ifndef MOUNTWATCH_SINKS_WEBHOOK_BODY_H
#define MOUNTWATCH_SINKS_WEBHOOK_BODY_H

#include "common/alert.h"

typedef enum WebhookFormat {
        WEBHOOK_JSON, /* Standard Webhooks: docs/webhooks.md */
        WEBHOOK_SLACK,
        WEBHOOK_DISCORD,
        WEBHOOK_NTFY,
        _WEBHOOK_FORMAT_MAX,
} WebhookFormat;

#define WEBHOOK_BODY_MAX 20000 /* bytes; Standard Webhooks: below 20 kB. All formats keep it */

const char *webhook_format_to_string(WebhookFormat format);
int webhook_format_from_string(const char *s); /* -EINVAL */

/* JSON text; the caller frees. `topic` is of ntfy alone. What is too long is cut. */
int webhook_body(WebhookFormat format, const Alert *a, const char *topic, char **ret);

#endif
