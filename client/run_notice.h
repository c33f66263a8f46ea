/* SPDX-License-Identifier: MIT */
/*
 * The first violation of a session, told on the terminal while its command runs: once, in two lines, and only where that cannot
 * disturb. A person who sees it can stop the command; the report at the end tells the rest.
 */
#ifndef MOUNTWATCH_CLIENT_RUN_NOTICE_H
#define MOUNTWATCH_CLIENT_RUN_NOTICE_H

#include "client/launch.h"
#include "client/verb.h"

typedef struct RunNotice RunNotice;

/* Begins to listen, before the command is let go. NULL: there is no terminal, or nothing to listen to; that is not said. */
RunNotice *run_notice_new(const Context *context, const char *session);
RunNotice *run_notice_free(RunNotice *n);
DEFINE_CLEANUP(RunNotice *, run_notice_free)

/* For launch_wait(). */
LaunchSide run_notice_side(RunNotice *n);

#endif
