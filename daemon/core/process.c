/* SPDX-License-Identifier: MIT */
/*
 * Owns the processes and the references to their images; borrows sessions. Each number (Slot) has a chain of those that had
 * it, newest first; at most the first of them is alive.
 *
 * Messages of the connector come in the order in which the kernel sent them, with two catches (linux/kernel/exit.c, up to
 * 6.18 at least): the parent may reap a process, and its number be given away, before the exit message is sent; and a
 * message may be lost (the table then believes in processes that are gone until /proc says otherwise).
 */
#include <assert.h>
#include <errno.h>

#include <utlist.h>

#include "common/hash.h"
#include "daemon/core/image.h"
#include "daemon/core/process.h"

typedef struct Entry Entry;

typedef struct Slot {
        pid_t pid;
        Entry *newest;
        UT_hash_handle hh;
} Slot;

/* Of one session: the living first, then the exited that are still kept. */
typedef struct Members {
        Session *session;
        Entry *list;
        size_t n_living;
        UT_hash_handle hh;
} Members;

struct Entry {
        Process process; /* first: a Process of the table is an Entry */
        Slot *slot;
        Entry *older, *newer; /* same number */
        Entry *prev, *next;   /* exited: in order of their end */
        Members *members;
        Entry *member_prev, *member_next;
        bool unannounced; /* exited, as /proc told, before its exit message */
};

struct ProcessTable {
        Slot *slots;
        Members *members;
        Entry *exited; /* oldest first */
        size_t n_exited;
        nsec_t horizon;
        process_session_empty_t on_empty;
        void *userdata;
};

int process_table_new(process_session_empty_t on_empty, void *userdata, ProcessTable **ret) {
        ProcessTable *t = calloc(1, sizeof *t);

        if (!t)
                return -ENOMEM;
        t->on_empty = on_empty;
        t->userdata = userdata;
        *ret = t;
        return 0;
}

/* ---- members ---- */

static Members *members_find(const ProcessTable *t, const Session *session) {
        Members *m = NULL;

        if (session)
                HASH_FIND_PTR(t->members, &session, m);
        return m;
}

static Members *members_get(ProcessTable *t, Session *session) {
        Members *m = members_find(t, session);

        if (m)
                return m;
        m = calloc(1, sizeof *m);
        if (!m)
                return NULL;
        m->session = session;
        HASH_ADD_PTR(t->members, session, m);
        if (!m->hh.tbl) {
                free(m);
                return NULL;
        }
        return m;
}

static bool is_living(const Entry *e) {
        return e->process.died == 0;
}

static void members_add(Members *m, Entry *e) {
        if (is_living(e)) {
                DL_PREPEND2(m->list, e, member_prev, member_next);
                m->n_living++;
        } else
                DL_APPEND2(m->list, e, member_prev, member_next);
        e->members = m;
        e->process.session = m->session;
}

/* Returns the session that lost its last living member by this, or NULL. */
static Session *members_remove(ProcessTable *t, Entry *e) {
        Members *m = e->members;
        Session *session, *emptied;

        if (!m)
                return NULL;
        session = m->session;
        DL_DELETE2(m->list, e, member_prev, member_next);
        emptied = is_living(e) && --m->n_living == 0 ? session : NULL;
        e->members = NULL;
        e->process.session = NULL;
        if (!m->list) {
                HASH_DEL(t->members, m);
                free(m);
        }
        return emptied;
}

static void tell_empty(ProcessTable *t, Session *session) {
        if (session && t->on_empty)
                t->on_empty(session, t->userdata);
}

/* ---- entries ---- */

static Slot *slot_find(const ProcessTable *t, pid_t pid) {
        Slot *s;

        HASH_FIND_INT(t->slots, &pid, s);
        return s;
}

static Slot *slot_get(ProcessTable *t, pid_t pid) {
        Slot *s = slot_find(t, pid);

        if (s)
                return s;
        s = calloc(1, sizeof *s);
        if (!s)
                return NULL;
        s->pid = pid;
        HASH_ADD_INT(t->slots, pid, s);
        if (!s->hh.tbl) {
                free(s);
                return NULL;
        }
        return s;
}

