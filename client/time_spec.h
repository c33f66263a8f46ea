/* SPDX-License-Identifier: MIT */
/* A moment as a person types it. */
#ifndef MOUNTWATCH_CLIENT_TIME_SPEC_H
#define MOUNTWATCH_CLIENT_TIME_SPEC_H

#include "common/macro.h"

/* RFC 3339; "30s", "10m", "2h", "3d", "1w" (so long before `now`); "today", "yesterday" (midnight, local time); "now". -EINVAL. */
int time_spec_parse(const char *s, usec_t now, usec_t *ret);

#endif
