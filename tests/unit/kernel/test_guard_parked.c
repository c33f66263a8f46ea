/* SPDX-License-Identifier: MIT */
/* Calls that wait for an answer: how they are answered, once each, and what becomes of them when nobody does. */
#include "guard_fixture.h"

#include "daemon/kernel/batch.h"
#include "daemon/kernel/cgroup.h"

#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>

static Fixture fixture;

#define ACTION(name, ...)             \
        static long name(void) {      \
                return (__VA_ARGS__); \
        }

ACTION(a_unlink, syscall(SYS_unlink, "w/f"))

static bool exists(const char *name) {
        char path[128];

        (void) snprintf(path, sizeof(path), "%s/%s", fixture.base, name);
        return access(path, F_OK) == 0;
}

static void make_tree(void) {
        run("cd %s && rm -rf w/* o/* && mkdir w/d && echo text >w/f && echo g >w/d/g",
            fixture.base);
        fixture_forget(&fixture);
}

static void decide_as(Verb verb) {
        (void) pthread_mutex_lock(&fixture.lock);
        fixture.decision = (Decision){.verb = verb, .violation = true};
        (void) pthread_mutex_unlock(&fixture.lock);
}

/* The child waits in its call. */
static uint64_t begin(fixture_action_t action, Verb verb, usec_t deadline) {
        const Attempt *a;

        make_tree();
        decide_as(verb);
        fixture_go(fixture_start(&fixture, NULL, action, deadline));
        a = fixture_await(&fixture, 1);
        assert_true(a->pending);
        assert_int_equal(a->pid, fixture.child);
        assert_true(a->id <= INT64_MAX);
        return a->id;
}

static void an_answer_lets_it_go_on(void **state) {
        uint64_t id = begin(a_unlink, VERB_ASK, FIXTURE_DEADLINE);

        assert_true(exists("w/f"));
        assert_int_equal(guard_answer(fixture.guard, id, VERB_LET), 0);
        assert_int_equal(fixture_reap(&fixture), 0);
        assert_false(exists("w/f"));
        assert_int_equal(guard_answer(fixture.guard, id, VERB_REFUSE), -ENOENT);
        fixture_end(&fixture);
        assert_int_equal(fixture.n_told, 1);
}

static void an_answer_refuses_it(void **state) {
        uint64_t id = begin(a_unlink, VERB_ASK, FIXTURE_DEADLINE);

        assert_int_equal(guard_answer(fixture.guard, id, VERB_REFUSE), 0);
        assert_int_equal(fixture_reap(&fixture), EPERM);
        assert_true(exists("w/f"));
        fixture_end(&fixture);
}

/* What is to be kept is handed over first, also when it will be let. */
static void what_is_to_be_kept_waits(void **state) {
        uint64_t id;

        make_tree();
        fixture.decision = (Decision){.verb = VERB_LET, .preserve = true};
        fixture_go(fixture_start(&fixture, NULL, a_unlink, FIXTURE_DEADLINE));
        id = fixture_await(&fixture, 1)->id;
        assert_true(exists("w/f"));
        assert_int_equal(guard_answer(fixture.guard, id, VERB_LET), 0);
        assert_int_equal(fixture_reap(&fixture), 0);
        fixture_end(&fixture);
}

static void nobody_answers_an_ask(void **state) {
        const Attempt *a;
        uint64_t id = begin(a_unlink, VERB_ASK, 1000);

        assert_int_equal(fixture_reap(&fixture), EPERM);
        a = fixture_await(&fixture, 2);
        assert_true(a->id == id && !a->pending && a->fell_back);
        assert_int_equal(a->decision.verb, VERB_REFUSE);
        assert_string_equal(a->access.path + strlen(fixture.base), "/w/f");
        assert_int_equal(guard_answer(fixture.guard, id, VERB_LET), -ENOENT);
        assert_true(exists("w/f"));
        fixture_end(&fixture);
}

static void nobody_answers_anything_else(void **state) {
        const Attempt *a;

        (void) begin(a_unlink, VERB_FREEZE, 1000);
        assert_int_equal(fixture_reap(&fixture), 0);
        a = fixture_await(&fixture, 2);
        assert_true(!a->pending && a->fell_back);
        assert_int_equal(a->decision.verb, VERB_LET);
        assert_int_equal(guard_take_lapses(fixture.guard), 0); /* it was told */
        fixture_end(&fixture);
}

static void a_killed_caller_is_forgotten(void **state) {
        const Attempt *a;
        uint64_t id = begin(a_unlink, VERB_ASK, FIXTURE_DEADLINE);

        assert_int_equal(kill(fixture.child, SIGKILL), 0);
        assert_int_equal(fixture_reap(&fixture), 1000 + SIGKILL);
        a = fixture_await(&fixture, 2);
        assert_true(a->id == id && !a->pending && !a->fell_back);
        assert_int_equal(a->decision.verb, VERB_LET);
        assert_int_equal(guard_answer(fixture.guard, id, VERB_LET), -ENOENT);
        assert_true(exists("w/f"));
        fixture_end(&fixture);
}

