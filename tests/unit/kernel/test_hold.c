/* SPDX-License-Identifier: MIT */
#include "tests/unit/kernel/hold_fixture.h"

#include <linux/io_uring.h>
#include <linux/openat2.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static const char *content_of(const char *path) {
        static char buf[256];
        ssize_t n;
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                return "(none)";
        n = read(fd, buf, sizeof(buf) - 1);
        safe_close(fd);
        buf[MAX(n, 0)] = '\0';
        return buf;
}

/* ---- acts ---- */

static int open_reading(void) {
        return opened(open("w/f", O_RDONLY));
}

static int open_read_write(void) {
        return opened(open("w/sub/f", O_RDWR | O_APPEND));
}

static int open_truncating(void) {
        return opened(open("w/f", O_WRONLY | O_TRUNC));
}

static int open_reading_and_truncating(void) {
        return opened(open("w/f", O_RDONLY | O_TRUNC));
}

static int open_creating(void) {
        return opened(open("w/new", O_WRONLY | O_CREAT, 0644));
}

static int open_creating_exclusively(void) {
        return opened(open("w/sub/new", O_RDWR | O_CREAT | O_EXCL, 0600));
}

static int open_creating_for_reading(void) {
        return opened(open("w/new", O_RDONLY | O_CREAT, 0644));
}

static int open_or_create_for_reading(void) {
        return opened(open("w/f", O_RDONLY | O_CREAT, 0644));
}

static int open_by_shell_words(void) {
        return opened(open("w/f", O_WRONLY | O_CREAT | O_TRUNC, 0644));
}

static int open_by_creat(void) {
        return opened(creat("w/f", 0644));
}

static int open_nameless(void) {
        return opened(open("w/sub", O_TMPFILE | O_RDWR, 0600));
}

static int open_by_openat2(void) {
        struct open_how how = {.flags = O_WRONLY};

        return opened(syscall(SYS_openat2, AT_FDCWD, "w/f", &how, sizeof(how)));
}

static int open_reading_by_openat2(void) {
        struct open_how how = {.flags = O_RDONLY};

        return opened(syscall(SYS_openat2, AT_FDCWD, "w/f", &how, sizeof(how)));
}

static int open_by_handle(void) {
        union {
                struct file_handle h;
                char room[sizeof(struct file_handle) + 128];
        } b = {.h.handle_bytes = 128};
        int mount_id, dir = open("w", O_RDONLY | O_DIRECTORY);

        if (dir < 0 || name_to_handle_at(AT_FDCWD, "w/f", &b.h, &mount_id, 0) < 0)
                return 1000 & 0xff;
        return opened(open_by_handle_at(dir, &b.h, O_WRONLY));
}

