/* SPDX-License-Identifier: MIT */
/* Writing sessions. Their start and end are committed at once: a session that has been told of
 * outlives a full disk. */
#include "daemon/store/store_internal.h"

#include <errno.h>

int session_number(Store *s, const char *id, int64_t *ret) {
        _cleanup_(statement_done) Statement st = {0};
        CachedSession *cached = &s->sessions[hash_string(&s->hash_key, id) % SESSION_CACHE_SIZE];
        int r;

        if (cached->n != 0 && strcmp(cached->id, id) == 0) {
                *ret = cached->n;
                return 0;
        }
        r = statement_open(s, STATEMENT_SESSION_FIND, "SELECT n FROM session WHERE id = ?", &st);
        if (r < 0)
                return r;
        statement_bind_text(&st, id);
        r = statement_step(&st);
        if (r <= 0)
                return r < 0 ? r : -ENOENT;
        *ret = cached->n = statement_int(&st, 0);
        (void) stpncpy(cached->id, id, sizeof cached->id - 1);
        return 0;
}

/* The columns that both statements below set, in this order. */
static void bind_session(Statement *st, const Session *session, const char *command, size_t size) {
        statement_bind_text(st, session->outer ? session->outer->id : NULL);
        statement_bind_string(st, session->label);
        statement_bind_int(st, session->uid);
        if (session->has_policy)
                statement_bind_int(st, session->policy);
        else
                statement_bind_null(st);
        statement_bind_bytes(st, command, size);
        statement_bind_string(st, session->cwd);
        statement_bind_int(st, session->root_pid);
        statement_bind_int(st, (int64_t) session->root_start_ticks);
        statement_bind_int(st, session->state);
        statement_bind_int(st, (int64_t) session->started);
        statement_bind_int(st, (int64_t) session->stopped);
        statement_bind_int(st, session->exit_status);
        statement_bind_string(st, session->test);
        statement_bind_string(st, session->cgroup);
        statement_bind_int(st, (int64_t) session->operations);
        statement_bind_int(st, (int64_t) session->violations);
}

/* The outer session of one that is known is kept when it is not named: it may have ended, and
 * its struct be gone. */
static const char update_sql[] =
        "UPDATE session SET outer_id = ifnull(?, outer_id), label = ?, uid = ?, policy = ?, command = ?, cwd = ?, "
        "root_pid = ?, root_start = ?, state = ?, started = ?, stopped = ?, exit_status = ?, test = ?, cgroup = ?, "
        "operations = ?, violations = ?, last_seq = min(last_seq, ?) WHERE id = ?";
static const char insert_sql[] =
        "INSERT INTO session(outer_id, label, uid, policy, command, cwd, root_pid, root_start, state, started, "
        "stopped, exit_status, test, cgroup, operations, violations, last_seq, id, first_seq) "
        "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

static int write_session(Store *s, const Session *session, bool is_new) {
        _cleanup_(statement_done) Statement st = {0};
        _cleanup_free_ char *command = NULL;
        size_t size;
        int r = strv_encode(session->command, &command, &size);

        if (r >= 0)
                r = is_new ? statement_open(s, STATEMENT_SESSION_PUT, insert_sql, &st)
                           : statement_open(s, STATEMENT_SESSION_UPDATE, update_sql, &st);
        if (r < 0)
                return r;
        bind_session(&st, session, command, size);
        statement_bind_int(&st, session->stopped == 0 ? INT64_MAX : s->seq);
        statement_bind_text(&st, session->id);
        if (is_new)
                statement_bind_int(&st, s->seq);
        return statement_run(&st);
}

static int clear_losses(Store *s, int64_t n) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, STATEMENT_LOSS_CLEAR, "DELETE FROM loss WHERE session = ?", &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, n);
        return statement_run(&st);
}

static int put_loss(Store *s, int64_t n, size_t position, const Loss *l) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, STATEMENT_LOSS_PUT,
                               "INSERT INTO loss VALUES(?, ?, ?, ?, ?, ?, ?)", &st);

        if (r < 0)
                return r;
        statement_bind_int(&st, n);
        statement_bind_int(&st, (int64_t) position);
        statement_bind_string(&st, l->reason);
        statement_bind_string(&st, l->watch);
        statement_bind_int(&st, (int64_t) l->at);
        statement_bind_int(&st, (int64_t) l->until);
        statement_bind_int(&st, (int64_t) l->count);
        return statement_run(&st);
}

static int put_all(Store *s, const Session *session, bool is_new) {
        int64_t n = 0;
        int r = write_session(s, session, is_new);

        if (r >= 0)
                r = session_number(s, session->id, &n);
        if (r >= 0)
                r = clear_losses(s, n);
        for (size_t i = 0; i < session->n_losses && r >= 0; i++)
                r = put_loss(s, n, i, &session->losses[i]);
        return r;
}

static int savepoint(Store *s, StatementSlot slot, const char *sql) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, slot, sql, &st);

        return r < 0 ? r : statement_run(&st);
}

/* All of the session or nothing of it, without losing what the transaction held before. */
static int put_atomically(Store *s, const Session *session, bool is_new) {
        int r = store_begin(s);

        if (r >= 0)
                r = savepoint(s, STATEMENT_SAVEPOINT, "SAVEPOINT session");
        if (r < 0)
                return r;
        r = put_all(s, session, is_new);
        if (!s->in_transaction)
                return r; /* rolled back, with the savepoint */
        if (r < 0) {
                (void) savepoint(s, STATEMENT_ROLLBACK_TO, "ROLLBACK TO session");
                memset(s->sessions, 0, sizeof s->sessions);
        }
        (void) savepoint(s, STATEMENT_RELEASE, "RELEASE session");
        return r;
}

/* Is it new, or is this the first time that it has an end? */
static int find_state(Store *s, const char *id, bool *ret_is_new, bool *ret_is_live) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, STATEMENT_SESSION_STATE,
                               "SELECT stopped FROM session WHERE id = ?", &st);

        if (r < 0)
                return r;
        statement_bind_text(&st, id);
        r = statement_step(&st);
        if (r < 0)
                return r;
        *ret_is_new = r == 0;
        *ret_is_live = r > 0 && statement_int(&st, 0) == 0;
        return 0;
}

int store_put_session(Store *s, const Session *session) {
        bool is_new, is_live;
        int r = find_state(s, session->id, &is_new, &is_live);

        if (r >= 0)
                r = put_atomically(s, session, is_new);
        if (r < 0)
                return r;
        if (!is_new && (!is_live || session->stopped == 0))
                return 0;
        fold_bump(s);
        return store_flush(s);
}
