/* SPDX-License-Identifier: MIT */
/*
 * Reads directories into the tree, one at a time, upper ones first, so that the thread can work on events in between: names
 * that are there already are kept, and what an event says of a name is newer than what the tree has.
 */
#ifndef MOUNTWATCH_KERNEL_TREE_WALK_H
#define MOUNTWATCH_KERNEL_TREE_WALK_H

#include "daemon/kernel/ground.h"

typedef struct TreeWalk TreeWalk;

/* Called for each directory before it is read (marks are placed here). < 0: it is not read. May be NULL. */
typedef int (*tree_walk_enter_t)(void *userdata, const Node *directory, int fd);
/* A name that is there. The node still has the size and mtime of before. */
typedef struct Found {
        Node *node;
        const GroundStat *stat;
        bool fresh;   /* was not in the tree */
        uint64_t tag; /* of the directory that led here */
        const char *
                moved_from; /* a directory that the tree had elsewhere, under this path below the root; else NULL */
} Found;

/* May be NULL. */
typedef void (*tree_walk_found_t)(void *userdata, const Found *found);

int tree_walk_new(Tree *t, Ground *g, TreeWalk **ret);
TreeWalk *tree_walk_free(TreeWalk *w);
DEFINE_CLEANUP(TreeWalk *, tree_walk_free)
void tree_walk_on(TreeWalk *w, tree_walk_enter_t enter, tree_walk_found_t found, void *userdata);

/* Has this directory, and all below it, read later. The tag is the caller's, what is found below has it as well. */
int tree_walk_add(TreeWalk *w, const Node *directory, uint64_t tag);
bool tree_walk_is_done(const TreeWalk *w);
/*
 * Reads one directory. A directory that cannot be opened under the path that the tree has is tried again later, when the
 * events that wait have been worked on: it may have been moved. Returns 0, or what the root or the memory failed with.
 */
int tree_walk_step(TreeWalk *w);
/* Reads all that waits, and what is found below, but tries nothing twice. */
int tree_walk_round(TreeWalk *w);
/* How many directories could not be read, for good. */
size_t tree_walk_failed(const TreeWalk *w);

/* Reads only these names of the root, now. NULL ends the list. */
int tree_walk_names(TreeWalk *w, const char *const *names);

#endif
