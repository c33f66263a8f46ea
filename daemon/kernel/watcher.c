/* SPDX-License-Identifier: MIT */
/*
 * The loop's side of a watcher. Owns: the queue of notes and the list of wishes, both shared with the thread and freed by
 * whoever lets go last. Must not: wait for the thread, touch the watched filesystem.
 */
#include "daemon/kernel/watcher_private.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>

#define JOIN_NSEC (200 * 1000 * 1000L)

static const char *const tier_table[_TIER_MAX] = {
        [TIER_NONE] = "none",
        [TIER_FILESYSTEM] = "filesystem",
        [TIER_DIRECTORIES] = "directories",
};

static const char *const state_table[_WATCHER_STATE_MAX] = {
        [WATCHER_IDLE] = "idle",
        [WATCHER_WAITING] = "waiting",
        [WATCHER_ARMED] = "armed",
        [WATCHER_FAILED] = "failed",
};

const char *tier_to_string(Tier t) {
        return tier_table[t];
}

const char *watcher_state_to_string(WatcherState s) {
        return state_table[s];
}

Watcher *watcher_unref(Watcher *w) {
        if (!w || atomic_fetch_sub(&w->n_ref, 1) > 1)
                return NULL;
        notes_done(&w->notes);
        safe_close(w->wake);
        free(w->wishes.cookies);
        free(w->path);
        (void) pthread_mutex_destroy(&w->lock);
        free(w);
        return NULL;
}

static void watcher_wake(Watcher *w) {
        uint64_t one = 1;

        if (write(w->wake, &one, sizeof(one)) < 0) {
                /* The counter is full: then it is readable as well. */
        }
}

/* Signals are the loop's business: the thread blocks all of them from its first moment. */
static int start_thread(Watcher *w) {
        sigset_t all, old;
        int r;

        (void) sigfillset(&all);
        (void) pthread_sigmask(SIG_SETMASK, &all, &old);
        r = pthread_create(&w->thread, NULL, watch_thread_main, w);
        (void) pthread_sigmask(SIG_SETMASK, &old, NULL);
        return -r;
}

int watcher_new(const WatchSpec *spec, const WatcherOptions *options, Watcher **ret) {
        Watcher *w = calloc(1, sizeof(Watcher));
        int r;

        if (!w)
                return -ENOMEM;
        w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (w->wake < 0) {
                r = -errno;
                free(w);
                return r;
        }
        r = notes_init(&w->notes);
        if (r < 0) {
                safe_close(w->wake);
                free(w);
                return r;
        }
        (void) pthread_mutex_init(&w->lock, NULL);
        if (options)
                w->options = *options;
        atomic_init(&w->n_ref, 2);
        w->path = strdup(spec->path);
        r = w->path ? start_thread(w) : -ENOMEM;
        if (r < 0) {
                watcher_unref(w);
                watcher_unref(w);
                return r;
        }
        w->spec = watch_spec_ref((WatchSpec *) spec);
        *ret = w;
        return 0;
}

Watcher *watcher_free(Watcher *w) {
        struct timespec deadline;

        if (!w)
                return NULL;
        atomic_store(&w->stop, true);
        notes_close(&w->notes);
        watcher_wake(w);
        (void) clock_gettime(CLOCK_REALTIME, &deadline);
        deadline.tv_nsec += JOIN_NSEC;
        if (deadline.tv_nsec >= (long) NSEC_PER_SEC) {
                deadline.tv_sec++;
                deadline.tv_nsec -= (long) NSEC_PER_SEC;
        }
        if (pthread_timedjoin_np(w->thread, NULL, &deadline) != 0)
                (void) pthread_detach(w->thread);
        watch_spec_unref(w->spec);
        w->spec = NULL;
        return watcher_unref(w);
}

int watcher_fd(const Watcher *w) {
        return w->notes.eventfd;
}

Note *watcher_take(Watcher *w) {
        return notes_take(&w->notes);
}

void watcher_arm(Watcher *w) {
        (void) pthread_mutex_lock(&w->lock);
        w->wishes.armed = w->wishes.arm = true;
        (void) pthread_mutex_unlock(&w->lock);
        watcher_wake(w);
}

void watcher_disarm(Watcher *w) {
        (void) pthread_mutex_lock(&w->lock);
        w->wishes.armed = false;
        w->wishes.disarm = true;
        (void) pthread_mutex_unlock(&w->lock);
        watcher_wake(w);
}

void watcher_probe(Watcher *w) {
        (void) pthread_mutex_lock(&w->lock);
        w->wishes.probe = true;
        (void) pthread_mutex_unlock(&w->lock);
        watcher_wake(w);
}

void watcher_mounts_changed(Watcher *w) {
        (void) pthread_mutex_lock(&w->lock);
        w->wishes.mounts = true;
        (void) pthread_mutex_unlock(&w->lock);
        watcher_wake(w);
}

/* Without memory for the wish there is no answer: to the loop that is a watch which does not answer in time. */
static void add_cookie(Wishes *wishes, uint64_t cookie) {
        uint64_t *bigger;
        size_t k;

        if (wishes->n_cookies == wishes->allocated) {
                k = wishes->allocated ? wishes->allocated * 2 : 8;
                bigger = reallocarray(wishes->cookies, k, sizeof(uint64_t));
                if (!bigger)
                        return;
                wishes->cookies = bigger;
                wishes->allocated = k;
        }
        wishes->cookies[wishes->n_cookies++] = cookie;
}

void watcher_sync(Watcher *w, uint64_t cookie) {
        (void) pthread_mutex_lock(&w->lock);
        add_cookie(&w->wishes, cookie);
        (void) pthread_mutex_unlock(&w->lock);
        watcher_wake(w);
}

void watcher_take_wishes(Watcher *w, Wishes *ret) {
        uint64_t count;

        (void) pthread_mutex_lock(&w->lock);
        if (read(w->wake, &count, sizeof(count)) < 0) {
                /* Woken for something else. */
        }
        *ret = w->wishes;
        w->wishes = (Wishes){.armed = ret->armed};
        (void) pthread_mutex_unlock(&w->lock);
}
