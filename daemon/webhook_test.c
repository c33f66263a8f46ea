/* SPDX-License-Identifier: MIT */
#include "daemon/webhook_test.h"
#include "common/json_member.h"
#include "common/path_text.h"
#include "daemon/alert.h"
#include "daemon/core/retry.h"
#include "daemon/core/url.h"
#include "daemon/method.h"
#include "daemon/webhook_request.h"
#include "daemon/webhooks.h"

#include <strings.h>
#include <utlist.h>

typedef struct Exchange {
        WebhookTest *test;
        Webhook spec; /* what is needed of it: the configuration may be read again meanwhile */
        HttpPost *post;
        json_object *json;
} Exchange;

struct WebhookTest {
        Manager *manager;
        ApiCall *call;
        Exchange *exchanges;
        size_t n, open;
        WebhookTest *prev, *next;
};

static WebhookTest *test_free(WebhookTest *t) {
        if (!t)
                return NULL;
        for (size_t i = 0; i < t->n; i++) {
                http_post_cancel(t->exchanges[i].post);
                free(t->exchanges[i].spec.url);
                json_object_put(t->exchanges[i].json);
        }
        free(t->exchanges);
        (void) api_call_unref(t->call);
        free(t);
        return NULL;
}
DEFINE_CLEANUP(WebhookTest *, test_free)

void webhook_test_free_all(Manager *m) {
        WebhookTest *t, *next;

        DL_FOREACH_SAFE (m->webhook_tests, t, next) {
                DL_DELETE(m->webhook_tests, t);
                (void) test_free(t);
        }
}

/* ---- as JSON ---- */

static int add_concealed(json_object *o, const char *key, const Webhook *spec, const char *text) {
        _cleanup_free_ char *concealed = url_conceal(spec->url, text);

        return concealed ? json_add_text(o, key, concealed) : -ENOMEM;
}

static int append_line(json_object *array, const char *line) {
        _cleanup_free_ char *text = path_to_text(line);
        json_object *s = text ? json_object_new_string(text) : NULL;

        if (s && json_object_array_add(array, s) >= 0)
                return 0;
        json_object_put(s);
        return -ENOMEM;
}

static int add_request(json_object *o, const Webhook *spec, const WebhookRequest *q) {
        static const char authorization[] = "Authorization:";
        json_object *array = json_object_new_array();
        int r = json_add(o, "requestHeaders", array);

        for (size_t i = 0; r >= 0 && q->headers[i]; i++) {
                const char *h = q->headers[i];

                if (h[strlen(h) - 1] == ':') /* one that is left out */
                        continue;
                if (strncasecmp(h, authorization, strlen(authorization)) == 0)
                        h = "Authorization: ...";
                r = append_line(array, h);
        }
        if (r < 0)
                return r;
        /* the topic of ntfy is in the body */
        return spec->format == WEBHOOK_NTFY ? add_concealed(o, "requestBody", spec, q->body)
                                            : json_add_text(o, "requestBody", q->body);
}

static int add_lines(json_object *o, const char *key, const Webhook *spec, const char *text) {
        _cleanup_free_ char *lines = url_conceal(spec->url, text);
        json_object *array = json_object_new_array();
        int r = json_add(o, key, array);
        char *state = NULL;

        if (r < 0 || !lines)
                return -ENOMEM;
        for (char *line = strtok_r(lines, "\r\n", &state); r >= 0 && line;
             line = strtok_r(NULL, "\r\n", &state))
                r = append_line(array, line);
        return r;
}

static int add_reply(json_object *o, const Webhook *spec, const HttpReply *reply) {
        const bool good = retry_judge(reply->status) == RETRY_DELIVERED;
        _cleanup_free_ char *error = good ? NULL : webhook_reply_text(spec, reply);
        int r = json_add_bool(o, "delivered", good);

        if (r >= 0 && reply->status > 0)
                r = json_add_int(o, "status", reply->status);
        r = r < 0 ? r : json_add_text(o, "error", error);
        r = r < 0 ? r : add_lines(o, "responseHeaders", spec, reply->headers);
        if (r >= 0 && *reply->body)
                r = add_concealed(o, "responseBody", spec, reply->body);
        return r < 0 ? r : json_add_int(o, "milliseconds", (int64_t) (reply->took / 1000));
}

