/* SPDX-License-Identifier: MIT */
/*
 * The thread of a watch. Owns: the lookout, and the descriptor that waits for a missing path. Hands over: notes. It is the only
 * one that touches the watched filesystem, and may hang there for as long as that filesystem likes.
 */
#include "daemon/kernel/appear.h"
#include "daemon/kernel/batch.h"
#include "daemon/kernel/lookout.h"
#include "daemon/kernel/watcher_private.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* Events wait in kernel memory, and a short-lived author is gone soon: better to be early. */
#define PRIORITY (-15)
/* The filesystem is let go when nothing has happened for that long. */
#define HOLD_MSEC 20
/*
 * In a burst, to be woken for each file would take more of the machine than the work itself, from the very process that is watched: the
 * next read waits for a moment, in which the kernel merges what is alike.
 */
#define BURST_PAUSE_MSEC 1

typedef struct Sync {
        uint64_t cookie, target; /* answered when that many events have been seen */
} Sync;

typedef struct WatchThread {
        Watcher *watcher;
        LookoutConfig config;
        Lookout *lookout; /* NULL while not armed */
        WatcherStatus status;
        bool wanted; /* to be armed */
        bool was_mount; /* the path was a mount point: without its mount it is not the thing to watch */
        int appear_fd;        /* while waiting */
        usec_t waiting_since; /* wanted, and there is nothing to arm */
        bool more;            /* read without polling first */
        bool burst;           /* read after a pause, whatever the queue has by then */
        Sync *syncs;
        size_t n_syncs;
} WatchThread;

static bool must_abort(void *userdata) {
        WatchThread *t = userdata;
        bool disarm;

        (void) pthread_mutex_lock(&t->watcher->lock);
        disarm = t->watcher->wishes.disarm;
        (void) pthread_mutex_unlock(&t->watcher->lock);
        return disarm || atomic_load(&t->watcher->stop);
}

static void put_state(WatchThread *t) {
        Note *n = note_new(NOTE_STATE);

        if (!n)
                return;
        if (t->lookout)
                lookout_count(t->lookout, &t->status);
        n->status = t->status;
        notes_put(&t->watcher->notes, n);
        notes_publish(&t->watcher->notes);
}

static void put_loss(WatchThread *t, const char *reason, usec_t at) {
        Note *n = note_new(NOTE_LOSS);

        if (!n)
                return;
        (void) snprintf(n->loss, sizeof(n->loss), "%s", reason);
        n->at = at;
        n->until = clock_usec();
        notes_put(&t->watcher->notes, n);
}

static void drop(WatchThread *t) {
        t->lookout = lookout_free(t->lookout);
        t->appear_fd = safe_close(t->appear_fd);
        t->more = t->burst = false;
}

static void set_reason(WatchThread *t, WatcherState state, const char *reason) {
        t->status.state = state;
        if (!t->status.reason[0])
                (void) snprintf(t->status.reason, sizeof(t->status.reason), "%s", reason);
}

static bool is_missing(int r) {
        return r == -ENOENT || r == -ENOTDIR || r == -ESTALE || r == -ELOOP;
}

/* A mount point without its mount is an empty directory of another filesystem: not what was meant. */
static int check_mounted(WatchThread *t) {
        const char *path = t->watcher->path;
        _cleanup_(place_done) Place place = {};
        int r;

        if (!t->was_mount && !place_is_expected_mount("/etc/fstab", path))
                return 0;
        r = place_resolve(path, &place);
        if (r < 0)
                return r;
        return place.scope == SCOPE_SUBTREE ? -ENODEV : 0;
}

static int try_arm(WatchThread *t, bool probe) {
        int r;

        t->status = (WatcherStatus){};
        r = check_mounted(t);
        if (r < 0)
                return r;
        if (probe)
                return lookout_probe(&t->config, &t->status);
        return lookout_new(&t->config, &t->status, &t->lookout);
}

