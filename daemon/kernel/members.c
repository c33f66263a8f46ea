/* SPDX-License-Identifier: MIT */
/*
 * Owns the rules and one entry for each process of a session. The mutex lends its holder the priority of who waits for it: the
 * connector's thread has a real-time one.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "common/hash.h"
#include "daemon/kernel/members.h"

#define GONE 256        /* members that have exited and are still kept */
#define OUTSIDERS 16384 /* by pid modulo this number; a power of two */

typedef struct Tribe {
        SessionRule rule;
        UT_hash_handle hh;
} Tribe;

typedef struct Member {
        pid_t pid;
        bool gone;
        nsec_t since; /* in this tribe; CLOCK_MONOTONIC */
        Tribe *tribe; /* borrowed */
        UT_hash_handle hh;
} Member;

struct Members {
        pthread_mutex_t mutex;
        Tribe *tribes;    /* k: rule.id */
        Member *members;  /* k: pid */
        size_t n_living;  /* of these */
        pid_t gone[GONE]; /* a ring */
        size_t n_gone;    /* as many have exited; the next place is that modulo GONE */
        pid_t outsiders[OUTSIDERS];
};

int members_new(Members **ret) {
        Members *m = calloc(1, sizeof(*m));
        pthread_mutexattr_t attr;

        if (!m)
                return -ENOMEM;
        (void) pthread_mutexattr_init(&attr);
        (void) pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
        (void) pthread_mutex_init(&m->mutex, &attr);
        (void) pthread_mutexattr_destroy(&attr);
        *ret = m;
        return 0;
}

static Tribe *tribe_find(Members *m, const char *id) {
        Tribe *t;

        HASH_FIND_STR(m->tribes, id, t);
        return t;
}

static Member *member_find(Members *m, pid_t pid) {
        Member *e;

        HASH_FIND_INT(m->members, &pid, e);
        return e;
}

static void member_set_gone(Members *m, Member *e, bool gone) {
        if (e->gone != gone)
                m->n_living += gone ? (size_t) -1 : 1;
        e->gone = gone;
}

static void member_remove(Members *m, Member *e) {
        member_set_gone(m, e, true);
        HASH_DEL(m->members, e);
        free(e);
}

static pid_t *outsider_slot(Members *m, pid_t pid) {
        return &m->outsiders[(unsigned) pid & (OUTSIDERS - 1)];
}

static void outsider_forget(Members *m, pid_t pid) {
        pid_t *slot = outsider_slot(m, pid);

        if (*slot == pid)
                *slot = 0;
}

static int member_put(Members *m, pid_t pid, Tribe *t, nsec_t since) {
        Member *e = member_find(m, pid);

        outsider_forget(m, pid);
        if (!e) {
                e = calloc(1, sizeof(*e));
                if (!e)
                        return -ENOMEM;
                e->pid = pid;
                e->gone = true;
                HASH_ADD_INT(m->members, pid, e);
                if (!e->hh.tbl) {
                        free(e);
                        return -ENOMEM;
                }
        }
        member_set_gone(m, e, false);
        e->tribe = t;
        e->since = since;
        return 0;
}

Members *members_free(Members *m) {
        Member *e, *next;
        Tribe *t, *next_tribe;

        if (!m)
                return NULL;
        HASH_ITER (hh, m->members, e, next)
                member_remove(m, e);
        HASH_ITER (hh, m->tribes, t, next_tribe) {
                HASH_DEL(m->tribes, t);
                free(t);
        }
        (void) pthread_mutex_destroy(&m->mutex);
        free(m);
        return NULL;
}

/* ---- from the event loop ---- */

static int set_rule(Members *m, const SessionRule *rule) {
        Tribe *t = tribe_find(m, rule->id);

        if (!t) {
                t = calloc(1, sizeof(*t));
                if (!t)
                        return -ENOMEM;
                t->rule = *rule;
                HASH_ADD_STR(m->tribes, rule.id, t);
                if (!t->hh.tbl) {
                        free(t);
                        return -ENOMEM;
                }
        }
        t->rule = *rule;
        return 0;
}

int members_set_rule(Members *m, const SessionRule *rule) {
        int r;

        (void) pthread_mutex_lock(&m->mutex);
        r = set_rule(m, rule);
        (void) pthread_mutex_unlock(&m->mutex);
        return r;
}

static void drop_session(Members *m, Tribe *t, Tribe *heir) {
        Member *e, *next;

        HASH_ITER (hh, m->members, e, next) {
                if (e->tribe != t)
                        continue;
                if (heir)
                        e->tribe = heir;
                else
                        member_remove(m, e);
        }
        HASH_DEL(m->tribes, t);
        free(t);
}

