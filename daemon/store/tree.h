/* SPDX-License-Identifier: MIT */
/* Whole trees (or single objects), moved, copied, compared, removed. Worker thread. */
#ifndef MOUNTWATCH_STORE_TREE_H
#define MOUNTWATCH_STORE_TREE_H

#include "daemon/store/copy.h"

typedef struct TreePlace {
        int dir_fd;
        const char *name;
} TreePlace;

/* A rename, or (another filesystem) a copy that is compared before the original is removed. Never over anything: -EEXIST. A failed
 * copy is removed; what has failed while the original is being removed is there twice. */
int tree_move(TreePlace from, TreePlace to, CopyCancel cancel);
int tree_copy(TreePlace from, TreePlace to, CopyCancel cancel);
/* 1: the same names, kinds, contents, metadata (not of access). Names that only `to` has do not count. */
int tree_equal(TreePlace from, TreePlace to, CopyCancel cancel);
int tree_remove(TreePlace place);

#endif
