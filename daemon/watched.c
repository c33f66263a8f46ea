/* SPDX-License-Identifier: MIT */
#include "daemon/watched.h"
#include "daemon/barrier.h"
#include "daemon/intake.h"

#include <errno.h>
#include <sys/epoll.h>
#include <utlist.h>

/* Below the API's sources: a flood of events must not keep a caller waiting. */
#define PRIORITY_BACKLOG (SD_EVENT_PRIORITY_NORMAL + 10)

static int watched_on_notes(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        intake_take(userdata);
        return 0;
}

static int watched_on_backlog(sd_event_source *source, void *userdata) {
        intake_work(userdata);
        return 0;
}

int watched_new(Manager *m, WatchSpec *spec, Watched **ret) {
        Watched *w = calloc(1, sizeof *w);
        int r;

        if (!w)
                return -ENOMEM;
        w->manager = m;
        w->spec = watch_spec_ref(spec);
        r = watcher_new(spec, NULL, &w->watcher);
        if (r < 0)
                goto fail;
        r = sd_event_add_io(m->event, &w->source, watcher_fd(w->watcher), EPOLLIN, watched_on_notes,
                            w);
        if (r < 0)
                goto fail;
        r = sd_event_add_defer(m->event, &w->backlog_source, watched_on_backlog, w);
        if (r < 0)
                goto fail;
        (void) sd_event_source_set_enabled(w->backlog_source, SD_EVENT_OFF);
        r = sd_event_source_set_priority(w->backlog_source, PRIORITY_BACKLOG);
        if (r < 0)
                goto fail;
        watcher_probe(w->watcher);
        *ret = w;
        return 0;
fail:
        (void) watched_free(w);
        return r;
}

Watched *watched_free(Watched *w) {
        if (!w)
                return NULL;
        barrier_drop_watch(w->manager, w);
        sd_event_source_disable_unref(w->source);
        sd_event_source_disable_unref(w->backlog_source);
        while (w->backlog) {
                Note *n = w->backlog;

                w->backlog = n->next;
                (void) note_free(n);
        }
        (void) watcher_free(w->watcher);
        (void) watch_spec_unref(w->spec);
        free(w);
        return NULL;
}

Watched *watched_find(Manager *m, const char *name) {
        Watched *w;

        DL_FOREACH (m->watches, w)
                if (str_equal(w->spec->name, name))
                        return w;
        return NULL;
}

void watched_arm(Watched *w, bool arm) {
        if (w->armed == arm)
                return;
        w->armed = arm;
        if (arm)
                watcher_arm(w->watcher);
        else
                watcher_disarm(w->watcher);
}
