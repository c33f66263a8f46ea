/* SPDX-License-Identifier: MIT */
#include "daemon/enforce.h"
#include "common/strv.h"
#include "daemon/core/policy.h"
#include "daemon/log.h"
#include "daemon/restrain.h"
#include "daemon/store/kept.h"

static bool was_kept(Live *l, const Operation *op) {
        Store *store = l->manager->store;

        switch (op->op) {
        case OP_MODIFY:
        case OP_DELETE:
                return store_has_kept(store, l->session->id, op->path, 0, /* content= */ true) > 0;
        case OP_METADATA:
                return store_has_kept(store, l->session->id, op->path, 0, /* content= */ false) > 0;
        case OP_RENAME:
                return op->replaced &&
                        store_has_kept(store, l->session->id, op->path, 0, /* content= */ true) > 0;
        case OP_CREATE:
        case _OP_MAX:
                break;
        }
        return false;
}

static void freeze(Live *l, Operation *op) {
        if (l->thawed)
                return;
        if (restrain_freeze_by_policy(l) > 0)
                op->action = ACTION_FROZEN;
        log_warning(
                "session %s is frozen after a change on watch '%s'; go on with 'mountwatch session thaw %s' or end it with 'mountwatch session kill %s'",
                l->session->id, op->watch, l->session->id, l->session->id);
}

static void kill_it(Live *l, const WatchSpec *spec, Operation *op, pid_t pid) {
        int r;

        if (spec->kill_scope == KILL_SCOPE_SESSION)
                r = restrain_kill(l);
        else
                r = restrain_kill_member(l, pid);
        if (r >= 0)
                op->action = ACTION_KILLED;
}

void enforce(Live *l, const WatchSpec *spec, Operation *op, pid_t pid) {
        Policy policy = spec->policy;

        if (l->session->has_policy)
                policy = policy_stricter(policy, l->session->policy);
        if (spec->preserve)
                op->preserved = was_kept(l, op);
        if (strv_contains(l->asked, op->path))
                op->action = ACTION_HELD;
        else if (op->violation && policy == POLICY_FREEZE)
                freeze(l, op);
        else if (op->violation && policy == POLICY_KILL)
                kill_it(l, spec, op, pid);
}
