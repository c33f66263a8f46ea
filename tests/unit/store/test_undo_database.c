/* SPDX-License-Identifier: MIT */
/* SQLite databases: kept while somebody writes, put back while somebody has them open. */
#include "tests/unit/store/scene.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/socket.h>

static sqlite3 *open_database(const char *path) {
        sqlite3 *db;

        assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                         NULL),
                         SQLITE_OK);
        (void) sqlite3_busy_timeout(db, 5000);
        return db;
}

static void execute(sqlite3 *db, const char *sql) {
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static int64_t ask(sqlite3 *db, const char *sql) {
        sqlite3_stmt *st;
        int64_t n;

        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(st), SQLITE_ROW);
        n = sqlite3_column_int64(st, 0);
        assert_int_equal(sqlite3_finalize(st), SQLITE_OK);
        return n;
}

static bool is_sound(sqlite3 *db) {
        sqlite3_stmt *st;
        bool sound;

        assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &st, NULL),
                         SQLITE_OK);
        assert_int_equal(sqlite3_step(st), SQLITE_ROW);
        sound = str_equal((const char *) sqlite3_column_text(st, 0), "ok");
        assert_int_equal(sqlite3_finalize(st), SQLITE_OK);
        return sound;
}

static void fill(sqlite3 *db, bool wal) {
        execute(db, wal ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE");
        execute(db, "PRAGMA wal_autocheckpoint = 0");
        execute(db,
                "CREATE TABLE track(id INTEGER PRIMARY KEY, name TEXT, pair INTEGER);"
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
                "INSERT INTO track SELECT i, 'track number ' || i, i FROM n");
}

/* A server: another process (locks of SQLite are a process's) that has the database open. One letter asks, one number answers. */
typedef struct Server {
        pid_t pid;
        int fd;
} Server;

static int64_t serve(sqlite3 *db, char question) {
        switch (question) {
        case 'c':
                return ask(db, "SELECT count(*) FROM track");
        case 'i':
                execute(db, "INSERT INTO track VALUES(9000, 'new', 0)");
                return 0;
        case 's':
                return is_sound(db);
        default:
                return sqlite3_close(db);
        }
}

static void start_server(Server *server, const char *path, bool wal) {
        int fds[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
        server->pid = fork();
        assert_true(server->pid >= 0);
        server->fd = fds[0];
        if (server->pid > 0) {
                (void) close(fds[1]);
                return;
        }
        sqlite3 *db = open_database(path);
        char question = 'f';
        fill(db, wal);
        do {
                int64_t answer = question == 'f' ? 0 : serve(db, question);
                if (write(fds[1], &answer, sizeof answer) < 0)
                        break;
        } while (question != 'x' && read(fds[1], &question, 1) == 1);
        _exit(0);
}

static int64_t server_answer(const Server *server) {
        int64_t answer = -1;

        assert_int_equal(read(server->fd, &answer, sizeof answer), sizeof answer);
        return answer;
}

static int64_t ask_server(const Server *server, char question) {
        assert_int_equal(write(server->fd, &question, 1), 1);
        return server_answer(server);
}

static void stop_server(Server *server) {
        (void) ask_server(server, 'x');
        assert_int_equal(waitpid(server->pid, NULL, 0), server->pid);
        (void) close(server->fd);
}

/* What the session's import does: the library is emptied and filled with a test's. In a process of its own, too. */
static void reset_library(const char *path) {
        pid_t pid = fork();
        int status;

        assert_true(pid >= 0);
        if (pid == 0) {
                sqlite3 *db = open_database(path);

                execute(db, "DELETE FROM track; INSERT INTO track VALUES(1, 'fake', 1)");
                execute(db, "VACUUM");
                _exit(sqlite3_close(db) == SQLITE_OK ? 0 : 1);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
}

static void put_change(Scene *s, OpType op, const char *name) {
        Operation o = operation(op, NULL);
        char path[512];

        scene_path(s, name, path);
        o.path = path;
        scene_put(s, o, false);
}

/* As the watch sees it. */
static void put_changes(Scene *s, bool wal) {
        const char *side = wal ? "library.db-wal" : "library.db-journal";
        char path[512];

        scene_path(s, side, path);
        put_change(s, OP_CREATE, side);
        put_change(s, OP_MODIFY, side);
        put_change(s, OP_MODIFY, "library.db");
        if (access(path, F_OK) < 0)
                put_change(s, OP_DELETE, side);
}

static void check_reset(bool wal, bool live, bool same) {
        _cleanup_free_ char *before = NULL;
        Server server;
        Outcome o = {};
        char path[512];
        Scene s;

        if (!scene_open(&s, same ? "xfs" : "ext4", same))
                return;
        scene_path(&s, "library.db", path);
        start_server(&server, path, wal);
        (void) server_answer(&server);
        if (!live)
                stop_server(&server);
        before = tree_text(s.m.watch);
        scene_start(&s, 1);
        scene_keep(&s, "library.db", KEEP_CONTENT);
        reset_library(path);
        if (live)
                assert_int_equal(ask_server(&server, 'c'), 1);
        put_changes(&s, wal);
        scene_stop(&s);
        undo_all(&s, &o);
        assert_int_equal(o.r, 0);
        assert_int_equal(o.states[UNDO_FAILED] + o.states[UNDO_REFUSED] + o.states[UNDO_IMPOSSIBLE],
                         0);
        if (live) {
                /* its own connection goes on, sees the old rows and can write */
                assert_int_equal(ask_server(&server, 'c'), 5000);
                (void) ask_server(&server, 'i');
                assert_int_equal(ask_server(&server, 's'), 1);
                stop_server(&server);
                sqlite3 *db = open_database(path);
                assert_int_equal(ask(db, "SELECT count(*) FROM track"), 5001);
                assert_true(is_sound(db));
                assert_int_equal(sqlite3_close(db), SQLITE_OK);
        } else
                assert_tree(&s.m, s.m.watch, before);
        scene_close(&s);
}

static void a_closed_database_is_as_before_to_the_byte(void **state) {
        check_reset(/* wal= */ false, /* server= */ false, /* same= */ false);
        check_reset(/* wal= */ true, /* server= */ false, /* same= */ true);
}

static void a_server_goes_on_with_the_old_rows(void **state) {
        check_reset(/* wal= */ true, /* server= */ true, /* same= */ false);
        check_reset(/* wal= */ true, /* server= */ true, /* same= */ true);
}

static void a_server_with_a_rollback_journal_goes_on(void **state) {
        check_reset(/* wal= */ false, /* server= */ true, /* same= */ false);
}

/* Another process writes transactions that leave a sum as it is, as fast as it can. */
static pid_t start_writer(const char *path, bool wal) {
        pid_t pid = fork();

        assert_true(pid >= 0);
        if (pid > 0)
                return pid;
        sqlite3 *db = open_database(path);
        for (;;) {
                (void) sqlite3_exec(
                        db,
                        "BEGIN IMMEDIATE; UPDATE track SET pair = pair + 1 WHERE id % 50 = 1; "
                        "UPDATE track SET pair = pair - 1 WHERE id % 50 = 2; COMMIT",
                        NULL, NULL, NULL);
                if (wal)
                        (void) sqlite3_exec(db, "PRAGMA wal_checkpoint(PASSIVE)", NULL, NULL, NULL);
        }
}

/* Copies out of the store, opened as a database of its own. */
static sqlite3 *open_kept(const Scene *s, const KeptList *list) {
        char path[256];

        (void) snprintf(path, sizeof path, "%s/kept", s->m.dir);
        shell("rm -rf %s && mkdir %s", path, path);
        for (size_t i = 0; i < list->n; i++)
                if (list->list[i].blob)
                        shell("cat %s/preserve/%s/%s >%s/%s", s->m.state, s->session->id,
                              list->list[i].blob, path, strrchr(list->list[i].path, '/') + 1);
        (void) strcat(path, "/library.db");
        return open_database(path);
}

static void check_writer(bool wal, const char *type) {
        unsigned consistent = 0;
        char path[512];
        sqlite3 *db;
        pid_t pid;
        Scene s;

        if (!scene_open(&s, type, str_equal(type, "xfs")))
                return;
        scene_path(&s, "library.db", path);
        db = open_database(path);
        fill(db, wal);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        scene_start(&s, 1);
        pid = start_writer(path, wal);
        for (int i = 0; i < 10; i++) {
                _cleanup_(kept_list_done) KeptList list = {};
                KeepRequest q = scene_request(&s, path, KEEP_CONTENT);
                bool complete;

                assert_int_equal(keep_object(&q, &list, &complete), 0);
                assert_true(list.n >= 2 && list.list[1].unit != 0);
                if (list.list[1].inconsistent)
                        continue;
                consistent++;
                db = open_kept(&s, &list);
                assert_true(is_sound(db));
                assert_int_equal(ask(db, "SELECT sum(pair) FROM track"), 5000 * 5001 / 2);
                assert_int_equal(sqlite3_close(db), SQLITE_OK);
        }
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, NULL, 0);
        /* the writer never rests; that most copies are told to be none would make them worthless */
        assert_true(consistent >= 5);
        scene_close(&s);
}

static void what_is_called_consistent_is(void **state) {
        check_writer(true, "ext4");
        check_writer(false, "ext4");
        check_writer(true, "xfs");
        check_writer(false, "xfs");
}

static void a_side_file_brings_its_database(void **state) {
        _cleanup_(kept_list_done) KeptList list = {};
        char path[512];
        KeepRequest q;
        sqlite3 *db;
        bool complete;
        Scene s;

        if (!scene_open(&s, "tmpfs", false))
                skip();
        scene_path(&s, "library.db", path);
        db = open_database(path);
        fill(db, /* wal= */ true);
        scene_start(&s, 1);
        (void) strcat(path, "-shm");
        q = scene_request(&s, path, KEEP_CONTENT);
        assert_int_equal(keep_object(&q, &list, &complete), 0);
        assert_int_equal(list.n, 3);
        assert_non_null(strstr(list.list[1].path, "/library.db"));
        assert_non_null(strstr(list.list[2].path, "/library.db-wal"));
        assert_true(list.list[1].unit == list.list[2].unit && list.list[1].unit != 0);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        scene_close(&s);
}

static void a_removed_database_returns_with_its_wal(void **state) {
        Outcome o = {};
        char path[512];
        sqlite3 *db;
        Scene s;

        if (!scene_open(&s, "ext4", true))
                skip();
        /* as after the end of a server by kill: rows are in the -wal only */
        scene_path(&s, "origin.db", path);
        db = open_database(path);
        fill(db, /* wal= */ true);
        shell("cd %s && cp origin.db library.db && cp origin.db-wal library.db-wal", s.m.watch);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        scene_start(&s, 1);
        do_delete(&s, "library.db");
        do_delete(&s, "library.db-wal");
        scene_stop(&s);
        undo_all(&s, &o);
        assert_int_equal(o.states[UNDO_FAILED] + o.states[UNDO_REFUSED] + o.states[UNDO_IMPOSSIBLE],
                         0);
        scene_path(&s, "library.db", path);
        db = open_database(path);
        assert_int_equal(ask(db, "SELECT count(*) FROM track"), 5000);
        assert_true(is_sound(db));
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        scene_close(&s);
}

static void rows_that_the_server_adds_later_are_not_lost(void **state) {
        Outcome o = {}, forced = {};
        Server server;
        char path[512];
        Scene s;

        if (!scene_open(&s, "ext4", true))
                skip();
        scene_path(&s, "library.db", path);
        start_server(&server, path, /* wal= */ true);
        (void) server_answer(&server);
        scene_start(&s, 1);
        scene_keep(&s, "library.db", KEEP_CONTENT);
        reset_library(path);
        put_changes(&s, true);
        scene_stop(&s);
        (void) nanosleep(&(struct timespec){.tv_nsec = 150000000}, NULL);
        (void) ask_server(&server, 'i');
        undo_paths(&s, NULL, false, false, &o);
        assert_int_equal(o.states[UNDO_REFUSED], 1);
        assert_int_equal(ask_server(&server, 'c'), 2);
        undo_paths(&s, NULL, false, /* force= */ true, &forced);
        assert_int_equal(forced.states[UNDO_DONE], 1);
        assert_int_equal(ask_server(&server, 'c'), 5000);
        stop_server(&server);
        scene_close(&s);
}

/* Who only reads a database in WAL mode makes -wal and -shm, which others then use too. */
static void side_files_in_use_stay(void **state) {
        for (int blind = 0; blind < 2; blind++) {
                Outcome o = {};
                Server server;
                char path[512];
                sqlite3 *db;
                Scene s;

                if (!scene_open(&s, "ext4", true))
                        skip();
                scene_path(&s, "library.db", path);
                start_server(&server, path, /* wal= */ true);
                (void) server_answer(&server);
                stop_server(&server);
                scene_start(&s, 1);
                s.blind = blind;
                scene_keep(&s, "library.db", KEEP_CONTENT);
                db = open_database(path);
                assert_int_equal(ask(db, "SELECT count(*) FROM track"), 5000);
                put_change(&s, OP_CREATE, "library.db-wal");
                put_change(&s, OP_CREATE, "library.db-shm");
                put_change(&s, OP_MODIFY, "library.db-shm");
                scene_stop(&s);
                undo_all(&s, &o);
                assert_int_equal(o.states[UNDO_FAILED] + o.states[UNDO_REFUSED] +
                                         o.states[UNDO_IMPOSSIBLE],
                                 0);
                shell("test -e %s-shm && test ! -e %s/quarantine", path, s.m.state);
                execute(db, "INSERT INTO track VALUES(9000, 'new', 0)");
                assert_true(is_sound(db));
                assert_int_equal(sqlite3_close(db), SQLITE_OK);
                scene_close(&s);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_closed_database_is_as_before_to_the_byte),
                cmocka_unit_test(a_server_goes_on_with_the_old_rows),
                cmocka_unit_test(a_server_with_a_rollback_journal_goes_on),
                cmocka_unit_test(what_is_called_consistent_is),
                cmocka_unit_test(a_side_file_brings_its_database),
                cmocka_unit_test(a_removed_database_returns_with_its_wal),
                cmocka_unit_test(rows_that_the_server_adds_later_are_not_lost),
                cmocka_unit_test(side_files_in_use_stay),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
