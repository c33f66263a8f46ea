/* SPDX-License-Identifier: MIT */
/*
 * Addresses of webhooks. What follows the host is often as good as a password (Slack, Discord, topics of ntfy), and so is what
 * stands before an '@': people are shown url_origin(), and text that may quote the address goes through url_conceal().
 */
#ifndef MOUNTWATCH_CORE_URL_H
#define MOUNTWATCH_CORE_URL_H

#include "common/macro.h"

#include <stdbool.h>

/* http or https, a host, only visible ASCII without quotes. */
bool url_is_http(const char *url);
bool url_has_user(const char *url);
/* "https://host:8443". NULL for lack of memory. */
char *url_origin(const char *url);
/* A copy of `text` in which user, path and query of `url` are "...". NULL for lack of memory. */
char *url_conceal(const char *url, const char *text);
/* https://host/base/TOPIC: the address that ntfy is posted to, https://host/base/, and the topic. -EINVAL: there is none, or it is none. */
int url_split_topic(const char *url, char **ret_server, char **ret_topic);

#endif
