/* SPDX-License-Identifier: MIT */
#include "daemon/barrier.h"
#include "daemon/watched.h"

#include <errno.h>
#include <utlist.h>

struct Barrier {
        Barrier *prev, *next;
        Manager *manager;
        uint64_t cookie;
        Watched **pending;
        size_t n_pending;
        sd_event_source *timer; /* the deadline; moved to "now" when the last watch has answered */
        barrier_done_t done;
        void *userdata;
};

static Barrier *barrier_free(Barrier *b) {
        if (!b)
                return NULL;
        sd_event_source_disable_unref(b->timer);
        free(b->pending);
        free(b);
        return NULL;
}

DEFINE_CLEANUP(Barrier *, barrier_free)

static int barrier_on_timer(sd_event_source *source, uint64_t usec, void *userdata) {
        Barrier *b = userdata;
        Manager *m = b->manager;

        DL_DELETE(m->barriers, b);
        b->done(m, b->pending, b->n_pending, b->userdata);
        (void) barrier_free(b);
        return 0;
}

static void barrier_check(Barrier *b) {
        if (b->n_pending == 0)
                (void) sd_event_source_set_time(b->timer, 0);
}

int barrier_start(Manager *m, usec_t deadline, barrier_done_t done, void *userdata) {
        _cleanup_(barrier_freep) Barrier *b = calloc(1, sizeof *b);
        Watched *w;
        size_t n = 0;
        int r;

        if (!b)
                return -ENOMEM;
        DL_COUNT(m->watches, w, n);
        b->pending = calloc(n + 1, sizeof *b->pending);
        if (!b->pending)
                return -ENOMEM;
        b->manager = m;
        b->cookie = ++m->next_cookie;
        b->done = done;
        b->userdata = userdata;
        r = sd_event_add_time_relative(m->event, &b->timer, CLOCK_MONOTONIC, deadline, 1000,
                                       barrier_on_timer, b);
        if (r < 0)
                return r;

        DL_FOREACH (m->watches, w) {
                b->pending[b->n_pending++] = w;
                watcher_sync(w->watcher, b->cookie);
        }
        barrier_check(b);
        DL_APPEND(m->barriers, b);
        b = NULL;
        return 0;
}

static void barrier_remove(Barrier *b, Watched *w) {
        for (size_t i = 0; i < b->n_pending; i++)
                if (b->pending[i] == w) {
                        b->pending[i] = b->pending[--b->n_pending];
                        break;
                }
        barrier_check(b);
}

void barrier_arrived(Manager *m, uint64_t cookie, Watched *w) {
        Barrier *b;

        DL_FOREACH (m->barriers, b)
                if (b->cookie == cookie)
                        barrier_remove(b, w);
}

void barrier_drop_watch(Manager *m, Watched *w) {
        Barrier *b;

        DL_FOREACH (m->barriers, b)
                barrier_remove(b, w);
}

void barrier_free_all(Manager *m) {
        Barrier *b, *next;

        DL_FOREACH_SAFE (m->barriers, b, next) {
                DL_DELETE(m->barriers, b);
                (void) barrier_free(b);
        }
}
