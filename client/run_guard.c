/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "client/run_guard.h"
#include "client/watch_view.h"
#include "common/json_member.h"

static bool is_enforced(Policy p) {
        return p == POLICY_ASK || p == POLICY_DENY || p == POLICY_FREEZE || p == POLICY_KILL;
}

/* What is submitted to a ring is no system call, and passes by the filter. Programs that use rings have other ways when there
 * are none; they are not sent there just to be watched. */
static bool must_not_have_rings(Connection *c, const SessionView *session) {
        int policy = session->policy ? policy_from_string(session->policy) : -EINVAL;
        _cleanup_(watch_views_done) WatchViews watches = {};
        _cleanup_json_ json_object *reply = NULL;
        bool enforced = policy >= 0 && is_enforced((Policy) policy);

        if (connection_call(c, "ListWatches", NULL, &reply) != 0 ||
            watch_views_from_json(reply, &watches) < 0)
                return true;
        for (size_t i = 0; i < watches.n; i++)
                enforced = enforced || is_enforced(watches.items[i].policy);
        return enforced;
}

static void explain_install(int error) {
        switch (-error) {
        case EBUSY:
                complain(
                        "cannot guard the command: another program supervises its system calls already (a container "
                        "runtime, say)");
                break;
        case EPIPE:
                break; /* the command was killed before it began: that is said elsewhere */
        case ENOSYS:
        case EINVAL:
                complain("cannot guard the command: this kernel has no seccomp user notification");
                break;
        default:
                complain("cannot guard the command: %s", strerror(-error));
        }
}

static void explain_attach(const Context *context, const Connection *c, int r) {
        _cleanup_free_ char *text = NULL;

        if (r == 0)
                return;
        text = r > 0 ? verb_refusal(c) : connection_explain(context->socket, r);
        complain("cannot guard the command: %s", text ? text : "out of memory");
}

void run_guard_put_up(Handover *h, const Context *context, const SessionView *session) {
        _cleanup_(connection_freep) Connection *c = NULL;
        int listener, r, connected;

        connected = connection_new(context->socket, &c);
        if (connected < 0) {
                explain_attach(context, NULL, connected);
                return;
        }
        r = handover_install(h, must_not_have_rings(c, session), &listener);
        if (r < 0) {
                explain_install(r);
                return;
        }
        explain_attach(context, c, handover_attach(h, c, session->id, listener));
}

void run_guard_tell_end(const Handover *h) {
        uint64_t n = handover_lapses(h);

        if (n > 0)
                complain("%" PRIu64 " %s let without a decision: the daemon did not answer", n,
                         n == 1 ? "call was" : "calls were");
        if (handover_was_in_the_way(h))
                complain(
                        "the command wanted to supervise system calls itself, which the guard prevents: when it failed "
                        "for that, run it with --no-guard");
}