static void default_ctrl_c_ends_a_caller(void **state) {
        (void) begin(a_unlink, VERB_ASK, FIXTURE_DEADLINE);
        assert_int_equal(kill(fixture.child, SIGINT), 0);
        assert_int_equal(fixture_reap(&fixture), 1000 + SIGINT);
        (void) fixture_await(&fixture, 2);
        fixture_end(&fixture);
}

static volatile sig_atomic_t handled;

static void handler(int signal) {
        handled++;
}

static long a_handles_interrupt(void) {
        const struct sigaction action = {.sa_handler = handler};

        if (sigaction(SIGINT, &action, NULL) < 0)
                return -1;
        if (syscall(SYS_unlink, "w/f") == 0 || errno != EINTR)
                return -1;
        errno = handled == 1 ? 0 : ERANGE;
        return handled == 1 ? 0 : -1;
}

/* An interpreter has a handler of its own, which a killable wait would keep waiting as well. */
static void handled_ctrl_c_interrupts_the_call(void **state) {
        const Attempt *a;

        (void) begin(a_handles_interrupt, VERB_ASK, FIXTURE_DEADLINE);
        assert_int_equal(kill(fixture.child, SIGINT), 0);
        a = fixture_await(&fixture, 2);
        assert_true(!a->pending && !a->fell_back);
        assert_int_equal(fixture_reap(&fixture), 0);
        assert_true(exists("w/f"));
        fixture_end(&fixture);
}

static long a_with_timer(void) {
        const struct sigaction action = {.sa_handler = handler};
        const struct itimerval often = {{0, 1000}, {0, 1000}};

        if (sigaction(SIGALRM, &action, NULL) < 0 || setitimer(ITIMER_REAL, &often, NULL) < 0)
                return -1;
        return syscall(SYS_unlink, "w/f");
}

/* Go preempts its threads by a signal every 10 ms: a call must not begin anew each time. */
static void a_timer_does_not_start_the_call_anew(void **state) {
        const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
        uint64_t id = begin(a_with_timer, VERB_ASK, FIXTURE_DEADLINE);

        (void) nanosleep(&pause, NULL); /* many alarms */
        assert_int_equal(guard_answer(fixture.guard, id, VERB_LET), 0);
        assert_int_equal(fixture_reap(&fixture), 0);
        fixture_end(&fixture);
        assert_int_equal(fixture.n_told, 1);
}

static void an_end_lets_everything(void **state) {
        (void) begin(a_unlink, VERB_ASK, FIXTURE_DEADLINE);
        fixture.guard = guard_free(fixture.guard);
        assert_int_equal(fixture_reap(&fixture), 0);
        assert_false(exists("w/f"));
        fixture_end(&fixture);
}

/* ---- freeze ---- */

static bool is_frozen(int events) {
        char text[256] = {};

        assert_true(pread(events, text, sizeof(text) - 1, 0) > 0);
        return strstr(text, "frozen 1");
}

static void a_call_is_taken_back_for_a_freeze(void **state) {
        _cleanup_free_ char *root = NULL, *cgroup = NULL;
        _cleanup_close_ int events = -1;
        struct pollfd p = {.events = POLLPRI};
        uint64_t id;

        if (cgroup_find_root(&root) < 0) {
                print_message("skipped: no cgroup v2\n");
                skip();
        }
        id = begin(a_unlink, VERB_FREEZE, FIXTURE_DEADLINE);
        if (cgroup_create_for(root, fixture.child, "guardtest", &cgroup) < 0) {
                (void) guard_answer(fixture.guard, id, VERB_LET);
                (void) fixture_reap(&fixture);
                fixture_end(&fixture);
                print_message("skipped: no cgroup v2 to write to\n");
                skip();
        }
        p.fd = events = cgroup_open_events(cgroup);
        assert_int_equal(cgroup_freeze(cgroup, true), 0);
        assert_int_equal(guard_answer(fixture.guard, id, VERB_FREEZE), 0);
        while (!is_frozen(events))
                assert_true(poll(&p, 1, -1) > 0);
        assert_true(exists("w/f"));
        assert_int_equal(fixture.n_told, 1);
        /* thawed, it makes its call anew, and that is judged anew */
        decide_as(VERB_LET);
        assert_int_equal(cgroup_freeze(cgroup, false), 0);
        assert_int_equal(fixture_reap(&fixture), 0);
        assert_false(exists("w/f"));
        fixture_end(&fixture);
        assert_int_equal(cgroup_dissolve(cgroup), 0);
}

