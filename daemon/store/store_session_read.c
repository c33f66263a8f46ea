/* SPDX-License-Identifier: MIT */
/* Reading sessions back, with their losses. */
#include "daemon/store/store_internal.h"

#include "common/strv.h"

#include <errno.h>

/* A session that runs was last seen when the newest block was last written to. */
#define SESSION_COLUMNS                                                                             \
        "n, id, outer_id, label, uid, policy, command, cwd, root_pid, root_start, state, started, " \
        "stopped, exit_status, test, cgroup, operations, violations, first_seq, last_seq, "         \
        "CASE stopped WHEN 0 THEN (SELECT last FROM block ORDER BY id DESC LIMIT 1) "               \
        "ELSE stopped END "                                                                         \
        "FROM session "

void stored_session_done(StoredSession *s) {
        s->session = session_free(s->session);
}

static int copy_id(Statement *st, int column, char ret[static 17]) {
        const char *p;
        size_t size;

        statement_bytes(st, column, &p, &size);
        if (size > 16)
                return -EUCLEAN;
        if (p)
                memcpy(ret, p, size);
        ret[size] = '\0';
        return 0;
}

static int replace_string(Statement *st, int column, char **ret) {
        char *copy;
        int r = statement_string(st, column, &copy);

        if (r < 0)
                return r;
        free(*ret);
        *ret = copy;
        return 0;
}

static int read_strings(Statement *st, Session *session) {
        const char *command;
        char **v;
        size_t size;
        int r = replace_string(st, 3, &session->label);

        if (r >= 0)
                r = replace_string(st, 7, &session->cwd);
        if (r >= 0)
                r = replace_string(st, 14, &session->test);
        if (r >= 0)
                r = replace_string(st, 15, &session->cgroup);
        if (r < 0)
                return r;
        statement_bytes(st, 6, &command, &size);
        r = strv_decode(command, size, &v);
        if (r < 0)
                return r;
        strv_free(session->command);
        session->command = v;
        return 0;
}

static int read_numbers(Statement *st, Session *session) {
        int64_t policy = statement_int(st, 5), state = statement_int(st, 10);

        if (policy < 0 || policy >= _POLICY_MAX || state < 0 || state >= _SESSION_STATE_MAX)
                return -EUCLEAN;
        session->has_policy = sqlite3_column_type(st->stmt, 5) != SQLITE_NULL;
        session->policy = (Policy) policy;
        session->root_pid = (pid_t) statement_int(st, 8);
        session->root_start_ticks = (uint64_t) statement_int(st, 9);
        session->state = (SessionState) state;
        session->stopped = (usec_t) statement_int(st, 12);
        session->exit_status = (int) statement_int(st, 13);
        session->operations = (uint64_t) statement_int(st, 16);
        session->violations = (uint64_t) statement_int(st, 17);
        return 0;
}

static int read_losses(Store *s, int64_t n, Session *session) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, STATEMENT_LOSS_GET,
                               "SELECT reason, watch, at, until, count FROM loss WHERE session = ? "
                               "ORDER BY position",
                               &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, n);
        while ((r = statement_step(&st)) > 0) {
                _cleanup_free_ char *reason = NULL, *watch = NULL;

                r = statement_string(&st, 0, &reason);
                if (r >= 0)
                        r = statement_string(&st, 1, &watch);
                if (r >= 0)
                        r = session_add_loss(session, reason, watch, (usec_t) statement_int(&st, 2),
                                             (usec_t) statement_int(&st, 3),
                                             (uint64_t) statement_int(&st, 4));
                if (r < 0)
                        return r;
        }
        return r;
}

static int read_session(Statement *st, StoredSession *ret) {
        _cleanup_(stored_session_done) StoredSession stored = {
                .first_seq = statement_int(st, 18),
                .last_seq = statement_int(st, 19),
                .last_seen = MAX((usec_t) statement_int(st, 20), (usec_t) statement_int(st, 11)),
        };
        Session *session;
        int r = session_new(0, (uid_t) statement_int(st, 4), (usec_t) statement_int(st, 11),
                            &stored.session);

        if (r < 0)
                return r;
        session = stored.session;
        r = copy_id(st, 1, session->id);
        if (r >= 0)
                r = copy_id(st, 2, stored.outer);
        if (r >= 0)
                r = read_numbers(st, session);
        if (r >= 0)
                r = read_strings(st, session);
        if (r >= 0)
                r = read_losses(st->store, statement_int(st, 0), session);
        if (r < 0)
                return r;
        *ret = stored;
        stored.session = NULL;
        return 0;
}

int store_get_session(Store *s, const char *id, StoredSession *ret) {
        _cleanup_(statement_done) Statement st = {0};
        int r;

        store_settle(s);
        r = statement_open(s, STATEMENT_SESSION_GET, "SELECT " SESSION_COLUMNS "WHERE id = ?", &st);
        if (r < 0)
                return r;
        statement_bind_text(&st, id);
        r = statement_step(&st);
        if (r <= 0)
                return r < 0 ? r : -ENOENT;
        return read_session(&st, ret);
}

static void free_sessions(StoredSession *list, size_t n) {
        for (size_t i = 0; i < n; i++)
                stored_session_done(&list[i]);
        free(list);
}

static int read_sessions(Statement *st, StoredSession **ret, size_t *ret_n) {
        StoredSession *list = NULL;
        size_t n = 0, allocated = 0;
        int r;

        while ((r = statement_step(st)) > 0) {
                if (n == allocated) {
                        size_t more = allocated ? allocated * 2 : 8;
                        StoredSession *grown = reallocarray(list, more, sizeof *grown);
                        if (!grown) {
                                r = -ENOMEM;
                                break;
                        }
                        list = grown;
                        allocated = more;
                }
                r = read_session(st, &list[n]);
                if (r < 0)
                        break;
                n++;
        }
        if (r < 0) {
                free_sessions(list, n);
                return r;
        }
        *ret = list;
        *ret_n = n;
        return 0;
}

int store_list_sessions(Store *s, uid_t uid, bool live_only, size_t limit, StoredSession **ret,
                        size_t *ret_n) {
        _cleanup_(statement_done) Statement st = {0};
        int r;

        store_settle(s);
        r = live_only
                ? statement_open(s, STATEMENT_SESSION_LIST_LIVE,
                                 "SELECT " SESSION_COLUMNS "INDEXED BY session_stopped WHERE "
                                 "stopped = 0 AND (?1 < 0 OR uid = ?1) ORDER BY n DESC LIMIT ?2",
                                 &st)
                : statement_open(s, STATEMENT_SESSION_LIST,
                                 "SELECT " SESSION_COLUMNS "WHERE ?1 < 0 OR uid = ?1 "
                                 "ORDER BY n DESC LIMIT ?2",
                                 &st);
        if (r < 0)
                return r;
        statement_bind_int(&st, uid == (uid_t) -1 ? -1 : (int64_t) uid);
        statement_bind_int(&st, (int64_t) MIN(limit, (size_t) INT64_MAX));
        return read_sessions(&st, ret, ret_n);
}

int store_get_last_session(Store *s, uid_t uid, StoredSession *ret) {
        _cleanup_free_ StoredSession *list = NULL;
        size_t n;
        int r = store_list_sessions(s, uid, /* live_only= */ false, 1, &list, &n);

        if (r < 0)
                return r;
        if (n == 0)
                return -ENOENT;
        *ret = list[0];
        return 0;
}
