/* SPDX-License-Identifier: MIT */
/* What an error reply of the daemon means, in a sentence with the next step. */
#ifndef MOUNTWATCH_CLIENT_REFUSAL_H
#define MOUNTWATCH_CLIENT_REFUSAL_H

#include <json-c/json.h>

/* `name` in full ("io.mountwatch.NoSuchSession"), its parameters or NULL. The caller frees; NULL: no memory. */
char *refusal_to_text(const char *name, json_object *parameters);

#endif
