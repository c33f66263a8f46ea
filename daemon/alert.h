/* SPDX-License-Identifier: MIT */
/* Telling: the first violation of a session on a watch, once, in the log; with MOUNTWATCH_* fields in the journal. */
#ifndef MOUNTWATCH_ALERT_H
#define MOUNTWATCH_ALERT_H

#include "daemon/manager.h"

/* `live` is NULL for an untagged change (of a watch with Untagged=alert). */
void alert_violation(Manager *m, Live *live, const Operation *op, const Image *author);
/* The session has ended: one line with its verdict. */
void alert_ended(Manager *m, const Session *s);

#endif