/* One openat through a ring, without liburing. */
static int ring_open(const char *path, int flags) {
        struct io_uring_params p = {0};
        int fd = (int) syscall(SYS_io_uring_setup, 1, &p);
        char *sq, *cq;
        struct io_uring_sqe *sqe;
        struct io_uring_cqe *cqe;

        if (fd < 0)
                return ENOSYS;
        sq = mmap(NULL, p.sq_off.array + sizeof(unsigned), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                  IORING_OFF_SQ_RING);
        cq = mmap(NULL, p.cq_off.cqes + 2 * sizeof(*cqe), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                  IORING_OFF_CQ_RING);
        sqe = mmap(NULL, sizeof(*sqe), PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
        if (sq == MAP_FAILED || cq == MAP_FAILED || sqe == MAP_FAILED)
                return ENOSYS;
        *sqe = (struct io_uring_sqe){
                .opcode = IORING_OP_OPENAT,
                .fd = AT_FDCWD,
                .addr = (uintptr_t) path,
                .open_flags = (unsigned) flags,
        };
        *(unsigned *) (void *) (sq + p.sq_off.array) = 0;
        __atomic_store_n((unsigned *) (void *) (sq + p.sq_off.tail), 1, __ATOMIC_RELEASE);
        if (syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
                return errno;
        cqe = (void *) (cq + p.cq_off.cqes);
        return cqe->res < 0 ? -cqe->res : 0;
}

static int open_by_ring(void) {
        return ring_open("w/f", O_WRONLY);
}

static int has_ring(void) {
        return ring_open("o/f", O_RDONLY);
}

#ifdef __x86_64__
static int open_as_i386(void) {
        char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
        long r;

        (void) memcpy(low, "w/f", sizeof("w/f"));
        __asm__ volatile("int $0x80"
                         : "=a"(r)
                         : "a"(5), "b"(low), "c"(O_WRONLY), "d"(0)
                         : "memory");
        return r < 0 ? (int) -r : 0;
}
#endif

static void *write_in_thread(void *userdata) {
        return (void *) (intptr_t) open_writing();
}

static int open_in_thread(void) {
        pthread_t t;
        void *r;

        if (pthread_create(&t, NULL, write_in_thread, NULL) != 0)
                return 255;
        (void) pthread_join(t, &r);
        return (int) (intptr_t) r;
}

/* In a thread whose process's main thread has ended. */
static void *write_and_leave(void *userdata) {
        (void) usleep(10000);
        _exit(open_writing());
}

static int open_in_orphaned_thread(void) {
        pthread_t t;

        if (pthread_create(&t, NULL, write_and_leave, NULL) != 0)
                return 255;
        (void) syscall(SYS_exit, 0);
        return 255;
}

static int open_in_grandchild(void) {
        int status;
        pid_t pid = fork();

        if (pid == 0)
                _exit(open_writing());
        if (waitpid(pid, &status, 0) != pid)
                return 255;
        return WEXITSTATUS(status);
}

static int do_everything(void) {
        int fd = open("w/theirs", O_RDWR | O_CREAT | O_EXCL, 0644);

        if (fd < 0 || write(fd, "x", 1) != 1 || ftruncate(fd, 0) < 0 || close(fd) < 0)
                return errno;
        fd = open("w/theirs", O_RDONLY);
        if (fd < 0 || close(fd) < 0 || rename("w/theirs", "w/sub/theirs") < 0)
                return errno;
        return unlink("w/sub/theirs") < 0 ? errno : 0;
}

/* ---- tests: refusing ---- */

static void member_is_refused_whatever_way_it_opens_for_writing(void **state) {
        static const struct {
                act_t act;
                AccessType type;
                const char *below;
        } cases[] = {
                {open_writing, ACCESS_OPEN, "/f"},
                {open_read_write, ACCESS_OPEN, "/sub/f"},
                {open_truncating, ACCESS_TRUNCATE, "/f"},
                {open_reading_and_truncating, ACCESS_TRUNCATE, "/f"},
                {open_by_shell_words, ACCESS_TRUNCATE, "/f"},
                {open_by_creat, ACCESS_TRUNCATE, "/f"},
                {open_by_openat2, ACCESS_OPEN, "/f"},
                {open_by_handle, ACCESS_OPEN, "/f"},
                {open_in_thread, ACCESS_OPEN, "/f"},
                {open_in_orphaned_thread, ACCESS_OPEN, "/f"},
                {open_in_grandchild, ACCESS_OPEN, "/f"},
        };
        HoldFixture *f = held(state, fixture.path, VERB_REFUSE, FOREVER);

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const Attempt *a;
                char path[256];

                if (cases[i].act == open_in_grandchild && !f->connector) {
                        print_message("not run: a grandchild, without the process connector\n");
                        continue;
                }
                assert_int_equal(as_member(f, cases[i].act), EPERM);
                a = fixture_take(f);
                (void) snprintf(path, sizeof(path), "%s%s", f->path, cases[i].below);
                assert_string_equal(a->access.path, path);
                assert_int_equal(a->access.type, cases[i].type);
                assert_int_equal(a->access.kind, KIND_FILE);
                assert_string_equal(a->session, SESSION);
                assert_string_equal(a->watch, "test");
                assert_false(a->pending);
                assert_false(a->fell_back);
        }
        assert_string_equal(content_of("w/f"), "old\n");
        assert_string_equal(content_of("w/sub/f"), "old\n");
        assert_int_equal(hold_take_lapses(f->hold), 0);
}

static void member_is_refused_through_io_uring(void **state) {
        HoldFixture *f = held(state, fixture.path, VERB_REFUSE, FOREVER);

        if (as_bystander(f, has_ring) != 0) {
                print_message("skipped: no io_uring\n");
                skip();
        }
        assert_int_equal(as_member(f, open_by_ring), EPERM);
        assert_string_equal(content_of("w/f"), "old\n");
}

static void member_of_32_bits_is_refused(void **state) {
#ifdef __x86_64__
        HoldFixture *f = held(state, fixture.path, VERB_REFUSE, FOREVER);
        int r = as_member(f, open_as_i386);

        if (r == ENOSYS) {
                print_message("skipped: this kernel runs no i386 programs\n");
                skip();
        }
        assert_int_equal(r, EPERM);
#else
        print_message("skipped: not on this machine\n");
        skip();
#endif
}

static void member_may_read(void **state) {
        HoldFixture *f = held(state, fixture.path, VERB_REFUSE, FOREVER);

        assert_int_equal(as_member(f, open_reading), 0);
        assert_int_equal(as_member(f, open_reading_by_openat2), 0);
        assert_int_equal(as_member(f, open_or_create_for_reading), 0);
        assert_int_equal(f->n_judged, 0);
}

static void member_may_do_what_is_allowed(void **state) {
        HoldFixture *f = held(state, fixture.path, VERB_LET, FOREVER);

        assert_int_equal(as_member(f, do_everything), 0);
        assert_int_equal(f->n_told, 0);
        assert_true(f->n_judged > 0);
}

static void guarded_member_is_not_judged_twice(void **state) {
        const SessionRule rule = {.id = SESSION, .policy = POLICY_DENY, .guarded = true};
        HoldFixture *f = held(state, fixture.path, VERB_REFUSE, FOREVER);

        assert_int_equal(members_set_rule(f->members, &rule), 0);
        assert_int_equal(as_member(f, open_writing), 0);
        assert_int_equal(f->n_judged, 0);
}

/* ---- tests: what a refused create leaves ---- */

/* Waits until the name is gone from the directory. */
static void assert_goes_away(const char *dir, const char *name) {
        int fd = inotify_init1(IN_CLOEXEC);
        char path[256], buf[4096];

        assert_true(fd >= 0);
        assert_true(inotify_add_watch(fd, dir, IN_DELETE) >= 0);
        (void) snprintf(path, sizeof(path), "%s/%s", dir, name);
        while (access(path, F_OK) == 0) {
                struct pollfd p = {.fd = fd, .events = POLLIN};

                if (poll(&p, 1, PATIENCE_MSEC) <= 0)
                        fail_msg("'%s' stays", path);
                assert_true(read(fd, buf, sizeof(buf)) > 0);
        }
        safe_close(fd);
}

static void refused_create_leaves_no_file(void **state) {
        HoldFixture *f = held(state, fixture.path, VERB_REFUSE, FOREVER);
        const Attempt *a;

        assert_int_equal(as_member(f, open_creating), EPERM);
        a = fixture_take(f);
        assert_int_equal(a->access.type, ACCESS_CREATE);
        assert_goes_away("w", "new");
        assert_int_equal(as_member(f, open_creating_exclusively), EPERM);
        assert_int_equal(fixture_take(f)->access.type, ACCESS_CREATE);
        assert_goes_away("w/sub", "new");
        assert_int_equal(as_member(f, open_creating_for_reading), EPERM);
        assert_int_equal(fixture_take(f)->access.type, ACCESS_CREATE);
        assert_goes_away("w", "new");
        assert_int_equal(as_member(f, open_nameless), EPERM);
        assert_int_equal(fixture_take(f)->access.type, ACCESS_CREATE);
}

static int create_and_leave_empty(void) {
        int fd = open("w/new", O_WRONLY | O_CREAT | O_EXCL, 0644);

        return fd < 0 || close(fd) < 0 ? errno : 0;
}

/* A lock file: empty, new, and somebody else's. */
static void empty_file_of_a_bystander_stays(void **state) {
        HoldFixture *f = held(state, fixture.path, VERB_REFUSE, FOREVER);

        for (int i = 0; i < 20; i++) {
                assert_int_equal(as_bystander(f, create_and_leave_empty), 0);
                assert_int_equal(as_member(f, open_creating), EPERM);
                assert_int_equal(fixture_take(f)->access.type, ACCESS_OPEN);
                assert_int_equal(access("w/new", F_OK), 0);
                assert_int_equal(unlink("w/new"), 0);
        }
}

/* ---- tests: bystanders ---- */

static void bystander_goes_on_while_a_member_waits(void **state) {
        HoldFixture *f = held(state, fixture.path, VERB_ASK, FOREVER);
        pid_t pid = child_start(f, true, open_writing);
        const Attempt *a = fixture_take(f);

        assert_true(a->pending);
        assert_int_equal(a->pid, pid);
        assert_true(is_held(pid));
        for (int i = 0; i < 100; i++) {
                assert_int_equal(as_bystander(f, do_everything), 0);
                assert_int_equal(as_bystander(f, open_writing), 0);
                assert_int_equal(as_bystander(f, open_truncating), 0);
        }
        assert_int_equal(as_member(f, open_reading), 0);
        assert_true(is_held(pid));
        assert_int_equal(hold_answer(f->hold, a->id, VERB_REFUSE), 0);
        assert_int_equal(child_end(pid), EPERM);
        assert_int_equal(hold_take_lapses(f->hold), 0);
}

static void this_process_is_let_even_as_a_member(void **state) {
        HoldFixture *f = held(state, fixture.path, VERB_REFUSE, FOREVER);

        assert_int_equal(members_add(f->members, getpid(), SESSION), 0);
        assert_int_equal(open_writing(), 0);
        assert_int_equal(open_in_thread(), 0);
        assert_int_equal(f->n_judged, 0);
}

static int open_fifo(void) {
        int fd = open("w/fifo", O_RDWR | O_NONBLOCK);

        return fd < 0 ? errno : open_reading();
}

/* Opening a fifo for reading would block whoever opens it for us. */
static void fifo_does_not_block(void **state) {
        HoldFixture *f = held(state, fixture.path, VERB_REFUSE, FOREVER);

        assert_int_equal(mkfifo("w/fifo", 0600), 0);
        assert_int_equal(as_bystander(f, open_fifo), 0);
        assert_int_equal(as_member(f, open_fifo), 0);
}

/* ---- tests: waiting ---- */

static void answer_comes_from_another_thread(void **state) {
        HoldFixture *f = held(state, fixture.path, VERB_ASK, FOREVER);
        pid_t first = child_start(f, true, open_writing);
        uint64_t first_id = fixture_take(f)->id;
        pid_t second = child_start(f, true, open_creating);
        uint64_t second_id = fixture_take(f)->id;

        assert_int_not_equal(first_id, second_id);
        assert_int_equal(hold_answer(f->hold, second_id, VERB_KILL), 0);
        assert_int_equal(child_end(second), EPERM);
        assert_goes_away("w", "new");
        assert_true(is_held(first));
        assert_int_equal(hold_answer(f->hold, first_id, VERB_LET), 0);
        assert_int_equal(child_end(first), 0);
        assert_int_equal(hold_answer(f->hold, first_id, VERB_REFUSE), -ENOENT);
        assert_int_equal(hold_answer(f->hold, 12345, VERB_LET), -ENOENT);
}

static void deadline_answers_what_nobody_does(void **state) {
        static const struct {
                Verb verb;
                bool preserve;
                int result;
                Verb told;
        } cases[] = {
                {VERB_ASK, false, EPERM, VERB_REFUSE}, {VERB_KILL, false, EPERM, VERB_REFUSE},
                {VERB_FREEZE, false, 0, VERB_LET},     {VERB_LET, true, 0, VERB_LET},
                {VERB_ASK, true, EPERM, VERB_REFUSE},
        };
        HoldFixture *f = held(state, fixture.path, VERB_ASK, 20000);

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                const Attempt *first, *second;

                f->verb = cases[i].verb;
                f->preserve = cases[i].preserve;
                assert_int_equal(as_member(f, open_writing), cases[i].result);
                first = fixture_take(f);
                assert_true(first->pending);
                assert_int_equal(first->decision.verb, cases[i].verb);
                second = fixture_take(f);
                assert_int_equal(second->id, first->id);
                assert_false(second->pending);
                assert_true(second->fell_back);
                assert_int_equal(second->decision.verb, cases[i].told);
                assert_string_equal(second->access.path, first->access.path);
                assert_int_equal(hold_take_lapses(f->hold), 0); /* it was told */
                assert_int_equal(hold_answer(f->hold, first->id, VERB_LET), -ENOENT);
        }
}

