/* SPDX-License-Identifier: MIT */
/* Answers: each event gets exactly one, and what waits is in one list until it gets it. */
#include <errno.h>
#include <sys/fanotify.h>
#include <utlist.h>

#include "daemon/kernel/batch.h"
#include "daemon/kernel/hold_private.h"

#define LEFTOVERS_MAX 1024

/* The kernel has taken the event back when its process was killed: -ENOENT is as good as an answer. */
void hold_respond(Hold *h, int fd, bool let) {
        const struct fanotify_response answer = {
                .fd = fd,
                .response = let ? FAN_ALLOW : FAN_DENY,
        };

        while (write(h->group, &answer, sizeof(answer)) < 0 && errno == EINTR)
                ;
}

void hold_close_later(Hold *h, int fd) {
        if (h->n_closing < HOLD_CLOSING_MAX)
                h->closing[h->n_closing++] = fd;
        else
                safe_close(fd);
}

void hold_close_all(Hold *h) {
        int fds[HOLD_CLOSING_MAX];
        size_t n;

        (void) pthread_mutex_lock(&h->lock);
        n = h->n_closing;
        memcpy(fds, h->closing, n * sizeof(*fds));
        h->n_closing = 0;
        (void) pthread_mutex_unlock(&h->lock);
        for (size_t i = 0; i < n; i++)
                safe_close(fds[i]);
}

/* From any thread. */
static void respond_and_close(Hold *h, int fd, bool let) {
        hold_respond(h, fd, let);
        (void) pthread_mutex_lock(&h->lock);
        hold_close_later(h, fd);
        (void) pthread_mutex_unlock(&h->lock);
        hold_wake(h->answer_wake);
}

static void leave(Hold *h, const Made *made, const char *path) {
        size_t n = strlen(path) + 1;
        Leftover *l;

        (void) pthread_mutex_lock(&h->lock);
        l = h->n_leftovers < LEFTOVERS_MAX ? malloc(sizeof(*l) + n) : NULL;
        if (l) {
                l->made = *made;
                memcpy(l->path, path, n);
                LL_PREPEND(h->leftovers, l);
                h->n_leftovers++;
                (void) atomic_fetch_add(&h->n_made, 1);
        }
        (void) pthread_mutex_unlock(&h->lock);
        if (l)
                hold_wake(h->place_wake);
}

void hold_refuse(Hold *h, int fd, const Made *made, const char *path) {
        respond_and_close(h, fd, /* let= */ false);
        if (made->yes)
                leave(h, made, path);
}

/* What is done when nobody has decided: a person who does not answer has not allowed it, and what was to be killed must not
 * go on; all else would stand still for our sake. */
static Verb fallback_of(Verb verb) {
        return verb == VERB_ASK || verb == VERB_KILL || verb == VERB_REFUSE ? VERB_REFUSE
                                                                            : VERB_LET;
}

static void answer_by(Hold *h, int fd, Verb verb, const Made *made, const char *path) {
        if (verb == VERB_LET)
                respond_and_close(h, fd, /* let= */ true);
        else
                hold_refuse(h, fd, made, path);
}

static void fall_back(Hold *h, Attempt *a, int fd, const Made *made) {
        Verb verb = fallback_of(a->decision.verb);

        answer_by(h, fd, verb, made, a->access.path);
        a->decision.verb = verb;
        a->pending = false;
        a->fell_back = true;
        h->hooks.tell(a, h->hooks.userdata);
}

static Pending *pending_new(const Attempt *a, int fd, const Made *made) {
        Pending *p = calloc(1, sizeof(*p));

        if (!p)
                return NULL;
        p->told = *a;
        p->told.access.path = strdup(a->access.path);
        p->fd = fd;
        p->made = *made;
        if (!p->told.access.path) {
                free(p);
                return NULL;
        }
        return p;
}

static void pending_free(Pending *p) {
        free(p->told.access.path);
        free(p);
}

