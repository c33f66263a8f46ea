/* SPDX-License-Identifier: MIT */
/* The daemon's stream of alerts on an event loop, for as long as it takes: when the daemon goes, the feed waits for the next one. */
#ifndef MOUNTWATCH_CLIENT_FEED_H
#define MOUNTWATCH_CLIENT_FEED_H

#include <systemd/sd-event.h>

#include "common/json_member.h"

typedef struct Feed Feed;

typedef struct FeedHandler {
        void (*taken)(void *userdata, json_object *parameters); /* a reply of FollowAlerts */
        /* The daemon is gone. `text` says why, with the next step; NULL when that was said since it was there last. */
        void (*lost)(void *userdata, const char *text);
        void (*found)(void *userdata); /* it answers; comes before the first reply */
} FeedHandler;

/* Connects at once, or says why not. `socket_path` and `handler` must live as long as the feed. */
int feed_new(sd_event *event, const char *socket_path, const FeedHandler *handler, void *userdata,
             Feed **ret);
Feed *feed_free(Feed *f);
DEFINE_CLEANUP(Feed *, feed_free)

#endif
