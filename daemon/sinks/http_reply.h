/* SPDX-License-Identifier: MIT */
/* What a server answers, as far as it is read. The functions that take are libcurl's callbacks. */
#ifndef MOUNTWATCH_SINKS_HTTP_REPLY_H
#define MOUNTWATCH_SINKS_HTTP_REPLY_H

#include "common/macro.h"

#include <stdbool.h>

typedef struct ReplyText {
        char *headers, *body; /* NUL-terminated */
        size_t n_headers, n_body;
        char retry_after[64];
        bool full; /* there was more than HTTP_REPLY_MAX */
} ReplyText;

int reply_text_init(ReplyText *t);
void reply_text_done(ReplyText *t);
size_t reply_text_take_header(char *data, size_t size, size_t n, void *userdata);
size_t reply_text_take_body(char *data, size_t size, size_t n, void *userdata);
/* NULL: there was none. */
const char *reply_text_retry_after(const ReplyText *t);

#endif