void hold_pend(Hold *h, Attempt *a, int fd, const Made *made) {
        Pending *p = pending_new(a, fd, made);

        (void) pthread_mutex_lock(&h->lock);
        if (p && h->n_pending < h->max_pending) {
                DL_APPEND(h->pending, p);
                h->n_pending++;
                (void) atomic_fetch_add(&h->n_made, made->yes);
        } else if (p) {
                pending_free(p);
                p = NULL;
        }
        (void) pthread_mutex_unlock(&h->lock);
        if (p)
                h->hooks.tell(a, h->hooks.userdata);
        else
                fall_back(h, a, fd, made);
}

void hold_keep_opened(Hold *h, int fd) {
        Leftover *l;
        Pending *p;

        (void) pthread_mutex_lock(&h->lock);
        DL_FOREACH (h->pending, p) {
                if (!p->made.yes || !made_is(&p->made, fd))
                        continue;
                p->made.yes = false;
                (void) atomic_fetch_sub(&h->n_made, 1);
        }
        LL_FOREACH (h->leftovers, l)
                if (made_is(&l->made, fd))
                        l->made.yes = false;
        (void) pthread_mutex_unlock(&h->lock);
}

static void unlink_pending(Hold *h, Pending *p) {
        DL_DELETE(h->pending, p);
        h->n_pending--;
        (void) atomic_fetch_sub(&h->n_made, p->made.yes);
}

/* With the lock held. */
static Pending *find(Hold *h, uint64_t attempt) {
        Pending *p;

        DL_FOREACH (h->pending, p)
                if (p->told.id == attempt)
                        return p;
        return NULL;
}

bool hold_is_waiting(Hold *h, uint64_t attempt) {
        bool waits;

        (void) pthread_mutex_lock(&h->lock);
        waits = find(h, attempt) != NULL;
        (void) pthread_mutex_unlock(&h->lock);
        return waits;
}

int hold_answer(Hold *h, uint64_t attempt, Verb verb) {
        Pending *p;

        (void) pthread_mutex_lock(&h->lock);
        p = find(h, attempt);
        if (p)
                unlink_pending(h, p);
        (void) pthread_mutex_unlock(&h->lock);
        if (!p)
                return -ENOENT;
        answer_by(h, p->fd, verb, &p->made, p->told.access.path);
        pending_free(p);
        return 0;
}

/* The oldest when it is due; else NULL and how long until then, in milliseconds, -1 when none waits. */
static Pending *take_due(Hold *h, int *ret_wait) {
        const nsec_t patience = h->deadline * NSEC_PER_USEC, now = clock_nsec();
        Pending *p;

        *ret_wait = -1;
        (void) pthread_mutex_lock(&h->lock);
        p = h->pending;
        if (p && now < p->told.since + patience) {
                *ret_wait = (int) MIN((p->told.since + patience - now) / 1000000 + 1, 60000ULL);
                p = NULL;
        }
        if (p)
                unlink_pending(h, p);
        (void) pthread_mutex_unlock(&h->lock);
        return p;
}

/* Without memory for the word of it, the lapse is counted all the same. */
static void expire(Hold *h, Pending *p) {
        Attempt *a = malloc(sizeof(*a));

        if (a) {
                *a = p->told;
                p->told.access.path = NULL;
                fall_back(h, a, p->fd, &p->made);
        } else {
                (void) atomic_fetch_add(&h->lapses, 1);
                answer_by(h, p->fd, fallback_of(p->told.decision.verb), &p->made,
                          p->told.access.path);
        }
        pending_free(p);
}

int hold_expire(Hold *h) {
        Pending *p;
        int wait;

        while ((p = take_due(h, &wait)))
                expire(h, p);
        return wait;
}

void hold_let_all(Hold *h) {
        Pending *p, *next;

        (void) pthread_mutex_lock(&h->lock);
        DL_FOREACH_SAFE (h->pending, p, next) {
                unlink_pending(h, p);
                hold_respond(h, p->fd, /* let= */ true);
                hold_close_later(h, p->fd);
                pending_free(p);
        }
        (void) pthread_mutex_unlock(&h->lock);
}
