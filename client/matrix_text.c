/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "client/matrix_text.h"
#include "common/json_member.h"
#include "common/path_text.h"

#define CELL "%-31s"

static const char *cell_text(MatrixCell c) {
        switch (c.keep) {
        case MATRIX_KEEP_CALL:
                return c.refusable ? "can be refused, can be undone" : "can be undone";
        case MATRIX_KEEP_START:
                return c.refusable ? "can be refused, undone*" : "can be undone*";
        case MATRIX_KEEP_NO:
                break;
        }
        return c.refusable ? "can be refused" : "seen only";
}

static const char *keep_word(MatrixKeep k) {
        return k == MATRIX_KEEP_CALL ? "call" : k == MATRIX_KEEP_START ? "start" : "no";
}

static int put_notes(const Terminal *t, const WatchView *w, bool snapshot) {
        _cleanup_free_ char *reason = path_to_text(w->hold_reason ? w->hold_reason : "");

        if (!reason)
                return -ENOMEM;
        if (snapshot)
                fputs("  * from a snapshot at the start of the session, where the watch is no larger than SnapshotMax=\n",
                      t->file);
        if (!w->facts.preserve)
                fputs("  Preserve=yes would make changes undoable; what a session makes new can be taken out again anyhow\n",
                      t->file);
        if (!w->facts.guard)
                fputs("  this kernel has no seccomp user notification (5.6): mountwatch run has no guard\n",
                      t->file);
        if (w->facts.kernel)
                fputs("  in sessions tagged late the kernel itself refuses (BPF-LSM)\n", t->file);
        else if (w->policy == POLICY_DENY && w->kernel_reason)
                fprintf(t->file, "  the kernel itself refuses nothing (BPF-LSM): %s\n",
                        w->kernel_reason);
        if (*reason && !w->facts.kernel)
                fprintf(t->file, "  opens cannot be held for sessions tagged late: %s\n", reason);
        else if (!w->facts.hold && !w->facts.kernel)
                fputs("  whether opens can be held is not known: the filesystem does not answer, or nobody has looked\n",
                      t->file);
        return 0;
}

int matrix_print(const Terminal *t, const WatchView *w) {
        bool snapshot = false;

        if (!w->has_facts)
                return 0;
        fprintf(t->file, "  %s%-31s%-10s" CELL "%s%s\n", terminal_style(t, STYLE_BOLD),
                "what a program does", "seen", "in mountwatch run", "in a session tagged late",
                terminal_reset(t));
        for (MatrixRow row = 0; row < _MATRIX_ROW_MAX; row++) {
                const MatrixCell run = matrix_cell(&w->facts, row, /* guarded= */ true),
                                 late = matrix_cell(&w->facts, row, /* guarded= */ false);

                snapshot |= run.keep == MATRIX_KEEP_START || late.keep == MATRIX_KEEP_START;
                fprintf(t->file, "  %-31s%-10s" CELL "%s\n", matrix_row_text(row),
                        sight_to_string(run.seen), cell_text(run), cell_text(late));
        }
        return put_notes(t, w, snapshot);
}

static json_object *cell_to_json(MatrixCell c) {
        _cleanup_json_ json_object *o = json_object_new_object();

        if (!o || json_add_bool(o, "refusable", c.refusable) < 0 ||
            json_add_text(o, "preserved", keep_word(c.keep)) < 0)
                return NULL;
        return TAKE_PTR(o);
}

static json_object *row_to_json(const WatchView *w, MatrixRow row) {
        const MatrixCell run = matrix_cell(&w->facts, row, /* guarded= */ true),
                         late = matrix_cell(&w->facts, row, /* guarded= */ false);
        _cleanup_json_ json_object *o = json_object_new_object();

        if (!o || json_add_text(o, "does", matrix_row_text(row)) < 0 ||
            json_add_text(o, "op", op_type_to_string(matrix_row_operation(row))) < 0 ||
            json_add_text(o, "seen", sight_to_string(run.seen)) < 0 ||
            json_add(o, "run", cell_to_json(run)) < 0 ||
            json_add(o, "late", cell_to_json(late)) < 0)
                return NULL;
        return TAKE_PTR(o);
}

json_object *matrix_to_json(const WatchView *w) {
        _cleanup_json_ json_object *array = json_object_new_array();

        for (MatrixRow row = 0; array && row < _MATRIX_ROW_MAX; row++) {
                json_object *o = row_to_json(w, row);

                if (!o || json_object_array_add(array, o) < 0) {
                        json_object_put(o);
                        return NULL;
                }
        }
        return TAKE_PTR(array);
}
