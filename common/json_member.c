/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/json_member.h"
#include "common/path_text.h"
#include "common/time_text.h"
#include "common/utf8.h"

int json_add(json_object *o, const char *key, json_object *value) {
        if (!value)
                return -ENOMEM;
        if (json_object_object_add_ex(o, key, value, JSON_C_OBJECT_ADD_CONSTANT_KEY) < 0) {
                json_object_put(value);
                return -ENOMEM;
        }
        return 0;
}

int json_add_text(json_object *o, const char *key, const char *s) {
        _cleanup_free_ char *text = NULL;

        if (!s)
                return 0;
        if (utf8_is_valid(s, strlen(s)))
                return json_add(o, key, json_object_new_string(s));
        text = path_to_utf8(s);
        return text ? json_add(o, key, json_object_new_string(text)) : -ENOMEM;
}

int json_add_int(json_object *o, const char *key, int64_t value) {
        return json_add(o, key, json_object_new_int64(value));
}

int json_add_count(json_object *o, const char *key, uint64_t count) {
        return json_add_int(o, key, (int64_t) MIN(count, (uint64_t) INT64_MAX));
}

int json_add_word(json_object *o, const char *key, const char *word) {
        return word ? json_add(o, key, json_object_new_string(word)) : -EINVAL;
}

int json_add_bool(json_object *o, const char *key, bool value) {
        return json_add(o, key, json_object_new_boolean(value));
}

int json_add_time(json_object *o, const char *key, usec_t t) {
        char buffer[TIME_TEXT_MAX];

        return json_add(o, key, json_object_new_string(time_to_text(t, buffer)));
}

/* The members of the interface that hold a path, and what holds the bytes of each. NULL: `key` is none of them. */
static const char *raw_key(const char *key) {
        static const char *const keys[][2] = {
                {"path", "pathRaw"},
                {"from", "fromRaw"},
                {"to", "toRaw"},
        };

        for (size_t i = 0; i < ELEMENTSOF(keys); i++)
                if (strcmp(key, keys[i][0]) == 0)
                        return keys[i][1];
        return NULL;
}

int json_add_path(json_object *object, const char *key, const char *path) {
        _cleanup_free_ char *raw = NULL;
        int r;

        r = json_add_text(object, key, path);
        if (r < 0 || !path || !raw_key(key) || utf8_is_valid(path, strlen(path)))
                return r;
        raw = base64_encode(path, strlen(path));
        return raw ? json_add(object, raw_key(key), json_object_new_string(raw)) : -ENOMEM;
}

int json_get(json_object *o, const char *key, json_type type, json_object **ret) {
        json_object *value;

        if (!json_object_is_type(o, json_type_object))
                return -EBADMSG;
        if (!json_object_object_get_ex(o, key, &value) || !value)
                return 0;
        if (!json_object_is_type(value, type))
                return -EBADMSG;
        *ret = value;
        return 1;
}

int json_get_string(json_object *o, const char *key, const char **ret) {
        json_object *value;
        const char *s;
        int r;

        r = json_get(o, key, json_type_string, &value);
        if (r <= 0)
                return r;
        s = json_object_get_string(value);
        if (strlen(s) != (size_t) json_object_get_string_len(value))
                return -EBADMSG;
        *ret = s;
        return 1;
}

int json_get_text(json_object *o, const char *key, char **ret) {
        const char *s;
        char *copy;
        int r;

        r = json_get_string(o, key, &s);
        if (r <= 0)
                return r;
        copy = strdup(s);
        if (!copy)
                return -ENOMEM;
        *ret = copy;
        return 1;
}

int json_get_int(json_object *o, const char *key, int64_t min, int64_t max, int64_t *ret) {
        json_object *value;
        int64_t i;
        int r;

        r = json_get(o, key, json_type_int, &value);
        if (r <= 0)
                return r;
        i = json_object_get_int64(value);
        /* json-c gives the largest signed number for larger ones */
        if (i < min || i > max ||
            (i == INT64_MAX && json_object_get_uint64(value) != (uint64_t) INT64_MAX))
                return -EBADMSG;
        *ret = i;
        return 1;
}

int json_get_count(json_object *o, const char *key, uint64_t *ret) {
        int64_t i;
        int r;

        r = json_get_int(o, key, 0, INT64_MAX, &i);
        if (r > 0)
                *ret = (uint64_t) i;
        return r;
}

int json_get_word(json_object *o, const char *key, int (*from_string)(const char *), int *ret) {
        const char *s;
        int r, value;

        r = json_get_string(o, key, &s);
        if (r <= 0)
                return r;
        value = from_string(s);
        if (value < 0)
                return -EBADMSG;
        *ret = value;
        return 1;
}

int json_get_bool(json_object *o, const char *key, bool *ret) {
        json_object *value;
        int r;

        r = json_get(o, key, json_type_boolean, &value);
        if (r > 0)
                *ret = json_object_get_boolean(value);
        return r;
}

int json_get_time(json_object *o, const char *key, usec_t *ret) {
        const char *s;
        int r;

        r = json_get_string(o, key, &s);
        if (r <= 0)
                return r;
        return time_from_text(s, ret) < 0 ? -EBADMSG : 1;
}

static int get_raw(json_object *object, const char *key, char **ret) {
        _cleanup_free_ char *bytes = NULL;
        const char *s;
        size_t size;
        int r;

        r = json_get_string(object, key, &s);
        if (r <= 0)
                return r;
        r = base64_decode(s, &bytes, &size);
        if (r == -ENOMEM)
                return r;
        if (r < 0 || strlen(bytes) != size)
                return -EBADMSG;
        *ret = TAKE_PTR(bytes);
        return 1;
}

int json_get_path(json_object *object, const char *key, char **ret) {
        char *path = NULL;
        int r = 0;

        if (raw_key(key))
                r = get_raw(object, raw_key(key), &path);
        if (r == 0)
                r = json_get_text(object, key, &path);
        if (r < 0)
                return r;
        *ret = path;
        return 0;
}
