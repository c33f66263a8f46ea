/* SPDX-License-Identifier: MIT */
/* What only the whole of a [Webhook NAME] can tell, and the secrets that it names. */
#ifndef MOUNTWATCH_CONFIG_WEBHOOK_H
#define MOUNTWATCH_CONFIG_WEBHOOK_H

#include "daemon/config.h"

/* Checks that its keys go together. `with_files`: also what the files hold and who may read them, and sets w->url and w->secret from
 * them; an ordinary user, who checks a configuration, is not told of files that are closed to him. -EINVAL: *ret_reason (the caller's)
 * has the sentence, without any secret, *ret_key what it is about; NULL: the section. */
int webhook_complete(Webhook *w, bool with_files, const char **ret_key, char **ret_reason);
/* Its address is a secret and stands in a file that others can read. */
bool webhook_url_is_open(const Webhook *w, const char *file);

#endif
