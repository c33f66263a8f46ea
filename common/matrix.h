/* SPDX-License-Identifier: MIT */
/*
 * The honest matrix: what of the things that a program can do to a watched path is seen, can be refused, can be undone; in a session
 * with a guard (mountwatch run) and in one without (tagged late, or by itself). Pure: facts in, a table out. docs/matrix.md explains it.
 */
#ifndef MOUNTWATCH_COMMON_MATRIX_H
#define MOUNTWATCH_COMMON_MATRIX_H

#include "common/operation.h"

typedef enum MatrixRow {
        MATRIX_OPEN,          /* open for writing, with or without O_TRUNC */
        MATRIX_CREATE,        /* open with O_CREAT */
        MATRIX_MAKE,          /* mkdir, mknod, symlink, link */
        MATRIX_DELETE,        /* unlink, rmdir */
        MATRIX_RENAME,        /* also over an existing file */
        MATRIX_TRUNCATE_PATH, /* truncate(2) */
        MATRIX_METADATA,      /* mode, owner, times, xattrs */
        MATRIX_WRITE, /* through a descriptor that was opened before the session, or outside it */
        _MATRIX_ROW_MAX,
} MatrixRow;

typedef enum MatrixKeep {
        MATRIX_KEEP_NO,
        MATRIX_KEEP_START, /* by a snapshot when the session starts, up to SnapshotMax= */
        MATRIX_KEEP_CALL,  /* right before the call goes on */
} MatrixKeep;

typedef struct MatrixFacts {
        Sight sight[_OP_MAX]; /* of the watch */
        bool guard;           /* the kernel has what a guard needs */
        bool hold;            /* opens can be held on this filesystem */
        bool kernel;   /* sessions without a guard are refused by the kernel itself, under deny */
        bool preserve; /* Preserve= */
        bool snapshot; /* SnapshotMax= is not 0 */
} MatrixFacts;

typedef struct MatrixCell {
        Sight seen;
        bool refusable;
        MatrixKeep keep;
} MatrixCell;

MatrixCell matrix_cell(const MatrixFacts *f, MatrixRow row, bool guarded);
/* "open for writing", … */
const char *matrix_row_text(MatrixRow row);
OpType matrix_row_operation(MatrixRow row);
/* Whether such an operation can be refused when it is done in the most common way, which is the first row that is of it. */
bool matrix_is_refusable(const MatrixFacts *f, OpType op, bool guarded);

#endif