static void explain_failure(WatchThread *t, int r) {
        if (r == -ENODEV && t->status.tier == TIER_NONE && !t->status.reason[0])
                set_reason(t, WATCHER_WAITING, "nothing is mounted there yet");
        else if (is_missing(r))
                set_reason(t, WATCHER_WAITING, "the path does not exist yet");
        else if (r == -ECANCELED)
                t->status.state = WATCHER_IDLE;
        else
                set_reason(t, WATCHER_FAILED, strerror(-r));
}

static void arm(WatchThread *t) {
        int r, q;

        drop(t);
        r = try_arm(t, /* probe= */ false);
        if (is_missing(r)) {
                /* It may have come between the look and the watch for it: look again. */
                q = appear_watch(t->watcher->path, &t->appear_fd);
                if (q < 0)
                        put_loss(t, "cannot-wait", clock_usec());
                r = try_arm(t, /* probe= */ false);
        }
        if (r < 0) {
                explain_failure(t, r);
                if (t->status.state == WATCHER_WAITING && t->waiting_since == 0)
                        t->waiting_since = clock_usec();
        } else {
                /* it came, and what was done to it until now nobody has seen */
                if (t->waiting_since > 0)
                        put_loss(t, "not-watched", t->waiting_since);
                t->waiting_since = 0;
                t->appear_fd = safe_close(t->appear_fd);
                t->status.state = WATCHER_ARMED;
                t->was_mount = lookout_is_mount(t->lookout);
                t->more = true;
        }
        put_state(t);
}

static void disarm(WatchThread *t) {
        drop(t);
        t->waiting_since = 0;
        t->status.state = WATCHER_IDLE;
        t->status.directories = t->status.files = 0;
        put_state(t);
        /* The tree of a large share is tens of megabytes in small pieces. */
#ifndef __SANITIZE_ADDRESS__
        /* under ASan glibc's own allocator is unused, and is not made for being set up by several threads (2.36 aborts) */
        (void) malloc_trim(0);
#endif
}

static void probe(WatchThread *t) {
        int r;

        if (!t->lookout && t->status.state != WATCHER_WAITING) {
                r = try_arm(t, /* probe= */ true);
                if (r < 0)
                        explain_failure(t, r);
        }
        put_state(t);
}

static void answer_sync(WatchThread *t, uint64_t cookie) {
        Note *n = note_new(NOTE_SYNC);

        if (!n)
                return;
        n->count = cookie;
        notes_put(&t->watcher->notes, n);
        notes_publish(&t->watcher->notes);
}

/* Those whose events have all been worked on. */
static void answer_syncs(WatchThread *t, bool all) {
        size_t i, k = 0;

        for (i = 0; i < t->n_syncs; i++) {
                if (all || t->syncs[i].target <= lookout_seen(t->lookout)) {
                        if (t->lookout)
                                lookout_rest(t->lookout);
                        answer_sync(t, t->syncs[i].cookie);
                } else {
                        t->syncs[k++] = t->syncs[i];
                }
        }
        t->n_syncs = k;
}

static void lost(WatchThread *t, const char *reason) {
        usec_t since = lookout_quiet_since(t->lookout);

        answer_syncs(t, /* all= */ true);
        put_loss(t, reason, since);
        drop(t);
        if (t->wanted)
                arm(t);
        else
                disarm(t);
}

static void read_events(WatchThread *t) {
        const char *reason = NULL;
        int r;

        r = lookout_read(t->lookout);
        t->burst = r >= 0 && t->n_syncs == 0 && lookout_in_burst(t->lookout);
        t->more = r > 0 && !t->burst;
        /* The loop wants it to end: the wish, or the stop, is seen to next. */
        if (r == -ECANCELED)
                return;
        if (r < 0) {
                lost(t, "out-of-memory");
                return;
        }
        if (r == 0) {
                lookout_rest(t->lookout);
                if (lookout_root_gone(t->lookout))
                        reason = "root-gone";
        }
        answer_syncs(t, /* all= */ r == 0);
        if (reason)
                lost(t, reason);
}

