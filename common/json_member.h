/* SPDX-License-Identifier: MIT */
/*
 * Members of JSON objects, written and read with one rule for errors.
 *
 * `json_add_*` give 0 or -ENOMEM. `json_get_*` give 1 when the member is there, 0 when it is absent or null (then *ret is not
 * written), -EBADMSG when it has another type, -ENOMEM. Whoever needs a member asks json_need().
 */
#ifndef MOUNTWATCH_COMMON_JSON_MEMBER_H
#define MOUNTWATCH_COMMON_JSON_MEMBER_H

#include "common/macro.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdbool.h>

static inline void json_object_putp(json_object **o) {
        (void) json_object_put(*o);
}
#define _cleanup_json_ _cleanup_(json_object_putp)

/* `key` must be a literal: it is not copied. Consumes `value`, also on failure; a NULL value is lack of memory. */
int json_add(json_object *o, const char *key, json_object *value);
/* NULL adds nothing. What is not UTF-8 becomes path_to_utf8() of it. */
int json_add_text(json_object *o, const char *key, const char *s);
int json_add_int(json_object *o, const char *key, int64_t value);
/* JSON has signed numbers: what is larger stays the largest. */
int json_add_count(json_object *o, const char *key, uint64_t count);
/* A word of a closed list, a literal; NULL is -EINVAL. */
int json_add_word(json_object *o, const char *key, const char *word);
int json_add_bool(json_object *o, const char *key, bool value);
int json_add_time(json_object *o, const char *key, usec_t t);
/* Adds `key` as text (path_text.h) and, when the path is not UTF-8, `key`Raw in base64. A NULL path adds nothing. `key` is
 * one of path, from, to. */
int json_add_path(json_object *object, const char *key, const char *path);

/* 0 becomes -EBADMSG: the member must be there. */
static inline int json_need(int r) {
        return r == 0 ? -EBADMSG : r;
}

int json_get(json_object *o, const char *key, json_type type, json_object **ret);
/* Borrowed. Text with a NUL inside is -EBADMSG. */
int json_get_string(json_object *o, const char *key, const char **ret);
int json_get_text(json_object *o, const char *key, char **ret); /* a copy */
/* -EBADMSG outside min to max. */
int json_get_int(json_object *o, const char *key, int64_t min, int64_t max, int64_t *ret);
int json_get_count(json_object *o, const char *key, uint64_t *ret);
/* `from_string` gives the value or a negative errno for a word that is not of its list, which is -EBADMSG here. */
int json_get_word(json_object *o, const char *key, int (*from_string)(const char *), int *ret);
int json_get_bool(json_object *o, const char *key, bool *ret);
int json_get_time(json_object *o, const char *key, usec_t *ret);
/* The bytes of `key`Raw when it is there, else of `key`. 0, and NULL in *ret when neither is. The caller frees. */
int json_get_path(json_object *object, const char *key, char **ret);

#endif