static void waiter_can_be_killed(void **state) {
        HoldFixture *f = held(state, fixture.path, VERB_ASK, FOREVER);
        pid_t pid = child_start(f, true, open_truncating);
        const Attempt *a = fixture_take(f);
        int status;

        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(hold_answer(f->hold, a->id, VERB_LET), 0);
        assert_string_equal(content_of("w/f"), "old\n");
        assert_int_equal(as_bystander(f, do_everything), 0);
}

static void too_many_fall_back(void **state) {
        HoldFixture *f = held(state, fixture.path, VERB_ASK, FOREVER);
        const Attempt *a, *b;
        pid_t pid;

        f->hold->max_pending = 1;
        pid = child_start(f, true, open_writing);
        a = fixture_take(f);
        assert_int_equal(as_member(f, open_writing), EPERM);
        b = fixture_take(f);
        assert_true(b->fell_back);
        assert_false(b->pending);
        f->verb = VERB_FREEZE;
        assert_int_equal(as_member(f, open_writing), 0);
        assert_int_equal(fixture_take(f)->decision.verb, VERB_LET);
        assert_int_equal(hold_take_lapses(f->hold), 0); /* it was told */
        assert_true(hold_is_waiting(f->hold, a->id));
        assert_int_equal(hold_answer(f->hold, a->id, VERB_LET), 0);
        assert_false(hold_is_waiting(f->hold, a->id));
        assert_int_equal(child_end(pid), 0);
}

