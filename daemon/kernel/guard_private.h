/* SPDX-License-Identifier: MIT */
/*
 * Inside the guard. Two kinds of threads:
 *
 *   server    receives a notification, resolves it, asks the judge, answers or parks it. It touches the caller's filesystems
 *             and may hang there. One is enough, unless what it hangs on is served by the session itself (a FUSE server under
 *             test, say), whose own calls are guarded too: so there is another as soon as one is stuck.
 *   steward   looks after what is parked (deadline, callers that were killed or are wanted by a signal) and after the servers.
 *
 * Whoever takes a parked call off the list answers it, which is how each is answered once.
 */
#ifndef MOUNTWATCH_KERNEL_GUARD_PRIVATE_H
#define MOUNTWATCH_KERNEL_GUARD_PRIVATE_H

#include "common/guard_ledger.h"
#include "daemon/kernel/guard.h"
#include "daemon/kernel/guard_call.h"

#include <pthread.h>
#include <stdatomic.h>

#define GUARD_SERVERS_MAX 8
#define GUARD_STUCK_NSEC (100 * 1000 * 1000ULL)

typedef struct Parked {
        struct Parked *prev, *next;
        uint64_t notification;
        nsec_t expires;
        Attempt *attempt; /* a copy: the one that was told belongs to whoever was told */
} Parked;

struct Guard {
        atomic_uint n_ref; /* the owner's and one for each thread */
        int listener;
        int wake;    /* eventfd; readable for ever once the guard is stopped */
        int kick;    /* eventfd for the steward */
        int proc_fd; /* /proc */
        size_t notif_size, resp_size;
        usec_t deadline;
        CallTable calls; /* constant */

        pthread_mutex_t hooks_lock; /* held while a hook runs: after guard_free() none does */
        GateHooks hooks;
        bool stopped; /* changed with both locks held */

        pthread_mutex_t lock; /* of what follows, and of writing to the ledger */
        pthread_cond_t ended; /* a thread has */
        unsigned n_threads, n_servers;
        nsec_t busy_since[GUARD_SERVERS_MAX];  /* 0: not */
        uint64_t busy_with[GUARD_SERVERS_MAX]; /* a notification */
        bool server_used[GUARD_SERVERS_MAX];
        WatchSites *sites;
        GuardLedger *ledger;
        Parked *parked;
        unsigned n_parked;

        pthread_mutex_t receive_lock; /* one server at a time waits for the next notification */
        atomic_uint_fast64_t lapses;
        atomic_uint_fast64_t
                view_changed; /* when a caller last set out to change its root or mount namespace; 0: never */
};

Guard *guard_unref(Guard *g);
/* In a new thread, which gets a reference. */
int guard_start_thread(Guard *g, void *(*main)(void *), void *argument);
void guard_thread_ended(Guard *g);

void *guard_server_main(void *server);
int guard_start_server(Guard *g); /* with the lock held */
void *guard_steward_main(void *guard);

/* The answer. -ENOENT: nobody waits for it any more. */
int guard_continue(Guard *g, uint64_t notification);
int guard_fail(Guard *g, uint64_t notification, int error);
bool guard_is_valid(const Guard *g, uint64_t notification);

/* Takes it off the list; NULL when it has been answered. With the lock held. The caller frees. */
Parked *guard_unpark(Guard *g, uint64_t attempt);
Parked *parked_free(Parked *p);
/* What is done when nobody has decided: a person who does not answer has not allowed it, and what was to be killed must not go
 * on; all else would stand still for our sake. */
static inline Verb guard_fallback_of(Verb verb) {
        return verb == VERB_ASK || verb == VERB_KILL || verb == VERB_REFUSE ? VERB_REFUSE
                                                                            : VERB_LET;
}
/* Tells unless the guard is stopped. Takes the attempt. */
void guard_tell(Guard *g, Attempt *a);
/* Of a notification that has such a number: positive, so that it can be told in JSON and stored. */
static inline uint64_t guard_attempt_id(uint64_t notification) {
        return notification & INT64_MAX;
}

#endif