void members_drop_session(Members *m, const char *id, const char *heir) {
        Tribe *t;

        (void) pthread_mutex_lock(&m->mutex);
        t = tribe_find(m, id);
        if (t)
                drop_session(m, t, heir ? tribe_find(m, heir) : NULL);
        (void) pthread_mutex_unlock(&m->mutex);
}

int members_add(Members *m, pid_t pid, const char *id) {
        struct timespec now = {0};
        Tribe *t;
        int r;

        (void) pthread_mutex_lock(&m->mutex);
        (void) clock_gettime(CLOCK_MONOTONIC, &now);
        t = tribe_find(m, id);
        r = t ? member_put(m, pid, t, (nsec_t) now.tv_sec * NSEC_PER_SEC + (nsec_t) now.tv_nsec)
              : -ENOENT;
        (void) pthread_mutex_unlock(&m->mutex);
        return r;
}

/* ---- from the connector ---- */

/* Whoever has been put somewhere since he was born stays there. */
static int take_fork(Members *m, pid_t parent, pid_t child, nsec_t at) {
        const Member *p = member_find(m, parent);
        Member *c = member_find(m, child);

        if (c && c->since > at)
                return 0;
        if (p)
                return member_put(m, child, p->tribe, at);
        if (c) /* who had the number before */
                member_remove(m, c);
        /* All that came before has been told, so the parent is in no session, and so is the child. */
        if (m->n_living > 0)
                *outsider_slot(m, child) = child;
        return 0;
}

int members_fork(Members *m, pid_t parent, pid_t child, nsec_t at) {
        int r;

        (void) pthread_mutex_lock(&m->mutex);
        outsider_forget(m, child);
        r = take_fork(m, parent, child, at);
        (void) pthread_mutex_unlock(&m->mutex);
        return r;
}

/* The oldest of the ring has to go, unless the number belongs to a process: the exit was none, or was sent so late that
 * the number had been given away (linux/kernel/exit.c tells the parent before the connector). */
static void forget_gone(Members *m, pid_t pid) {
        Member *e = pid > 0 ? member_find(m, pid) : NULL;

        if (!e || !e->gone)
                return;
        if (syscall(SYS_tgkill, pid, pid, 0) < 0 && errno == ESRCH)
                member_remove(m, e);
        else
                member_set_gone(m, e, false);
}

void members_exit(Members *m, pid_t pid) {
        Member *e;
        pid_t *place;

        (void) pthread_mutex_lock(&m->mutex);
        outsider_forget(m, pid);
        e = member_find(m, pid);
        if (e && !e->gone) {
                place = &m->gone[m->n_gone++ % GONE];
                forget_gone(m, *place);
                *place = pid;
                member_set_gone(m, e, true);
        }
        (void) pthread_mutex_unlock(&m->mutex);
}

void members_exec(Members *m, pid_t pid) {
        Member *e;

        (void) pthread_mutex_lock(&m->mutex);
        e = member_find(m, pid);
        if (e)
                member_set_gone(m, e, false);
        (void) pthread_mutex_unlock(&m->mutex);
}

void members_lost(Members *m) {
        (void) pthread_mutex_lock(&m->mutex);
        memset(m->outsiders, 0, sizeof(m->outsiders));
        (void) pthread_mutex_unlock(&m->mutex);
}

/* ---- from a gate thread ---- */

static bool find(Members *m, pid_t pid, SessionRule *ret) {
        const Member *e = member_find(m, pid);

        if (e && ret)
                *ret = e->tribe->rule;
        return e != NULL;
}

bool members_find(Members *m, pid_t pid, SessionRule *ret) {
        bool found;

        (void) pthread_mutex_lock(&m->mutex);
        found = find(m, pid, ret);
        (void) pthread_mutex_unlock(&m->mutex);
        return found;
}

Membership members_look(Members *m, pid_t pid, SessionRule *ret) {
        Membership answer = MEMBERSHIP_UNKNOWN;

        (void) pthread_mutex_lock(&m->mutex);
        if (find(m, pid, ret))
                answer = MEMBERSHIP_MEMBER;
        else if (*outsider_slot(m, pid) == pid)
                answer = MEMBERSHIP_OUTSIDER;
        (void) pthread_mutex_unlock(&m->mutex);
        return answer;
}

bool members_settle(Members *m, pid_t pid, SessionRule *ret) {
        bool found;

        (void) pthread_mutex_lock(&m->mutex);
        found = find(m, pid, ret);
        if (!found)
                *outsider_slot(m, pid) = pid;
        (void) pthread_mutex_unlock(&m->mutex);
        return found;
}

bool members_is_empty(Members *m) {
        bool empty;

        (void) pthread_mutex_lock(&m->mutex);
        empty = m->n_living == 0;
        (void) pthread_mutex_unlock(&m->mutex);
        return empty;
}