static void mounts_changed(WatchThread *t) {
        const char *reason;
        uint64_t target;

        if (!t->lookout) {
                if (t->wanted)
                        arm(t);
                return;
        }
        reason = lookout_lost_ground(t->lookout);
        if (!reason)
                return;
        /* What happened before the end still waits in the queue. */
        target = lookout_seen(t->lookout) + lookout_backlog(t->lookout);
        while (lookout_seen(t->lookout) < target && lookout_read(t->lookout) > 0)
                ;
        lookout_rest(t->lookout);
        lost(t, reason);
}

static void add_syncs(WatchThread *t, const Wishes *wishes) {
        uint64_t target;
        Sync *bigger;
        size_t i;

        if (wishes->n_cookies == 0)
                return;
        if (!t->lookout) {
                for (i = 0; i < wishes->n_cookies; i++)
                        answer_sync(t, wishes->cookies[i]);
                return;
        }
        bigger = reallocarray(t->syncs, t->n_syncs + wishes->n_cookies, sizeof(Sync));
        if (!bigger)
                return;
        t->syncs = bigger;
        target = lookout_seen(t->lookout) + lookout_backlog(t->lookout);
        for (i = 0; i < wishes->n_cookies; i++)
                t->syncs[t->n_syncs++] = (Sync){wishes->cookies[i], target};
        t->more = true;
}

static void take_wishes(WatchThread *t) {
        Wishes wishes;

        watcher_take_wishes(t->watcher, &wishes);
        t->wanted = wishes.armed;
        if (wishes.arm && wishes.armed && !t->lookout)
                arm(t);
        else if (wishes.arm && wishes.armed)
                put_state(t);
        if (wishes.disarm && !wishes.armed) {
                answer_syncs(t, /* all= */ true);
                disarm(t);
        }
        if (wishes.mounts)
                mounts_changed(t);
        if (wishes.probe)
                probe(t);
        add_syncs(t, &wishes);
        free(wishes.cookies);
}

static int poll_timeout(const WatchThread *t) {
        if (t->more)
                return 0;
        if (t->burst)
                return BURST_PAUSE_MSEC;
        return t->lookout && lookout_holds(t->lookout) ? HOLD_MSEC : -1;
}

static void loop(WatchThread *t) {
        enum {
                WAKE,
                APPEAR,
                EVENTS
        };
        int r;

        while (!atomic_load(&t->watcher->stop)) {
                struct pollfd p[] = {
                        [WAKE] = {.fd = t->watcher->wake, .events = POLLIN},
                        [APPEAR] = {.fd = t->appear_fd, .events = POLLIN},
                        [EVENTS] = {.fd = t->lookout && !t->burst ? lookout_fd(t->lookout) : -1,
                                    .events = POLLIN},
                };

                r = poll(p, ELEMENTSOF(p), poll_timeout(t));
                if (r < 0 && errno != EINTR)
                        return;
                if (r == 0 && t->burst)
                        t->more = true;
                else if (r == 0 && !t->more && t->lookout)
                        lookout_let_go(t->lookout);
                if (p[WAKE].revents)
                        take_wishes(t);
                else if (p[APPEAR].revents && t->wanted && !t->lookout)
                        arm(t);
                if (t->lookout && (t->more || p[EVENTS].revents))
                        read_events(t);
        }
}

void *watch_thread_main(void *watcher) {
        WatchThread t = {.watcher = watcher, .appear_fd = -1};

        (void) pthread_setname_np(pthread_self(), "watch");
        (void) setpriority(PRIO_PROCESS, (id_t) syscall(SYS_gettid), PRIORITY);
        t.config = (LookoutConfig){
                .path = t.watcher->path,
                .options = &t.watcher->options,
                .notes = &t.watcher->notes,
                .abort = must_abort,
                .userdata = &t,
        };
        loop(&t);
        drop(&t);
        free(t.syncs);
        watcher_unref(t.watcher);
        return NULL;
}
