/* SPDX-License-Identifier: MIT */
#include "daemon/rulebook.h"

#include <errno.h>
#include <pthread.h>

struct Rulebook {
        pthread_mutex_t mutex;
        WatchSpec **specs; /* references */
        size_t n;
};

static void release(WatchSpec **specs, size_t n) {
        for (size_t i = 0; i < n; i++)
                (void) watch_spec_unref(specs[i]);
        free(specs);
}

int rulebook_new(Rulebook **ret) {
        Rulebook *b = calloc(1, sizeof *b);

        if (!b)
                return -ENOMEM;
        (void) pthread_mutex_init(&b->mutex, NULL);
        *ret = b;
        return 0;
}

Rulebook *rulebook_free(Rulebook *b) {
        if (!b)
                return NULL;
        release(b->specs, b->n);
        (void) pthread_mutex_destroy(&b->mutex);
        free(b);
        return NULL;
}

/* Reference counts are the loop's: gate threads only ever look, under the mutex. */
int rulebook_set(Rulebook *b, WatchSpec *const *specs, size_t n) {
        WatchSpec **fresh = calloc(n + 1, sizeof *fresh), **old;
        size_t n_old;

        if (!fresh)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                fresh[i] = watch_spec_ref(specs[i]);
        (void) pthread_mutex_lock(&b->mutex);
        old = b->specs;
        n_old = b->n;
        b->specs = fresh;
        b->n = n;
        (void) pthread_mutex_unlock(&b->mutex);
        release(old, n_old);
        return 0;
}

bool rulebook_decide(Rulebook *b, const char *watch, const Access *a, const SessionRule *rule,
                     Decision *ret) {
        bool found = false;

        (void) pthread_mutex_lock(&b->mutex);
        for (size_t i = 0; i < b->n && !found; i++)
                if (str_equal(b->specs[i]->name, watch)) {
                        *ret = decide(a, b->specs[i], rule);
                        ret->rule = NULL;
                        found = true;
                }
        (void) pthread_mutex_unlock(&b->mutex);
        return found;
}
