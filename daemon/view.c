/* SPDX-License-Identifier: MIT */
#include "daemon/view.h"
#include "common/operation_json.h"
#include "daemon/bar.h"
#include "daemon/held.h"
#include "daemon/live.h"
#include "daemon/prospect.h"
#include "daemon/watched.h"

#define MEMBERS_SHOWN_MAX 256

static void add(json_object *o, const char *key, json_object *value) {
        if (value)
                json_object_object_add(o, key, value);
}

static void add_string(json_object *o, const char *key, const char *s) {
        if (s)
                add(o, key, json_object_new_string(s));
}

/* Text from users and from the kernel may be any bytes; JSON must be UTF-8. */
static void add_text(json_object *o, const char *key, const char *s) {
        _cleanup_free_ char *text = s ? path_to_text(s) : NULL;

        add_string(o, key, text);
}

static void add_time(json_object *o, const char *key, usec_t t) {
        char buffer[TIME_TEXT_MAX];

        if (t > 0)
                add_string(o, key, time_to_text(t, buffer));
}

json_object *view_session(const Session *s, const char *outer) {
        json_object *o = json_object_new_object(), *losses = json_object_new_array();

        if (!o || !losses) {
                json_object_put(o);
                json_object_put(losses);
                return NULL;
        }
        for (size_t i = 0; i < s->n_losses; i++)
                json_object_array_add(losses, loss_to_json(&s->losses[i]));

        add_string(o, "id", s->id);
        if (outer[0])
                add_string(o, "outer", outer);
        add_text(o, "label", s->label);
        add(o, "uid", json_object_new_int64(s->uid));
        if (s->has_policy)
                add_string(o, "policy", policy_to_string(s->policy));
        add_string(o, "state", session_state_to_string(s->state));
        add_string(o, "verdict", verdict_to_string(session_verdict(s)));
        add(o, "complete", json_object_new_boolean(session_is_complete(s)));
        add(o, "losses", losses);
        add(o, "command", strv_to_json(s->command));
        add_text(o, "cwd", s->cwd);
        add(o, "rootPid", json_object_new_int64(s->root_pid));
        add_time(o, "started", s->started);
        add_time(o, "stopped", s->stopped);
        if (s->exit_status >= 0)
                add(o, "exitStatus", json_object_new_int(s->exit_status));
        add_text(o, "test", s->test);
        add(o, "operations", json_object_new_int64((int64_t) s->operations));
        add(o, "violations", json_object_new_int64((int64_t) s->violations));
        return o;
}

static void add_member(Process *p, void *userdata) {
        json_object *members = userdata, *o;

        if (json_object_array_length(members) >= MEMBERS_SHOWN_MAX)
                return;
        o = json_object_new_object();
        if (!o)
                return;
        add(o, "pid", json_object_new_int64(p->pid));
        add_text(o, "exe", p->image && p->image->program ? p->image->program->exe : NULL);
        add(o, "cmdline",
            strv_to_json(p->image && p->image->program ? p->image->program->cmdline : NULL));
        json_object_array_add(members, o);
}

json_object *view_live(Live *l) {
        json_object *o = view_session(l->session, l->session->outer ? l->session->outer->id : "");
        json_object *members = json_object_new_array();

        if (!o || !members) {
                json_object_put(o);
                json_object_put(members);
                return NULL;
        }
        if (l->frozen)
                add(o, "frozen", json_object_new_boolean(true));
        process_table_foreach(l->manager->processes, l->session, add_member, members);
        add(o, "processes", members);
        return o;
}

static json_object *view_watch(const WatchSpec *spec, Scope scope, Untagged untagged,
                               const Coverage *coverage, const WatcherStatus *now) {
        json_object *o = json_object_new_object();

        if (!o)
                return NULL;
        add_string(o, "name", spec->name);
        add_text(o, "path", spec->path);
        add_string(o, "scope", scope_to_string(scope));
        add_string(o, "policy", policy_to_string(spec->policy));
        add_string(o, "untagged", untagged_to_string(untagged));
        add_string(o, "state", watcher_state_to_string(now->state));
        add_string(o, "tier", tier_to_string(now->tier));
        if (now->fstype[0])
                add_text(o, "fstype", now->fstype);
        if (now->reason[0])
                add_text(o, "reason", now->reason);
        add(o, "directories", json_object_new_int64((int64_t) now->directories));
        add(o, "files", json_object_new_int64((int64_t) now->files));
        add(o, "coverage", coverage_to_json(coverage));
        return o;
}

json_object *view_watched(const Watched *w) {
        Coverage coverage = w->status.coverage;
        const char *reason;
        MatrixFacts facts;
        json_object *o;

        prospects_facts(w, &facts);
        for (OpType op = 0; op < _OP_MAX; op++)
                coverage.deny[op] = matrix_is_refusable(&facts, op, /* guarded= */ true);
        o = view_watch(w->spec, w->status.scope, w->spec->untagged, &coverage, &w->status);
        if (!o)
                return NULL;
        add(o, "guard", json_object_new_boolean(facts.guard));
        add_string(o, "hold",
                   facts.hold ? prospect_hold_to_string(HOLD_POSSIBLE)
                              : prospect_hold_to_string(w->hold));
        if (!facts.hold && w->hold_reason[0])
                add_text(o, "holdReason", w->hold_reason);
        add(o, "kernel", json_object_new_boolean(bars_can(w->manager->bars, w->spec, &reason)));
        if (reason[0])
                add_string(o, "kernelReason", reason);
        add(o, "preserve", json_object_new_boolean(facts.preserve));
        add(o, "snapshot", json_object_new_boolean(facts.snapshot));
        return o;
}

json_object *view_stored_watch(Manager *m, const StoredWatch *w) {
        static const WatcherStatus unknown = {.state = WATCHER_IDLE};
        const Watched *now = watched_find(m, w->spec->name);

        return view_watch(w->spec, w->scope, now ? now->spec->untagged : UNTAGGED_IGNORE,
                          &w->coverage, now ? &now->status : &unknown);
}

json_object *view_held(const Held *h) {
        const Attempt *a = h->attempt;
        json_object *o = json_object_new_object();
        char since[TIME_TEXT_MAX];

        if (!o)
                return NULL;
        json_object_object_add(o, "id", json_object_new_int64((int64_t) h->id));
        json_object_object_add(o, "session", json_object_new_string(a->session));
        json_object_object_add(o, "watch", json_object_new_string(a->watch));
        json_object_object_add(o, "policy",
                               json_object_new_string(a->decision.verb == VERB_FREEZE ? "freeze"
                                                                                      : "ask"));
        json_object_object_add(o, "op",
                               json_object_new_string(
                                       op_type_to_string(access_operation(a->access.type))));
        (void) json_add_path(o, "path", a->access.path);
        json_object_object_add(o, "pid", json_object_new_int64(a->pid));
        json_object_object_add(o, "since", json_object_new_string(time_to_text(a->at, since)));
        return o;
}
