/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/inotify.h>
#include <time.h>

#include "client/channel.h"
#include "client/feed.h"
#include "client/refusal.h"

#define DELAY_MIN_USEC (250 * 1000ULL)
#define DELAY_MAX_USEC (30 * USEC_PER_SEC)
/* from the name of a socket to somebody who listens on it */
#define DELAY_BORN_USEC (50 * 1000ULL)

struct Feed {
        sd_event *event;
        const char *socket_path;
        const FeedHandler *handler;
        void *userdata;
        Channel *channel;        /* NULL: there is no daemon */
        sd_event_source *retry;  /* armed while there is none */
        sd_event_source *folder; /* of the socket; NULL while there is a daemon, or no folder */
        usec_t delay;
        bool answered, said;
};

static void try_again_later(Feed *f);

Feed *feed_free(Feed *f) {
        if (!f)
                return NULL;
        (void) channel_free(f->channel);
        (void) sd_event_source_disable_unref(f->retry);
        (void) sd_event_source_disable_unref(f->folder);
        (void) sd_event_unref(f->event);
        free(f);
        return NULL;
}

static void tell_lost(Feed *f, const ChannelReply *reply) {
        _cleanup_free_ char *text = NULL;

        if (!f->said)
                text = reply->result > 0
                        ? refusal_to_text(reply->refusal, reply->parameters)
                        : connection_explain(f->socket_path,
                                             reply->result ? reply->result : -ECONNRESET);
        f->said = true;
        f->handler->lost(f->userdata, text);
}

static void on_reply(void *userdata, const ChannelReply *reply) {
        Feed *f = userdata;

        if (reply->result == 0 && !f->answered) {
                f->answered = true;
                f->said = false;
                f->delay = DELAY_MIN_USEC;
                f->handler->found(f->userdata);
        }
        if (reply->result == 0)
                f->handler->taken(f->userdata, reply->parameters);
        if (!reply->last)
                return;
        tell_lost(f, reply);
        f->channel = channel_free(f->channel);
        try_again_later(f);
}

static void connect_now(Feed *f) {
        ChannelReply failed = {.last = true};

        f->answered = false;
        failed.result = channel_new(f->event, f->socket_path, "FollowAlerts", NULL,
                                    /* more= */ true, on_reply, f, &f->channel);
        if (failed.result >= 0)
                return;
        tell_lost(f, &failed);
        try_again_later(f);
}

static int on_retry(sd_event_source *s, uint64_t usec, void *userdata) {
        Feed *f = userdata;

        f->folder = sd_event_source_disable_unref(f->folder);
        connect_now(f);
        return 0;
}

static int on_folder(sd_event_source *s, const struct inotify_event *event, void *userdata) {
        const char *slash;
        Feed *f = userdata;

        slash = strrchr(f->socket_path, '/');
        if (event->len == 0 || !str_equal(event->name, slash ? slash + 1 : f->socket_path))
                return 0;
        f->delay = DELAY_MIN_USEC;
        return sd_event_source_set_time_relative(f->retry, DELAY_BORN_USEC);
}

/* Without it the timer alone looks: the folder of the socket may not be there yet. */
static void watch_folder(Feed *f) {
        _cleanup_free_ char *folder = strdup(f->socket_path);
        char *slash = folder ? strrchr(folder, '/') : NULL;

        if (!folder)
                return;
        if (slash)
                slash[slash == folder] = '\0';
        f->folder = sd_event_source_disable_unref(f->folder);
        (void) sd_event_add_inotify(f->event, &f->folder, slash ? folder : ".",
                                    IN_CREATE | IN_MOVED_TO | IN_ONLYDIR, on_folder, f);
}

static void try_again_later(Feed *f) {
        (void) sd_event_source_set_time_relative(f->retry, f->delay);
        (void) sd_event_source_set_enabled(f->retry, SD_EVENT_ONESHOT);
        f->delay = MIN(2 * f->delay, DELAY_MAX_USEC);
        watch_folder(f);
}

int feed_new(sd_event *event, const char *socket_path, const FeedHandler *handler, void *userdata,
             Feed **ret) {
        _cleanup_(feed_freep) Feed *f = calloc(1, sizeof *f);
        int r;

        if (!f)
                return -ENOMEM;
        f->event = sd_event_ref(event);
        f->socket_path = socket_path;
        f->handler = handler;
        f->userdata = userdata;
        f->delay = DELAY_MIN_USEC;
        /* the first attempt is the timer's too, so that no handler is called before there is a feed */
        r = sd_event_add_time_relative(event, &f->retry, CLOCK_MONOTONIC, 0, 0, on_retry, f);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(f);
        return 0;
}
