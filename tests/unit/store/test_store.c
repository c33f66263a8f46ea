/* SPDX-License-Identifier: MIT */
/* Opening, closing, and what happens to the store when the world is bad to it. */
#include "tests/unit/store/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void join(const Fixture *f, const char *name, char path[static 128]) {
        (void) snprintf(path, 128, "%s/%s", f->dir, name);
}

/* Another program's look at the database. */
static sqlite3 *open_beside(const Fixture *f) {
        char path[128];
        sqlite3 *db;

        join(f, "mountwatch.db", path);
        assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
        return db;
}

static void run_beside(const Fixture *f, const char *sql) {
        sqlite3 *db = open_beside(f);

        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void assert_intact(const Fixture *f) {
        sqlite3 *db = open_beside(f);
        sqlite3_stmt *stmt;

        assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &stmt, NULL),
                         SQLITE_OK);
        assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
        assert_string_equal((const char *) sqlite3_column_text(stmt, 0), "ok");
        assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static size_t count_operations(Store *s) {
        StoreQuery q = everything();
        Operation page[256];
        size_t n, total = 0;

        do {
                assert_int_equal(store_read_operations(s, &q, page, ELEMENTSOF(page), &n), 0);
                for (size_t i = 0; i < n; i++) {
                        q.after_seq = page[i].seq;
                        operation_done(&page[i]);
                }
                total += n;
        } while (n > 0);
        return total;
}

static void files_are_private(void **state) {
        Fixture *f = *state;
        char path[128], deep[128];
        struct stat st;
        Store *s;

        join(f, "new", path);
        assert_int_equal(store_open(path, &s), 0);
        store_close(s);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0700);
        join(f, "mountwatch.db", path);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        join(f, "mountwatch.db-wal", path);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        join(f, "no/parent", deep);
        assert_int_equal(store_open(deep, &s), -ENOENT);
}

static void second_daemon_is_refused(void **state) {
        Fixture *f = *state;
        Store *s;

        assert_int_equal(store_open(f->dir, &s), -EEXIST);
        (void) put_path(f->store, NULL, OP_CREATE, "/mnt/x");
        fixture_reopen(f);
        assert_int_equal(store_open(f->dir, &s), -EEXIST);
}

static void size_grows_with_content(void **state) {
        Fixture *f = *state;
        uint64_t before, after;

        assert_int_equal(store_size(f->store, &before), 0);
        for (int i = 0; i < 10000; i++) {
                char path[32];
                (void) snprintf(path, sizeof path, "/mnt/%d", i);
                (void) put_path(f->store, NULL, OP_CREATE, path);
        }
        assert_int_equal(store_flush(f->store), 0);
        assert_int_equal(store_size(f->store, &after), 0);
        assert_true(after > before + 300000);
}

static void write_and_die(const char *dir) {
        Store *s;
        bool folded;
        Session *session;

        if (store_open(dir, &s) < 0 || session_new(0x99, 0, NOON, &session) < 0 ||
            store_put_session(s, session) < 0)
                _exit(1);
        for (int i = 0; i < 40000; i++) {
                char path[32];
                Operation o = operation(OP_CREATE, path);

                (void) snprintf(path, sizeof path, "/mnt/%d", i);
                o.session = session->id;
                if (store_put_operation(s, &o, &folded) < 0)
                        _exit(1);
                if (i == 36000 && store_flush(s) < 0)
                        _exit(1);
        }
        (void) kill(getpid(), SIGKILL);
}

