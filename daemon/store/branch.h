/* SPDX-License-Identifier: MIT */
/* Whole trees (or single objects), moved, copied, compared, removed. Worker thread. */
#ifndef MOUNTWATCH_STORE_BRANCH_H
#define MOUNTWATCH_STORE_BRANCH_H

#include "daemon/store/copy.h"

typedef struct BranchPlace {
        int dir_fd;
        const char *name;
} BranchPlace;

/* A rename, or (another filesystem) a copy that is compared before the original is removed. Never over anything: -EEXIST. A failed
 * copy is removed; what has failed while the original is being removed is there twice. */
int branch_move(BranchPlace from, BranchPlace to, CopyCancel cancel);
int branch_copy(BranchPlace from, BranchPlace to, CopyCancel cancel);
/* 1: the same names, kinds, contents, metadata (not of access). Names that only `to` has do not count. */
int branch_equal(BranchPlace from, BranchPlace to, CopyCancel cancel);
int branch_remove(BranchPlace place);

#endif