static void end_of_the_hold_lets_the_waiting_go(void **state) {
        HoldFixture *f = held(state, fixture.path, VERB_ASK, FOREVER);
        pid_t pids[20];

        for (size_t i = 0; i < ELEMENTSOF(pids); i++) {
                pids[i] = child_start(f, true, open_writing);
                (void) fixture_take(f);
        }
        fixture_stop(f);
        for (size_t i = 0; i < ELEMENTSOF(pids); i++)
                assert_int_equal(child_end(pids[i]), 0);
}

/* ---- tests: many ---- */

enum {
        THREADS = 50,
        OPENS = 20,
};

static void *open_many(void *userdata) {
        intptr_t failed = 0;

        for (int i = 0; i < OPENS; i++) {
                int fd = open("w/f", i % 2 ? O_RDONLY : O_WRONLY);
                bool must_fail = userdata && i % 2 == 0;

                failed += (fd < 0) != must_fail || (fd < 0 && errno != EPERM);
                safe_close(fd);
        }
        return (void *) failed;
}

static int open_in_threads(void *member) {
        pthread_t t[THREADS];
        intptr_t failed = 0;

        for (int i = 0; i < THREADS; i++)
                if (pthread_create(&t[i], NULL, open_many, member) != 0)
                        return 255;
        for (int i = 0; i < THREADS; i++) {
                void *r;

                (void) pthread_join(t[i], &r);
                failed += (intptr_t) r;
        }
        return failed > 0 ? 1 : 0;
}

