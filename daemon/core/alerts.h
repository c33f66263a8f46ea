/* SPDX-License-Identifier: MIT */
/*
 * When somebody is told of violations and losses, and of what: the first of a session on a watch at once, further ones together
 * at intervals that double, and all of it once more when the session ends. A burst of any size is a handful of alerts.
 *
 * A topic is what is told together: the violations of one session on one watch, the losses of one session for one reason, the
 * violations of everybody outside of sessions on one watch. Pure: `now` is microseconds of a clock that only goes forward, which
 * the caller reads.
 */
#ifndef MOUNTWATCH_CORE_ALERTS_H
#define MOUNTWATCH_CORE_ALERTS_H

#include "common/alert.h"
#include "daemon/core/process.h"
#include "daemon/core/session.h"

#define ALERT_TOPICS_MAX \
        1024 /* together; beyond, sessions have their summary only, and a loss (alert-limit) says so */
#define ALERT_NEVER UINT64_MAX

typedef struct Alerts Alerts;

int alerts_new(usec_t first_interval, usec_t longest_interval, Alerts **ret);
Alerts *alerts_free(Alerts *a);
DEFINE_CLEANUP(Alerts *, alerts_free)
/* For what is told from now on. */
void alerts_set_interval(Alerts *a, usec_t first_interval, usec_t longest_interval);

/* `s` NULL: by somebody outside of every session. `author` may be NULL; a reference is kept. Sessions around `s` count it, too: in
 * their summary. All of these: -ENOMEM, something may never be told. */
int alerts_violation(Alerts *a, const Session *s, const Operation *op, Image *author, usec_t now);
/* The same for a call that waits for a person's answer: it is told, and not counted until it is decided. */
int alerts_waiting(Alerts *a, const Session *s, const Operation *op, Image *author, usec_t now);
int alerts_loss(Alerts *a, const Session *s, const char *reason, const char *watch, usec_t now);
/* The summary, when there was an alert or the verdict is not clean. Forgets the session. */
int alerts_session_ended(Alerts *a, const Session *s, usec_t now);

/* When alerts_tick() will have something to do; ALERT_NEVER. */
usec_t alerts_due(const Alerts *a);
int alerts_tick(Alerts *a, usec_t now);

/* The next one that is ready, the caller's to release. What is not known here is left to it: id, at, user. */
bool alerts_take(Alerts *a, Alert *ret);

/* systemd-journald writes down an alert: where the journal lies on a watched filesystem, that is a change by a process outside of
 * every session. Telling of it would be the next line of the journal, and so on. */
bool alerts_is_journal_at_work(const Operation *op, const Image *author);

#endif
