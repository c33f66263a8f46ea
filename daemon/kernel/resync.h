/* SPDX-License-Identifier: MIT */
/*
 * After the kernel dropped events: the tree is compared with the filesystem as it is, and set to it. What differs has happened
 * without being seen, by nobody knows whom.
 */
#ifndef MOUNTWATCH_KERNEL_RESYNC_H
#define MOUNTWATCH_KERNEL_RESYNC_H

#include "daemon/kernel/guesses.h"
#include "daemon/kernel/tree_walk.h"

typedef struct ResyncConfig {
        Tree *tree;
        Ground *ground;
        const char *base;         /* what the root is called in changes */
        const char *const *names; /* file scope: only these, NULL ends them; NULL: everything */
        tree_walk_enter_t enter;  /* may be NULL */
        void *enter_userdata;
        bool (*abort)(void *userdata);
        void *abort_userdata;
} ResyncConfig;

/* Adds the differences, deletions last, lower ones first. -ECANCELED when abort() says so. */
int resync(const ResyncConfig *config, Guesses *differences);

#endif
