/* SPDX-License-Identifier: MIT */
/* What a watcher and its thread share; watcher.c and watch_thread.c only. */
#ifndef MOUNTWATCH_KERNEL_WATCHER_PRIVATE_H
#define MOUNTWATCH_KERNEL_WATCHER_PRIVATE_H

#include "daemon/kernel/notes.h"

#include <stdatomic.h>

/* What the loop wants; guarded by the lock of the watcher. The thread takes all of it at once. */
typedef struct Wishes {
        bool armed; /* the state that is wanted */
        bool arm, disarm, probe, mounts;
        uint64_t *cookies; /* of syncs, in order */
        size_t n_cookies, allocated;
} Wishes;

struct Watcher {
        atomic_uint n_ref; /* the owner and the thread: whoever is last frees */
        WatchSpec *spec;   /* reference of the owner, who alone touches it */
        char *path;        /* of the spec, for the thread */
        WatcherOptions options;
        Notes notes;
        pthread_mutex_t lock;
        Wishes wishes;
        atomic_bool stop;
        int wake; /* eventfd: wishes wait, or stop is set */
        pthread_t thread;
};

Watcher *watcher_unref(Watcher *w);
/* The thread; takes the reference that was taken for it. */
void *watch_thread_main(void *watcher);
/* Takes what is wished; the caller frees ret->cookies. */
void watcher_take_wishes(Watcher *w, Wishes *ret);

#endif
