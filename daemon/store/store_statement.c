/* SPDX-License-Identifier: MIT */
#include "daemon/store/store_statement.h"

#include "daemon/store/store_internal.h"

#include <errno.h>

/* SQLite turns ENOSPC of a write into SQLITE_FULL, but not EDQUOT, and neither where it makes
 * the -shm file longer. */
static int io_errno(Store *s) {
        int e = sqlite3_system_errno(s->db);

        if (e == ENOSPC || e == EDQUOT)
                return -ENOSPC;
        return e > 0 ? -e : -EIO;
}

int statement_errno(Store *s, int code) {
        switch (code & 0xff) {
        case SQLITE_OK:
        case SQLITE_ROW:
        case SQLITE_DONE:
                return 0;
        case SQLITE_FULL:
                return -ENOSPC;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
                return -EUCLEAN;
        case SQLITE_NOMEM:
                return -ENOMEM;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
                return -EBUSY;
        case SQLITE_READONLY:
                return -EROFS;
        case SQLITE_PERM:
        case SQLITE_AUTH:
                return -EACCES;
        case SQLITE_TOOBIG:
                return -E2BIG;
        case SQLITE_IOERR:
        case SQLITE_CANTOPEN:
                return code == SQLITE_IOERR_NOMEM ? -ENOMEM : io_errno(s);
        default:
                return -EIO;
        }
}

int statement_open(Store *s, StatementSlot slot, const char *sql, Statement *ret) {
        sqlite3_stmt **stmt = &s->statements[slot];

        if (!*stmt) {
                int code =
                        sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
                if (code != SQLITE_OK)
                        return statement_errno(s, code);
        }
        *ret = (Statement){.store = s, .stmt = *stmt};
        return 0;
}

void statement_done(Statement *st) {
        if (!st->stmt)
                return;
        (void) sqlite3_reset(st->stmt);
        (void) sqlite3_clear_bindings(st->stmt);
        st->stmt = NULL;
}

static void note(Statement *st, int code) {
        if (code != SQLITE_OK && st->error == SQLITE_OK)
                st->error = code;
}

void statement_bind_int(Statement *st, int64_t value) {
        note(st, sqlite3_bind_int64(st->stmt, ++st->bound, value));
}

void statement_bind_null(Statement *st) {
        note(st, sqlite3_bind_null(st->stmt, ++st->bound));
}

void statement_bind_text(Statement *st, const char *s) {
        note(st, sqlite3_bind_text(st->stmt, ++st->bound, s, -1, SQLITE_STATIC));
}

void statement_bind_bytes(Statement *st, const void *p, size_t size) {
        note(st, sqlite3_bind_blob64(st->stmt, ++st->bound, p, size, SQLITE_STATIC));
}

void statement_bind_string(Statement *st, const char *s) {
        statement_bind_bytes(st, s, s ? strlen(s) : 0);
}

int statement_step(Statement *st) {
        Store *s = st->store;
        int code = st->error != SQLITE_OK ? st->error : sqlite3_step(st->stmt);

        if (code == SQLITE_ROW)
                return 1;
        if (code == SQLITE_DONE)
                return 0;

        int r = statement_errno(s, code);
        (void) sqlite3_reset(st->stmt);
        store_check_rollback(s);
        return r;
}

int statement_run(Statement *st) {
        int r = statement_step(st);

        if (r < 0)
                return r;
        (void) sqlite3_reset(st->stmt);
        st->bound = 0;
        return sqlite3_changes(st->store->db);
}

int64_t statement_int(Statement *st, int column) {
        return sqlite3_column_int64(st->stmt, column);
}

void statement_bytes(Statement *st, int column, const char **ret, size_t *ret_size) {
        if (sqlite3_column_type(st->stmt, column) == SQLITE_NULL) {
                *ret = NULL;
                *ret_size = 0;
                return;
        }
        /* An empty blob has no address. */
        const char *p = sqlite3_column_blob(st->stmt, column);
        *ret = p ? p : "";
        *ret_size = (size_t) sqlite3_column_bytes(st->stmt, column);
}

int statement_string(Statement *st, int column, char **ret) {
        const char *p;
        size_t size;

        statement_bytes(st, column, &p, &size);
        if (!p) {
                *ret = NULL;
                return 0;
        }
        char *copy = strndup(p, size);
        if (!copy)
                return -ENOMEM;
        *ret = copy;
        return 0;
}
