/* SPDX-License-Identifier: MIT */
/*
 * Trees of names, made for the net effect (net.h): a name is found by its parent and its text in one table, so that a
 * directory with one entry costs no table of its own, and a subtree moves by moving one name.
 *
 * Nothing here recurses: renames can nest directories deeper than any path is long.
 */
#ifndef MOUNTWATCH_COMMON_NAME_TREE_H
#define MOUNTWATCH_COMMON_NAME_TREE_H

#include "common/hash_index.h"
#include "common/macro.h"

#include <stdbool.h>

/* What became of an object of the start. */
typedef enum Fate {
        FATE_UNKNOWN, /* never touched: it goes with its directory */
        FATE_LIVE,    /* stands at a name of its own now */
        FATE_LOST,    /* removed, replaced, or moved out of the watch */
        FATE_COVERED, /* lost with the directory it was in, which was moved out as a whole */
} Fate;

typedef struct Name Name;

typedef struct NameKey {
        Name *parent; /* NULL: a root */
        char *text;   /* owned */
        size_t length;
} NameKey;

struct Name {
        NameKey key;
        Name *first, *prev, *next; /* children; siblings */
        size_t path_length;        /* valid while lists are made */
        /* of a name now: */
        Name *origin; /* the name of this object at the start; NULL: it was not there */
        Name *twin;   /* the same path at the start, or NULL; valid while lists are made */
        /* of a name at the start: */
        Fate fate;
        bool gone_out;  /* lost by a move out of the watch, contents and all */
        bool succeeded; /* lost, but a new object has taken the name */
        /* of both: */
        bool is_dir;
        /* of a name now: */
        bool present; /* an object is known here; else the name only leads to others */
        bool dirty;   /* its content was changed */
        bool foreign; /* neither of the start nor made by an operation of this session */
};

typedef struct NameTree {
        HashIndex names;
} NameTree;

/* Frees every name that stands in the tree. */
void name_tree_done(NameTree *t);
Name *name_tree_find(const NameTree *t, const Name *parent, const char *text, size_t length);
/* The name must not be there yet. */
int name_tree_add(NameTree *t, Name *parent, const char *text, size_t length, Name **ret);
/* Takes a name out, with what is below; the caller owns it until it is put back. */
void name_tree_detach(NameTree *t, Name *name);
/* Puts a detached name at another place, which must be free. Consumes `name`, also on failure. */
int name_tree_attach(NameTree *t, Name *name, Name *parent, const char *text, size_t length);
/* Takes out and frees a name without children. */
void name_tree_remove(NameTree *t, Name *name);
/* For a detached one. */
Name *name_free(Name *name);
DEFINE_CLEANUP(Name *, name_free)

/* The next of the names below `top`, each before what is below it; NULL after the last. Begin with `top`. */
Name *name_next(const Name *top, const Name *name);
/* The same without what is below `name`. */
Name *name_next_beside(const Name *top, const Name *name);
/* The deepest first descendant: what is safe to remove first. */
Name *name_leaf(Name *name);
/* `name` is `above` or below it. */
bool name_is_below(const Name *name, const Name *above);

/* The next part of a path, without slashes; false at the end. */
bool path_next_part(const char **path, const char **ret_text, size_t *ret_length);

#endif
