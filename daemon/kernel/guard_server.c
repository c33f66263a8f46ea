/* SPDX-License-Identifier: MIT */
/*
 * Owns: its walker and placer, and the notification that it has received, until that is answered or parked. Hands over: what
 * it tells. Must not: log, open a file for more than O_PATH but for /proc and a directory that may have to be empty.
 */
#include "daemon/kernel/guard_private.h"

#include "daemon/kernel/batch.h"
#include "daemon/kernel/guard_access.h"
#include "daemon/kernel/guard_caller.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <utlist.h>

/* A caller stands still until it is answered: better to be early. */
#define PRIORITY (-15)
/* A call that changes what paths mean is told before it is made. This much later it has been. */
#define VIEW_NSEC NSEC_PER_SEC

typedef struct Server {
        Guard *guard;
        unsigned index; /* in guard->busy_since */
        Walker walker;
        Placer placer;
        struct seccomp_notif *notif; /* guard->notif_size */
} Server;

/* ---- attempts ---- */

static Attempt *attempt_copy(const Attempt *a) {
        Attempt *c = malloc(sizeof(*c));

        if (!c)
                return NULL;
        *c = *a;
        c->next = NULL;
        c->access.path = a->access.path ? strdup(a->access.path) : NULL;
        c->access.from = a->access.from ? strdup(a->access.from) : NULL;
        c->access.to = a->access.to ? strdup(a->access.to) : NULL;
        if (!!c->access.path != !!a->access.path || !!c->access.from != !!a->access.from ||
            !!c->access.to != !!a->access.to)
                return attempt_free(c);
        return c;
}

static Attempt *make_attempt(const Server *s, GuardAccess *access, pid_t pid, nsec_t now) {
        Attempt *a = calloc(1, sizeof(*a));

        if (!a)
                return NULL;
        a->id = guard_attempt_id(s->notif->id);
        a->pid = pid;
        a->tid = (pid_t) s->notif->pid;
        memcpy(a->watch, access->watch, sizeof(a->watch));
        a->access = access->access;
        access->access = (Access){};
        a->since = now;
        a->at = clock_usec();
        return a;
}

/* False: let, and nobody is told. */
static bool judge(Guard *g, Attempt *a) {
        bool known;

        (void) pthread_mutex_lock(&g->hooks_lock);
        known = !g->stopped && g->hooks.judge(a, g->hooks.userdata);
        (void) pthread_mutex_unlock(&g->hooks_lock);
        return known && (a->pending || a->decision.verb != VERB_LET);
}

/* ---- answers ---- */

static void leave(Server *s) {
        Guard *g = s->guard;

        (void) pthread_mutex_lock(&g->lock);
        if (g->ledger)
                guard_ledger_leave(g->ledger, s->notif->id);
        (void) pthread_mutex_unlock(&g->lock);
}

static void let(Server *s) {
        (void) guard_continue(s->guard, s->notif->id);
        leave(s);
}

/* Refuses or lets, and tells: that first, since the caller may be the last of its session, and end at once. */
static void answer(Server *s, Attempt *a) {
        bool refuse = a->decision.verb == VERB_REFUSE;

        guard_tell(s->guard, a);
        if (!refuse) {
                let(s);
                return;
        }
        (void) guard_fail(s->guard, s->notif->id, -EPERM);
        leave(s);
}

/* With the lock held. */
static bool park(Server *s, const Attempt *a) {
        Guard *g = s->guard;
        Parked *p;

        if (g->stopped || g->n_parked >= GATE_PENDING_MAX)
                return false;
        p = calloc(1, sizeof(*p));
        if (!p)
                return false;
        p->attempt = attempt_copy(a);
        if (!p->attempt) {
                free(p);
                return false;
        }
        p->notification = s->notif->id;
        p->expires = a->since + g->deadline * NSEC_PER_USEC;
        if (g->ledger && guard_fallback_of(a->decision.verb) == VERB_REFUSE) {
                guard_ledger_leave(g->ledger, p->notification);
                (void) guard_ledger_enter(g->ledger, p->notification, a->since,
                                          /* refuse_when_late= */ true);
        }
        DL_APPEND(g->parked, p);
        g->n_parked++;
        return true;
}

/* From the moment that it is parked, anybody may answer it, and s->notif is none of this thread's business any more. */
static void hand_over(Server *s, Attempt *a) {
        Guard *g = s->guard;
        bool parked;

        (void) pthread_mutex_lock(&g->lock);
        parked = park(s, a);
        (void) pthread_mutex_unlock(&g->lock);
        if (parked) {
                (void) eventfd_write(g->kick, 1);
                guard_tell(g, a);
                return;
        }
        a->pending = false;
        a->fell_back = true;
        a->decision.verb = guard_fallback_of(a->decision.verb);
        answer(s, a);
}

/* ---- one call ---- */

static void lapse(Server *s) {
        if (guard_is_valid(s->guard, s->notif->id))
                atomic_fetch_add(&s->guard->lapses, 1);
        let(s);
}

/* Each access is judged in turn, until one is not simply let: that decides. */
static void decide_all(Server *s, GuardAccess *accesses, int n, nsec_t now) {
        CallerStatus status;

        if (caller_read_status(s->walker.proc_fd, (pid_t) s->notif->pid, &status) < 0 ||
            !guard_is_valid(s->guard, s->notif->id)) {
                /* what was read may have been another thread's, of the same number: the answer reaches nobody */
                let(s);
                return;
        }
        for (int i = 0; i < n; i++) {
                Attempt *a = make_attempt(s, &accesses[i], status.pid, now);

                if (!a) {
                        lapse(s);
                        return;
                }
                if (!judge(s->guard, a)) {
                        (void) attempt_free(a);
                        continue;
                }
                if (a->pending)
                        hand_over(s, a);
                else
                        answer(s, a);
                return;
        }
        let(s);
}

