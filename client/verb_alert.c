/* SPDX-License-Identifier: MIT */
/* mountwatch alert test: sends a real alert to the webhooks, and prints what was said. */
#include <errno.h>
#include <inttypes.h>

#include "client/verb.h"
#include "common/operation_json.h"
#include "common/path_text.h"
#include "common/strv.h"

#define BODY_LINES_MAX 50

/* A text of several lines, each made safe and behind a sign. */
static int print_lines(const char *sign, const char *text) {
        _cleanup_free_ char *copy = strdup(text);
        char *state = NULL;
        int n = 0;

        if (!copy)
                return -ENOMEM;
        for (char *line = strtok_r(copy, "\r\n", &state); line;
             line = strtok_r(NULL, "\r\n", &state)) {
                _cleanup_free_ char *safe = path_to_text(line);

                if (!safe)
                        return -ENOMEM;
                if (n++ == BODY_LINES_MAX) {
                        printf("%s ...\n", sign);
                        break;
                }
                printf("%s %s\n", sign, safe);
        }
        return 0;
}

static int print_headers(const char *sign, json_object *exchange, const char *key) {
        _cleanup_(strv_freep) char **headers = NULL;
        json_object *array;
        int r = json_need(json_get(exchange, key, json_type_array, &array));

        r = r < 0 ? r : strv_from_json(array, &headers);
        for (size_t i = 0; r >= 0 && headers && headers[i]; i++)
                r = print_lines(sign, headers[i]);
        return r < 0 ? r : 0;
}

static int print_request(json_object *exchange) {
        const char *target, *host, *format, *body;
        _cleanup_free_ char *safe_target = NULL, *safe_host = NULL;
        int r = json_need(json_get_string(exchange, "target", &target));

        r = r < 0 ? r : json_need(json_get_string(exchange, "host", &host));
        r = r < 0 ? r : json_need(json_get_string(exchange, "format", &format));
        r = r < 0 ? r : json_need(json_get_string(exchange, "requestBody", &body));
        if (r < 0)
                return r;
        safe_target = path_to_text(target);
        safe_host = path_to_text(host);
        if (!safe_target || !safe_host)
                return -ENOMEM;
        printf("webhook %s (%s)\n> POST %s/...\n", safe_target, format, safe_host);
        r = print_headers(">", exchange, "requestHeaders");
        if (r >= 0)
                puts(">");
        return r < 0 ? r : print_lines(">", body);
}

static int print_response(json_object *exchange) {
        const char *body = NULL;
        int r = print_headers("<", exchange, "responseHeaders");

        r = r < 0 ? r : json_get_string(exchange, "responseBody", &body);
        if (r <= 0)
                return r;
        puts("<");
        return print_lines("<", body);
}

static int print_outcome(json_object *exchange, bool *ret_delivered) {
        const char *error = "no reason is given";
        _cleanup_free_ char *safe = NULL;
        bool delivered = false;
        int64_t msec = 0;
        int r = json_need(json_get_bool(exchange, "delivered", &delivered));

        r = r < 0 ? r : json_need(json_get_int(exchange, "milliseconds", 0, INT64_MAX, &msec));
        r = r < 0 ? r : json_get_string(exchange, "error", &error);
        if (r < 0)
                return r;
        safe = path_to_text(error);
        if (!safe)
                return -ENOMEM;
        if (delivered)
                printf("delivered in %" PRId64 " ms\n", msec);
        else
                printf("not delivered: %s (after %" PRId64 " ms)\n", safe, msec);
        *ret_delivered = delivered;
        return 0;
}

/* How many failed. */
static int print_exchanges(json_object *reply, bool silent) {
        json_object *array;
        int failed = 0, r = json_need(json_get(reply, "exchanges", json_type_array, &array));

        for (size_t i = 0; r >= 0 && i < json_object_array_length(array); i++) {
                json_object *exchange = json_object_array_get_idx(array, i);
                bool delivered = false;

                if (silent) {
                        r = json_need(json_get_bool(exchange, "delivered", &delivered));
                } else {
                        if (i > 0)
                                putchar('\n');
                        r = print_request(exchange);
                        r = r < 0 ? r : print_response(exchange);
                        r = r < 0 ? r : print_outcome(exchange, &delivered);
                }
                failed += !delivered;
        }
        return r < 0 ? r : failed;
}

static int refused(const Context *context, const Connection *c, int r) {
        json_object *parameters;

        (void) verb_failed(context, c, r);
        return r > 0 &&
                        str_equal(connection_refusal(c, &parameters),
                                  MOUNTWATCH_INTERFACE ".NoSuchWebhook")
                ? STATUS_USAGE
                : r > 0 ? STATUS_NO
                        : STATUS_NO_DAEMON;
}

/* Patient: each webhook has a time limit of its own, which may be long. */
static int test(const Context *context, const char *target, json_object **ret) {
        _cleanup_(connection_freep) Connection *c = NULL;
        _cleanup_json_ json_object *parameters = json_object_new_object();
        bool continues;
        int r;

        if (!parameters || json_add_text(parameters, "target", target) < 0)
                return complain_memory();
        r = verb_connect(context, &c);
        if (r != STATUS_DONE)
                return r;
        r = connection_call_more(c, "TestAlert", TAKE_PTR(parameters), /* patient= */ true);
        if (r == 0)
                r = connection_next(c, ret, &continues);
        return r != 0 ? refused(context, c, r) : STATUS_DONE;
}

int verb_alert_test(const Context *context, const Options *options) {
        const char *target = options->n_arguments > 0 ? options->arguments[0] : NULL;
        const bool json = options_has(options, OPTION_JSON);
        _cleanup_json_ json_object *reply = NULL;
        json_object *array;
        int failed, r;

        r = test(context, target, &reply);
        if (r != STATUS_DONE)
                return r;
        if (json_get(reply, "exchanges", json_type_array, &array) > 0 &&
            json_object_array_length(array) == 0 && !json) {
                complain("no webhook is configured ([Webhook NAME] in mountwatch.conf(5))");
                return STATUS_NO;
        }
        failed = print_exchanges(reply, json);
        if (failed < 0)
                return verb_failed(context, NULL, failed);
        r = json ? verb_print_json(TAKE_PTR(reply)) : verb_flush();
        return r == STATUS_DONE && failed > 0 ? STATUS_NO : r;
}
