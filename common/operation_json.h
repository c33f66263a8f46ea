/* SPDX-License-Identifier: MIT */
/*
 * Operations, processes, losses and coverage as JSON, in the shape of io.mountwatch (common/io.mountwatch.varlink).
 *
 * Every `_to_json` returns a new object (the caller's reference) or NULL for lack of memory. Every `_from_json` takes any JSON,
 * and answers -EBADMSG for what is not in that shape; unknown members are passed over, so that old clients read new daemons.
 */
#ifndef MOUNTWATCH_COMMON_OPERATION_JSON_H
#define MOUNTWATCH_COMMON_OPERATION_JSON_H

#include "common/operation.h"

#include <json-c/json.h>

/* "2026-11-30T18:35:54.123456Z" */
#define TIME_TEXT_MAX 32
char *time_to_text(usec_t t, char buffer[static TIME_TEXT_MAX]);
/* RFC 3339 with any offset and fraction. -EINVAL. */
int time_from_text(const char *s, usec_t *ret);

/* Adds `key` as text (bytes that are not UTF-8, control characters and backslashes of such a text as \xNN) and, when it is not
 * UTF-8, `key`Raw in base64. A NULL path adds nothing. */
int json_add_path(json_object *object, const char *key, const char *path);
/* The bytes of `key`Raw when it is there, else of `key`. NULL in *ret when neither is. The caller frees. */
int json_get_path(json_object *object, const char *key, char **ret);
/* The text form alone, for people; allocated. Control characters are escaped, valid UTF-8 stays. */
char *path_to_text(const char *path);

json_object *process_info_to_json(const ProcessInfo *p);
int process_info_from_json(json_object *o, ProcessInfo *ret);
json_object *operation_to_json(const Operation *op);
int operation_from_json(json_object *o, Operation *ret);
json_object *loss_to_json(const Loss *l);
int loss_from_json(json_object *o, Loss *ret);
json_object *coverage_to_json(const Coverage *c);
int coverage_from_json(json_object *o, Coverage *ret);
json_object *strv_to_json(char *const *strv); /* an array; bytes that are not UTF-8 become \xNN */
int strv_from_json(json_object *o, char ***ret);

#endif
