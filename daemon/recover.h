/* SPDX-License-Identifier: MIT */
/* Finds the sessions again that the store says were live when an earlier daemon ended. They are incomplete from then on. */
#ifndef MOUNTWATCH_RECOVER_H
#define MOUNTWATCH_RECOVER_H

#include "daemon/manager.h"

int recover_sessions(Manager *m);

#endif
