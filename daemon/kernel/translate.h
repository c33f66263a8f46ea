/* SPDX-License-Identifier: MIT */
/*
 * From records to changes: what happened to which name. Keeps the tree in step with the records, which are worked on in
 * the order in which the kernel queued them.
 *
 *   record -> directory handle -> node in the tree, or outside -> Change -> emit
 *
 * Records of this process itself move the tree and are not told.
 */
#ifndef MOUNTWATCH_KERNEL_TRANSLATE_H
#define MOUNTWATCH_KERNEL_TRANSLATE_H

#include "daemon/core/change.h"
#include "daemon/kernel/batch.h"
#include "daemon/kernel/tree_walk.h"

typedef struct Translator Translator;

/* Takes what is inside the change. */
typedef void (*translate_emit_t)(void *userdata, Change *c);

typedef struct TranslatorConfig {
        const char *base; /* what the root of the tree is called in changes */
        /* File scope: only this name in the root, and its -wal, -shm and -journal. NULL: everything. */
        const char *file;
        /* Marks are on directories: a new one has to be read, a rename has only the sides that are marked. */
        bool by_directories;
        /* A mapping outlives the last close that is told of (overlayfs maps another file): looked at again at each sync. */
        bool late_stores;
        Tree *tree;
        Ground *ground;
        TreeWalk *
                walk; /* directories that have to be read are put here, with a tag for translator_author() */
        translate_emit_t emit;
        void *userdata;
} TranslatorConfig;

/* Copies the strings; the rest stays the caller's and must live longer. */
int translator_new(const TranslatorConfig *config, Translator **ret);
Translator *translator_free(Translator *t);
DEFINE_CLEANUP(Translator *, translator_free)

/* Works on record i of the batch; may read more into it. FAN_Q_OVERFLOW is the caller's business. -ENOMEM only. */
int translator_record(Translator *t, Batch *b, size_t i);
/* The queue has been read empty: what was left open before the last settling is decided; with `all`, what came since, too.
 * True when something is still open: the queue has to be read once more. */
bool translator_settle(Translator *t, bool all);
/* Who made the directory that was put into the walk with that tag, and when; false when nobody knows. */
bool translator_author(const Translator *t, uint64_t tag, Change *ret);
/* The root itself was renamed or removed: its path leads elsewhere. */
bool translator_root_gone(const Translator *t);
/* A directory outside of the watch was renamed since the last call: it may have been one above the root. */
bool translator_take_doubt(Translator *t);
/* How many records since the last call were of directories that are gone and were never known: in the watch, or not. */
size_t translator_take_unresolved(Translator *t);
/* Is the name one of this watch's, in the directory of that node? */
bool translator_covers(const Translator *t, const Node *directory, const char *name);

#endif
