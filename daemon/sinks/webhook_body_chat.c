/* SPDX-License-Identifier: MIT */
/*
 * Bodies for people. Limits are in characters, and kept in bytes.
 *
 * Slack: header 150, text of a section 3000; & < > are its own signs for links and mentions, also in plain_text.
 * Discord: content 2000, description 4096, all of an embed 6000; allowed_mentions decides who is called, whatever the text says.
 * ntfy: a message above 4096 bytes silently becomes an attachment that is gone after three hours.
 */
#include "common/time_text.h"
#include "daemon/sinks/webhook_body_internal.h"

#define SLACK_HEADER_MAX 150
#define SLACK_TEXT_MAX 3000
#define DISCORD_CONTENT_MAX 2000
#define DISCORD_DESCRIPTION_MAX 4000 /* and the fence around it */
#define NTFY_TITLE_MAX 250
#define NTFY_MESSAGE_MAX 4096

/* Title and text, in the way that `escape` makes them harmless. */
typedef struct Words {
        char *title, *text;
} Words;

static void words_done(Words *w) {
        free(w->title);
        free(w->text);
}

static bool words_init(Words *w, const Alert *a, size_t title_max, escape_t escape_title,
                       size_t text_max, escape_t escape_of_text) {
        _cleanup_free_ char *title = alert_title(a), *text = alert_text(a);

        if (!title || !text)
                return false;
        text[strlen(text) - (*text && text[strlen(text) - 1] == '\n')] = 0;
        w->title = body_text(title, title_max, escape_title);
        w->text = body_text(*text ? text : title, text_max, escape_of_text);
        return w->title && w->text;
}

static json_object *take_or_free(int r, json_object **o) {
        return r < 0 ? NULL : TAKE_PTR(*o);
}

/* ---- Slack ---- */

static const char *escape_slack(char c) {
        return c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : NULL;
}

static int add_block(json_object *blocks, const char *type, const char *text) {
        _cleanup_json_ json_object *block = json_object_new_object(), *o = json_object_new_object();
        int r = block && o ? 0 : -ENOMEM;

        r = r < 0 ? r : json_add_text(o, "type", "plain_text");
        r = r < 0 ? r : json_add_text(o, "text", text);
        r = r < 0 ? r : json_add_bool(o, "emoji", false);
        r = r < 0 ? r : json_add_text(block, "type", type);
        r = r < 0 ? r : json_add(block, "text", TAKE_PTR(o));
        if (r < 0)
                return r;
        return json_object_array_add(blocks, TAKE_PTR(block)) < 0 ? -ENOMEM : 0;
}

json_object *body_slack(const Alert *a) {
        _cleanup_json_ json_object *o = json_object_new_object(), *blocks = json_object_new_array();
        _cleanup_(words_done) Words w = {};
        int r = 0;

        if (!o || !blocks ||
            !words_init(&w, a, SLACK_HEADER_MAX, escape_slack, SLACK_TEXT_MAX, escape_slack))
                return NULL;
        r = add_block(blocks, "header", w.title);
        r = r < 0 ? r : add_block(blocks, "section", w.text);
        r = r < 0 ? r : json_add_text(o, "text", w.title);
        r = r < 0 ? r : json_add_bool(o, "mrkdwn", false);
        r = r < 0 ? r : json_add_bool(o, "unfurl_links", false);
        r = r < 0 ? r : json_add_bool(o, "unfurl_media", false);
        r = r < 0 ? r : json_add(o, "blocks", TAKE_PTR(blocks));
        return take_or_free(r, &o);
}

/* ---- Discord ---- */

static const char *escape_discord(char c) {
        static const char signs[] = "\\*_~`|><#[]()@:";
        static const char escaped[][3] = {"\\\\", "\\*", "\\_", "\\~", "\\`", "\\|", "\\>", "\\<",
                                          "\\#",  "\\[", "\\]", "\\(", "\\)", "\\@", "\\:"};
        const char *found = c ? strchr(signs, c) : NULL;

        return found ? escaped[found - signs] : NULL;
}

/* In a fence nothing is a sign but what ends it. */
static const char *escape_fenced(char c) {
        return c == '`' ? "\xcb\x8b" : NULL;
}

