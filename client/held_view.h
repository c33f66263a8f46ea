/* SPDX-License-Identifier: MIT */
/* Operations that wait for a person, as the daemon tells them (type Held of io.mountwatch). */
#ifndef MOUNTWATCH_CLIENT_HELD_VIEW_H
#define MOUNTWATCH_CLIENT_HELD_VIEW_H

#include <stdio.h>
#include <sys/types.h>

#include "common/json_member.h"

typedef struct HeldView {
        int64_t id;
        char *session, *watch, *policy, *op; /* words of io.mountwatch */
        char *path;
        pid_t pid;
        usec_t since;
} HeldView;

/* -EBADMSG for another shape. */
int held_view_from_json(json_object *o, HeldView *ret);
void held_view_done(HeldView *h);

/* The array `held` of a reply, with the commands to type next. Nothing when it is empty. 0 or negative errno. */
int held_print(FILE *f, json_object *reply);
/* How many there are; -EBADMSG for another shape. */
int held_count(json_object *reply, size_t *ret);

#endif
