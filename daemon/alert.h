/* SPDX-License-Identifier: MIT */
/*
 * Telling: what happens goes to core's Alerts, which say what of it is told when; each alert then goes to the journal (or stderr)
 * and to everybody who follows.
 */
#ifndef MOUNTWATCH_ALERT_H
#define MOUNTWATCH_ALERT_H

#include "daemon/manager.h"

typedef struct Attempt Attempt;

int alert_start(Manager *m);
void alert_stop(Manager *m);
/* The configuration has changed. */
void alert_configure(Manager *m);

void alert_started(const Session *s); /* one line, for debugging */
/* `live` is NULL for an untagged change (of a watch with Untagged=alert). */
void alert_violation(Manager *m, Live *live, const Operation *op, Image *author);
/* A call waits for a person. */
void alert_waiting(Manager *m, const Attempt *a);
void alert_loss(Manager *m, Live *live, const char *reason, const char *watch);
/* The session has ended: its summary, or one line that it was clean. */
void alert_ended(Manager *m, const Session *s);
/* Somebody wants to see whether alerts arrive: in the journal and with those who follow they do, the webhooks are the caller's. */
int alert_test(Manager *m, uid_t uid, Alert *ret);

#endif
