/* SPDX-License-Identifier: MIT */
#include "common/matrix.h"

static const struct {
        const char *text;
        OpType op;
        bool guard; /* the guard gets this call */
        bool hold;  /* the kernel asks before this open */
} rows[_MATRIX_ROW_MAX] = {
        [MATRIX_OPEN] = {"open for writing", OP_MODIFY, true, true},
        [MATRIX_CREATE] = {"create a file", OP_CREATE, true, true},
        [MATRIX_MAKE] = {"mkdir, mknod, symlink, link", OP_CREATE, true, false},
        [MATRIX_DELETE] = {"unlink, rmdir", OP_DELETE, true, false},
        [MATRIX_RENAME] = {"rename", OP_RENAME, true, false},
        [MATRIX_TRUNCATE_PATH] = {"truncate by path", OP_MODIFY, true, false},
        [MATRIX_METADATA] = {"chmod, chown, utime, setxattr", OP_METADATA, true, false},
        [MATRIX_WRITE] = {"write to what was open before", OP_MODIFY, false, false},
};

const char *matrix_row_text(MatrixRow row) {
        return rows[row].text;
}

OpType matrix_row_operation(MatrixRow row) {
        return rows[row].op;
}

/* Whoever is asked before a call can keep what it loses, too. */
static bool is_asked(const MatrixFacts *f, MatrixRow row, bool guarded) {
        return guarded ? f->guard && rows[row].guard : f->hold && rows[row].hold;
}

static bool is_refused(const MatrixFacts *f, MatrixRow row, bool guarded) {
        return is_asked(f, row, guarded) || (!guarded && f->kernel && rows[row].guard);
}

static MatrixKeep keep_of(const MatrixFacts *f, bool asked, bool guarded) {
        if (!f->preserve)
                return MATRIX_KEEP_NO;
        if (asked)
                return MATRIX_KEEP_CALL;
        /* a guarded session needs no snapshot, so none is taken */
        return f->snapshot && !(guarded && f->guard) ? MATRIX_KEEP_START : MATRIX_KEEP_NO;
}

MatrixCell matrix_cell(const MatrixFacts *f, MatrixRow row, bool guarded) {
        const bool asked = is_asked(f, row, guarded);

        return (MatrixCell){
                .seen = f->sight[rows[row].op],
                .refusable = is_refused(f, row, guarded),
                .keep = keep_of(f, asked, guarded),
        };
}

bool matrix_is_refusable(const MatrixFacts *f, OpType op, bool guarded) {
        MatrixRow row = 0;

        while (row < _MATRIX_ROW_MAX && rows[row].op != op)
                row++;
        return row < _MATRIX_ROW_MAX && is_refused(f, row, guarded);
}
