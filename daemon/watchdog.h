/* SPDX-License-Identifier: MIT */
/*
 * The watchdog: a small process beside the daemon that ends it when it stands still while people may be waiting for it: stopped by a
 * signal or a debugger, or hung. With the daemon gone the kernel lets every held open go, the keepers of guarded runs take
 * over, and systemd starts the daemon again. (WatchdogSec= of the unit is no help: SIGABRT does not end what is stopped.)
 *
 * It shares a page with the daemon (kernel/pulse.h) and has nothing else of it: no descriptor whose copy would keep a fanotify group
 * alive, no capability, no place in its session or process group. It sleeps without a time-out while no gate stands, and
 * ends with the daemon.
 */
#ifndef MOUNTWATCH_WATCHDOG_H
#define MOUNTWATCH_WATCHDOG_H

#include "daemon/kernel/pulse.h"

#include <systemd/sd-event.h>

#define WATCHDOG_GRACE_USEC (5 * USEC_PER_SEC)
#define WATCHDOG_PATIENCE_MAX_USEC (15 * USEC_PER_SEC)

typedef struct Watchdog Watchdog;

/* From the main thread: the process ends with the thread that has made it. */
int watchdog_new(sd_event *event, Watchdog **ret);
Watchdog *watchdog_free(Watchdog *w);
DEFINE_CLEANUP(Watchdog *, watchdog_free)

/* Borrowed. */
Pulses *watchdog_pulses(Watchdog *w);
/* For how long a thread may stand still that holds calls no longer than `deadline`. */
usec_t watchdog_patience(usec_t deadline);

#endif
