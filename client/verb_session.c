/* SPDX-License-Identifier: MIT */
/* mountwatch session …: from start to stop, and what can be done to it in between. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "client/outcome.h"
#include "client/session_table.h"
#include "common/operation_json.h"

static int parse_pid(const char *text, pid_t *ret) {
        char *end;
        long n;

        errno = 0;
        n = strtol(text, &end, 10);
        if (errno || *end || end == text || n <= 0 || n > INT32_MAX) {
                complain("--pid takes the number of a process, not '%s'", text);
                return STATUS_USAGE;
        }
        *ret = (pid_t) n;
        return STATUS_DONE;
}

static int make_start(const Options *options, pid_t pid, json_object **ret) {
        _cleanup_json_ json_object *o = json_object_new_object();
        _cleanup_free_ char *cwd = getcwd(NULL, 0);
        int r = o ? json_add_int(o, "pid", pid) : -ENOMEM;

        r = r < 0 ? r : json_add_text(o, "label", options->value[OPTION_LABEL]);
        r = r < 0 ? r : json_add_text(o, "policy", options->value[OPTION_POLICY]);
        r = r < 0 ? r : json_add_text(o, "cwd", cwd);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(o);
        return 0;
}

/* Takes `session` out of a reply. Returns an exit status. */
static int read_session(const Context *context, json_object *reply, SessionView *ret) {
        json_object *session;
        int r = json_need(json_get(reply, "session", json_type_object, &session));

        r = r < 0 ? r : session_view_from_json(session, ret);
        return r < 0 ? verb_failed(context, NULL, r) : STATUS_DONE;
}

int verb_session_start(const Context *context, const Options *options) {
        _cleanup_(session_view_done) SessionView session = {};
        _cleanup_json_ json_object *reply = NULL;
        const char *pid_text = options->value[OPTION_PID];
        json_object *parameters = NULL;
        pid_t pid = getppid();
        int r;

        r = verb_check_policy(options);
        if (r == STATUS_DONE && pid_text)
                r = parse_pid(pid_text, &pid);
        if (r != STATUS_DONE)
                return r;
        if (make_start(options, pid, &parameters) < 0)
                return complain_memory();
        r = verb_call(context, "StartSession", parameters, &reply);
        if (r == STATUS_DONE)
                r = read_session(context, reply, &session);
        if (r != STATUS_DONE)
                return r;
        (void) verb_print_warnings(reply);
        puts(session.id);
        r = verb_flush();
        if (isatty(STDERR_FILENO))
                complain("process %d and all it starts belong to this session now; end it with "
                         "'mountwatch session stop'",
                         (int) pid);
        return r;
}

static int make_id(const Options *options, json_object **ret) {
        _cleanup_json_ json_object *o = json_object_new_object();

        if (!o || json_add_text(o, "id", options->arguments[0]) < 0)
                return complain_memory();
        *ret = TAKE_PTR(o);
        return STATUS_DONE;
}

/* Stops, then fetches on the same connection. */
static int stop_and_fetch(const Context *context, const Options *options, ReportModel **ret) {
        _cleanup_(connection_freep) Connection *c = NULL;
        _cleanup_(session_view_done) SessionView session = {};
        _cleanup_json_ json_object *reply = NULL;
        json_object *parameters = NULL;
        int r;

        r = verb_connect(context, &c);
        if (r == STATUS_DONE)
                r = make_id(options, &parameters);
        if (r != STATUS_DONE)
                return r;
        r = connection_call(c, "StopSession", parameters, &reply);
        if (r != 0)
                return verb_failed(context, c, r);
        r = read_session(context, reply, &session);
        if (r != STATUS_DONE)
                return r;
        r = report_model_fetch(c, session.id, /* wait= */ false, ret);
        return r != 0 ? verb_failed(context, c, r) : STATUS_DONE;
}

static int stop_with_files(const Context *context, const Options *options, FailOn fail_on,
                           ReportFiles *files) {
        static const ReportTextOptions text = {.prefix = ""};
        _cleanup_(report_model_freep) ReportModel *m = NULL;
        int r, written;

        r = stop_and_fetch(context, options, &m);
        if (r != STATUS_DONE)
                return r;
        written = report_files_write(files, m);
        r = outcome_print(stdout, m, &text);
        if (r != STATUS_DONE || written != STATUS_DONE)
                return STATUS_NO;
        return fail_on_is_met(fail_on, &m->session) ? STATUS_VIOLATION : STATUS_DONE;
}

int verb_session_stop(const Context *context, const Options *options) {
        ReportFiles files;
        FailOn fail_on;
        int r;

        r = fail_on_parse(options, FAIL_ON_NEVER, &fail_on);
        if (r == STATUS_DONE)
                r = report_files_open(options, /* stdout_is_free= */ false, &files);
        if (r != STATUS_DONE)
                return r;
        r = stop_with_files(context, options, fail_on, &files);
        report_files_close(&files);
        return r;
}

int verb_session_list(const Context *context, const Options *options) {
        _cleanup_json_ json_object *parameters = json_object_new_object(), *reply = NULL;
        json_object *sessions;
        int r;

        if (!parameters ||
            (options_has(options, OPTION_ALL_SESSIONS) &&
             json_add_bool(parameters, "all", true) < 0))
                return complain_memory();
        r = verb_call(context, "ListSessions", TAKE_PTR(parameters), &reply);
        if (r != STATUS_DONE)
                return r;
        if (options_has(options, OPTION_JSON))
                return verb_print_json(TAKE_PTR(reply));
        r = json_need(json_get(reply, "sessions", json_type_array, &sessions));
        if (r >= 0 && json_object_array_length(sessions) == 0) {
                puts(options_has(options, OPTION_ALL_SESSIONS)
                             ? "no sessions"
                             : "no session is running (--all shows ended ones)");
                return verb_flush();
        }
        r = r < 0 ? r : session_table_print(stdout, sessions);
        return r < 0 ? verb_failed(context, NULL, r) : verb_flush();
}

int verb_session_mark(const Context *context, const Options *options) {
        _cleanup_json_ json_object *parameters = json_object_new_object();

        if (!parameters || json_add_text(parameters, "id", options->value[OPTION_SESSION]) < 0 ||
            json_add_text(parameters, "text", options->arguments[0]) < 0)
                return complain_memory();
        return verb_call(context, "MarkSession", TAKE_PTR(parameters), NULL);
}

/* The three that act on all processes of a session and say on how many. */
static int act(const Context *context, const Options *options, const char *method,
               const char *done) {
        _cleanup_json_ json_object *reply = NULL;
        json_object *parameters = NULL;
        int64_t n = 0;
        int r;

        r = make_id(options, &parameters);
        if (r == STATUS_DONE)
                r = verb_call(context, method, parameters, &reply);
        if (r != STATUS_DONE)
                return r;
        r = json_need(json_get_int(reply, "processes", 0, INT64_MAX, &n));
        if (r < 0)
                return verb_failed(context, NULL, r);
        printf("%s %" PRId64 " %s\n", done, n, n == 1 ? "process" : "processes");
        return verb_flush();
}

int verb_session_kill(const Context *context, const Options *options) {
        return act(context, options, "KillSession", "killed");
}

int verb_session_freeze(const Context *context, const Options *options) {
        return act(context, options, "FreezeSession", "froze");
}

int verb_session_thaw(const Context *context, const Options *options) {
        return act(context, options, "ThawSession", "thawed");
}