/* ---- many ---- */

#define EXTRA 3
#define CALLS (GATE_PENDING_MAX + EXTRA)

static void *call_in_thread(void *result) {
        long *r = result;

        *r = syscall(SYS_unlink, "w/f") < 0 ? -errno : 0;
        return NULL;
}

/* As many as are refused, as an errno. */
static long a_many(void) {
        static pthread_t threads[CALLS];
        static long results[CALLS];
        pthread_attr_t small;
        int refused = 0;

        (void) pthread_attr_init(&small);
        (void) pthread_attr_setstacksize(&small, 64 * 1024);
        for (size_t i = 0; i < CALLS; i++)
                while (pthread_create(&threads[i], &small, call_in_thread, &results[i]) != 0)
                        (void) sched_yield(); /* a machine that is short of threads for a moment */
        for (size_t i = 0; i < CALLS; i++) {
                (void) pthread_join(threads[i], NULL);
                refused += results[i] == -EPERM;
        }
        errno = refused;
        return -1;
}

static void too_many_are_not_parked(void **state) {
        unsigned parked = 0, fell_back = 0;

        make_tree();
        decide_as(VERB_ASK);
        fixture_go(fixture_start(&fixture, NULL, a_many, FIXTURE_DEADLINE));
        (void) fixture_await(&fixture, CALLS);
        for (const Attempt *a = fixture.attempts; a; a = a->next) {
                parked += a->pending;
                fell_back += a->fell_back && a->decision.verb == VERB_REFUSE;
        }
        assert_int_equal(parked, GATE_PENDING_MAX);
        assert_int_equal(fell_back, EXTRA);
        /* the first of them deletes it; the others find nothing */
        for (const Attempt *a = fixture.attempts; a; a = a->next)
                if (a->pending)
                        assert_int_equal(guard_answer(fixture.guard, a->id, VERB_LET), 0);
        assert_int_equal(fixture_reap(&fixture), EXTRA);
        fixture_end(&fixture);
}

/* ---- ledger ---- */

typedef struct Entries {
        unsigned n, refused;
} Entries;

static void count(uint64_t notification, bool refuse, void *userdata) {
        Entries *e = userdata;

        e->n++;
        e->refused += refuse;
}

static Entries entries_of(GuardLedger *l) {
        Entries e = {};

        guard_ledger_foreach(l, UINT64_MAX, count, &e);
        return e;
}

static void what_waits_stands_in_the_ledger(void **state) {
        _cleanup_(guard_ledger_freep) GuardLedger *ledger = NULL;
        uint64_t id;

        assert_int_equal(guard_ledger_new(&ledger, &fixture.ledger_fd), 0);
        id = begin(a_unlink, VERB_ASK, FIXTURE_DEADLINE);
        assert_int_equal(entries_of(ledger).n, 1);
        assert_int_equal(entries_of(ledger).refused, 1);
        assert_int_equal(guard_answer(fixture.guard, id, VERB_LET), 0);
        assert_int_equal(fixture_reap(&fixture), 0);
        assert_int_equal(entries_of(ledger).n, 0);
        assert_false(guard_ledger_is_released(ledger));
        guard_ledger_add_lapse(ledger);
        assert_int_equal(guard_take_lapses(fixture.guard), 1);
        assert_int_equal(guard_take_lapses(fixture.guard), 0);
        fixture_end(&fixture);
        assert_true(guard_ledger_is_released(ledger));
}

static void note(uint64_t notification, bool refuse, void *userdata) {
        *(bool *) userdata = true;
}

/* However long an answer may take: an old entry, or no beat, means that the daemon stands still. */
static void what_waits_is_entered_anew(void **state) {
        _cleanup_(guard_ledger_freep) GuardLedger *ledger = NULL;
        const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
        uint64_t id, beats;
        nsec_t begun;
        bool old;

        assert_int_equal(guard_ledger_new(&ledger, &fixture.ledger_fd), 0);
        id = begin(a_unlink, VERB_ASK, FIXTURE_DEADLINE);
        begun = clock_nsec();
        beats = guard_ledger_beats(ledger);
        do {
                (void) nanosleep(&pause, NULL);
                old = false;
                guard_ledger_foreach(ledger, begun, note, &old);
        } while (old || guard_ledger_beats(ledger) == beats);
        assert_int_equal(entries_of(ledger).n, 1);
        assert_int_equal(guard_answer(fixture.guard, id, VERB_LET), 0);
        assert_int_equal(fixture_reap(&fixture), 0);
        fixture_end(&fixture);
}

