/* SPDX-License-Identifier: MIT */
/*
 * The line between `mountwatch top` and the daemon, for a loop that must never wait: what is asked once a second, the stream of
 * the selected session, and what the person wants done. A daemon that goes away is looked for again every second.
 */
#ifndef MOUNTWATCH_CLIENT_TOP_LINK_H
#define MOUNTWATCH_CLIENT_TOP_LINK_H

#include <poll.h>

#include "client/top_model.h"

#define TOP_LINK_FDS 2

typedef struct TopLink TopLink;

/* `socket` stays the caller's. Connects when it first works. */
int top_link_new(const char *socket, TopLink **ret);
TopLink *top_link_free(TopLink *l);
DEFINE_CLEANUP(TopLink *, top_link_free)

/* What to wait for, and for how long: milliseconds. */
void top_link_poll(const TopLink *l, struct pollfd fds[static TOP_LINK_FDS]);
int top_link_timeout(const TopLink *l, nsec_t now);
/* Does all that can be done without waiting. Only -ENOMEM is an error. */
int top_link_work(TopLink *l, TopModel *m, nsec_t now, usec_t wall);

/* One wish at a time: -EBUSY, or -ENOTCONN without a daemon. Consumes `parameters`. `done` is said when it has been done, with the
 * number of processes where the reply has one. */
int top_link_call(TopLink *l, const char *method, json_object *parameters, const char *done);
/* What came of it, once; NULL: nothing yet. The caller frees. */
char *top_link_take_notice(TopLink *l);

/* Why what is shown is old; NULL: it is not. */
const char *top_link_trouble(const TopLink *l);

#endif
