/* SPDX-License-Identifier: MIT */
#include "daemon/auto_session.h"
#include "common/strv.h"
#include "daemon/core/authorisation.h"
#include "daemon/core/recognise.h"
#include "daemon/gate_site.h"
#include "daemon/live.h"
#include "daemon/log.h"
#include "daemon/snapshot.h"

#include <errno.h>

bool auto_session_is_wanted(const Manager *m) {
        return m->config->n_auto_sessions > 0;
}

static void on_started(Manager *m, int r, Live *live, Watched *const *missing, size_t n_missing,
                       void *userdata) {
        if (r >= 0) {
                (void) gate_sites_update_holds(m->gate_sites, NULL, NULL);
                /* it runs already: what it changes before its copy is made is known by the time */
                if (snapshot_is_wanted(m, live))
                        (void) snapshot_take(m, live, NULL, NULL, NULL);
                log_info("session %s: started by itself for process %d (%s)", live->session->id,
                         (int) live->session->root_pid, live->session->label);
        } else if (r != -ESRCH && r != -EALREADY)
                log_error("cannot start a session by itself: %s", strerror(-r));
}

static const AutoSession *find_rule(const Config *c, const Program *program) {
        for (size_t i = 0; i < c->n_auto_sessions; i++)
                if (recognise_command(c->auto_sessions[i].match, program->exe, program->cmdline))
                        return &c->auto_sessions[i];
        return NULL;
}

void auto_session_consider(Manager *m, const ProcEvent *e) {
        const Program *program = e->has_details ? e->details.program : NULL;
        Process *p = process_table_find(m->processes, e->pid);
        const AutoSession *rule;

        if (!program || (p && p->session))
                return;
        rule = find_rule(m->config, program);
        if (!rule || live_count_for(m, e->details.uid) >= SESSIONS_PER_UID_MAX)
                return;

        LiveRequest q = {
                .pid = e->pid,
                .start_ticks = e->details.start_ticks,
                .uid = e->details.uid,
                .automatic = true,
                .label = strdup(rule->name),
                .command = strv_copy(program->cmdline),
                .cwd = program->cwd ? strdup(program->cwd) : NULL,
        };
        if (live_start(m, &q, on_started, NULL) < 0)
                log_error("no memory to start a session for process %d", (int) e->pid);
        live_request_done(&q);
}
