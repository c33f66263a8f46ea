/* SPDX-License-Identifier: MIT */
/* StartSession: from the wish to its answer, which comes when watches, snapshots and holds stand. */
#include "common/operation_json.h"
#include "common/strv.h"
#include "daemon/bar.h"
#include "daemon/core/authorisation.h"
#include "daemon/gate_site.h"
#include "daemon/kernel/proc.h"
#include "daemon/live.h"
#include "daemon/method.h"
#include "daemon/snapshot.h"
#include "daemon/view.h"
#include "daemon/watched.h"

#include <errno.h>
#include <stdio.h>
#include <utlist.h>

#define KERNEL_THREAD 0x00200000UL /* PF_KTHREAD, include/linux/sched.h */

typedef struct Start {
        ApiCall *call; /* reference */
        bool guard;    /* the caller can install a guard */
        char id[17];
        json_object *warnings;
} Start;

static Start *start_free(Start *s) {
        if (!s)
                return NULL;
        json_object_put(s->warnings);
        (void) api_call_unref(s->call);
        free(s);
        return NULL;
}

DEFINE_CLEANUP(Start *, start_free)

static void start_warn(Start *s, const char *watch, const char *what) {
        _cleanup_free_ char *text = NULL;

        if (asprintf(&text, "watch '%s': %s", watch, what) >= 0)
                json_object_array_add(s->warnings, json_object_new_string(text));
}

static void start_answer(Manager *m, Start *s, bool guard) {
        Live *live = live_find(m, s->id);
        json_object *o = json_object_new_object(), *session = live ? view_live(live) : NULL;

        if (!o || !session) {
                json_object_put(o);
                json_object_put(session);
                answer_errno(s->call, live ? -ENOMEM : -ESRCH);
                return;
        }
        json_object_object_add(o, "session", session);
        json_object_object_add(o, "guard", json_object_new_boolean(guard));
        json_object_object_add(o, "warnings", TAKE_PTR(s->warnings));
        (void) api_call_reply(s->call, o, /* continues= */ false);
}

static void on_snapshot_missing(const char *watch, const char *reason, void *userdata) {
        start_warn(userdata, watch, reason);
}

static void on_snapshots(Manager *m, void *userdata) {
        _cleanup_(start_freep) Start *s = userdata;

        start_answer(m, s, /* guard= */ false);
}

/* The holds stand, or they do not, and then somebody has to know. */
static void on_holds_stand(Manager *m, int r, void *userdata) {
        _cleanup_(start_freep) Start *s = userdata;
        Live *live = live_find(m, s->id);
        Watched *w;

        DL_FOREACH (m->watches, w) {
                const char *reason;

                if (live && live_needs_gate_on(live, w->spec) && !live_is_guarded(live) &&
                    !gate_sites_bar(m->gate_sites, live, w->spec) &&
                    !gate_sites_can_hold(m->gate_sites, w->spec->name, &reason))
                        start_warn(s, w->spec->name,
                                   reason[0] ? reason : "opens cannot be held yet");
        }
        if (live)
                live_store_watches(live);
        if (live && snapshot_is_wanted(m, live) &&
            snapshot_take(m, live, on_snapshot_missing, on_snapshots, s) >= 0)
                s = NULL;
        else
                start_answer(m, s, /* guard= */ false);
}

/* GuardEngine=bpf does without the seccomp guard where the kernel does all that it would: refuse. */
static bool takes_guard(Manager *m, const Live *l) {
        Watched *w;

        if (m->config->guard_engine == GUARD_ENGINE_NONE)
                return false;
        if (m->config->guard_engine != GUARD_ENGINE_BPF)
                return true;
        DL_FOREACH (m->watches, w)
                if (live_needs_gate_on(l, w->spec) &&
                    (w->spec->preserve || !bar_is_wanted(m->bars, l, w->spec)))
                        return true;
        return false;
}