static Entry *living_find(const ProcessTable *t, pid_t pid) {
        Slot *s = slot_find(t, pid);

        return s && is_living(s->newest) ? s->newest : NULL;
}

/* Adds a living process as the newest of its number. */
static int entry_add(ProcessTable *t, nsec_t born, Image *parent, const ProcessDetails *details,
                     Members *members, Entry **ret) {
        _cleanup_(image_unrefp) Image *image = NULL;
        Entry *e;
        int r;

        r = image_new(parent, details, &image);
        if (r < 0)
                return r;
        e = calloc(1, sizeof *e);
        if (!e)
                return -ENOMEM;
        e->slot = slot_get(t, image->pid);
        if (!e->slot) {
                free(e);
                return -ENOMEM;
        }
        e->process = (Process){.pid = image->pid, .born = born, .image = TAKE_PTR(image)};
        e->older = e->slot->newest;
        if (e->older)
                e->older->newer = e;
        e->slot->newest = e;
        if (members)
                members_add(members, e);
        *ret = e;
        return 0;
}

static void entry_forget(ProcessTable *t, Entry *e) {
        Slot *s = e->slot;

        (void) members_remove(t, e);
        if (!is_living(e)) {
                DL_DELETE(t->exited, e);
                t->n_exited--;
        }
        if (e->newer)
                e->newer->older = e->older;
        else
                s->newest = e->older;
        if (e->older)
                e->older->newer = e->newer;
        if (!s->newest) {
                assert(t->slots);
                HASH_DEL(t->slots, s);
                free(s);
        }
        (void) image_unref(e->process.image);
        for (size_t i = 0; i < PROCESS_PAST_MAX; i++)
                (void) image_unref(e->process.past[i].image);
        free(e);
}

/* Moves a living one to the exited; it stays a member. Returns the session that is empty now, or NULL. */
static Session *entry_exit(ProcessTable *t, Entry *e, nsec_t at) {
        Members *m = e->members;

        e->process.died = MAX(at, 1U);
        DL_APPEND(t->exited, e);
        t->n_exited++;
        if (!m)
                return NULL;
        DL_DELETE2(m->list, e, member_prev, member_next);
        DL_APPEND2(m->list, e, member_prev, member_next);
        return --m->n_living == 0 ? m->session : NULL;
}

static void entry_revive(ProcessTable *t, Entry *e) {
        Members *m = e->members;

        DL_DELETE(t->exited, e);
        t->n_exited--;
        e->process.died = 0;
        if (!m)
                return;
        DL_DELETE2(m->list, e, member_prev, member_next);
        members_add(m, e);
}

static void trim(ProcessTable *t) {
        while (t->n_exited > PROCESS_EXITED_MAX) {
                t->horizon = MAX(t->horizon, t->exited->process.died);
                entry_forget(t, t->exited);
        }
}

ProcessTable *process_table_free(ProcessTable *t) {
        Slot *s, *next;

        if (!t)
                return NULL;
        HASH_ITER (hh, t->slots, s, next)
                for (Entry *e = s->newest, *older; e; e = older) {
                        older = e->older;
                        entry_forget(t, e);
                }
        free(t);
        return NULL;
}

/* ---- the connector's words ---- */

/* The one that had the number at that moment, living or not. */
static Entry *entry_at(const ProcessTable *t, pid_t pid, nsec_t at) {
        Slot *s = slot_find(t, pid);
        Entry *e = s ? s->newest : NULL;

        while (e && e->process.born > at)
                e = e->older;
        return e;
}

/* `at` 0: it has been so all along. */
static int set_image(Entry *e, nsec_t at, const ProcessDetails *details) {
        Process *p = &e->process;
        Image *image;
        int r;

        r = image_new(p->image->parent, details, &image);
        if (r < 0)
                return r;
        if (at > 0) {
                (void) image_unref(p->past[PROCESS_PAST_MAX - 1].image);
                memmove(p->past + 1, p->past, sizeof p->past - sizeof *p->past);
                p->past[0].image = p->image;
                p->past[0].until = at;
        } else
                (void) image_unref(p->image);
        p->image = image;
        return 0;
}

