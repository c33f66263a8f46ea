/* SPDX-License-Identifier: MIT */
/* Sessions that start by themselves: a process that runs a command of an [AutoSession] rule, outside every session. */
#ifndef MOUNTWATCH_AUTO_SESSION_H
#define MOUNTWATCH_AUTO_SESSION_H

#include "daemon/manager.h"

/* While there are rules, process events are followed even when nothing else needs them. */
bool auto_session_is_wanted(const Manager *m);
/* The process has executed something; the table knows it already. */
void auto_session_consider(Manager *m, const ProcEvent *e);

#endif
