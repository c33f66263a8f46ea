/* SPDX-License-Identifier: MIT */
/*
 * The gatekeeper: the event loop's side of the gates. It lends the gate threads a judge, takes what they tell, and carries out what a
 * thread that answers held calls must not do itself: copy, ask, freeze, kill, record.
 *
 * A pending attempt goes through at most three stations, each of which ends in gatekeeper_answer() or hands it on: keeping
 * (keeping.h), then its verb (asking in held.h, freezing, killing). Deadlines are the gate's own business: when one has passed, the
 * answer comes too late and is dropped there.
 */
#ifndef MOUNTWATCH_GATEKEEPER_H
#define MOUNTWATCH_GATEKEEPER_H

#include "daemon/kernel/gate.h"
#include "daemon/kernel/guard.h"
#include "daemon/kernel/hold.h"
#include "daemon/live.h"

/* The gate that an attempt came through; outlives it as long as attempts are under way. The pointers are the loop's. */
struct Gate {
        unsigned n_ref;
        Gatekeeper *keeper;
        Guard *guard; /* owned; NULL: closed, or it is a hold */
        Hold *hold;   /* owned */
};

int gatekeeper_new(Manager *m, Gatekeeper **ret);
Gatekeeper *gatekeeper_free(Gatekeeper *k);
DEFINE_CLEANUP(Gatekeeper *, gatekeeper_free)
Members *gatekeeper_members(Gatekeeper *k);

/* The rules of the running configuration. */
int gatekeeper_set_watches(Gatekeeper *k);
/* What a session brings to decisions has changed, or it is new. */
int gatekeeper_put_session(Gatekeeper *k, Live *l);
void gatekeeper_drop_session(Gatekeeper *k, Live *l);
int gatekeeper_add_member(Gatekeeper *k, Live *l, pid_t pid);
/* Whether a watch's policy, the session's own or Preserve= needs a gate. */
bool gatekeeper_is_needed(Manager *m, const Live *l);

/* Attempts and gates, for keeping.c and held.c. The attempt is consumed. */
void gatekeeper_answer(Gate *g, Attempt *a, Verb verb);
/* While a copy was made the deadline may have come, or the process may have been killed: that is told by itself. */
bool gatekeeper_is_waiting(Gate *g, const Attempt *a);
void gatekeeper_go_on(Manager *m, Gate *g, Attempt *a); /* kept, or not to be kept: now its verb */
/* A row for something that was held or refused. */
void gatekeeper_record(Manager *m, const Attempt *a, Action action);
Gate *gate_ref(Gate *g);
Gate *gate_unref(Gate *g);
DEFINE_CLEANUP(Gate *, gate_unref)

#endif
