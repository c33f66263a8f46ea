/* SPDX-License-Identifier: MIT */
/*
 * Operations, processes, losses and coverage as JSON, in the shape of io.mountwatch (common/io.mountwatch.varlink).
 *
 * Every `_to_json` returns a new object (the caller's reference) or NULL for lack of memory. Every `_from_json` takes any JSON,
 * and answers -EBADMSG for what is not in that shape; unknown members are passed over, so that old clients read new daemons.
 */
#ifndef MOUNTWATCH_COMMON_OPERATION_JSON_H
#define MOUNTWATCH_COMMON_OPERATION_JSON_H

#include "common/json_member.h"
#include "common/operation.h"
#include "common/path_text.h"
#include "common/time_text.h"

#include <json-c/json.h>

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
int json_get_strv(json_object *o, const char *key,
                  char ***ret); /* -EBADMSG also when it is absent */

#endif
