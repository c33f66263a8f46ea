/* SPDX-License-Identifier: MIT */
/* Sessions as a table for people. */
#ifndef MOUNTWATCH_CLIENT_SESSION_TABLE_H
#define MOUNTWATCH_CLIENT_SESSION_TABLE_H

#include <stdio.h>

#include <json-c/json.h>

/* `sessions`: the array of a reply. -EBADMSG for another shape, -ENOMEM. */
int session_table_print(FILE *f, json_object *sessions);

#endif
