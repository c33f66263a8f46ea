/* SPDX-License-Identifier: MIT */
/* One operation as a member of `operations` in the report (DESIGN.md 4.3): with its process and that one's ancestors inside. */
#ifndef MOUNTWATCH_CLIENT_ROW_JSON_H
#define MOUNTWATCH_CLIENT_ROW_JSON_H

#include <json-c/json.h>

#include "client/process_source.h"

/* `with_session`: for streams over many sessions, keeps seq and session. NULL: no memory. */
json_object *row_to_json(const Operation *op, ProcessSource processes, bool with_session);

/* The process that the rows before had, as text: a run of a million operations is of few processes with long chains. */
typedef struct RowProcess {
        int64_t id;
        json_object *text; /* reference, or NULL */
} RowProcess;

/* The same for one of many rows. */
json_object *row_to_json_again(const Operation *op, ProcessSource processes, bool with_session,
                               RowProcess *last);
void row_process_done(RowProcess *p);

/* Adds a member that is always there: null when it is not known. 0 or -ENOMEM. */
int json_add_text_or_null(json_object *o, const char *key, const char *text);

#endif