static void what_was_flushed_survives_a_kill(void **state) {
        Fixture *f = *state;
        _cleanup_(stored_session_done) StoredSession got = {0};
        int64_t last = put_path(f->store, NULL, OP_CREATE, "/mnt/first");
        int status;
        pid_t pid;

        f->store = store_close(f->store);
        pid = fork();
        if (pid == 0) {
                write_and_die(f->dir);
                _exit(1);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

        assert_int_equal(store_open(f->dir, &f->store), 0);
        assert_intact(f);
        assert_int_equal(count_operations(f->store), 1 + 36001);
        assert_int_equal(store_get_session(f->store, "0000000000000099", &got), 0);
        assert_true(got.last_seq == INT64_MAX);
        /* Numbers that the dead daemon had given out and not stored do not come again. */
        assert_true(put_path(f->store, NULL, OP_CREATE, "/mnt/next") > last + 40000);
}

static void damaged_file_is_refused_and_left_alone(void **state) {
        Fixture *f = *state;
        char path[128], garbage[4096], after[4096];
        Store *s;
        int fd;

        (void) put_path(f->store, NULL, OP_CREATE, "/mnt/x");
        f->store = store_close(f->store);
        memset(garbage, 0x5a, sizeof garbage);
        join(f, "mountwatch.db", path);
        fd = open(path, O_RDWR | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(pwrite(fd, garbage, sizeof garbage, 0), sizeof garbage);
        assert_int_equal(store_open(f->dir, &s), -EUCLEAN);
        assert_int_equal(pread(fd, after, sizeof after, 0), sizeof after);
        assert_memory_equal(garbage, after, sizeof garbage);
        (void) close(fd);
}

static void damage_in_the_middle_is_told(void **state) {
        Fixture *f = *state;
        char path[128], garbage[4096];
        StoreQuery q = everything();
        Operation page[256];
        struct stat st;
        size_t n = 0;
        int fd, r;

        for (int i = 0; i < 20000; i++) {
                (void) snprintf(path, sizeof path, "/mnt/%d", i);
                (void) put_path(f->store, NULL, OP_CREATE, path);
        }
        f->store = store_close(f->store);
        memset(garbage, 0x5a, sizeof garbage);
        join(f, "mountwatch.db", path);
        fd = open(path, O_RDWR | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(fstat(fd, &st), 0);
        for (off_t at = 40 * 4096; at < st.st_size; at += 4096)
                assert_int_equal(pwrite(fd, garbage, sizeof garbage, at), sizeof garbage);
        (void) close(fd);

        assert_int_equal(store_open(f->dir, &f->store), 0);
        do {
                r = store_read_operations(f->store, &q, page, ELEMENTSOF(page), &n);
                for (size_t i = 0; r >= 0 && i < n; i++) {
                        q.after_seq = page[i].seq;
                        operation_done(&page[i]);
                }
        } while (r >= 0 && n > 0);
        assert_int_equal(r, -EUCLEAN);
}

static void database_of_another_program_is_refused(void **state) {
        Fixture *f = *state;
        Store *s;

        f->store = store_close(f->store);
        run_beside(f, "PRAGMA application_id = 1");
        assert_int_equal(store_open(f->dir, &s), -EUCLEAN);
        run_beside(f, "PRAGMA application_id = 0");
        assert_int_equal(store_open(f->dir, &s), -EUCLEAN);
}

static void database_of_a_newer_version_is_refused(void **state) {
        Fixture *f = *state;
        Store *s;

        f->store = store_close(f->store);
        run_beside(f, "PRAGMA user_version = 1000");
        assert_int_equal(store_open(f->dir, &s), -EPROTONOSUPPORT);
}

static void somebody_who_reads_does_not_stop_writing(void **state) {
        Fixture *f = *state;
        sqlite3 *db = open_beside(f);

        assert_int_equal(sqlite3_exec(db, "BEGIN; SELECT count(*) FROM operation", NULL, NULL,
                                      NULL),
                         SQLITE_OK);
        (void) put_path(f->store, NULL, OP_CREATE, "/mnt/x");
        assert_int_equal(store_flush(f->store), 0);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        assert_int_equal(count_operations(f->store), 1);
}

static void somebody_who_writes_makes_it_busy(void **state) {
        Fixture *f = *state;
        sqlite3 *db = open_beside(f);
        Operation o = operation(OP_CREATE, "/mnt/x");
        bool folded;

        assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(store_put_operation(f->store, &o, &folded), -EBUSY);
        assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        (void) put_path(f->store, NULL, OP_CREATE, "/mnt/x");
        assert_int_equal(count_operations(f->store), 1);
}

/* ---- a full disk ---- */

static int mount_small(const char *dir) {
        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                return -errno;
        return mount("mountwatch-test", dir, "tmpfs", 0, "size=1m,mode=0700") < 0 ? -errno : 0;
}

/* Puts operations until it is told that there is no room. Returns how many were flushed before
 * that. */
static size_t fill(Store *s, const Session *session) {
        size_t flushed = 0;

        for (size_t i = 0;; i++) {
                char path[64];
                Operation o = operation(OP_CREATE, path);
                bool folded;
                int r;

                (void) snprintf(path, sizeof path, "/mnt/nas/%zu/a-longer-name-%zu", i / 3, i);
                o.session = (char *) session->id;
                r = store_put_operation(s, &o, &folded);
                if (r >= 0 && i % 500 == 499) {
                        r = store_flush(s);
                        if (r >= 0)
                                flushed = i + 1;
                }
                if (r < 0) {
                        assert_int_equal(r, -ENOSPC);
                        return flushed;
                }
                assert_true(i < 100000);
        }
}

static void free_space(const Fixture *f) {
        char path[128];

        join(f, "ballast", path);
        assert_int_equal(unlink(path), 0);
}

static void put_ballast(const Fixture *f) {
        char path[128];
        int fd;

        join(f, "ballast", path);
        fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        assert_int_equal(posix_fallocate(fd, 0, 640 * 1024), 0);
        (void) close(fd);
}

static void test_full_disk(Fixture *f) {
        Image image = {.pid = 10};
        _cleanup_(process_info_done) ProcessInfo p = {0};
        _cleanup_(session_freep) Session *session = NULL;
        Operation o = operation(OP_CREATE, "/mnt/nas/last");
        int64_t seq;
        size_t flushed, n;

        assert_int_equal(store_open(f->dir, &f->store), 0);
        put_ballast(f);
        session = start_session(f->store, 1, 0, NULL);
        flushed = fill(f->store, session);
        assert_true(flushed >= 500); /* else nothing is proved */

        /* Reading does not need room, and what was flushed is there. */
        n = count_operations(f->store);
        assert_true(n >= flushed);
        for (int i = 0; i < 100; i++)
                (void) store_put_image(f->store, &image);
        (void) store_flush(f->store);

        free_space(f);
        assert_int_equal(store_put_image(f->store, &image), 0);
        o.session = session->id;
        seq = put(f->store, o, NULL);
        assert_true(seq > (int64_t) flushed);
        (void) store_flush(f->store); /* may still tell of what a reading could not write */
        assert_int_equal(store_flush(f->store), 0);
        assert_false(store_is_dirty(f->store));
        assert_int_equal(store_get_process(f->store, image.store_id, &p), 0);
        stop_session(f->store, session, NOON);

        fixture_reopen(f);
        assert_intact(f);
        n = count_operations(f->store);
        assert_true(n > flushed);
        assert_int_equal(store_expire(f->store, NOON + 1), 1);
}

static void full_disk_is_told_and_survived(void **state) {
        Fixture *f = *state;
        int r;

        f->store = store_close(f->store);
        if (geteuid() != 0) {
                print_message("not root: cannot mount a small tmpfs\n");
                skip();
        }
        r = mount_small(f->dir);
        if (r == -EPERM) {
                print_message("no right to mount a small tmpfs\n");
                skip();
        }
        assert_int_equal(r, 0);
        test_full_disk(f);
        f->store = store_close(f->store);
        assert_int_equal(umount2(f->dir, MNT_DETACH), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                TEST(files_are_private),
                TEST(second_daemon_is_refused),
                TEST(size_grows_with_content),
                TEST(what_was_flushed_survives_a_kill),
                TEST(damaged_file_is_refused_and_left_alone),
                TEST(damage_in_the_middle_is_told),
                TEST(database_of_another_program_is_refused),
                TEST(database_of_a_newer_version_is_refused),
                TEST(somebody_who_reads_does_not_stop_writing),
                TEST(somebody_who_writes_makes_it_busy),
                TEST(full_disk_is_told_and_survived),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