static int colour(const Alert *a) {
        static const int colours[_SEVERITY_MAX] = {
                [SEVERITY_INFO] = 0x808080,    [SEVERITY_OPENED] = 0x3498db,
                [SEVERITY_CREATED] = 0xf1c40f, [SEVERITY_MODIFIED] = 0xe67e22,
                [SEVERITY_REMOVED] = 0xe74c3c,
        };

        return colours[a->severity];
}

static int fill_embed(json_object *embed, const Alert *a, const char *text) {
        _cleanup_json_ json_object *footer = json_object_new_object();
        char fenced[DISCORD_DESCRIPTION_MAX + 16];
        int r = footer ? 0 : -ENOMEM;

        (void) stpcpy(stpcpy(stpcpy(fenced, "```\n"), text), "\n```");
        r = r < 0 ? r : json_add_text(footer, "text", "mountwatch");
        r = r < 0 ? r : json_add_text(embed, "description", fenced);
        r = r < 0 ? r : json_add_int(embed, "color", colour(a));
        r = r < 0 ? r : json_add_time(embed, "timestamp", a->at);
        return r < 0 ? r : json_add(embed, "footer", TAKE_PTR(footer));
}

static int add_one(json_object *o, const char *key, json_object **value) {
        json_object *array = json_object_new_array();

        if (!array || json_object_array_add(array, *value) < 0) {
                json_object_put(array);
                return -ENOMEM;
        }
        *value = NULL;
        return json_add(o, key, array);
}

json_object *body_discord(const Alert *a) {
        _cleanup_json_ json_object *o = json_object_new_object(), *embed = json_object_new_object(),
                                   *mentions = json_object_new_object();
        _cleanup_(words_done) Words w = {};
        int r;

        if (!o || !embed || !mentions ||
            !words_init(&w, a, DISCORD_CONTENT_MAX, escape_discord, DISCORD_DESCRIPTION_MAX,
                        escape_fenced))
                return NULL;
        r = json_add(mentions, "parse", json_object_new_array());
        r = r < 0 ? r : json_add_text(o, "content", w.title);
        r = r < 0 ? r : json_add(o, "allowed_mentions", TAKE_PTR(mentions));
        r = r < 0 ? r : fill_embed(embed, a, w.text);
        r = r < 0 ? r : add_one(o, "embeds", &embed);
        return take_or_free(r, &o);
}

/* ---- ntfy ---- */

/* 1 to 5; 3 is what everything has that says nothing. */
static int priority(const Alert *a) {
        static const int of_severity[_SEVERITY_MAX] = {
                [SEVERITY_INFO] = 2,     [SEVERITY_OPENED] = 3,  [SEVERITY_CREATED] = 3,
                [SEVERITY_MODIFIED] = 4, [SEVERITY_REMOVED] = 5,
        };

        if (a->kind == ALERT_TEST)
                return 3;
        return a->kind == ALERT_LOSS ? MAX(of_severity[a->severity], 4) : of_severity[a->severity];
}

static const char *tag(const Alert *a) {
        if (a->kind == ALERT_TEST || (a->kind == ALERT_SUMMARY && a->verdict == VERDICT_CLEAN))
                return "white_check_mark";
        return a->severity >= SEVERITY_REMOVED ? "rotating_light" : "warning";
}

json_object *body_ntfy(const Alert *a, const char *topic) {
        _cleanup_json_ json_object *o = json_object_new_object(),
                                   *word = json_object_new_string(tag(a));
        _cleanup_(words_done) Words w = {};
        int r;

        if (!o || !word || !words_init(&w, a, NTFY_TITLE_MAX, NULL, NTFY_MESSAGE_MAX, NULL))
                return NULL;
        r = json_add_text(o, "topic", topic);
        r = r < 0 ? r : json_add_text(o, "title", w.title);
        r = r < 0 ? r : json_add_text(o, "message", w.text);
        r = r < 0 ? r : json_add_int(o, "priority", priority(a));
        r = r < 0 ? r : add_one(o, "tags", &word);
        return take_or_free(r, &o);
}
