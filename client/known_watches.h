/* SPDX-License-Identifier: MIT */
/*
 * The watches that a configuration names already, so that they are not proposed again. Only the headings and the lines Path= are read: whether
 * it is a good configuration is for config_check.h to say.
 */
#ifndef MOUNTWATCH_CLIENT_KNOWN_WATCHES_H
#define MOUNTWATCH_CLIENT_KNOWN_WATCHES_H

#include "client/finding.h"

/* The text of one file. -ENOMEM. */
int known_watches_parse(const char *text, Findings *f);

/* `config` and what lies in its folder .d. Files that are not there are none. Negative errno for one that cannot be read. */
int known_watches_read(const char *config, Findings *f);

/* A whole file, with a NUL behind it. -EFBIG above 1 MiB, which the daemon does not take either. */
int config_read_text(const char *path, char **ret);

#endif
