/* SPDX-License-Identifier: MIT */
#include "daemon/sinks/http_reply.h"
#include "daemon/sinks/http_client.h"

#include <errno.h>
#include <strings.h>

int reply_text_init(ReplyText *t) {
        t->headers = calloc(1, 1);
        t->body = calloc(1, 1);
        return t->headers && t->body ? 0 : -ENOMEM;
}

void reply_text_done(ReplyText *t) {
        free(t->headers);
        free(t->body);
        *t = (ReplyText){};
}

/* How much of it was taken; less than all of it ends the transfer. */
static size_t append(ReplyText *t, char **text, size_t *size, const char *data, size_t n) {
        const size_t part = MIN(n, HTTP_REPLY_MAX - *size);
        char *grown;

        t->full |= part < n;
        grown = realloc(*text, *size + part + 1);
        if (!grown)
                return 0;
        memcpy(grown + *size, data, part);
        *size += part;
        grown[*size] = 0;
        *text = grown;
        return part;
}

static bool begins_with(const char *data, size_t n, const char *word) {
        return n >= strlen(word) && strncasecmp(data, word, strlen(word)) == 0;
}

static void take_retry_after(ReplyText *t, const char *value, size_t n) {
        while (n > 0 && strchr(" \t", *value)) {
                value++;
                n--;
        }
        while (n > 0 && strchr(" \t\r\n", value[n - 1]))
                n--;
        if (n >= sizeof t->retry_after)
                return;
        memcpy(t->retry_after, value, n);
        t->retry_after[n] = 0;
}

size_t reply_text_take_header(char *data, size_t size, size_t n, void *userdata) {
        static const char name[] = "Retry-After:";
        ReplyText *t = userdata;

        n *= size;
        if (begins_with(data, n,
                        "HTTP/")) { /* 100 Continue, a proxy, a redirect: the last one counts */
                t->n_headers = 0;
                t->retry_after[0] = 0;
        } else if (begins_with(data, n, name))
                take_retry_after(t, data + strlen(name), n - strlen(name));
        return append(t, &t->headers, &t->n_headers, data, n);
}

size_t reply_text_take_body(char *data, size_t size, size_t n, void *userdata) {
        ReplyText *t = userdata;

        return append(t, &t->body, &t->n_body, data, n * size);
}

const char *reply_text_retry_after(const ReplyText *t) {
        return *t->retry_after ? t->retry_after : NULL;
}
