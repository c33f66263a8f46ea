/* SPDX-License-Identifier: MIT */
/* Looking for mistakes in a configuration: the daemon's own parser decides, so that there is only one. */
#ifndef MOUNTWATCH_CLIENT_CONFIG_CHECK_H
#define MOUNTWATCH_CLIENT_CONFIG_CHECK_H

#include <stdbool.h>

#define CONFIG_DEFAULT "/etc/mountwatch/mountwatch.conf"

/* Runs mountwatchd on `file`; what is wrong with it goes to stderr. Negative errno when there is no mountwatchd to ask. */
int config_check(const char *file, bool *ret_good);

#endif
