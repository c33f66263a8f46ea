/* SPDX-License-Identifier: MIT */
/* Held operations: calls that wait for a person (ask), or for the thaw of their session (freeze). */
#ifndef MOUNTWATCH_HELD_H
#define MOUNTWATCH_HELD_H

#include "daemon/gatekeeper.h"

#define HELD_MAX 1024

struct Held {
        Held *prev, *next;
        uint64_t id;
        Gate *gate;       /* reference */
        Attempt *attempt; /* owned */
};

typedef enum Decree {
        DECREE_ALLOW_ONCE,
        DECREE_ALLOW_SESSION,
        DECREE_DENY,
        DECREE_KILL,
        _DECREE_MAX,
} Decree;

int decree_from_string(const char *s);

/* Consumes the attempt; refuses it when too many wait. */
void held_add(Manager *m, Gate *g, Attempt *a);
Held *held_find(Manager *m, uint64_t id);
/* The answer of a person. Consumes h. */
void held_decide(Manager *m, Held *h, Decree decree);
/* The gate has answered it itself (deadline): it waits no longer. */
void held_drop(Manager *m, const Gate *g, uint64_t attempt);
/* The session was thawed: what froze it goes on. */
void held_let_session(Manager *m, const char *session);
/* The process that waited has ended. */
void held_drop_process(Manager *m, pid_t pid);
/* The gate is closed: what waited there has been let. */
void held_drop_gate(Manager *m, const Gate *g);
void held_drop_session(Manager *m, const char *session);
void held_free_all(Manager *m);

#endif