static int member_opens_many(void) {
        return open_in_threads(&fixture);
}

static int bystander_opens_many(void) {
        return open_in_threads(NULL);
}

static void each_of_many_gets_the_answer_that_is_its_own(void **state) {
        HoldFixture *f = held(state, fixture.path, VERB_REFUSE, FOREVER);
        pid_t member = child_start(f, true, member_opens_many);
        pid_t bystander = child_start(f, false, bystander_opens_many);

        assert_int_equal(child_end(member), 0);
        assert_int_equal(child_end(bystander), 0);
        for (int i = 0; i < THREADS * OPENS / 2; i++)
                (void) fixture_take(f);
        assert_int_equal(f->n_told, THREADS * OPENS / 2);
        assert_int_equal(hold_take_lapses(f->hold), 0);
}

enum {
        CHILDREN = 300,
        SPINNERS = 6,
};

/* How many of as many children, one after the other, do not get what they should: 255 at most. */
static int run_children(int expected) {
        int wrong = 0, status;

        for (int i = 0; i < CHILDREN; i++) {
                pid_t pid = fork();

                if (pid == 0)
                        _exit(open_writing());
                if (waitpid(pid, &status, 0) != pid)
                        return 254;
                wrong += WEXITSTATUS(status) != expected;
        }
        return MIN(wrong, 255);
}

