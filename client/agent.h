/* SPDX-License-Identifier: MIT */
/* The desktop agent: alerts and questions of the daemon become bubbles, and their buttons answers. */
#ifndef MOUNTWATCH_CLIENT_AGENT_H
#define MOUNTWATCH_CLIENT_AGENT_H

#include "client/verb.h"

/* Runs until a signal, or until the bus goes. Prints its errors. Returns an exit status. */
int agent_run(const Context *context);

#endif