static void only_a_listener_will_do(void **state) {
        const GateHooks hooks = {.judge = fixture_judge,
                                 .tell = fixture_tell,
                                 .userdata = &fixture};
        Guard *g = NULL;

        assert_int_equal(guard_new(STDIN_FILENO, -1, fixture.sites, &hooks, 1, &g), -EINVAL);
        assert_int_equal(guard_new(-1, -1, fixture.sites, &hooks, 1, &g), -EINVAL);
        assert_null(g);
}

/* ---- a server that is stuck ---- */

static int fault_fd;
static char *fault_page;

/* Serves the page that the other thread names as its path, but only after a guarded call of its own. */
static void *serve_fault(void *unused) {
        static char page[4096] = "w/f";
        struct uffdio_copy copy = {.dst = (uintptr_t) fault_page,
                                   .src = (uintptr_t) page,
                                   .len = sizeof(page)};
        struct uffd_msg msg;

        if (read(fault_fd, &msg, sizeof(msg)) != sizeof(msg) || syscall(SYS_unlink, "w/d/g") < 0)
                _exit(95);
        (void) ioctl(fault_fd, UFFDIO_COPY, &copy);
        return NULL;
}

static long a_served_by_itself(void) {
        struct uffdio_api api = {.api = UFFD_API};
        struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};
        pthread_t thread;

        fault_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        fault_fd = (int) syscall(SYS_userfaultfd, O_CLOEXEC);
        range.range.start = (uintptr_t) fault_page;
        range.range.len = 4096;
        if (fault_fd < 0 || ioctl(fault_fd, UFFDIO_API, &api) < 0 ||
            ioctl(fault_fd, UFFDIO_REGISTER, &range) < 0) {
                errno = ENOTSUP;
                return -1;
        }
        if (pthread_create(&thread, NULL, serve_fault, NULL) != 0)
                return -1;
        return syscall(SYS_unlink, fault_page);
}

/* The path of one call can only be read once another call has been answered. A FUSE server under test does that to its users. */
static void a_stuck_server_is_given_company(void **state) {
        int r;

        make_tree();
        decide_as(VERB_LET);
        fixture_go(fixture_start(&fixture, NULL, a_served_by_itself, FIXTURE_DEADLINE));
        r = fixture_reap(&fixture);
        fixture_end(&fixture);
        if (r == ENOTSUP) {
                print_message("skipped: no userfaultfd\n");
                skip();
        }
        assert_int_equal(r, 0);
        assert_string_equal(fixture.asked, "delete file w/d/g\ndelete file w/f");
}

/* One that hangs for good does not keep the daemon from ending the session. */
static long a_hanging(void) {
        struct uffdio_api api = {.api = UFFD_API};
        struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};

        fault_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        fault_fd = (int) syscall(SYS_userfaultfd, O_CLOEXEC);
        range.range.start = (uintptr_t) fault_page;
        range.range.len = 4096;
        if (fault_fd < 0 || ioctl(fault_fd, UFFDIO_API, &api) < 0 ||
            ioctl(fault_fd, UFFDIO_REGISTER, &range) < 0) {
                errno = ENOTSUP;
                return -1;
        }
        return syscall(SYS_unlink, fault_page);
}

static void a_hanging_server_is_not_waited_for(void **state) {
        make_tree();
        fixture_go(fixture_start(&fixture, NULL, a_hanging, FIXTURE_DEADLINE));
        fixture_end(&fixture);
        (void) kill(fixture.child, SIGKILL);
        (void) fixture_reap(&fixture);
        assert_string_equal(fixture.asked, "");
}

static int set_up(void **state) {
        fixture_init(&fixture);
        fixture_watch(&fixture, "w");
        return 0;
}

static int tear_down(void **state) {
        fixture_done(&fixture);
        return 0;
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_answer_lets_it_go_on),
                cmocka_unit_test(an_answer_refuses_it),
                cmocka_unit_test(what_is_to_be_kept_waits),
                cmocka_unit_test(nobody_answers_an_ask),
                cmocka_unit_test(nobody_answers_anything_else),
                cmocka_unit_test(a_killed_caller_is_forgotten),
                cmocka_unit_test(default_ctrl_c_ends_a_caller),
                cmocka_unit_test(handled_ctrl_c_interrupts_the_call),
                cmocka_unit_test(a_timer_does_not_start_the_call_anew),
                cmocka_unit_test(an_end_lets_everything),
                cmocka_unit_test(a_call_is_taken_back_for_a_freeze),
                cmocka_unit_test(too_many_are_not_parked),
                cmocka_unit_test(what_waits_stands_in_the_ledger),
                cmocka_unit_test(what_waits_is_entered_anew),
                cmocka_unit_test(only_a_listener_will_do),
                cmocka_unit_test(a_stuck_server_is_given_company),
                cmocka_unit_test(a_hanging_server_is_not_waited_for),
        };

        if (!scratch_can_mount())
                return 77;
        return cmocka_run_group_tests(tests, set_up, tear_down);
}
