/* SPDX-License-Identifier: MIT */
#include "daemon/alert.h"
#include "common/operation_json.h"
#include "common/strv.h"
#include "daemon/live.h"
#include "daemon/log.h"

#include <stdio.h>

/* True when this is the first of its kind, which is then remembered. */
static bool first_on_watch(Live *live, const char *watch) {
        if (!live || strv_contains(live->alerted, watch))
                return false;
        (void) strv_append(&live->alerted, watch);
        return true;
}

void alert_violation(Manager *m, Live *live, const Operation *op, const Image *author) {
        _cleanup_free_ char *path = NULL, *pid = NULL;
        const char *exe = author->program && author->program->exe ? author->program->exe
                                                                  : "an unknown program";

        if (live && !first_on_watch(live, op->watch))
                return;
        path = path_to_text(op->path);
        if (!path || asprintf(&pid, "%d", (int) author->pid) < 0)
                return;
        const LogField fields[] = {
                {"MOUNTWATCH_SESSION", op->session},
                {"MOUNTWATCH_WATCH", op->watch},
                {"MOUNTWATCH_OPERATION", op_type_to_string(op->op)},
                {"MOUNTWATCH_PATH", op->path},
                {"MOUNTWATCH_PID", pid},
                {"MOUNTWATCH_EXE", exe},
        };
        if (live)
                log_fields(LOG_WARNING, fields, ELEMENTSOF(fields),
                           "session %s%s%s changes watch '%s': %s of '%s' by %s (pid %s)",
                           op->session, live->session->label ? " " : "",
                           live->session->label ? live->session->label : "", op->watch,
                           op_type_to_string(op->op), path, exe, pid);
        else
                log_fields(LOG_WARNING, fields, ELEMENTSOF(fields),
                           "change outside every session on watch '%s': %s of '%s' by %s (pid %s)",
                           op->watch, op_type_to_string(op->op), path, exe, pid);
}

void alert_ended(Manager *m, const Session *s) {
        const Verdict verdict = session_verdict(s);
        const LogField fields[] = {
                {"MOUNTWATCH_SESSION", s->id},
                {"MOUNTWATCH_VERDICT", verdict_to_string(verdict)},
        };

        log_fields(verdict == VERDICT_CLEAN ? LOG_INFO : LOG_NOTICE, fields, ELEMENTSOF(fields),
                   "session %s ended %s: %llu changes, %llu of them violations", s->id,
                   verdict_to_string(verdict), (unsigned long long) s->operations,
                   (unsigned long long) s->violations);
}
