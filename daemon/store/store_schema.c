/* SPDX-License-Identifier: MIT */
/*
 * The tables, and how older databases become today's.
 *
 * Enums are stored as their numbers: the assertions below fail when one is renumbered, which then
 * needs a migration. Bytes that come from outside (paths, labels, command lines) are BLOBs; SQLite
 * never has to take them for text.
 */
#include "daemon/store/store_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

static_assert(OP_CREATE == 0 && OP_MODIFY == 1 && OP_DELETE == 2 && OP_RENAME == 3 &&
                      OP_METADATA == 4,
              "op");
static_assert(KIND_FILE == 0 && KIND_DIR == 1 && KIND_SYMLINK == 2 && KIND_OTHER == 3, "kind");
static_assert(ACTION_RECORDED == 0 && ACTION_ALERTED == 1 && ACTION_DENIED == 2 &&
                      ACTION_HELD == 3 && ACTION_FROZEN == 4 && ACTION_KILLED == 5,
              "action");
static_assert(POLICY_RECORD == 0 && POLICY_ALERT == 1 && POLICY_ASK == 2 && POLICY_DENY == 3 &&
                      POLICY_FREEZE == 4 && POLICY_KILL == 5,
              "policy");
static_assert(SCOPE_FILESYSTEM == 0 && SCOPE_SUBTREE == 1 && SCOPE_FILE == 2, "scope");
static_assert(SIGHT_NONE == 0 && SIGHT_INFERRED == 1 && SIGHT_EXACT == 2, "sight");
static_assert(SESSION_ACTIVE == 0 && SESSION_LINGERING == 1 && SESSION_STOPPED == 2 &&
                      SESSION_KILLED == 3,
              "state");

#define APPLICATION_ID 0x4d576462 /* "MWdb" */

/* Element i makes version i + 1 out of version i. Never changed once released: a new version is
 * a new element. */
