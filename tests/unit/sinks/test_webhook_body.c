/* SPDX-License-Identifier: MIT */
#include "common/alert_json.h"
#include "common/json_member.h"
#include "common/utf8.h"
#include "daemon/sinks/webhook_body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define HOSTILE                                                                        \
        "/n/a\nb @everyone <!channel> <@U1> & `x` ```y``` *b* [l](http://e) \xff\xfe " \
        "\xe2\x80\xae \x1b[31m"

static char *hostile_paths[] = {(char *) HOSTILE, (char *) "/n/plain", NULL};
static char *hostile_command[] = {(char *) "sh", (char *) "-c", (char *) HOSTILE, NULL};

static Alert hostile_alert(void) {
        static AlertProcess chain[] = {
                {.pid = 7, .exe = (char *) HOSTILE, .cmdline = hostile_command}};

        return (Alert){
                .id = "0123456789abcdef01234567",
                .kind = ALERT_VIOLATION,
                .severity = SEVERITY_REMOVED,
                .at = 1800000000 * USEC_PER_SEC,
                .session = (char *) "0123456789abcdef",
                .label = (char *) HOSTILE,
                .uid = 1000,
                .user = (char *) "ann",
                .watch = (char *) "nas",
                .total = 3,
                .fresh = 3,
                .count = {[OP_DELETE] = 3},
                .paths = hostile_paths,
                .chain = chain,
                .n_chain = 1,
                .cwd = (char *) HOSTILE,
                .test = (char *) HOSTILE,
                .action = ACTION_ALERTED,
                .exit_status = -1,
                .next = (char *) "mountwatch report 0123456789abcdef",
        };
}

/* All that an alert may hold, each byte the most expensive one. */
typedef struct Large {
        Alert alert;
        char *text;
        char *paths[ALERT_PATHS_MAX + 1];
        char *cmdline[1001];
        AlertProcess chain[ALERT_CHAIN_MAX];
} Large;

static Large *large_new(char fill, size_t n) {
        Large *l = calloc(1, sizeof *l);

        assert_non_null(l);
        l->text = malloc(n + 1);
        assert_non_null(l->text);
        memset(l->text, fill, n);
        l->text[n] = 0;
        for (size_t i = 0; i < ALERT_PATHS_MAX; i++)
                l->paths[i] = l->text;
        for (size_t i = 0; i < ELEMENTSOF(l->cmdline) - 1; i++)
                l->cmdline[i] = l->text;
        for (size_t i = 0; i < ALERT_CHAIN_MAX; i++)
                l->chain[i] = (AlertProcess){.pid = 1, .exe = l->text, .cmdline = l->cmdline};
        l->alert = hostile_alert();
        l->alert.label = l->alert.user = l->alert.cwd = l->alert.test = l->text;
        l->alert.watch = l->alert.reason = l->text;
        l->alert.paths = l->paths;
        l->alert.chain = l->chain;
        l->alert.n_chain = ALERT_CHAIN_MAX;
        return l;
}

static void large_free(Large *l) {
        free(l->text);
        free(l);
}

static json_object *body(WebhookFormat format, const Alert *a) {
        _cleanup_free_ char *text = NULL;
        json_object *o;

        assert_int_equal(webhook_body(format, a, "topic", &text), 0);
        assert_true(strlen(text) <= WEBHOOK_BODY_MAX);
        assert_true(utf8_is_valid(text, strlen(text)));
        assert_null(strchr(text, '\n'));
        o = json_tokener_parse(text);
        assert_non_null(o);
        return o;
}

static const char *string_of(json_object *o, const char *key) {
        const char *s = NULL;

        assert_int_equal(json_get_string(o, key, &s), 1);
        return s;
}

static json_object *object_of(json_object *o, const char *key, json_type type) {
        json_object *member = NULL;

        assert_int_equal(json_get(o, key, type, &member), 1);
        return member;
}

static json_object *first_of(json_object *o, const char *key) {
        return json_object_array_get_idx(object_of(o, key, json_type_array), 0);
}

static void json_is_the_alert_in_an_envelope(void **state) {
        Alert a = hostile_alert(), back;
        _cleanup_json_ json_object *o = body(WEBHOOK_JSON, &a);

        assert_string_equal(string_of(o, "type"), "mountwatch.violation");
        assert_string_equal(string_of(o, "timestamp"), "2027-01-15T08:00:00.000000Z");
        assert_false(json_object_object_get_ex(o, "truncated", NULL));
        assert_int_equal(alert_from_json(object_of(o, "data", json_type_object), &back), 0);
        assert_string_equal(back.id, a.id);
        assert_int_equal(back.severity, SEVERITY_REMOVED);
        assert_string_equal(back.paths[1], "/n/plain");
        alert_done(&back);
}

static void json_has_a_type_for_each_kind(void **state) {
        static const char *const types[_ALERT_KIND_MAX] = {
                [ALERT_VIOLATION] = "mountwatch.violation", [ALERT_UPDATE] = "mountwatch.update",
                [ALERT_LOSS] = "mountwatch.loss",           [ALERT_SUMMARY] = "mountwatch.summary",
                [ALERT_TEST] = "mountwatch.test",
        };

        for (AlertKind kind = 0; kind < _ALERT_KIND_MAX; kind++) {
                Alert a = hostile_alert();
                _cleanup_json_ json_object *o = NULL;

                a.kind = kind;
                o = body(WEBHOOK_JSON, &a);
                assert_string_equal(string_of(o, "type"), types[kind]);
        }
}

