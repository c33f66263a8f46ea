/* SPDX-License-Identifier: MIT */
#include "daemon/held.h"
#include "common/operation_json.h"
#include "daemon/alert.h"
#include "daemon/follow.h"
#include "daemon/log.h"
#include "daemon/restrain.h"

#include <errno.h>
#include <utlist.h>

static const char *const decree_words[_DECREE_MAX] = {
        [DECREE_ALLOW_ONCE] = "allow-once",
        [DECREE_ALLOW_SESSION] = "allow-session",
        [DECREE_DENY] = "deny",
        [DECREE_KILL] = "kill",
};

int decree_from_string(const char *s) {
        for (int i = 0; i < _DECREE_MAX; i++)
                if (str_equal(s, decree_words[i]))
                        return i;
        return -EINVAL;
}

static void held_free(Manager *m, Held *h) {
        DL_DELETE(m->held, h);
        follow_lists_changed(m);
        (void) attempt_free(h->attempt);
        (void) gate_unref(h->gate);
        free(h);
}

static void held_answer(Manager *m, Held *h, Verb verb) {
        gatekeeper_answer(h->gate, TAKE_PTR(h->attempt), verb);
        held_free(m, h);
}

void held_add(Manager *m, Gate *g, Attempt *a) {
        _cleanup_free_ char *path = path_to_text(a->access.path);
        Held *h = NULL, *other;
        size_t n = 0;

        DL_COUNT(m->held, other, n);
        if (n < HELD_MAX)
                h = calloc(1, sizeof *h);
        if (!h) {
                log_error("too many operations wait for a decision; one more is refused");
                gatekeeper_record(m, a, ACTION_DENIED);
                gatekeeper_answer(g, a, VERB_REFUSE);
                return;
        }
        h->id = ++m->next_held;
        h->gate = gate_ref(g);
        h->attempt = a;
        DL_APPEND(m->held, h);
        follow_lists_changed(m);
        if (a->decision.verb == VERB_ASK) {
                log_warning(
                        "session %s waits: %s of '%s' on watch '%s' (pid %d); answer with 'mountwatch decide %llu allow-once|allow-session|deny|kill'",
                        a->session, op_type_to_string(access_operation(a->access.type)),
                        path ? path : "?", a->watch, (int) a->pid, (unsigned long long) h->id);
                alert_waiting(m, a);
        } else
                log_warning(
                        "session %s is frozen before its first change: %s of '%s' on watch '%s' (pid %d); go on with 'mountwatch session thaw %s' or end it with 'mountwatch session kill %s'",
                        a->session, op_type_to_string(access_operation(a->access.type)),
                        path ? path : "?", a->watch, (int) a->pid, a->session, a->session);
}

Held *held_find(Manager *m, uint64_t id) {
        Held *h;

        DL_FOREACH (m->held, h)
                if (h->id == id)
                        return h;
        return NULL;
}

/* What else the session waits with is let as well. */
static void let_asked(Manager *m, const char *session) {
        Held *h, *next;

        DL_FOREACH_SAFE (m->held, h, next)
                if (h->attempt->decision.verb == VERB_ASK &&
                    str_equal(h->attempt->session, session))
                        held_answer(m, h, VERB_LET);
}

void held_decide(Manager *m, Held *h, Decree decree) {
        Live *l = live_find(m, h->attempt->session);

        switch (decree) {
        case DECREE_ALLOW_SESSION:
                if (l) {
                        l->allow_asked = true;
                        (void) gatekeeper_put_session(m->gatekeeper, l);
                        live_remember_asked(l, h->attempt->access.path);
                        let_asked(m, l->session->id);
                        return;
                }
                held_answer(m, h, VERB_LET);
                break;
        case DECREE_ALLOW_ONCE:
                if (l)
                        live_remember_asked(l, h->attempt->access.path);
                held_answer(m, h, VERB_LET);
                break;
        case DECREE_DENY:
                gatekeeper_record(m, h->attempt, ACTION_DENIED);
                held_answer(m, h, VERB_REFUSE);
                break;
        case DECREE_KILL:
                gatekeeper_record(m, h->attempt, ACTION_KILLED);
                if (l)
                        (void) restrain_kill(l);
                held_answer(m, h, VERB_REFUSE);
                break;
        case _DECREE_MAX:
                break;
        }
}

void held_drop(Manager *m, const Gate *g, uint64_t attempt) {
        Held *h, *next;

        DL_FOREACH_SAFE (m->held, h, next)
                if (h->gate == g && h->attempt->id == attempt)
                        held_free(m, h);
}

void held_drop_process(Manager *m, pid_t pid) {
        Held *h, *next;

        DL_FOREACH_SAFE (m->held, h, next)
                if (h->attempt->pid == pid)
                        held_answer(m, h, VERB_LET);
}

void held_drop_gate(Manager *m, const Gate *g) {
        Held *h, *next;

        DL_FOREACH_SAFE (m->held, h, next)
                if (h->gate == g)
                        held_free(m, h);
}

void held_let_session(Manager *m, const char *session) {
        Held *h, *next;

        DL_FOREACH_SAFE (m->held, h, next)
                if (h->attempt->decision.verb == VERB_FREEZE &&
                    str_equal(h->attempt->session, session))
                        held_answer(m, h, VERB_LET);
}

void held_drop_session(Manager *m, const char *session) {
        Held *h, *next;

        DL_FOREACH_SAFE (m->held, h, next)
                if (str_equal(h->attempt->session, session))
                        held_answer(m, h, VERB_LET);
}

void held_free_all(Manager *m) {
        Held *h, *next;

        DL_FOREACH_SAFE (m->held, h, next)
                held_free(m, h);
}