static const char *const migrations[] = {
        "CREATE TABLE store("
        "  key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;"
        "CREATE TABLE session("
        "  n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, outer_id TEXT, label BLOB,"
        "  uid INTEGER NOT NULL, policy INTEGER, command BLOB, cwd BLOB, root_pid INTEGER NOT NULL,"
        "  root_start INTEGER NOT NULL, state INTEGER NOT NULL, started INTEGER NOT NULL,"
        "  stopped INTEGER NOT NULL, exit_status INTEGER NOT NULL, test BLOB, cgroup BLOB,"
        "  operations INTEGER NOT NULL, violations INTEGER NOT NULL,"
        "  first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL);"
        "CREATE INDEX session_outer ON session(outer_id) WHERE outer_id IS NOT NULL;"
        "CREATE INDEX session_uid ON session(uid, last_seq);"
        "CREATE INDEX session_stopped ON session(stopped);"
        "CREATE TABLE loss("
        "  session INTEGER NOT NULL REFERENCES session(n) ON DELETE CASCADE, position INTEGER NOT NULL,"
        "  reason BLOB NOT NULL, watch BLOB, at INTEGER NOT NULL, until INTEGER NOT NULL,"
        "  count INTEGER NOT NULL, PRIMARY KEY(session, position)) WITHOUT ROWID;"
        "CREATE TABLE session_watch("
        "  session INTEGER NOT NULL REFERENCES session(n) ON DELETE CASCADE, name BLOB NOT NULL,"
        "  path BLOB NOT NULL, policy INTEGER NOT NULL, scope INTEGER NOT NULL, sight INTEGER NOT NULL,"
        "  deny INTEGER NOT NULL, PRIMARY KEY(session, name)) WITHOUT ROWID;"
        /* `used`: the last block with an operation of the process or of a descendant. */
        "CREATE TABLE program("
        "  id INTEGER PRIMARY KEY, used INTEGER NOT NULL, exe BLOB, cwd BLOB, cmdline BLOB);"
        "CREATE INDEX program_used ON program(used);"
        "CREATE TABLE process("
        "  id INTEGER PRIMARY KEY, used INTEGER NOT NULL, parent INTEGER NOT NULL, pid INTEGER NOT NULL,"
        "  ppid INTEGER NOT NULL, start INTEGER NOT NULL, uid INTEGER NOT NULL, program INTEGER);"
        "CREATE INDEX process_used ON process(used);"
        "CREATE TABLE block("
        "  id INTEGER PRIMARY KEY, last_seq INTEGER NOT NULL, last INTEGER NOT NULL,"
        "  watches INTEGER NOT NULL);"
        "CREATE TABLE text(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);"
        /* block, 24 bits of the hash of a path, place in the block: all of it is the key. */
        "CREATE TABLE trace(key INTEGER PRIMARY KEY);"
        /* session 0: untagged; first, span: microseconds, last = first + span. */
        "CREATE TABLE operation("
        "  seq INTEGER PRIMARY KEY, session INTEGER NOT NULL, process INTEGER NOT NULL,"
        "  op INTEGER NOT NULL, kind INTEGER NOT NULL, action INTEGER NOT NULL, flags INTEGER NOT NULL,"
        "  watch INTEGER, dir INTEGER, name BLOB, from_dir INTEGER, from_name BLOB, to_dir INTEGER,"
        "  to_name BLOB, first INTEGER NOT NULL, span INTEGER NOT NULL, count INTEGER NOT NULL,"
        "  test INTEGER, rule INTEGER);"
        "CREATE INDEX operation_session ON operation(session);",

        /* What was kept of objects before they were changed. flags: KEPT_FLAG_*. */
        "CREATE TABLE kept("
        "  id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session(n) ON DELETE CASCADE,"
        "  path BLOB NOT NULL, watch BLOB, kind INTEGER NOT NULL, mode INTEGER NOT NULL,"
        "  uid INTEGER NOT NULL, gid INTEGER NOT NULL, rdev INTEGER NOT NULL, atime INTEGER NOT NULL,"
        "  mtime INTEGER NOT NULL, born INTEGER NOT NULL, xattrs BLOB, target BLOB, dev INTEGER NOT NULL,"
        "  ino INTEGER NOT NULL, nlink INTEGER NOT NULL, size INTEGER NOT NULL, bytes INTEGER NOT NULL,"
        "  blob BLOB, reason BLOB, hash BLOB, flags INTEGER NOT NULL, unit INTEGER NOT NULL,"
        "  taken INTEGER NOT NULL);"
        "CREATE INDEX kept_path ON kept(session, path);"
        "CREATE INDEX kept_bytes ON kept(session, bytes) WHERE bytes > 0;"
        "CREATE INDEX kept_blob ON kept(blob) WHERE blob IS NOT NULL;"
        /* Steps of an undo that are done. */
        "CREATE TABLE undo_step("
        "  session INTEGER NOT NULL REFERENCES session(n) ON DELETE CASCADE, key INTEGER NOT NULL,"
        "  at INTEGER NOT NULL, PRIMARY KEY(session, key)) WITHOUT ROWID;"
        /* Not of the session: it may be forgotten while the object is still there. */
        "CREATE TABLE quarantine("
        "  item TEXT PRIMARY KEY, session TEXT NOT NULL, uid INTEGER NOT NULL, watch BLOB,"
        "  path BLOB NOT NULL, kind INTEGER NOT NULL, bytes INTEGER NOT NULL, at INTEGER NOT NULL)"
        "  WITHOUT ROWID;",

        /* Alerts on their way to a webhook, and (dead) those that did not get there. */
        "CREATE TABLE delivery("
        "  id INTEGER PRIMARY KEY AUTOINCREMENT, target TEXT NOT NULL, alert TEXT NOT NULL,"
        "  body BLOB NOT NULL, summary INTEGER NOT NULL, attempts INTEGER NOT NULL,"
        "  created INTEGER NOT NULL, next_at INTEGER NOT NULL, dead INTEGER NOT NULL);"
        "CREATE INDEX delivery_target ON delivery(target, dead, id);",
};

static int execute(Store *s, const char *sql) {
        int code = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

        return code == SQLITE_OK ? 0 : statement_errno(s, code);
}

/* For the few questions that are asked once. */
static int query_int(Store *s, const char *sql, int64_t *ret) {
        sqlite3_stmt *stmt = NULL;
        int code = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL);

        if (code == SQLITE_OK) {
                code = sqlite3_step(stmt);
                if (code == SQLITE_ROW)
                        *ret = sqlite3_column_int64(stmt, 0);
        }
        (void) sqlite3_finalize(stmt);
        return statement_errno(s, code);
}

/* One transaction for each step: a daemon killed in the middle finds the version it had. */
static int migrate(Store *s, size_t from) {
        char pragma[64];
        int r = execute(s, "BEGIN EXCLUSIVE");

        if (r >= 0)
                r = execute(s, migrations[from]);
        (void) snprintf(pragma, sizeof pragma, "PRAGMA user_version = %zu", from + 1);
        if (r >= 0)
                r = execute(s, pragma);
        (void) snprintf(pragma, sizeof pragma, "PRAGMA application_id = %d", APPLICATION_ID);
        if (r >= 0)
                r = execute(s, pragma);
        if (r >= 0)
                r = execute(s, "COMMIT");
        if (r < 0 && !sqlite3_get_autocommit(s->db))
                (void) execute(s, "ROLLBACK");
        return r;
}

