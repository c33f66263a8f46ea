/* SPDX-License-Identifier: MIT */
/*
 * mountwatch run: a session around one command.
 *
 * The daemon may go away at any time: that never harms the command. What is asked of it has connections of its own; the one that is kept meanwhile is for
 * the first violation on a terminal. At the end a daemon that is being restarted is waited for a little.
 */
#include <errno.h>
#include <time.h>

#include "client/launch.h"
#include "client/outcome.h"
#include "client/run_guard.h"
#include "client/run_notice.h"
#include "common/json_member.h"
#include "common/operation_json.h"
#include "common/path_text.h"

#define RETRY_MSEC 20
#define RETRIES 150 /* three seconds */

typedef struct Run {
        const Context *context;
        const Options *options;
        FailOn fail_on;
        ReportFiles files;
        Launch launch;
        Handover handover;
        bool may_guard, guard; /* wanted by us, wanted by the daemon */
        SessionView session;   /* as it was when it started */
        int status, exec_errno;
        bool told_to_wait;
} Run;

static int make_start(const Run *run, json_object **ret) {
        _cleanup_json_ json_object *o = json_object_new_object();
        _cleanup_free_ char *cwd = getcwd(NULL, 0);
        int r = o ? json_add_int(o, "pid", run->launch.pid) : -ENOMEM;

        r = r < 0 ? r : json_add_text(o, "label", run->options->value[OPTION_LABEL]);
        r = r < 0 ? r : json_add_text(o, "policy", run->options->value[OPTION_POLICY]);
        r = r < 0 ? r : json_add(o, "command", strv_to_json(run->options->arguments));
        r = r < 0 ? r : json_add_text(o, "cwd", cwd);
        r = r < 0 ? r : json_add_bool(o, "guard", run->may_guard);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(o);
        return 0;
}

static int start_session(Run *run) {
        _cleanup_json_ json_object *reply = NULL;
        json_object *parameters = NULL, *session, *guard;
        int r;

        if (make_start(run, &parameters) < 0)
                return complain_memory();
        r = verb_call(run->context, "StartSession", parameters, &reply);
        if (r != STATUS_DONE)
                return r;
        r = json_need(json_get(reply, "session", json_type_object, &session));
        r = r < 0 ? r : session_view_from_json(session, &run->session);
        if (r < 0)
                return verb_failed(run->context, NULL, r);
        if (json_get(reply, "guard", json_type_boolean, &guard) > 0)
                run->guard = json_object_get_boolean(guard);
        return verb_print_warnings(reply);
}

/* 0; positive when the daemon says no; negative when it cannot be asked. A session that has ended by itself is no error. */
static int finish_session(const Run *run, Connection *c) {
        _cleanup_json_ json_object *parameters = json_object_new_object(), *reply = NULL;
        json_object *details;
        int r;

        if (!parameters || json_add_text(parameters, "id", run->session.id) < 0 ||
            json_add_int(parameters, "exitStatus", run->status) < 0)
                return -ENOMEM;
        r = connection_call(c, "FinishSession", TAKE_PTR(parameters), &reply);
        if (r > 0 &&
            str_equal(connection_refusal(c, &details), MOUNTWATCH_INTERFACE ".SessionEnded"))
                return 0;
        return r;
}

static void tell_lingering(const SessionView *s) {
        if (s->n_members > 0)
                complain("waiting for %zu %s of the command", s->n_members,
                         s->n_members == 1 ? "descendant" : "descendants");
}

/* With --wait, says what is waited for; GetSession costs nothing beside that. */
static int announce_wait(Run *run, Connection *c) {
        _cleanup_json_ json_object *parameters = json_object_new_object(), *reply = NULL;
        SessionView s = {};
        json_object *session;
        int r;

        if (!parameters || json_add_text(parameters, "id", run->session.id) < 0)
                return -ENOMEM;
        r = connection_call(c, "GetSession", TAKE_PTR(parameters), &reply);
        if (r != 0)
                return r;
        r = json_need(json_get(reply, "session", json_type_object, &session));
        r = r < 0 ? r : session_view_from_json(session, &s);
        if (r < 0)
                return r;
        if (!run->told_to_wait)
                tell_lingering(&s);
        run->told_to_wait = true;
        session_view_done(&s);
        return 0;
}

static int fetch_once(Run *run, ReportModel **ret, char **ret_refusal) {
        _cleanup_(connection_freep) Connection *c = NULL;
        bool wait = options_has(run->options, OPTION_WAIT);
        int r;

        r = connection_new(run->context->socket, &c);
        if (r < 0)
                return r;
        r = finish_session(run, c);
        if (r == 0 && wait)
                r = announce_wait(run, c);
        if (r == 0)
                r = report_model_fetch(c, run->session.id, wait, ret);
        if (r > 0)
                *ret_refusal = verb_refusal(c);
        return r;
}

