/* SPDX-License-Identifier: MIT */
/*
 * A session: a tagged process tree from start to stop. Counts, losses and the memory of what it created; the
 * operations themselves live in the store.
 */
#ifndef MOUNTWATCH_CORE_SESSION_H
#define MOUNTWATCH_CORE_SESSION_H

#include "common/operation.h"

#define SESSION_LOSSES_MAX \
        64 /* further ones are folded into the last of the same reason, whose watch then becomes NULL;
              a reason (there are a few words) that is not among them yet is added all the same */

typedef struct CreatedSet CreatedSet;

typedef struct Session {
        char id[17];           /* 16 hex digits of chance and a NUL */
        struct Session *outer; /* borrowed; the session this one was started in, or NULL */
        char *label;           /* NULL: none */
        uid_t uid;             /* of the process that asked for it */
        Policy policy; /* floor: what a watch does is the stricter of the two; POLICY_RECORD adds nothing */
        bool has_policy;
        char **command; /* empty for `session start` */
        char *cwd;
        pid_t root_pid;
        uint64_t root_start_ticks;
        SessionState state;
        usec_t started, stopped; /* stopped 0: not yet */
        int exit_status;         /* as a shell shows it; -1: not known */
        char *test;              /* the current mark, or NULL */
        char *cgroup;        /* absolute path of the session's cgroup folder, or NULL: table only */
        uint64_t operations; /* rows of events, by the session itself */
        uint64_t violations;
        Loss *losses;
        size_t n_losses;
        CreatedSet *created;
} Session;

/* `id_bits` is chance from the caller. */
int session_new(uint64_t id_bits, uid_t uid, usec_t now, Session **ret);
Session *session_free(Session *s);
DEFINE_CLEANUP(Session *, session_free)

static inline bool session_is_live(const Session *s) {
        return s->state == SESSION_ACTIVE || s->state == SESSION_LINGERING;
}

/* Losses of the same reason and watch are one, with their counts added (unknown and some are unknown) and their spans
 * joined. `until` before `at` is a moment. */
int session_add_loss(Session *s, const char *reason, const char *watch, usec_t at, usec_t until,
                     uint64_t count);
static inline bool session_is_complete(const Session *s) {
        return s->n_losses == 0;
}
Verdict session_verdict(const Session *s);

/* Remembers that the session made `object` under `path`; `has` says whether the object now at `path` is that one.
 * Object 0 (unknown) matches any. forget: the name is gone, or leads to something else now. -ENOSPC when CREATED_MAX are
 * remembered: later writes to this one will look like writes to something that was there before. */
int session_remember_created(Session *s, const char *path, uint64_t object);
bool session_has_created(const Session *s, const char *path, uint64_t object);
void session_forget_created(Session *s, const char *path);

#endif
