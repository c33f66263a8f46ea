/* SPDX-License-Identifier: MIT */
/* The guard of `mountwatch run`: when it is wanted, and what is said when it is not to be had. */
#ifndef MOUNTWATCH_CLIENT_RUN_GUARD_H
#define MOUNTWATCH_CLIENT_RUN_GUARD_H

#include "client/handover.h"
#include "client/session_view.h"
#include "client/verb.h"

/* After launch_release(): the command has its guard, or will run without one, which has been said. */
void run_guard_put_up(Handover *h, const Context *context, const SessionView *session);
/* At the end: says what was not decided, and whether the guard was in the command's way. */
void run_guard_tell_end(const Handover *h);

#endif
