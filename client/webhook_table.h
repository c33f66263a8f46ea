/* SPDX-License-Identifier: MIT */
/* The webhooks of GetStatus, for people. */
#ifndef MOUNTWATCH_CLIENT_WEBHOOK_TABLE_H
#define MOUNTWATCH_CLIENT_WEBHOOK_TABLE_H

#include "client/terminal.h"

#include <json-c/json.h>

/* Nothing when there are none, or the daemon is too old to tell. -EBADMSG. */
int webhook_table_print(const Terminal *t, json_object *reply);

#endif
