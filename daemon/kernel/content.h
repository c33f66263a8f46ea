/* SPDX-License-Identifier: MIT */
/*
 * Has the content of a file changed? The kernel's MODIFY says so too often (a truncate to the same size, touch -m) and
 * for stores through a shared mapping not at all: those show only as a new size or mtime when the file is closed. What
 * is known of an object is in its first node (tree_find_object()); it is compared with the object as it is now.
 */
#ifndef MOUNTWATCH_KERNEL_CONTENT_H
#define MOUNTWATCH_KERNEL_CONTENT_H

#include "daemon/kernel/batch.h"
#include "daemon/kernel/ground.h"

typedef enum ContentChange {
        CONTENT_SAME,
        CONTENT_CHANGED,
        CONTENT_TIMES, /* only the modification time was set */
} ContentChange;

/* A MODIFY record: what it was. `object` may be NULL (nothing is known). Afterwards the object is stale, or known anew. */
ContentChange content_modified(Ground *g, Node *object, const Record *rec);
/* Times, mode or owner were set. */
void content_touched(Ground *g, Node *object, const Record *rec);
/* A CLOSE_WRITE without a MODIFY beside it: true when the object differs from what events explain. Then it is as it
 * was for content_settle(). */
bool content_closed(Ground *g, Node *object, const Record *rec, GroundStat *ret);
/* The object as it is now differs from what events explain. */
bool content_differs(Ground *g, const Node *object, GroundStat *ret);
/* The same for a look that was taken already; true as well where nothing is known. */
bool content_is_explained(const Node *object, const GroundStat *s);
/* The file came into being after the record's event may have begun. */
bool content_is_born(const GroundStat *s, const Record *rec);
/* What was found is explained from now on. */
void content_settle(Node *object, const GroundStat *s);

#endif
