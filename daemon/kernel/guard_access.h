/* SPDX-License-Identifier: MIT */
/*
 * What a decoded call is about to do to a watch. A call that will fail by itself (nothing there, something there already, another
 * filesystem, ...) does nothing, and neither do opens of what is no regular file.
 */
#ifndef MOUNTWATCH_KERNEL_GUARD_ACCESS_H
#define MOUNTWATCH_KERNEL_GUARD_ACCESS_H

#include "daemon/core/access.h"
#include "daemon/kernel/guard_place.h"

#define GUARD_ACCESSES 2 /* a rename from one watch to another is one for each of them */

typedef struct GuardAccess {
        char watch[65];
        Access access; /* owned */
} GuardAccess;

void guard_access_done(GuardAccess *a);

/*
 * How many accesses there are; 0: none, the usual answer, and a quick one. The walker has entered the caller. A negative errno:
 * it cannot be told.
 */
int guard_access_find(Placer *p, const WatchSites *sites, GuardCall *call,
                      GuardAccess ret[static GUARD_ACCESSES]);

#endif
