/* SPDX-License-Identifier: MIT */
/*
 * The desktop's notification service, org.freedesktop.Notifications (Desktop Notifications Specification 1.2), on an event
 * loop. Nothing here waits for it. It may not be there yet, go, and come back: what it can do is asked each time.
 */
#ifndef MOUNTWATCH_CLIENT_NOTIFIER_H
#define MOUNTWATCH_CLIENT_NOTIFIER_H

#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "client/bubble.h"

typedef struct Notifier Notifier;

typedef struct NotifierHandler {
        void (*came)(void *userdata); /* there is a service; it shows nothing of ours */
        void (*went)(void *userdata); /* and what it showed is gone */
        /* Of notifier_show(). id 0: it was not shown. */
        void (*shown)(void *userdata, Bubble *b, uint32_t id);
        void (*pressed)(void *userdata, uint32_t id, const char *key);
        void (*closed)(void *userdata, uint32_t id, unsigned reason);
} NotifierHandler;

/* `handler` must outlive it. Asks for the service, which starts it where D-Bus can. */
int notifier_new(sd_bus *bus, const NotifierHandler *handler, void *userdata, Notifier **ret);
Notifier *notifier_free(Notifier *n);
DEFINE_CLEANUP(Notifier *, notifier_free)

bool notifier_is_there(const Notifier *n);
/* Asks for it again, when it is not there and nobody asks. */
void notifier_seek(Notifier *n);

/* Shows the bubble, in place of what has its id. The bubble must live until shown() has been called, which is when this gives 0. */
int notifier_show(Notifier *n, Bubble *b);
void notifier_close(Notifier *n, uint32_t id);

#endif
