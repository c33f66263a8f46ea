/* SPDX-License-Identifier: MIT */
#include "daemon/recover.h"
#include "daemon/gate_site.h"
#include "daemon/kernel/cgroup.h"
#include "daemon/live.h"
#include "daemon/log.h"
#include "daemon/tag.h"
#include "daemon/watched.h"

#include <errno.h>
#include <utlist.h>

/* What the gates of the earlier daemon held and would have held was let. */
static void tell_not_enforced(Manager *m, Live *l, usec_t since) {
        Watched *w;

        DL_FOREACH (m->watches, w)
                if (live_needs_gate_on(l, w->spec))
                        live_add_loss(l, "not-enforced", w->spec->name, since, manager_now(m), 0);
}

static int recover_one(Manager *m, StoredSession *stored) {
        Live *l;
        int r;

        r = live_adopt(m, TAKE_PTR(stored->session), &l);
        if (r < 0)
                return r;
        (void) tag_again(l);
        live_add_loss(l, "daemon-restart", NULL, stored->last_seen, manager_now(m), 0);
        tell_not_enforced(m, l, stored->last_seen);
        log_info("session %s: found again with %zu processes; what happened meanwhile was not seen",
                 l->session->id, process_table_count(m->processes, l->session));
        return 0;
}

static void reconnect_outer(Manager *m, const StoredSession *stored, const char *id) {
        Live *l = live_find(m, id);
        Live *outer = stored->outer[0] ? live_find(m, stored->outer) : NULL;

        if (l && outer)
                l->session->outer = outer->session;
}

/* A folder of one of our sessions that is over: the earlier daemon could not remove it. Other daemons' folders are theirs. */
static void sweep_cgroup(const char *cgroup, const char *id, void *userdata) {
        Manager *m = userdata;
        StoredSession s;

        if (live_find(m, id) || store_get_session(m->store, id, &s) < 0)
                return;
        stored_session_done(&s);
        (void) cgroup_dissolve(cgroup);
}

int recover_sessions(Manager *m) {
        StoredSession *sessions = NULL;
        char(*ids)[17] = NULL;
        size_t n = 0;
        int r;

        r = store_list_sessions(m->store, (uid_t) -1, true, SIZE_MAX, &sessions, &n);
        if (r < 0)
                return r;
        ids = calloc(n + 1, sizeof *ids);
        if (!ids)
                r = -ENOMEM;
        /* oldest first: a member of an inner session is tagged last by the inner one */
        for (size_t i = n; i-- > 0 && r >= 0;) {
                memcpy(ids[i], sessions[i].session->id, sizeof ids[i]);
                r = recover_one(m, &sessions[i]);
        }
        for (size_t i = 0; i < n && r >= 0; i++)
                reconnect_outer(m, &sessions[i], ids[i]);
        for (size_t i = 0; i < n; i++)
                stored_session_done(&sessions[i]);
        free(sessions);
        free(ids);
        if (r >= 0 && m->cgroup_root)
                (void) cgroup_foreach_left(m->cgroup_root, sweep_cgroup, m);
        if (r >= 0 && m->live)
                r = gate_sites_refresh(m->gate_sites);
        live_check_soon(m);
        return r;
}