/* ---- the way of a test ---- */

static void answer_test(WebhookTest *t) {
        json_object *array = json_object_new_array();

        for (size_t i = 0; array && i < t->n; i++)
                if (json_object_array_add(array, TAKE_PTR(t->exchanges[i].json)) < 0) {
                        json_object_put(array);
                        array = NULL;
                }
        answer(t->call, "exchanges", array);
        DL_DELETE(t->manager->webhook_tests, t);
        (void) test_free(t);
}

static void on_reply(const HttpReply *reply, void *userdata) {
        Exchange *e = userdata;
        WebhookTest *t = e->test;

        e->post = NULL;
        /* for lack of memory the answer lacks members, which the client says */
        (void) add_reply(e->json, &e->spec, reply);
        if (--t->open == 0)
                answer_test(t);
}

static int begin_exchange(Exchange *e, const Webhook *w, const Alert *a, HttpClient *http) {
        _cleanup_(webhook_request_done) WebhookRequest q = {};
        _cleanup_free_ char *origin = url_origin(w->url);
        int r;

        e->spec = (Webhook){.url = strdup(w->url),
                            .format = w->format,
                            .follow_redirects = w->follow_redirects};
        e->json = json_object_new_object();
        if (!e->json || !e->spec.url || !origin)
                return -ENOMEM;
        r = json_add_text(e->json, "target", w->name);
        r = r < 0 ? r : json_add_text(e->json, "host", origin);
        r = r < 0 ? r : json_add_text(e->json, "format", webhook_format_to_string(w->format));
        r = r < 0 ? r : webhook_request_make(w, a, a->at, &q);
        r = r < 0 ? r : add_request(e->json, w, &q);
        return r < 0 ? r : webhook_request_post(&q, w, http, on_reply, e, &e->post);
}

static size_t count_tests(Manager *m) {
        const WebhookTest *t;
        size_t n = 0;

        DL_FOREACH (m->webhook_tests, t)
                n++;
        return n;
}

static int test_new(Manager *m, ApiCall *call, const Peer *peer, const char *target,
                    WebhookTest **ret) {
        _cleanup_(test_freep) WebhookTest *t = calloc(1, sizeof *t);
        const Config *c = m->config;
        _cleanup_(alert_done) Alert a = {};
        HttpClient *http;
        int r;

        if (!t)
                return -ENOMEM;
        t->manager = m;
        t->call = api_call_ref(call);
        t->exchanges = calloc(c->n_webhooks + 1, sizeof *t->exchanges);
        if (!t->exchanges)
                return -ENOMEM;
        http = webhooks_http(m->webhooks);
        if (!http)
                return -EIO;
        r = alert_test(m, peer->uid, &a);
        for (size_t i = 0; r >= 0 && i < c->n_webhooks; i++)
                if (!target || str_equal(target, c->webhooks[i].name)) {
                        Exchange *e = &t->exchanges[t->n++];

                        e->test = t;
                        r = begin_exchange(e, &c->webhooks[i], &a, http);
                }
        if (r < 0)
                return r;
        t->open = t->n;
        *ret = TAKE_PTR(t);
        return 0;
}

static bool is_configured(const Config *c, const char *target) {
        for (size_t i = 0; i < c->n_webhooks; i++)
                if (str_equal(target, c->webhooks[i].name))
                        return true;
        return false;
}

void method_test_alert(ApiCall *call, const Peer *peer, json_object *parameters, void *userdata) {
        const char *target = parameter_string(parameters, "target");
        Manager *m = userdata;
        WebhookTest *t = NULL;
        json_object *o;
        int r;

        if (!peer->privileged) {
                answer_denied(call,
                              "only root and members of the configured group may send test alerts");
                return;
        }
        if (target && !is_configured(m->config, target)) {
                o = json_object_new_object();
                (void) json_add_text(o, "name", target);
                (void) api_call_error(call, "NoSuchWebhook", o);
                return;
        }
        if (count_tests(m) >= WEBHOOK_TESTS_MAX) {
                answer_limit(call, "tests", WEBHOOK_TESTS_MAX);
                return;
        }
        r = test_new(m, call, peer, target, &t);
        if (r < 0) {
                answer_errno(call, r);
                return;
        }
        DL_APPEND(m->webhook_tests, t);
        if (t->n == 0)
                answer_test(t);
}
