/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/utf8.h"
#include "common/varlink.h"

void varlink_reader_init(VarlinkReader *r, size_t max) {
        *r = (VarlinkReader){.max = max};
}

void varlink_reader_done(VarlinkReader *r) {
        free(r->data);
        *r = (VarlinkReader){.max = r->max};
}

/* Makes room for `more` bytes at the end: moves the unread to the front first, which keeps the work per byte constant
 * because a buffer is only moved when at least as much as is moved has been read, or when it must grow anyway. */
static int reader_reserve(VarlinkReader *r, size_t more) {
        size_t unread = r->size - r->start, want, grown;
        char *data;

        if (r->start > 0 && (unread <= r->start || r->allocated - r->size < more)) {
                memmove(r->data, r->data + r->start, unread);
                r->start = 0;
                r->size = unread;
        }
        if (__builtin_add_overflow(r->size, more, &want))
                return -EMSGSIZE;
        if (want <= r->allocated)
                return 0;
        grown = MAX(MAX(want, (size_t) 4096), r->allocated + r->allocated / 2);
        data = realloc(r->data, grown);
        if (!data)
                return -ENOMEM;
        r->data = data;
        r->allocated = grown;
        return 0;
}

int varlink_reader_feed(VarlinkReader *r, const void *data, size_t size) {
        const char *p = data;
        size_t unfinished = r->unfinished, left = size;
        int k;

        if (r->size - r->start - r->unfinished > r->max)
                return -ENOBUFS;
        while (left > 0) {
                const char *end = memchr(p, 0, left);
                size_t n = end ? (size_t) (end - p) : left;

                if (n > r->max - unfinished)
                        return -EMSGSIZE;
                unfinished = end ? 0 : unfinished + n;
                n += end ? 1 : 0;
                p += n;
                left -= n;
        }
        if (size == 0)
                return 0;
        k = reader_reserve(r, size);
        if (k < 0)
                return k;
        memcpy(r->data + r->size, data, size);
        r->size += size;
        r->unfinished = unfinished;
        return 0;
}

/* Strict mode leaves white space after the value to us: it is JSON, anything else there is not. */
static bool only_space(const char *s, size_t size) {
        for (size_t i = 0; i < size; i++)
                if (!memchr(" \t\r\n", s[i], 4))
                        return false;
        return true;
}

/* json-c's strict mode (0.16) still takes 'single' quotes, NaN, Infinity and raw control characters in strings: not JSON.
 * What it refuses by itself need not be found here. */
static bool characters_are_json(const char *s, size_t size) {
        bool in_string = false;

        for (size_t i = 0; i < size; i++) {
                if (in_string && (unsigned char) s[i] < 0x20)
                        return false;
                if (in_string && s[i] == '\\')
                        i++;
                else if (s[i] == '"')
                        in_string = !in_string;
                else if (!in_string && !strchr("{}[]:, \t\r\n0123456789+-.eEtrufalsn", s[i]))
                        return false;
        }
        return true;
}

static int parse_object(const char *text, size_t size, json_object **ret) {
        json_tokener *tokener;
        json_object *object;
        int r = -EBADMSG;
        size_t end;

        if (size > INT32_MAX || !utf8_is_valid(text, size) || !characters_are_json(text, size))
                return -EBADMSG;
        tokener = json_tokener_new_ex(VARLINK_DEPTH_MAX);
        if (!tokener)
                return -ENOMEM;
        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
        object = json_tokener_parse_ex(tokener, text, (int) size);
        end = json_tokener_get_parse_end(tokener);
        if (json_tokener_get_error(tokener) == json_tokener_success &&
            json_object_is_type(object, json_type_object) && only_space(text + end, size - end)) {
                *ret = TAKE_PTR(object);
                r = 1;
        }
        json_object_put(object);
        json_tokener_free(tokener);
        return r;
}

int varlink_reader_next(VarlinkReader *r, json_object **ret) {
        size_t complete = r->size - r->start - r->unfinished, size;
        const char *text;
        int k;

        if (complete == 0)
                return 0;
        text = r->data + r->start;
        /* feed() counted the NUL, so it is there */
        size = (size_t) ((const char *) memchr(text, 0, complete) - text);
        k = parse_object(text, size, ret);
        if (k == -ENOMEM)
                return k;
        r->start += size + 1;
        if (r->start == r->size)
                r->start = r->size = 0;
        return k;
}

/* A string without NUL inside, which would make two readers see two different names. NULL: it is not that. */
static const char *plain_string(json_object *value) {
        const char *s;

        if (!json_object_is_type(value, json_type_string))
                return NULL;
        s = json_object_get_string(value);
        return strlen(s) == (size_t) json_object_get_string_len(value) ? s : NULL;
}