static void on_started(Manager *m, int r, Live *live, Watched *const *missing, size_t n_missing,
                       void *userdata) {
        _cleanup_(start_freep) Start *s = userdata;
        bool needed, promised;

        if (r < 0) {
                if (r == -ESRCH)
                        answer_no_process(s->call, 0);
                else
                        answer_errno(s->call, r);
                return;
        }
        memcpy(s->id, live->session->id, sizeof s->id);
        for (size_t i = 0; i < n_missing; i++)
                start_warn(s, missing[i]->spec->name,
                           "not ready yet: its filesystem does not answer");
        needed = gatekeeper_is_needed(m, live) && !live_is_guarded(live);
        promised = needed && s->guard && takes_guard(m, live);
        if (promised)
                gate_sites_expect_guard(m->gate_sites, live);
        else if (needed && gate_sites_update_holds(m->gate_sites, on_holds_stand, s) >= 0) {
                s = NULL;
                return;
        }
        start_answer(m, s, promised);
}

static Start *start_new(ApiCall *call, json_object *parameters) {
        _cleanup_(start_freep) Start *s = calloc(1, sizeof *s);

        if (!s)
                return NULL;
        s->call = api_call_ref(call);
        s->guard = parameter_bool(parameters, "guard");
        s->warnings = json_object_new_array();
        return s->warnings ? TAKE_PTR(s) : NULL;
}

static size_t command_bytes(char *const *command) {
        size_t n = 0;

        for (size_t i = 0; command && command[i]; i++)
                n += strlen(command[i]) + 1;
        return n;
}

/* Answers and returns false when this process must not be tagged by that peer. */
static bool check_process(ApiCall *call, const Peer *peer, pid_t pid, uint64_t *ret_start_ticks) {
        ProcessDetails details;
        ProcStat st;
        bool may;

        if (pid == 1) {
                answer_denied(call, "process 1 cannot be a test session");
                return false;
        }
        if (pid == getpid()) {
                answer_denied(call, "mountwatchd cannot be its own test session");
                return false;
        }
        if (pid < 1 || proc_read_stat(pid, &st) < 0 || proc_read_details(pid, &details) < 0) {
                answer_no_process(call, pid);
                return false;
        }
        (void) program_unref(details.program);
        if (st.flags & KERNEL_THREAD) {
                answer_denied(call, "a kernel thread cannot be a test session");
                return false;
        }
        may = authorise_tag(peer->uid, peer->privileged, details.uid);
        if (!may)
                answer_denied(call, "the process belongs to another user");
        *ret_start_ticks = st.start_ticks;
        return may;
}

/* Fills what the caller said; answers and returns false when it is too much or nonsense. */
static bool take_request(ApiCall *call, json_object *parameters, LiveRequest *q) {
        const char *label = parameter_string(parameters, "label"),
                   *cwd = parameter_string(parameters, "cwd");
        const char *policy = parameter_string(parameters, "policy");
        json_object *command = NULL;

        if (policy) {
                int p = policy_from_string(policy);

                if (p < 0) {
                        answer_invalid(call, "policy");
                        return false;
                }
                q->policy = (Policy) p;
                q->has_policy = true;
        }
        if (label && strlen(label) > LABEL_MAX) {
                answer_limit(call, "bytes of a label", LABEL_MAX);
                return false;
        }
        if (parameters && json_object_object_get_ex(parameters, "command", &command) && command &&
            strv_from_json(command, &q->command) < 0) {
                answer_invalid(call, "command");
                return false;
        }
        if (command_bytes(q->command) > COMMAND_MAX) {
                answer_limit(call, "bytes of a command line", COMMAND_MAX);
                return false;
        }
        q->label = label ? strdup(label) : NULL;
        q->cwd = cwd ? strdup(cwd) : NULL;
        if ((label && !q->label) || (cwd && !q->cwd)) {
                answer_errno(call, -ENOMEM);
                return false;
        }
        return true;
}

void method_start_session(ApiCall *call, const Peer *peer, json_object *parameters,
                          void *userdata) {
        Manager *m = userdata;
        LiveRequest q = {
                .pid = (pid_t) parameter_int(parameters, "pid", peer->pid),
                .uid = peer->uid,
        };
        int r;

        if (!peer->privileged && live_count_for(m, peer->uid) >= SESSIONS_PER_UID_MAX) {
                answer_limit(call, "live sessions of a user", SESSIONS_PER_UID_MAX);
                return;
        }
        if (!check_process(call, peer, q.pid, &q.start_ticks))
                return;
        if (take_request(call, parameters, &q)) {
                Start *start = start_new(call, parameters);

                r = start ? live_start(m, &q, on_started, start) : -ENOMEM;
                if (r < 0) {
                        (void) start_free(start);
                        answer_errno(call, r);
                }
        }
        live_request_done(&q);
}
