/* SPDX-License-Identifier: MIT */
/*
 * What `mountwatch top` knows: live sessions and how fast they change things, what they hold, and the latest operations of the
 * selected one. Pure: replies come in as JSON, time as an argument.
 *
 * A session that has ended stays for a while, so that it does not vanish under the eye. The selection is a session, not a
 * line: it stays with it when others come and go.
 */
#ifndef MOUNTWATCH_CLIENT_TOP_MODEL_H
#define MOUNTWATCH_CLIENT_TOP_MODEL_H

#include "client/held_view.h"
#include "client/process_source.h"
#include "client/session_view.h"

#define TOP_ENDED_USEC (10 * USEC_PER_SEC)
#define TOP_OPERATIONS_MAX 200

typedef struct TopModel TopModel;

/* How many operations there were, and when. */
typedef struct TopSample {
        usec_t at;
        uint64_t operations;
} TopSample;

#define TOP_SAMPLES 4

typedef struct TopSession {
        SessionView view;
        TopSample samples[TOP_SAMPLES]; /* oldest first */
        size_t n_samples;
        double rate;  /* changes per second, over the samples */
        usec_t ended; /* 0: it lives */
        size_t n_held;
} TopSession;

int top_model_new(TopModel **ret);
TopModel *top_model_free(TopModel *m);
DEFINE_CLEANUP(TopModel *, top_model_free)

/* Replies of ListSessions and ListHeld; -EBADMSG for another shape, then nothing has changed. */
int top_model_take_sessions(TopModel *m, json_object *reply, usec_t now);
int top_model_take_held(TopModel *m, json_object *reply);
/* A reply of GetOperations for the selected session. */
int top_model_take_operations(TopModel *m, json_object *reply);

/* Newest first, which is also the order on the screen. */
size_t top_model_count(const TopModel *m);
const TopSession *top_model_at(const TopModel *m, size_t i);
size_t top_model_n_live(const TopModel *m);

/* NULL: there is none. */
const TopSession *top_model_selected(const TopModel *m);
size_t top_model_selected_index(const TopModel *m);
/* Down by so many lines, or up. What was known of the one before is forgotten. */
void top_model_move(TopModel *m, long lines);

/* Those of the selected session come first, then in the order of their ids. */
size_t top_model_n_held(const TopModel *m);
const HeldView *top_model_held_at(const TopModel *m, size_t i);
const HeldView *top_model_held_find(const TopModel *m, int64_t id);

/* Of the selected session, newest first. */
size_t top_model_n_operations(const TopModel *m);
const Operation *top_model_operation_at(const TopModel *m, size_t i);
ProcessSource top_model_processes(const TopModel *m);
/* How many a reader that was too slow has lost. */
uint64_t top_model_missed(const TopModel *m);

/* Raised by every change of what is shown. */
uint64_t top_model_generation(const TopModel *m);

#endif
