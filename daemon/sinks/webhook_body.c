/* SPDX-License-Identifier: MIT */
#include "daemon/sinks/webhook_body.h"
#include "common/alert_json.h"
#include "common/utf8.h"
#include "daemon/sinks/webhook_body_internal.h"

#include <errno.h>
#include <stdio.h>

#define ELLIPSIS "\xe2\x80\xa6"

static const char *const format_table[_WEBHOOK_FORMAT_MAX] = {
        [WEBHOOK_JSON] = "json",
        [WEBHOOK_SLACK] = "slack",
        [WEBHOOK_DISCORD] = "discord",
        [WEBHOOK_NTFY] = "ntfy",
};

const char *webhook_format_to_string(WebhookFormat format) {
        return (size_t) format < ELEMENTSOF(format_table) ? format_table[format] : NULL;
}

int webhook_format_from_string(const char *s) {
        for (size_t i = 0; i < ELEMENTSOF(format_table); i++)
                if (str_equal(format_table[i], s))
                        return (int) i;
        return -EINVAL;
}

char *body_text(const char *s, size_t max, escape_t escape) {
        char *out = malloc(max + 1);
        size_t used = 0, whole = 0; /* whole: where an ellipsis still fits behind */

        if (!out)
                return NULL;
        for (size_t n; *s; s += n) {
                uint32_t character;
                const char *as = escape ? escape(*s) : NULL;
                size_t size;

                n = utf8_sequence(s, strnlen(s, 4), &character);
                if (n == 0) { /* callers give UTF-8 */
                        n = 1;
                        as = "?";
                }
                size = as ? strlen(as) : n;
                if (used + size > max) {
                        memcpy(out + whole, ELLIPSIS, strlen(ELLIPSIS));
                        used = whole + strlen(ELLIPSIS);
                        break;
                }
                memcpy(out + used, as ? as : s, size);
                used += size;
                if (used + strlen(ELLIPSIS) <= max)
                        whole = used;
        }
        out[used] = 0;
        return out;
}

/* ---- json ---- */

/* How much of the evidence is sent: less and less, until it fits. The last one always does, were each byte six in JSON. */
static const struct {
        size_t string, array;
} fits[] = {{SIZE_MAX, SIZE_MAX}, {2048, 64}, {512, 32}, {256, 16}, {128, 8}, {48, 4}};

static int shorten(json_object *o, size_t string_max, size_t array_max) {
        int r = 0;

        if (json_object_is_type(o, json_type_string) &&
            (size_t) json_object_get_string_len(o) > string_max) {
                _cleanup_free_ char *cut =
                        body_text(json_object_get_string(o), string_max, /* escape= */ NULL);

                return cut && json_object_set_string(o, cut) ? 0 : -ENOMEM;
        }
        if (json_object_is_type(o, json_type_array)) {
                const size_t n = json_object_array_length(o);

                if (n > array_max)
                        (void) json_object_array_del_idx(o, array_max, n - array_max);
                for (size_t i = 0; r >= 0 && i < json_object_array_length(o); i++)
                        r = shorten(json_object_array_get_idx(o, i), string_max, array_max);
        } else if (json_object_is_type(o, json_type_object)) {
                json_object_object_foreach(o, key, value) {
                        (void) key;
                        r = r < 0 ? r : shorten(value, string_max, array_max);
                }
        }
        return r;
}

static json_object *envelope(const Alert *a, size_t level) {
        _cleanup_json_ json_object *o = json_object_new_object(), *data = alert_to_json(a);
        char type[64];
        int r;

        if (!o || !data)
                return NULL;
        (void) snprintf(type, sizeof type, "mountwatch.%s", alert_kind_to_string(a->kind));
        r = shorten(data, fits[level].string, fits[level].array);
        r = r < 0 ? r : json_add_text(o, "type", type);
        r = r < 0 ? r : json_add_time(o, "timestamp", a->at);
        r = r < 0 ? r : json_add(o, "data", TAKE_PTR(data));
        if (r >= 0 && level > 0)
                r = json_add_bool(o, "truncated", true);
        return r < 0 ? NULL : TAKE_PTR(o);
}

static int to_text(json_object *o, char **ret) {
        const char *text = json_object_to_json_string_ext(
                o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
        char *copy;

        if (!text)
                return -ENOMEM;
        if (strlen(text) > WEBHOOK_BODY_MAX)
                return -E2BIG;
        copy = strdup(text);
        if (!copy)
                return -ENOMEM;
        *ret = copy;
        return 0;
}

static int body_json(const Alert *a, char **ret) {
        int r = -E2BIG;

        for (size_t level = 0; r == -E2BIG && level < ELEMENTSOF(fits); level++) {
                _cleanup_json_ json_object *o = envelope(a, level);

                r = o ? to_text(o, ret) : -ENOMEM;
        }
        return r;
}

int webhook_body(WebhookFormat format, const Alert *a, const char *topic, char **ret) {
        _cleanup_json_ json_object *o = NULL;

        switch (format) {
        case WEBHOOK_JSON:
                return body_json(a, ret);
        case WEBHOOK_SLACK:
                o = body_slack(a);
                break;
        case WEBHOOK_DISCORD:
                o = body_discord(a);
                break;
        case WEBHOOK_NTFY:
                o = body_ntfy(a, topic);
                break;
        case _WEBHOOK_FORMAT_MAX:
                return -EINVAL;
        }
        return o ? to_text(o, ret) : -ENOMEM;
}