static int check_application(Store *s) {
        int64_t application = 0, tables = 0;
        int r = query_int(s, "PRAGMA application_id", &application);

        if (r >= 0)
                r = query_int(s, "SELECT count(*) FROM sqlite_master", &tables);
        if (r < 0)
                return r;
        /* Somebody else's database under our name is as good as a damaged one. */
        return application == APPLICATION_ID || (application == 0 && tables == 0) ? 0 : -EUCLEAN;
}

/* synchronous=NORMAL: a commit is one write without fsync; what is flushed survives the end of
 * the daemon in any form, and a power failure costs at most what came after the last checkpoint,
 * never the database. */
static int set_pragmas(Store *s) {
        static const char pragmas[] = "PRAGMA auto_vacuum = INCREMENTAL;"
                                      "PRAGMA journal_mode = WAL;"
                                      "PRAGMA synchronous = NORMAL;"
                                      "PRAGMA foreign_keys = ON;"
                                      "PRAGMA mmap_size = 0;"
                                      "PRAGMA cache_size = -2000;"
                                      "PRAGMA temp_store = MEMORY;"
                                      "PRAGMA wal_autocheckpoint = 4000;"
                                      "PRAGMA journal_size_limit = 16777216;";

        return execute(s, pragmas);
}

/* 1, or 0 when the database has none yet. */
static int read_hash_key(Store *s) {
        sqlite3_stmt *stmt = NULL;
        int code = sqlite3_prepare_v2(s->db, "SELECT value FROM store WHERE key = 'hash-key'", -1,
                                      &stmt, NULL);
        int r;

        if (code == SQLITE_OK)
                code = sqlite3_step(stmt);
        r = statement_errno(s, code);
        if (code == SQLITE_ROW) {
                r = 1;
                if (sqlite3_column_bytes(stmt, 0) == (int) sizeof s->hash_key)
                        memcpy(&s->hash_key, sqlite3_column_blob(stmt, 0), sizeof s->hash_key);
                else
                        r = -EUCLEAN;
        }
        (void) sqlite3_finalize(stmt);
        return r;
}

static int write_hash_key(Store *s, const HashKey *key) {
        sqlite3_stmt *stmt = NULL;
        int code = sqlite3_prepare_v2(s->db, "INSERT INTO store VALUES('hash-key', ?)", -1, &stmt,
                                      NULL);
        int r;

        if (code == SQLITE_OK)
                code = sqlite3_bind_blob(stmt, 1, key, sizeof *key, SQLITE_STATIC);
        if (code == SQLITE_OK)
                code = sqlite3_step(stmt);
        r = statement_errno(s, code);
        (void) sqlite3_finalize(stmt);
        return r;
}

/* The key has to be the same for as long as the hashes in `trace` live. */
static int load_hash_key(Store *s) {
        HashKey key;
        int r = read_hash_key(s);

        if (r != 0)
                return r;
        if (getrandom(&key, sizeof key, 0) != (ssize_t) sizeof key)
                return -EIO;
        r = write_hash_key(s, &key);
        if (r < 0)
                return r;
        s->hash_key = key;
        return 0;
}

/*
 * Numbers that were given out but not committed before the end of the last daemon must not come
 * again: clients have seen them. A block is committed before the next one begins, so all of them
 * are in the block after the last one in the table.
 */
static int load_numbers(Store *s) {
        int64_t block = -1, process = 0, program = 0;
        int r = query_int(s, "SELECT ifnull(max(id), -1) FROM block", &block);

        if (r >= 0)
                r = query_int(s, "SELECT ifnull(max(id), 0) FROM process", &process);
        if (r >= 0)
                r = query_int(s, "SELECT ifnull(max(id), 0) FROM program", &program);
        if (r < 0)
                return r;
        s->seq = block < 0 ? 0 : block_first(block + 2) - 1;
        s->next_process = process + 1;
        s->next_program = program + 1;
        return 0;
}

int schema_bring_up(Store *s) {
        int64_t version = 0;
        int r = check_application(s);

        if (r >= 0)
                r = set_pragmas(s);
        if (r >= 0)
                r = query_int(s, "PRAGMA user_version", &version);
        if (r < 0)
                return r;
        if (version < 0 || (size_t) version > ELEMENTSOF(migrations))
                return -EPROTONOSUPPORT;
        for (size_t i = (size_t) version; i < ELEMENTSOF(migrations) && r >= 0; i++)
                r = migrate(s, i);
        if (r >= 0)
                r = load_hash_key(s);
        return r < 0 ? r : load_numbers(s);
}
