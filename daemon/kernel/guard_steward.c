/* SPDX-License-Identifier: MIT */
/* Must not touch a watched filesystem: it is what goes on while a server hangs on one. */
#include "daemon/kernel/guard_private.h"

#include "daemon/kernel/batch.h"
#include "daemon/kernel/guard_caller.h"

#include <errno.h>
#include <poll.h>
#include <utlist.h>

#define TICK_MSEC 1000  /* to see whether a server is stuck */
#define PARKED_MSEC 100 /* to see whether a parked caller is gone or called off: no event tells */
#define RENEW_NSEC (900 * 1000 * 1000ULL) /* every tick, or every ninth of the short ones */

typedef enum Fate {
        FATE_WAITS,
        FATE_EXPIRED,
        FATE_GONE,       /* killed */
        FATE_CALLED_OFF, /* it has a signal to look at that asks it to end */
} Fate;

/* A killable wait does not end for a signal with a handler, nor for one that dumps core. So the call is interrupted by
 * hand: Ctrl-C in an interpreter or a shell must work while somebody is asked. */
static Fate fate_of(const Guard *g, const Parked *p, nsec_t now) {
        CallerStatus status;

        if (!guard_is_valid(g, p->notification))
                return FATE_GONE;
        if (now >= p->expires)
                return FATE_EXPIRED;
        if (caller_read_status(g->proc_fd, p->attempt->tid, &status) == 0 &&
            caller_is_called_off(&status))
                return FATE_CALLED_OFF;
        return FATE_WAITS;
}

/* What becomes of the attempt that was told: it is told again, with the same id, not pending any more. */
static void settle(Guard *g, Parked *p, Fate fate) {
        Attempt *a = p->attempt;

        a->pending = false;
        a->fell_back = fate == FATE_EXPIRED;
        a->decision.verb = fate == FATE_EXPIRED ? guard_fallback_of(a->decision.verb) : VERB_LET;
        if (fate == FATE_EXPIRED && a->decision.verb == VERB_LET)
                (void) guard_continue(g, p->notification);
        else if (fate == FATE_EXPIRED)
                (void) guard_fail(g, p->notification, -EPERM);
        else if (fate == FATE_CALLED_OFF)
                (void) guard_fail(g, p->notification, -EINTR);
        if (g->ledger)
                guard_ledger_leave(g->ledger, p->notification);
}

/* Takes those off the list whose time has come. With the lock held. */
static Parked *take_settled(Guard *g, nsec_t now) {
        Parked *p, *next, *settled = NULL;

        DL_FOREACH_SAFE (g->parked, p, next) {
                Fate fate = fate_of(g, p, now);

                if (fate == FATE_WAITS)
                        continue;
                DL_DELETE(g->parked, p);
                g->n_parked--;
                settle(g, p, fate);
                DL_APPEND(settled, p);
        }
        return settled;
}

static void look_after_parked(Guard *g) {
        Parked *settled, *p, *next;

        (void) pthread_mutex_lock(&g->lock);
        settled = take_settled(g, clock_nsec());
        (void) pthread_mutex_unlock(&g->lock);
        DL_FOREACH_SAFE (settled, p, next) {
                DL_DELETE(settled, p);
                guard_tell(g, TAKE_PTR(p->attempt));
                (void) parked_free(p);
        }
}

/* With the lock held. */
static unsigned count_free_servers(const Guard *g, nsec_t now) {
        unsigned n = 0;

        for (unsigned i = 0; i < GUARD_SERVERS_MAX; i++) {
                nsec_t since = g->busy_since[i];

                n += g->server_used[i] && (!since || now < since + GUARD_STUCK_NSEC);
        }
        return n;
}

static void look_after_servers(Guard *g) {
        (void) pthread_mutex_lock(&g->lock);
        /* none at all: they ended because nobody has the filter any more */
        if (g->n_servers > 0 && count_free_servers(g, clock_nsec()) == 0 && !g->stopped)
                (void) guard_start_server(g);
        (void) pthread_mutex_unlock(&g->lock);
}

/* What is held is held on purpose, until its time is up, and there is somebody to receive more: the client need not step in. */
static void renew_ledger(Guard *g) {
        nsec_t now = clock_nsec();
        Parked *p;

        (void) pthread_mutex_lock(&g->lock);
        DL_FOREACH (g->parked, p)
                guard_ledger_renew(g->ledger, p->notification, now);
        for (unsigned i = 0; i < GUARD_SERVERS_MAX; i++)
                if (g->busy_since[i] && now < g->busy_since[i] + g->deadline * NSEC_PER_USEC)
                        guard_ledger_renew(g->ledger, g->busy_with[i], now);
        if (count_free_servers(g, now) > 0)
                guard_ledger_beat(g->ledger);
        (void) pthread_mutex_unlock(&g->lock);
}

static bool has_parked(Guard *g) {
        bool some;

        (void) pthread_mutex_lock(&g->lock);
        some = g->parked;
        (void) pthread_mutex_unlock(&g->lock);
        return some;
}

static void empty(int eventfd_) {
        uint64_t n;

        while (read(eventfd_, &n, sizeof(n)) > 0)
                ;
}

void *guard_steward_main(void *guard) {
        Guard *g = guard;
        struct pollfd fds[] = {{.fd = g->wake, .events = POLLIN},
                               {.fd = g->kick, .events = POLLIN}};
        nsec_t renewed = 0;

        do {
                (void) poll(fds, ELEMENTSOF(fds), has_parked(g) ? PARKED_MSEC : TICK_MSEC);
                empty(g->kick);
                look_after_parked(g);
                look_after_servers(g);
                if (g->ledger && clock_nsec() - renewed >= RENEW_NSEC) {
                        renew_ledger(g);
                        renewed = clock_nsec();
                }
        } while (!(fds[0].revents & POLLIN));
        guard_thread_ended(g);
        return NULL;
}