/* Whether what a caller saw as its root a moment ago may be taken for what it is now. */
static bool may_trust_views(const Guard *g, nsec_t now) {
        nsec_t changed = atomic_load_explicit(&g->view_changed, memory_order_relaxed);

        return changed == 0 || now > changed + VIEW_NSEC;
}

static int find_accesses(Server *s, const WatchSites *sites, nsec_t now, GuardAccess *accesses) {
        GuardCall call;

        if (guard_call_decode(&s->guard->calls, &s->notif->data, &call) < 0)
                return 0;
        if (call.kind == CALL_KIND_VIEW) {
                atomic_store_explicit(&s->guard->view_changed, now, memory_order_relaxed);
                return 0;
        }
        if (call.kind == CALL_KIND_LISTENER) {
                if (s->guard->ledger)
                        guard_ledger_note_listener(s->guard->ledger);
                return 0;
        }
        /* a caller in a pid namespace that we cannot see into has no number */
        if (s->notif->pid == 0)
                return -EPERM;
        walker_enter(&s->walker, (pid_t) s->notif->pid, now, may_trust_views(s->guard, now));
        return guard_access_find(&s->placer, sites, &call, accesses);
}

static WatchSites *begin(Server *s, nsec_t now) {
        Guard *g = s->guard;
        WatchSites *sites;

        (void) pthread_mutex_lock(&g->lock);
        g->busy_since[s->index] = now;
        g->busy_with[s->index] = s->notif->id;
        if (g->ledger)
                (void) guard_ledger_enter(g->ledger, s->notif->id, now,
                                          /* refuse_when_late= */ false);
        sites = watch_sites_ref(g->sites);
        (void) pthread_mutex_unlock(&g->lock);
        return sites;
}

static void serve(Server *s) {
        nsec_t now = clock_nsec();
        _cleanup_(watch_sites_unrefp) WatchSites *sites = begin(s, now);
        GuardAccess accesses[GUARD_ACCESSES] = {};
        int n = find_accesses(s, sites, now, accesses);

        if (n == 0)
                let(s);
        else if (n < 0)
                lapse(s);
        else
                decide_all(s, accesses, n, now);
        for (int i = 0; i < n; i++)
                guard_access_done(&accesses[i]);
}

/* ---- the thread ---- */

/* 1: there is one; 0: there was, or it was another; -ECANCELED: there will be none any more. */
static int receive(Server *s) {
        Guard *g = s->guard;
        struct pollfd fds[] = {{.fd = g->listener, .events = POLLIN},
                               {.fd = g->wake, .events = POLLIN}};

        if (poll(fds, ELEMENTSOF(fds), -1) < 0)
                return 0;
        /* POLLHUP: nobody has the filter any more (5.8) */
        if (fds[1].revents || (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)))
                return -ECANCELED;
        memset(s->notif, 0, g->notif_size);
        return ioctl(g->listener, SECCOMP_IOCTL_NOTIF_RECV, s->notif) < 0 ? 0 : 1;
}

/* Whether it was stuck in the meantime, and another one has taken its place. */
static bool is_spare(Server *s) {
        Guard *g = s->guard;
        bool spare;

        (void) pthread_mutex_lock(&g->lock);
        spare = g->n_servers > 1 && g->busy_since[s->index] &&
                clock_nsec() - g->busy_since[s->index] > GUARD_STUCK_NSEC;
        g->busy_since[s->index] = 0;
        (void) pthread_mutex_unlock(&g->lock);
        return spare;
}

static void run(Server *s) {
        for (;;) {
                int r;

                (void) pthread_mutex_lock(&s->guard->receive_lock);
                r = receive(s);
                (void) pthread_mutex_unlock(&s->guard->receive_lock);
                if (r < 0)
                        return;
                if (r > 0)
                        serve(s);
                if (r > 0 && is_spare(s))
                        return;
        }
}

/* Without a root of its own the thread cannot resolve anything: everything is let, and counted. */
static void run_blind(Server *s) {
        int r;

        while ((r = receive(s)) >= 0)
                if (r > 0)
                        lapse(s);
}

static Server *server_free(Server *s) {
        placer_done(&s->placer);
        walker_done(&s->walker);
        free(s->notif);
        free(s);
        return NULL;
}

void *guard_server_main(void *server) {
        Server *s = server;
        Guard *g = s->guard;

        (void) setpriority(PRIO_PROCESS, 0, PRIORITY);
        if (walker_init(&s->walker) == 0) {
                placer_init(&s->placer, &s->walker);
                run(s);
        } else
                run_blind(s);
        (void) pthread_mutex_lock(&g->lock);
        g->n_servers--;
        g->server_used[s->index] = false;
        g->busy_since[s->index] = 0;
        (void) pthread_mutex_unlock(&g->lock);
        (void) server_free(s);
        guard_thread_ended(g);
        return NULL;
}

int guard_start_server(Guard *g) {
        Server *s;
        int r;

        s = calloc(1, sizeof(*s));
        if (!s)
                return -ENOMEM;
        s->guard = g;
        s->walker.proc_fd = -1;
        s->notif = calloc(1, g->notif_size);
        while (s->index < GUARD_SERVERS_MAX && g->server_used[s->index])
                s->index++;
        if (!s->notif || s->index == GUARD_SERVERS_MAX) {
                (void) server_free(s);
                return -ENOMEM;
        }
        r = guard_start_thread(g, guard_server_main, s);
        if (r < 0) {
                (void) server_free(s);
                return r;
        }
        g->server_used[s->index] = true;
        g->n_servers++;
        return 0;
}
