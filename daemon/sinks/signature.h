/* SPDX-License-Identifier: MIT */
/* Signatures of Standard Webhooks 1.0.0, version v1: HMAC-SHA256 over "ID.TIMESTAMP.BODY". */
#ifndef MOUNTWATCH_SINKS_SIGNATURE_H
#define MOUNTWATCH_SINKS_SIGNATURE_H

#include "common/macro.h"

#define SIGNATURE_SECRETS_MAX 4 /* old and new ones, while a secret is exchanged */

/* `secrets` is one on each line: whsec_ and the base64 of 24 to 64 bytes. -EINVAL: it is not. */
int signature_check_secrets(const char *secrets);
/* The value of webhook-signature: "v1,BASE64", one for each secret, blanks between them. The caller frees. */
int signature_make(const char *secrets, const char *id, int64_t timestamp, const void *body,
                   size_t size, char **ret);

#endif
