/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "client/chain_text.h"
#include "client/operation_line.h"
#include "client/report_groups.h"
#include "common/path_text.h"

#define COMMAND_COLUMNS 60

static int put_names(const Terminal *t, const Operation *op) {
        _cleanup_free_ char *path = path_to_text(op->path),
                            *from = op->from ? path_to_text(op->from) : NULL,
                            *to = op->to ? path_to_text(op->to) : NULL;

        if (!path || (op->from && !from) || (op->to && !to))
                return -ENOMEM;
        if (from)
                fprintf(t->file, "%s %s ", from, terminal_arrow(t));
        fputs(path, t->file);
        if (op->kind == KIND_DIR)
                fputc('/', t->file);
        if (to)
                fprintf(t->file, " %s %s", terminal_arrow(t), to);
        if (op->count > 1)
                fprintf(t->file, " %s%" PRIu64, terminal_times(t), op->count);
        return 0;
}

static int put_author(const Terminal *t, const Operation *op, ProcessSource processes) {
        const ProcessInfo *p = process_source_find(processes, op->process_id);
        _cleanup_free_ char *command = process_to_text(t, p, COMMAND_COLUMNS);

        if (!command)
                return -ENOMEM;
        fprintf(t->file, "  %sby %s", terminal_style(t, STYLE_DIM), command);
        if (p)
                fprintf(t->file, " (pid %d)", (int) p->pid);
        fputs(terminal_reset(t), t->file);
        return 0;
}

const char *operation_outcome(const Operation *op) {
        switch (op->action) {
        case ACTION_DENIED:
                return "refused";
        case ACTION_HELD:
                return "held";
        case ACTION_FROZEN:
                return "frozen";
        case ACTION_KILLED:
                return "killed";
        case ACTION_RECORDED:
        case ACTION_ALERTED:
        case _ACTION_MAX:
                break;
        }
        return "";
}

int operation_line_print(const Terminal *t, const Operation *op, ProcessSource processes) {
        _cleanup_free_ char *watch = path_to_text(op->watch),
                            *test = op->test ? path_to_text(op->test) : NULL;
        char time[TERMINAL_TIME_MAX];
        int r;

        if (!watch || (op->test && !test))
                return -ENOMEM;
        fprintf(t->file, "%s%s%s  %s  %s%-8s%s  ", terminal_style(t, STYLE_DIM),
                terminal_time(op->last, time), terminal_reset(t), watch,
                terminal_style(t, op->violation ? STYLE_BAD : STYLE_PLAIN),
                weight_to_string(operation_weight(op)), terminal_reset(t));
        r = put_names(t, op);
        r = r < 0 ? r : put_author(t, op, processes);
        if (r < 0)
                return r;
        if (*operation_outcome(op))
                fprintf(t->file, "  %s%s%s", terminal_style(t, STYLE_DOUBT), operation_outcome(op),
                        terminal_reset(t));
        if (op->session)
                fprintf(t->file, "  session %s", op->session);
        if (test)
                fprintf(t->file, "  test %s", test);
        fputc('\n', t->file);
        return 0;
}
