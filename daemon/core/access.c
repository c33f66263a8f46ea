/* SPDX-License-Identifier: MIT */
#include "daemon/core/access.h"
#include "daemon/core/policy.h"

void access_done(Access *a) {
        free(a->path);
        free(a->from);
        free(a->to);
        *a = (Access){};
}

OpType access_operation(AccessType type) {
        switch (type) {
        case ACCESS_OPEN:
        case ACCESS_TRUNCATE:
                return OP_MODIFY;
        case ACCESS_CREATE:
                return OP_CREATE;
        case ACCESS_DELETE:
                return OP_DELETE;
        case ACCESS_RENAME:
                return OP_RENAME;
        case ACCESS_METADATA:
        case _ACCESS_MAX:
                break;
        }
        return OP_METADATA;
}

/* The other name of a rename when it lies inside the watch as well. */
static const char *other_name(const Access *a, const WatchSpec *w) {
        const char *other = a->type == ACCESS_RENAME && !a->leaves ? a->from : NULL;

        return other && watch_relative_name(w, other) ? other : NULL;
}

/* The pattern that covers every name of it inside the watch, or NULL. */
static const char *covered_by(const Access *a, const WatchSpec *w, char *const *patterns) {
        const char *other = other_name(a, w), *name = watch_relative_name(w, a->path);

        if (!name || (other && !glob_find(patterns, watch_relative_name(w, other))))
                return NULL;
        return glob_find(patterns, name);
}

static Policy stricter_of(const WatchSpec *w, const SessionRule *s) {
        return s->has_policy ? policy_stricter(w->policy, s->policy) : w->policy;
}

static Verb verb_of(Policy policy, const Access *a, const SessionRule *s, bool *ret_violation) {
        const bool changes = a->type != ACCESS_OPEN;

        switch (policy) {
        case POLICY_RECORD:
                *ret_violation = false;
                return VERB_LET;
        case POLICY_ALERT:
                *ret_violation = changes;
                return VERB_LET;
        case POLICY_ASK:
                *ret_violation = true;
                return s->allow_asked ? VERB_LET : VERB_ASK;
        case POLICY_DENY:
                *ret_violation = true;
                return VERB_REFUSE;
        case POLICY_FREEZE:
                *ret_violation = changes;
                return changes && !s->thawed ? VERB_FREEZE : VERB_LET;
        case POLICY_KILL:
                *ret_violation = changes;
                return changes ? VERB_KILL : VERB_LET;
        case _POLICY_MAX:
                break;
        }
        *ret_violation = false;
        return VERB_LET;
}

Decision decide(const Access *a, const WatchSpec *w, const SessionRule *s) {
        Decision d = {.verb = VERB_LET};

        if (covered_by(a, w, w->ignore))
                return d;
        d.rule = covered_by(a, w, w->allow);
        if (!d.rule)
                d.verb = verb_of(stricter_of(w, s), a, s, &d.violation);
        /* a new name costs its directory's times: there is nothing that loses nothing */
        d.preserve =
                w->preserve && (d.verb == VERB_LET || d.verb == VERB_ASK || d.verb == VERB_FREEZE);
        return d;
}

bool policy_needs_gate(const WatchSpec *w, const SessionRule *s) {
        return w->preserve || stricter_of(w, s) > POLICY_ALERT;
}
