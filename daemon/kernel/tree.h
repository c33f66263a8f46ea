/* SPDX-License-Identifier: MIT */
/*
 * The shadow tree: the names below a watch as they are at the moment of the event that is being worked on, which is before
 * the present. It is kept from the events themselves, so that a path can be told after its directories were renamed or
 * removed. No system calls.
 *
 * An object with several names (hard links) has one node for each; the first of them, tree_find_object(), holds what
 * is known of the object itself (size, mtime). Not uthash: half a million nodes in two tables would cost 56 MB in handles
 * alone, and one object may have thousands of names.
 */
#ifndef MOUNTWATCH_KERNEL_TREE_H
#define MOUNTWATCH_KERNEL_TREE_H

#include "common/operation.h"

typedef struct Tree Tree;
typedef struct Node Node;

typedef enum ContentState {
        CONTENT_UNKNOWN, /* never looked at */
        CONTENT_KNOWN,   /* size and mtime are what the events up to now explain */
        CONTENT_STALE,   /* changed since by somebody whose event has been seen */
        CONTENT_BOUNDED, /* not looked at: what the events up to now explain is not younger than mtime */
} ContentState;

struct Node {
        Node *parent; /* NULL: the root, or removed */
        Node *children, *next, *prev;
        Node *name_next; /* chain in the table of names */
        Node *id_next, *id_prev;
        uint64_t id; /* of the object: fan_handle_id(), 0 unknown */
        uint64_t size;
        int64_t mtime; /* ns, of CLOCK_REALTIME */
        char *name;
        uint32_t name_hash;
        uint8_t kind;    /* ObjectKind */
        uint8_t content; /* ContentState */
        bool listed;     /* a directory that has been read */
        bool seen;       /* for whoever compares the tree with the filesystem: it is there, */
        bool fresh;      /* and was not in the tree before */
        bool transient;  /* over the limit: goes when there are many of them */
};

/* At most nodes_max nodes besides the root; directories may go on up to twice that, since all else hangs on them. */
int tree_new(size_t nodes_max, uint64_t root_id, Tree **ret);
Tree *tree_free(Tree *t);
DEFINE_CLEANUP(Tree *, tree_free)

Node *tree_root(const Tree *t);
size_t tree_directories(const Tree *t); /* with the root */
size_t tree_others(const Tree *t);
/* Something did not fit, or was not read: a name that is not here may exist all the same. */
bool tree_is_partial(const Tree *t);
/* Not even every directory is here: one that is not known may be inside of the watch. */
bool tree_lacks_directories(const Tree *t);
void tree_set_lacks_directories(Tree *t, bool lacks);

Node *tree_find(const Tree *t, const Node *parent, const char *name);
/* The first node of an object, or NULL; node_next_name() goes on to its other names. */
Node *tree_find_object(const Tree *t, uint64_t id);
Node *node_next_name(const Node *n);
/* The object was removed from one name: is there another? */
bool node_has_other_name(const Tree *t, const Node *n);

/*
 * Puts the name in. A node of the same name is kept when it is the same object (an id of 0 may be either), else it
 * is removed with all below it. -ENOBUFS: full, and the tree is partial from now on.
 */
int tree_add(Tree *t, Node *parent, const char *name, ObjectKind kind, uint64_t id, Node **ret);
/* The same for a directory that is needed now, over the limit. */
int tree_add_transient(Tree *t, Node *parent, const char *name, uint64_t id, Node **ret);
/* Drops transient directories when there are too many. Nodes that the caller knows may go. */
void tree_trim(Tree *t);
/* Moves a node with all below it. What has that name already is removed. -ELOOP: into itself. */
int tree_move(Tree *t, Node *n, Node *parent, const char *name);
/* Gives two nodes each other's place. */
int tree_exchange(Tree *t, Node *a, Node *b);
void tree_remove(Tree *t, Node *n);
void tree_set_id(Tree *t, Node *n, uint64_t id);

bool node_is_below(const Node *n, const Node *ancestor); /* or is it */
/* The node after n in an order in which parents come first; NULL at the end. */
Node *node_walk(const Node *n, const Node *top);
/* base, then the names from the root down, then `name` unless it is NULL. Caller frees; NULL when out of memory. */
char *node_path(const Node *n, const char *base, const char *name);

#endif
