/* SPDX-License-Identifier: MIT */
/*
 * After the kernel dropped events: the tree is compared with the filesystem as it is, and set to it. What differs has happened
 * without being seen, by nobody knows whom. Events that still wait may tell some of it with its author: the differences are
 * kept until they have been read, and what they tell is taken off.
 */
#ifndef MOUNTWATCH_KERNEL_RESYNC_H
#define MOUNTWATCH_KERNEL_RESYNC_H

#include "daemon/core/change.h"
#include "daemon/kernel/tree_walk.h"

typedef struct Resync Resync;

typedef struct ResyncConfig {
        Tree *tree;
        Ground *ground;
        const char *base;         /* what the root is called in changes */
        const char *const *names; /* file scope: only these, NULL ends them; NULL: everything */
        bool (*abort)(void *userdata);
        void *userdata;
} ResyncConfig;

/* Compares at once. -ECANCELED when abort() says so. */
int resync_new(const ResyncConfig *config, Resync **ret);
Resync *resync_free(Resync *r);
DEFINE_CLEANUP(Resync *, resync_free)

/* This was told by an event. */
void resync_explain(Resync *r, const Change *told);
/* The next difference that nothing explained, deletions last; false at the end. The caller owns what is inside. */
bool resync_next(Resync *r, Change *ret);

#endif
