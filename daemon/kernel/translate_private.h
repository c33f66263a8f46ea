/* SPDX-License-Identifier: MIT */
/* Shared by translate.c, translate_rename.c and translate_content.c; nobody else. */
#ifndef MOUNTWATCH_KERNEL_TRANSLATE_PRIVATE_H
#define MOUNTWATCH_KERNEL_TRANSLATE_PRIVATE_H

#include "daemon/kernel/content.h"
#include "daemon/kernel/translate.h"

/* An object with more names than this is told of under the first ones. */
#define NAMES_MAX 16

#define OUTSIDE_SLOTS 1024
/* New directories whose makers are remembered while they wait to be read. */
#define AUTHORS 1024
/* Records of link counts that are remembered: the one that belongs to a name is right before it, but for other processors. */
#define COUNTED 16
/* Directories that were moved in, the last ones. */
#define ARRIVED 64

/* A file was closed and differs from what events explain: told when no event that waits explains it. */
typedef struct Unexplained {
        uint64_t id;
        GroundStat stat;
        Change change;
        bool late;   /* did not differ at the close, may differ later */
        bool waited; /* the queue has been read empty since the object was looked at */
} Unexplained;

struct Translator {
        char *base, *file;
        Tree *tree;
        Ground *ground;
        TreeWalk *walk;
        translate_emit_t emit;
        void *userdata;
        pid_t self;
        bool by_directories, late_stores;
        bool root_gone;
        bool doubt; /* see translator_take_doubt() */
        uint64_t outside
                [OUTSIDE_SLOTS]; /* directories that were found to be outside, by their low bits */
        size_t unresolved; /* records of directories of which nothing can be found out any more */
        Change authors[AUTHORS];   /* by the tag; of each only what translate_change() sets */
        uint64_t tag;              /* the last that was given out */
        uint64_t counted[COUNTED]; /* objects whose link count changed, the last ones */
        size_t n_counted;
        const Batch *batch; /* what is worked on, */
        size_t at;          /* and the record of it */
        uint64_t arrived[ARRIVED];
        size_t n_arrived;
        uint64_t untraced[ARRIVED]; /* directories that are in none of them, by their low bits */
        nsec_t arrived_at;          /* CLOCK_MONOTONIC, when the last of them had been read */
        bool arrived_now;           /* in this record */
        Unexplained *unexplained;
        size_t n_unexplained, allocated;
};

/* The author and the times of a record. */
Change translate_change(const Record *rec, OpType op, ObjectKind kind);
/* Hands over, unless this process did it. c->path may be NULL (out of memory): then it is counted as lost. */
void translate_emit(Translator *t, Change *c);
/* The directory of the tree with this handle; NULL: outside of the watch. */
Node *translate_directory(Translator *t, const FanName *name, uint64_t id);
/* The same by a look at the ground, for a tree that lacks directories. */
Node *translate_locate(Translator *t, const FanHandle *h, uint64_t id);
/* A directory was moved: what was outside may be inside now. */
void translate_forget_outside(Translator *t);
/* The object of a record as it is now, by its handle or, where that cannot be opened, by this name. */
int translate_look(Translator *t, const Record *rec, const Node *directory, const char *name,
                   GroundStat *ret);
/* -ENOENT, -ESTALE: the object does not have this name now. */
int translate_look_at_name(Translator *t, const Record *rec, const Node *directory,
                           const char *name, GroundStat *ret);
/* Puts a name in; *ret is NULL when the tree is full. */
int translate_add(Translator *t, Node *directory, const char *name, ObjectKind kind, uint64_t id,
                  Node **ret);

/* Has a directory read, with all below it. `author` is NULL when what is in it is nobody's doing. */
int translate_read_directory(Translator *t, const Node *n, const Record *author);

/* A directory was moved in, and has been read. */
void translate_arrived(Translator *t, const Node *n);
/* After the record that moved it in: what waits in the queue is known of it as well. */
int translate_arrival(Translator *t, Batch *b, size_t i);
/* The record may be from before an arrival was read in which that directory is: names in it may have been missed. */
bool translate_is_vague(const Translator *t, const Record *rec, const Node *n);
/* A directory that is not in the tree: one of an arrival that was not to be read any more? */
Node *translate_trace(Translator *t, const FanHandle *h, uint64_t id);

int translate_rename(Translator *t, Batch *b, size_t i);

/* MODIFY, ATTRIB, CLOSE_WRITE of the object of a record. `directory` is NULL outside of the watch. */
int translate_content(Translator *t, const Record *rec, Node *directory);
/* Before the object gets another name or none: what was left open about it is told. */
void translate_settle_object(Translator *t, uint64_t id);

#endif