static int set_string(json_object *value, const char **member) {
        *member = plain_string(value);
        return *member ? 0 : -EBADMSG;
}

static int set_object(json_object *value, json_object **member) {
        if (!json_object_is_type(value, json_type_object))
                return -EBADMSG;
        *member = value;
        return 0;
}

static int set_flag(json_object *value, bool *member) {
        if (!json_object_is_type(value, json_type_boolean))
                return -EBADMSG;
        *member = json_object_get_boolean(value);
        return 0;
}

static int vendor_member(const char *key) {
        return strchr(key, '.') ? 0 : -EBADMSG;
}

static bool call_has(const char *key) {
        return str_equal(key, "method") || str_equal(key, "parameters") ||
                str_equal(key, "oneway") || str_equal(key, "more") || str_equal(key, "upgrade");
}

static int call_member(VarlinkCall *call, const char *key, json_object *value) {
        if (!call_has(key))
                return vendor_member(key);
        if (!value)
                return 0;
        if (str_equal(key, "method"))
                return set_string(value, &call->method);
        if (str_equal(key, "parameters"))
                return set_object(value, &call->parameters);
        if (str_equal(key, "oneway"))
                return set_flag(value, &call->oneway);
        if (str_equal(key, "more"))
                return set_flag(value, &call->more);
        return set_flag(value, &call->upgrade);
}

int varlink_call_parse(json_object *message, VarlinkCall *ret) {
        VarlinkCall call = {};
        int r;

        if (!json_object_is_type(message, json_type_object))
                return -EBADMSG;
        json_object_object_foreach(message, key, value) {
                r = call_member(&call, key, value);
                if (r < 0)
                        return r;
        }
        if (!call.method || (int) call.oneway + (int) call.more + (int) call.upgrade > 1)
                return -EBADMSG;
        *ret = call;
        return 0;
}

static int reply_member(VarlinkReply *reply, const char *key, json_object *value) {
        if (!str_equal(key, "parameters") && !str_equal(key, "error") &&
            !str_equal(key, "continues"))
                return vendor_member(key);
        if (!value)
                return 0;
        if (str_equal(key, "parameters"))
                return set_object(value, &reply->parameters);
        if (str_equal(key, "error"))
                return set_string(value, &reply->error);
        return set_flag(value, &reply->continues);
}

int varlink_reply_parse(json_object *message, VarlinkReply *ret) {
        VarlinkReply reply = {};
        int r;

        if (!json_object_is_type(message, json_type_object))
                return -EBADMSG;
        json_object_object_foreach(message, key, value) {
                r = reply_member(&reply, key, value);
                if (r < 0)
                        return r;
        }
        if (reply.error && reply.continues)
                return -EBADMSG;
        *ret = reply;
        return 0;
}

/* `name` is "method" or "error", `flag` is "more" or "continues"; NULL leaves the member out. */
static int format(const char *name, const char *text, json_object *parameters, const char *flag,
                  char **ret, size_t *ret_size) {
        json_object *message = json_object_new_object();
        json_object *value = NULL;
        const char *s;
        char *bytes = NULL;
        size_t size = 0;
        int r = -ENOMEM;

        if (!message)
                goto finish;
        if (name) {
                value = json_object_new_string(text);
                if (!value || json_object_object_add(message, name, value) < 0)
                        goto finish;
                value = NULL;
        }
        if (parameters) {
                if (json_object_object_add(message, "parameters", parameters) < 0)
                        goto finish;
                parameters = NULL;
        }
        if (flag) {
                value = json_object_new_boolean(true);
                if (!value || json_object_object_add(message, flag, value) < 0)
                        goto finish;
                value = NULL;
        }
        s = json_object_to_json_string_length(
                message, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &size);
        bytes = s ? malloc(size + 1) : NULL;
        if (!bytes)
                goto finish;
        memcpy(bytes, s, size + 1);
        *ret = bytes;
        *ret_size = size + 1;
        r = 0;
finish:
        json_object_put(value);
        json_object_put(parameters);
        json_object_put(message);
        return r;
}

int varlink_format_call(const char *method, json_object *parameters, bool more, char **ret,
                        size_t *ret_size) {
        return format("method", method, parameters, more ? "more" : NULL, ret, ret_size);
}

int varlink_format_reply(json_object *parameters, bool continues, char **ret, size_t *ret_size) {
        return format(NULL, NULL, parameters, continues ? "continues" : NULL, ret, ret_size);
}

int varlink_format_error(const char *error, json_object *parameters, char **ret, size_t *ret_size) {
        return format("error", error, parameters, NULL, ret, ret_size);
}