int process_table_fork(ProcessTable *t, pid_t parent, pid_t child, nsec_t at,
                       uint64_t start_ticks) {
        Entry *known = living_find(t, child), *from = entry_at(t, parent, at), *added;
        ProcessDetails details = {.uid = (uid_t) -1};
        Session *emptied;
        int r;

        if (known && known->process.born == 0 &&
            ticks_equal(known->process.image->start_ticks, start_ticks)) {
                /* /proc was faster */
                known->process.born = at;
                if (from && from->members && !known->members)
                        members_add(from->members, known);
                return 0;
        }
        if (from)
                details = image_details(from->process.image);
        details.pid = child;
        details.ppid = parent;
        details.start_ticks = start_ticks;
        r = entry_add(t, at, from ? from->process.image : NULL, &details,
                      from ? from->members : NULL, &added);
        if (r < 0)
                return r;
        emptied = known ? entry_exit(t, known, at) : NULL;
        trim(t);
        tell_empty(t, emptied);
        return 0;
}

/* Somebody of whom the table knows nothing has done something. */
static int exec_unknown(ProcessTable *t, pid_t pid, nsec_t at, const ProcessDetails *details) {
        ProcessDetails nothing = {.pid = pid, .uid = (uid_t) -1};
        Process *learned;
        Entry *added;

        if (details)
                return process_table_learn(t, details, at, &learned);
        if (living_find(t, pid))
                return 0;
        return entry_add(t, 0, NULL, &nothing, NULL, &added);
}

int process_table_exec(ProcessTable *t, pid_t pid, nsec_t at, const ProcessDetails *details) {
        Entry *e = entry_at(t, pid, at);
        ProcessDetails next;
        bool other;

        if (!e)
                return exec_unknown(t, pid, at, details);
        next = image_details(e->process.image);
        other = details && details->start_ticks != 0 && next.start_ticks != 0 &&
                !ticks_equal(details->start_ticks, next.start_ticks);
        if (!is_living(e)) {
                if (e->newer)
                        return 0;
                if (other)
                        return exec_unknown(t, pid, at, details);
                /* another thread than the first called execve: the first one's exit was told before (de_thread() in
                 * fs/exec.c), but the process lives on under the same number */
                entry_revive(t, e);
        }
        next.program = NULL;
        if (details &&
            !other) { /* else: the number has changed hands since, these are another one's */
                next.program = details->program;
                next.uid = details->uid;
                if (details->start_ticks != 0)
                        next.start_ticks = details->start_ticks;
                if (next.ppid == 0)
                        next.ppid = details->ppid;
        }
        return set_image(e, at, &next);
}

int process_table_setuid(ProcessTable *t, pid_t pid, nsec_t at, uid_t uid) {
        Entry *e = entry_at(t, pid, at);
        ProcessDetails next;

        if (!e || !is_living(e) || e->process.image->uid == uid)
                return 0;
        next = image_details(e->process.image);
        next.uid = uid;
        return set_image(e, at, &next);
}

void process_table_exit(ProcessTable *t, pid_t pid, nsec_t at) {
        Entry *e = entry_at(t, pid, at);
        Session *emptied;

        if (!e)
                return;
        /* the newest is known from /proc only, so this may be the word that we miss of the one before */
        if (!e->newer && e->process.born == 0 && e->older && e->older->unannounced)
                e = e->older;
        e->unannounced = false;
        if (!is_living(e)) {
                e->process.died = MAX(MIN(e->process.died, at), 1U);
                return;
        }
        emptied = entry_exit(t, e, at);
        trim(t);
        tell_empty(t, emptied);
}

/* ---- /proc's words ---- */

static int complete(Entry *e, const ProcessDetails *details) {
        ProcessDetails next = image_details(e->process.image);

        if (!image_is_outdated(e->process.image, details))
                return 0;
        if (details->start_ticks != 0)
                next.start_ticks = details->start_ticks;
        if (details->program)
                next.program = details->program;
        if (next.ppid == 0)
                next.ppid = details->ppid;
        next.uid = details->uid;
        return set_image(e, 0, &next);
}

