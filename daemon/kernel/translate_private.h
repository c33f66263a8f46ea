/* SPDX-License-Identifier: MIT */
/* Shared by translate.c, translate_rename.c and translate_content.c; nobody else. */
#ifndef MOUNTWATCH_KERNEL_TRANSLATE_PRIVATE_H
#define MOUNTWATCH_KERNEL_TRANSLATE_PRIVATE_H

#include "daemon/kernel/content.h"
#include "daemon/kernel/translate.h"

/* An object with more names than this is told of under the first ones. */
#define NAMES_MAX 16

/* A file was closed and differs from what events explain: told when no event that waits explains it. */
typedef struct Unexplained {
        uint64_t id;
        GroundStat stat;
        Change change;
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
        bool root_gone;
        Unexplained *unexplained;
        size_t n_unexplained, allocated;
};

/* The author and the times of a record. */
Change translate_change(const Record *rec, OpType op, ObjectKind kind);
/* Hands over, unless this process did it. c->path may be NULL (out of memory): then it is counted as lost. */
void translate_emit(Translator *t, Change *c);
/* The directory of the tree with this handle; NULL: outside of the watch. */
Node *translate_directory(Translator *t, const FanName *name, uint64_t id);
/* Puts a name in; *ret is NULL when the tree is full. */
int translate_add(Translator *t, Node *directory, const char *name, ObjectKind kind, uint64_t id,
                  Node **ret);

int translate_rename(Translator *t, Batch *b, size_t i);

/* MODIFY, ATTRIB, CLOSE_WRITE of the object of a record. `directory` is NULL outside of the watch. */
int translate_content(Translator *t, const Record *rec, Node *directory);
/* Before the object gets another name or none: what was left open about it is told. */
void translate_settle_object(Translator *t, uint64_t id);

#endif