static int run_refused_children(void) {
        return run_children(EPERM);
}

static int run_children_that_are_let(void) {
        return run_children(0);
}

/* A process opens the file as the first thing that it ever does, on a machine that has no processor to spare. */
static void newborn_is_known_for_what_it_is(void **state) {
        HoldFixture *f = held(state, fixture.path, VERB_REFUSE, FOREVER);
        pid_t spinners[SPINNERS], member, bystander;

        if (!f->connector) {
                print_message("skipped: no process connector\n");
                skip();
        }
        for (int i = 0; i < SPINNERS; i++) {
                spinners[i] = fork();
                if (spinners[i] == 0) {
                        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                        for (;;)
                                __asm__ volatile("");
                }
        }
        member = child_start(f, true, run_refused_children);
        bystander = child_start(f, false, run_children_that_are_let);
        assert_int_equal(child_end(member), 0);
        assert_int_equal(child_end(bystander), 0);
        for (int i = 0; i < SPINNERS; i++) {
                assert_int_equal(kill(spinners[i], SIGKILL), 0);
                assert_int_equal(waitpid(spinners[i], NULL, 0), spinners[i]);
        }
        assert_int_equal(hold_take_lapses(f->hold), 0);
}

int main(void) {
#define HELD(f) cmocka_unit_test_setup_teardown(f, mount_tmpfs, unmount)
        static const struct CMUnitTest tests[] = {
                HELD(member_is_refused_whatever_way_it_opens_for_writing),
                HELD(member_is_refused_through_io_uring),
                HELD(member_of_32_bits_is_refused),
                HELD(member_may_read),
                HELD(member_may_do_what_is_allowed),
                HELD(guarded_member_is_not_judged_twice),
                HELD(refused_create_leaves_no_file),
                HELD(empty_file_of_a_bystander_stays),
                HELD(bystander_goes_on_while_a_member_waits),
                HELD(this_process_is_let_even_as_a_member),
                HELD(fifo_does_not_block),
                HELD(answer_comes_from_another_thread),
                HELD(deadline_answers_what_nobody_does),
                HELD(waiter_can_be_killed),
                HELD(too_many_fall_back),
                HELD(end_of_the_hold_lets_the_waiting_go),
                HELD(newborn_is_known_for_what_it_is),
                HELD(each_of_many_gets_the_answer_that_is_its_own),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