int process_table_learn(ProcessTable *t, const ProcessDetails *details, nsec_t now, Process **ret) {
        Slot *s = slot_find(t, details->pid);
        Entry *known = s ? s->newest : NULL, *parent, *added;
        uint64_t known_ticks = known ? known->process.image->start_ticks : 0;
        Session *emptied = NULL;
        int r;

        if (known &&
            (ticks_equal(known_ticks, details->start_ticks) ||
             (is_living(known) && (known_ticks == 0 || details->start_ticks == 0)))) {
                /* one whose exit came in since /proc was read is not brought back to life */
                r = is_living(known) ? complete(known, details) : 0;
                if (r < 0)
                        return r;
                *ret = &known->process;
                return 0;
        }
        parent = living_find(t, details->ppid);
        r = entry_add(t, 0, parent ? parent->process.image : NULL, details,
                      parent ? parent->members : NULL, &added);
        if (r < 0)
                return r;
        if (known && is_living(known)) {
                known->unannounced = true;
                emptied = entry_exit(t, known, now);
                trim(t);
        }
        *ret = &added->process;
        tell_empty(t, emptied);
        return 0;
}

/* ---- questions ---- */

Process *process_table_find(ProcessTable *t, pid_t pid) {
        Entry *e = living_find(t, pid);

        return e ? &e->process : NULL;
}

Process *process_table_author(ProcessTable *t, pid_t pid, bool gone, nsec_t not_before,
                              nsec_t read_at) {
        Entry *alive = NULL;

        for (Entry *e = entry_at(t, pid, read_at); e; e = e->older) {
                const Process *p = &e->process;

                if (p->died != 0 && p->died + PROCESS_SLACK_NSEC < not_before)
                        break;
                if (!gone || (p->died != 0 && p->died <= read_at))
                        return &e->process;
                if (!alive)
                        alive = e;
        }
        /* reaped, yet alive as far as we know: its exit message is still on its way */
        return alive ? &alive->process : NULL;
}

Image *process_image_at(const Process *p, nsec_t at) {
        Image *image = p->image;

        for (size_t i = 0; i < PROCESS_PAST_MAX && p->past[i].image && p->past[i].until > at; i++)
                image = p->past[i].image;
        return image;
}

nsec_t process_table_horizon(const ProcessTable *t) {
        return t->horizon;
}

/* ---- tags ---- */

int process_table_tag(ProcessTable *t, Process *p, Session *session) {
        Entry *e = (Entry *) p;
        Members *m = NULL;
        Session *emptied;

        if (p->session == session)
                return 0;
        if (session) {
                m = members_get(t, session);
                if (!m)
                        return -ENOMEM;
        }
        emptied = members_remove(t, e);
        if (m)
                members_add(m, e);
        tell_empty(t, emptied);
        return 0;
}

int process_table_untag_all(ProcessTable *t, Session *session, Session *heir) {
        Members *from = members_find(t, session), *to = NULL;
        Entry *e, *next;

        if (!from || session == heir)
                return 0;
        if (heir)
                to = members_get(t, heir);
        for (e = from->list; e; e = next) {
                next = e->member_next;
                (void) members_remove(t, e);
                if (to)
                        members_add(to, e);
        }
        return heir && !to ? -ENOMEM : 0;
}

size_t process_table_count(const ProcessTable *t, const Session *session) {
        const Members *m = members_find(t, session);

        return m ? m->n_living : 0;
}

void process_table_foreach(ProcessTable *t, const Session *session,
                           void (*f)(Process *p, void *userdata), void *userdata) {
        const Members *m = members_find(t, session);

        for (Entry *e = m ? m->list : NULL; e && is_living(e); e = e->member_next)
                f(&e->process, userdata);
}

/* ---- forgetting ---- */

void process_table_expire(ProcessTable *t, nsec_t now) {
        while (t->exited && t->exited->process.died < now &&
               now - t->exited->process.died > PROCESS_KEEP_NSEC)
                entry_forget(t, t->exited);
}

void process_table_clear_untagged(ProcessTable *t) {
        Slot *s, *next;

        HASH_ITER (hh, t->slots, s, next)
                for (Entry *e = s->newest, *older; e; e = older) {
                        older = e->older;
                        if (!e->members)
                                entry_forget(t, e);
                }
}
