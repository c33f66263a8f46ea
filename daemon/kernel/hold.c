/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <utlist.h>

#include "daemon/kernel/hold_private.h"

#ifndef FAN_REPORT_TID
#define FAN_REPORT_TID 0x00000100
#endif

#define JOIN_NSEC (200 * 1000 * 1000L) /* a thread that hangs is left behind */

void hold_wake(int eventfd) {
        (void) eventfd_write(eventfd, 1);
}

void hold_set_state(Hold *h, int state, const char *reason) {
        (void) pthread_mutex_lock(&h->lock);
        if (h->state >= 0) { /* the first reason is the one */
                h->state = state;
                (void) snprintf(h->reason, sizeof(h->reason), "%s", reason);
        }
        (void) pthread_mutex_unlock(&h->lock);
        hold_wake(h->state_event);
        if (state < 0)
                hold_wake(h->answer_wake);
}

/* The last of owner and threads. Who waits in the group is let by the kernel. */
Hold *hold_unref(Hold *h) {
        Leftover *l, *next;

        if (!h || atomic_fetch_sub(&h->n_ref, 1) > 1)
                return NULL;
        hold_let_all(h);
        hold_close_all(h);
        safe_close(h->group);
        LL_FOREACH_SAFE (h->leftovers, l, next)
                free(l);
        safe_close(h->state_event);
        safe_close(h->answer_wake);
        safe_close(h->place_wake);
        creations_done(&h->creations);
        (void) pthread_mutex_destroy(&h->use);
        (void) pthread_mutex_destroy(&h->lock);
        watch_sites_unref(h->sites);
        pulses_unref(h->pulses);
        free(h->watch);
        free(h->path);
        free(h);
        return NULL;
}

static int open_group(void) {
        int fd = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK |
                                       FAN_UNLIMITED_QUEUE | FAN_UNLIMITED_MARKS | FAN_REPORT_TID,
                               O_RDONLY | O_LARGEFILE | O_CLOEXEC);

        return fd < 0 ? -errno : fd;
}

/* Each that waits is a descriptor of ours, and without a free one the kernel refuses the next open, whoever's it is. */
static size_t limit_of_pending(void) {
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return GATE_PENDING_MAX / 8;
        return MIN((size_t) GATE_PENDING_MAX, (size_t) (limit.rlim_cur / 4));
}

static int init(Hold *h, const HoldConfig *config) {
        h->deadline = config->deadline;
        h->pulses = config->pulses ? pulses_ref(config->pulses) : NULL;
        h->patience = config->patience;
        h->members = config->members;
        h->connector = config->connector;
        h->hooks = config->hooks;
        h->sites = watch_sites_ref(config->sites);
        h->max_pending = limit_of_pending();
        if (getrandom(&h->next_id, sizeof(h->next_id), 0) != sizeof(h->next_id))
                return -EIO;
        h->next_id >>= 16; /* what is added to it must not wrap */
        h->watch = strdup(config->watch);
        h->path = strdup(config->path);
        if (!h->watch || !h->path)
                return -ENOMEM;
        h->state_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        h->answer_wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        h->place_wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (h->state_event < 0 || h->answer_wake < 0 || h->place_wake < 0)
                return -errno;
        h->group = open_group();
        return MIN(h->group, 0);
}

static int start(Hold *h, pthread_t *ret, void *(*main)(void *), void *userdata) {
        sigset_t all, before;
        int r;

        (void) sigfillset(&all);
        (void) pthread_sigmask(SIG_SETMASK, &all, &before);
        (void) atomic_fetch_add(&h->n_ref, 1);
        r = pthread_create(ret, NULL, main, userdata);
        (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (r != 0)
                (void) atomic_fetch_sub(&h->n_ref, 1);
        return -r;
}

/* The answers before the marks. */
static int start_threads(Hold *h) {
        void *answerer = hold_answerer_new(h);
        pthread_t thread;
        int r;

        if (!answerer)
                return -ENOMEM;
        r = start(h, &h->answer_thread, hold_answer_main, answerer);
        if (r < 0) {
                hold_answerer_free(answerer);
                return r;
        }
        r = start(h, &thread, hold_place_main, h);
        if (r < 0) {
                atomic_store(&h->placed, true);
                atomic_store(&h->stop, true);
                hold_wake(h->answer_wake);
                (void) pthread_join(h->answer_thread, NULL);
                return r;
        }
        (void) pthread_detach(thread);
        return 0;
}

int hold_new(const HoldConfig *config, Hold **ret) {
        Hold *h = calloc(1, sizeof(*h));
        int r;

        if (!h)
                return -ENOMEM;
        atomic_init(&h->n_ref, 1);
        h->group = h->state_event = h->answer_wake = h->place_wake = -1;
        (void) pthread_mutex_init(&h->use, NULL);
        (void) pthread_mutex_init(&h->lock, NULL);
        creations_init(&h->creations);
        r = init(h, config);
        if (r == 0)
                r = start_threads(h);
        if (r < 0) {
                hold_unref(h);
                return r;
        }
        *ret = h;
        return 0;
}

Hold *hold_free(Hold *h) {
        struct timespec deadline;

        if (!h)
                return NULL;
        (void) pthread_mutex_lock(&h->use);
        h->members = NULL;
        h->connector = NULL;
        h->hooks = (GateHooks){0};
        (void) pthread_mutex_unlock(&h->use);
        atomic_store(&h->stop, true);
        hold_wake(h->place_wake);
        hold_wake(h->answer_wake);
        /* not left to the thread, which may hang; it adds no more */
        hold_let_all(h);

        (void) clock_gettime(CLOCK_REALTIME, &deadline);
        deadline.tv_nsec += JOIN_NSEC;
        if (deadline.tv_nsec >= (long) NSEC_PER_SEC) {
                deadline.tv_sec++;
                deadline.tv_nsec -= (long) NSEC_PER_SEC;
        }
        if (pthread_timedjoin_np(h->answer_thread, NULL, &deadline) != 0)
                (void) pthread_detach(h->answer_thread);
        return hold_unref(h);
}

int hold_fd(const Hold *h) {
        return h->state_event;
}

int hold_state(Hold *h, char reason[static 256]) {
        eventfd_t count;
        int state;

        (void) eventfd_read(h->state_event, &count);
        (void) pthread_mutex_lock(&h->lock);
        state = h->state;
        memcpy(reason, h->reason, sizeof(h->reason));
        (void) pthread_mutex_unlock(&h->lock);
        return state;
}

uint64_t hold_take_lapses(Hold *h) {
        return atomic_exchange(&h->lapses, 0);
}