static void json_too_long_loses_evidence_but_no_meaning(void **state) {
        static const char fills[] = {'x', '\x01', '\xff', '"'};
        static const size_t sizes[] = {100, 1000, 4095};

        for (size_t i = 0; i < ELEMENTSOF(fills); i++)
                for (size_t j = 0; j < ELEMENTSOF(sizes); j++) {
                        Large *l = large_new(fills[i], sizes[j]);
                        _cleanup_json_ json_object *o = body(WEBHOOK_JSON, &l->alert);
                        Alert back;

                        assert_true(json_object_object_get_ex(o, "truncated", NULL));
                        assert_int_equal(
                                alert_from_json(object_of(o, "data", json_type_object), &back), 0);
                        assert_string_equal(back.id, l->alert.id);
                        assert_string_equal(back.next, l->alert.next);
                        assert_int_equal(back.total, 3);
                        alert_done(&back);
                        large_free(l);
                }
}

static void slack_reads_no_sign_of_its_own(void **state) {
        Alert a = hostile_alert();
        _cleanup_json_ json_object *o = body(WEBHOOK_SLACK, &a);
        const char *whole = json_object_to_json_string(o);
        json_object *block = first_of(o, "blocks");

        assert_null(strpbrk(whole, "<>"));
        assert_null(strstr(whole, "& "));
        assert_non_null(strstr(string_of(o, "text"), "&lt;!channel&gt;"));
        assert_null(strchr(string_of(o, "text"), '\n'));
        assert_string_equal(string_of(block, "type"), "header");
        assert_string_equal(string_of(object_of(block, "text", json_type_object), "type"),
                            "plain_text");
}

static void slack_keeps_its_limits(void **state) {
        Large *l = large_new('&', 4000);
        _cleanup_json_ json_object *o = body(WEBHOOK_SLACK, &l->alert);
        json_object *blocks = object_of(o, "blocks", json_type_array);

        for (size_t i = 0; i < json_object_array_length(blocks); i++) {
                const char *text = string_of(object_of(json_object_array_get_idx(blocks, i), "text",
                                                       json_type_object),
                                             "text");

                assert_true(strlen(text) <= (i == 0 ? 150 : 3000));
                assert_true(strlen(text) > (i == 0 ? 100 : 2900));
                /* whole entities only */
                for (const char *p = text; (p = strchr(p, '&')); p++)
                        assert_memory_equal(p, "&amp;", 5);
        }
        large_free(l);
}

static void discord_calls_nobody(void **state) {
        Alert a = hostile_alert();
        _cleanup_json_ json_object *o = body(WEBHOOK_DISCORD, &a);
        json_object *mentions = object_of(o, "allowed_mentions", json_type_object);
        const char *content = string_of(o, "content"),
                   *description = string_of(first_of(o, "embeds"), "description");

        assert_int_equal(json_object_array_length(object_of(mentions, "parse", json_type_array)),
                         0);
        for (const char *p = content; *p; p++)
                if (*p == '\\')
                        p++;
                else
                        assert_null(strchr("\n*_~`|><#[]()@:", *p));
        /* the fence ends where we end it */
        assert_memory_equal(description, "```\n", 4);
        assert_string_equal(strstr(description + 3, "```"), "```");
}

static void discord_keeps_its_limits(void **state) {
        Large *l = large_new('`', 4000);
        _cleanup_json_ json_object *o = body(WEBHOOK_DISCORD, &l->alert);
        const char *content = string_of(o, "content"),
                   *description = string_of(first_of(o, "embeds"), "description");

        assert_true(strlen(content) <= 2000);
        assert_true(strlen(description) <= 4096);
        large_free(l);
}

static void ntfy_has_topic_and_priority(void **state) {
        Alert a = hostile_alert();
        _cleanup_json_ json_object *o = body(WEBHOOK_NTFY, &a);
        int64_t priority = 0;

        assert_string_equal(string_of(o, "topic"), "topic");
        assert_int_equal(json_get_int(o, "priority", 1, 5, &priority), 1);
        assert_int_equal(priority, 5);
        assert_null(strchr(string_of(o, "title"), '\n'));
}

static void ntfy_stays_a_message(void **state) {
        Large *l = large_new('x', 4000);
        _cleanup_json_ json_object *o = body(WEBHOOK_NTFY, &l->alert);
        const char *message = string_of(o, "message");

        assert_true(strlen(message) <= 4096 && strlen(message) > 4000);
        assert_true(utf8_is_valid(message, strlen(message)));
        large_free(l);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(json_is_the_alert_in_an_envelope),
                cmocka_unit_test(json_has_a_type_for_each_kind),
                cmocka_unit_test(json_too_long_loses_evidence_but_no_meaning),
                cmocka_unit_test(slack_reads_no_sign_of_its_own),
                cmocka_unit_test(slack_keeps_its_limits),
                cmocka_unit_test(discord_calls_nobody),
                cmocka_unit_test(discord_keeps_its_limits),
                cmocka_unit_test(ntfy_has_topic_and_priority),
                cmocka_unit_test(ntfy_stays_a_message),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
