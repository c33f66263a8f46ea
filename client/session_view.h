/* SPDX-License-Identifier: MIT */
/* A session as the daemon tells it (type Session of io.mountwatch). */
#ifndef MOUNTWATCH_CLIENT_SESSION_VIEW_H
#define MOUNTWATCH_CLIENT_SESSION_VIEW_H

#include <json-c/json.h>

#include "common/operation.h"

typedef struct Member {
        pid_t pid;
        char *exe; /* NULL: unknown */
        char **cmdline;
} Member;

typedef struct SessionView {
        char *id;
        char *label, *user, *policy, *cwd, *test; /* NULL: none */
        uid_t uid;
        SessionState state;
        bool frozen; /* all its processes are stopped where they are */
        Verdict verdict;
        bool complete;
        Loss *losses;
        size_t n_losses;
        char **command; /* NULL or empty: none */
        pid_t root_pid;
        usec_t started, stopped; /* stopped 0: not yet */
        int exit_status;         /* -1: unknown */
        uint64_t operations, violations;
        Member *members;
        size_t n_members;
} SessionView;

/* -EBADMSG for another shape. */
int session_view_from_json(json_object *o, SessionView *ret);
void session_view_done(SessionView *s);

static inline bool session_view_is_live(const SessionView *s) {
        return s->state == SESSION_ACTIVE || s->state == SESSION_LINGERING;
}

static inline const char *session_view_state(const SessionView *s) {
        return s->frozen ? "frozen" : session_state_to_string(s->state);
}

/* Adds what the client itself knows to be missing: the session is incomplete then. */
int session_view_add_loss(SessionView *s, const char *reason, usec_t at);

#endif