static bool is_worth_retrying(int r) {
        return r == -ENOENT || r == -ECONNREFUSED || r == -ECONNRESET;
}

/* What can be said without a daemon. */
static int make_model_alone(Run *run, const char *reason, ReportModel **ret) {
        _cleanup_(report_model_freep) ReportModel *m = NULL;
        struct timespec now;
        usec_t at;
        int r;

        r = report_model_new(&m);
        if (r < 0)
                return r;
        (void) clock_gettime(CLOCK_REALTIME, &now);
        at = (usec_t) now.tv_sec * USEC_PER_SEC + (usec_t) now.tv_nsec / NSEC_PER_USEC;
        m->session = run->session;
        run->session = (SessionView){};
        m->session.state = SESSION_STOPPED;
        m->session.stopped = at;
        m->session.exit_status = run->status;
        r = session_view_add_loss(&m->session, reason, m->session.started);
        if (r < 0)
                return r;
        m->session.losses[m->session.n_losses - 1].until = at;
        *ret = TAKE_PTR(m);
        return 0;
}

static int fetch_model(Run *run, ReportModel **ret) {
        const struct timespec pause = {.tv_nsec = RETRY_MSEC * 1000000L};
        _cleanup_free_ char *text = NULL;
        int r = -ENOENT;

        for (unsigned i = 0; i < RETRIES; i++) {
                r = fetch_once(run, ret, &text);
                if (!is_worth_retrying(r))
                        break;
                (void) nanosleep(&pause, NULL);
        }
        if (r == 0)
                return 0;
        if (r < 0)
                text = connection_explain(run->context->socket, r);
        complain("%s", text ? text : "out of memory");
        return make_model_alone(run, r > 0 ? "session-lost" : "daemon-gone", ret);
}

static int run_command(Run *run) {
        _cleanup_(run_notice_freep) RunNotice *notice =
                run_notice_new(run->context, run->session.id);
        const LaunchSide side = notice ? run_notice_side(notice) : (LaunchSide){};
        int r;

        r = launch_release(&run->launch);
        if (r >= 0 && run->may_guard) {
                if (run->guard)
                        run_guard_put_up(&run->handover, run->context, &run->session);
                /* a child that is gone is noticed by waiting for it */
                (void) handover_skip(&run->handover);
        }
        if (r >= 0)
                r = launch_wait(&run->launch, notice ? &side : NULL, &run->status,
                                &run->exec_errno);
        if (r < 0) {
                complain("failed to wait for the command: %s", strerror(-r));
                return STATUS_NO_DAEMON;
        }
        run_guard_tell_end(&run->handover);
        if (run->exec_errno) {
                _cleanup_free_ char *name = path_to_text(run->options->arguments[0]);

                complain("cannot execute '%s': %s", name ? name : "?", strerror(run->exec_errno));
        }
        return STATUS_DONE;
}

static int report(Run *run) {
        static const ReportTextOptions text = {.prefix = "mountwatch: ", .brief = true};
        _cleanup_(report_model_freep) ReportModel *m = NULL;

        if (fetch_model(run, &m) < 0) {
                (void) complain_memory();
                return run->status;
        }
        /* a report that cannot be written is told, but what the command said stays */
        (void) report_files_write(&run->files, m);
        if (!run->exec_errno)
                (void) outcome_print(stderr, m, &text);
        if (run->status == 0 && fail_on_is_met(run->fail_on, &m->session))
                return STATUS_VIOLATION;
        return run->status;
}

static int run_in_session(Run *run) {
        const LaunchHook hook = {handover_child, &run->handover};
        int r = 0;

        if (run->may_guard)
                r = handover_init(&run->handover);
        if (r >= 0)
                r = launch_fork(run->options->arguments, run->may_guard ? &hook : NULL,
                                &run->launch);
        if (r < 0) {
                complain("failed to start the command: %s", strerror(-r));
                return STATUS_NO_DAEMON;
        }
        if (start_session(run) != STATUS_DONE) {
                launch_abort(&run->launch);
                complain("the command was not started");
                return STATUS_NO_DAEMON;
        }
        r = run_command(run);
        return r == STATUS_DONE ? report(run) : r;
}

int verb_run(const Context *context, const Options *options) {
        Run run = {.context = context,
                   .options = options,
                   .handover = HANDOVER_INIT,
                   .may_guard = !options_has(options, OPTION_NO_GUARD)};
        int r;

        if (fail_on_parse(options, FAIL_ON_VIOLATION, &run.fail_on) != STATUS_DONE ||
            verb_check_policy(options) != STATUS_DONE ||
            report_files_open(options, /* stdout_is_free= */ false, &run.files) != STATUS_DONE)
                return STATUS_NO_DAEMON;
        r = run_in_session(&run);
        handover_done(&run.handover);
        report_files_close(&run.files);
        session_view_done(&run.session);
        return r;
}
