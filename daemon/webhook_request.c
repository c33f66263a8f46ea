/* SPDX-License-Identifier: MIT */
#include "daemon/webhook_request.h"
#include "common/json_member.h"
#include "common/path_text.h"
#include "common/strv.h"
#include "common/version.h"
#include "daemon/core/retry.h"
#include "daemon/core/url.h"
#include "daemon/sinks/signature.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void webhook_request_done(WebhookRequest *q) {
        free(q->url);
        (void) strv_free(q->headers);
        free(q->body);
        *q = (WebhookRequest){};
}

static int add_header(WebhookRequest *q, const char *format, ...) _printf_(2, 3);
static int add_header(WebhookRequest *q, const char *format, ...) {
        char *header;
        va_list ap;
        int r;

        va_start(ap, format);
        r = vasprintf(&header, format, ap);
        va_end(ap);
        if (r < 0)
                return -ENOMEM;
        if (strv_take(&q->headers, header))
                return 0;
        free(header);
        return -ENOMEM;
}

/* Standard Webhooks */
static int add_signature(WebhookRequest *q, const Webhook *w, const Alert *a, usec_t now) {
        const int64_t timestamp = (int64_t) (now / USEC_PER_SEC);
        _cleanup_free_ char *signature = NULL;
        int r;

        r = add_header(q, "webhook-id: %s", a->id);
        r = r < 0 ? r : add_header(q, "webhook-timestamp: %" PRId64, timestamp);
        if (r < 0 || !w->secret)
                return r;
        r = signature_make(w->secret, a->id, timestamp, q->body, strlen(q->body), &signature);
        return r < 0 ? r : add_header(q, "webhook-signature: %s", signature);
}

static int add_headers(WebhookRequest *q, const Webhook *w, const Alert *a, usec_t now) {
        int r = add_header(q, "Content-Type: application/json");

        r = r < 0 ? r : add_header(q, "User-Agent: mountwatch/" MOUNTWATCH_VERSION);
        /* libcurl would ask before it sends a larger body, and old servers do not answer that */
        r = r < 0 ? r : add_header(q, "Expect:");
        if (r >= 0 && w->format == WEBHOOK_JSON)
                r = add_signature(q, w, a, now);
        if (r >= 0 && w->format == WEBHOOK_NTFY && w->secret)
                r = add_header(q, "Authorization: Bearer %s", w->secret);
        return r;
}

int webhook_request_make(const Webhook *w, const Alert *a, usec_t now, WebhookRequest *ret) {
        _cleanup_(webhook_request_done) WebhookRequest q = {};
        _cleanup_free_ char *topic = NULL;
        int r = 0;

        if (w->format == WEBHOOK_NTFY)
                r = url_split_topic(w->url, &q.url, &topic);
        else
                q.url = strdup(w->url);
        if (r >= 0 && !q.url)
                r = -ENOMEM;
        r = r < 0 ? r : webhook_body(w->format, a, topic, &q.body);
        r = r < 0 ? r : add_headers(&q, w, a, now);
        if (r < 0)
                return r;
        *ret = q;
        q = (WebhookRequest){};
        return 0;
}

int webhook_request_post(const WebhookRequest *q, const Webhook *w, HttpClient *http,
                         http_done_t done, void *userdata, HttpPost **ret) {
        const HttpRequest request = {
                .url = q->url,
                .headers = q->headers,
                .body = q->body,
                .ca_file = w->ca_file,
                .cert_file = w->client_cert_file,
                .key_file = w->client_key_file,
                .follow_redirects = w->follow_redirects,
                .timeout = w->timeout,
        };

        return http_post(http, &request, done, userdata, ret);
}

char *webhook_reply_text(const Webhook *w, const HttpReply *reply) {
        _cleanup_free_ char *concealed = NULL;
        char *text;

        if (reply->error) {
                concealed = url_conceal(w->url, reply->error);
                return concealed ? path_to_text(concealed) : NULL;
        }
        if (asprintf(&text, "HTTP %d%s", reply->status,
                     reply->status / 100 != 3      ? ""
                             : w->follow_redirects ? ", not followed any further"
                                                   : ", a redirect, which is not followed") < 0)
                return NULL;
        return text;
}

/* Discord says it in the body, in seconds with a fraction. */
static bool pause_in_body(const char *body, usec_t *ret) {
        _cleanup_json_ json_object *o = json_tokener_parse(body);
        json_object *value;
        double seconds;

        if (!json_object_is_type(o, json_type_object) ||
            !json_object_object_get_ex(o, "retry_after", &value) ||
            !(json_object_is_type(value, json_type_double) ||
              json_object_is_type(value, json_type_int)))
                return false;
        seconds = json_object_get_double(value);
        if (!(seconds >= 0))
                return false;
        *ret = seconds * USEC_PER_SEC < RETRY_AFTER_MAX ? (usec_t) (seconds * USEC_PER_SEC)
                                                        : RETRY_AFTER_MAX;
        return true;
}

bool webhook_reply_pause(const HttpReply *reply, usec_t now, usec_t *ret) {
        if (reply->status != 429 && reply->status != 503)
                return false;
        if (reply->retry_after && retry_after_parse(reply->retry_after, now, ret) >= 0)
                return true;
        return pause_in_body(reply->body, ret);
}
