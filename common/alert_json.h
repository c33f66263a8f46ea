/* SPDX-License-Identifier: MIT */
/* Alerts as JSON, in the shape of the type Alert of io.mountwatch: what the API sends, and webhooks of Format=json as their `data`. */
#ifndef MOUNTWATCH_COMMON_ALERT_JSON_H
#define MOUNTWATCH_COMMON_ALERT_JSON_H

#include "common/alert.h"

#include <json-c/json.h>

json_object *alert_to_json(const Alert *a); /* NULL for lack of memory */
/* -EBADMSG: not of that shape. Unknown members are passed over. */
int alert_from_json(json_object *o, Alert *ret);

#endif
