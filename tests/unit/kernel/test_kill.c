/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "daemon/kernel/kill.h"
#include "daemon/kernel/proc.h"

static pid_t spawn(void) {
        pid_t pid = fork();

        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;)
                        (void) pause();
        }
        assert_true(pid > 0);
        return pid;
}

static uint64_t start_of(pid_t pid) {
        ProcStat st;

        assert_int_equal(proc_read_stat(pid, &st), 0);
        return st.start_ticks;
}

static void reap(pid_t pid, int sig) {
        int status;

        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), sig);
}

static void process_is_signalled(void **state) {
        pid_t pid = spawn();

        assert_int_equal(kill_process(pid, start_of(pid), SIGTERM), 0);
        reap(pid, SIGTERM);
}

static void unknown_start_is_not_compared(void **state) {
        pid_t pid = spawn();

        assert_int_equal(kill_process(pid, 0, SIGKILL), 0);
        reap(pid, SIGKILL);
}

/* The start time of a process of which only the fork message was seen is computed, and a tick later now and then. */
static void computed_start_is_accepted(void **state) {
        pid_t pid = spawn();

        assert_int_equal(kill_process(pid, start_of(pid) + 2, SIGKILL), 0);
        reap(pid, SIGKILL);
}

static void recycled_number_is_refused(void **state) {
        pid_t pid = spawn();
        uint64_t start = start_of(pid);

        /* Whoever had the number before began earlier. */
        assert_int_equal(kill_process(pid, start - 1, SIGKILL), -ESRCH);
        assert_int_equal(kill_process(pid, start + 100000, SIGKILL), -ESRCH);
        assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
        assert_int_equal(kill_process(pid, start, SIGKILL), 0);
        reap(pid, SIGKILL);
}

static void missing_process_is_esrch(void **state) {
        pid_t pid = spawn();

        assert_int_equal(kill_process(pid, 0, SIGKILL), 0);
        reap(pid, SIGKILL);
        assert_int_equal(kill_process(pid, 0, SIGKILL), -ESRCH);
}

static void *send_to_self(void *userdata) {
        (void) userdata;
        return (void *) (intptr_t) kill_process(gettid(), 0, SIGKILL);
}

static void ourselves_and_init_are_refused(void **state) {
        pthread_t thread;
        void *r = NULL;

        assert_int_equal(kill_process(getpid(), 0, SIGKILL), -EPERM);
        assert_int_equal(kill_process(1, 0, SIGKILL), -EPERM);
        assert_int_equal(kill_process(0, 0, SIGKILL), -EPERM);
        assert_int_equal(kill_process(-1, 0, SIGKILL), -EPERM);
        assert_int_equal(pthread_create(&thread, NULL, send_to_self, NULL), 0);
        assert_int_equal(pthread_join(thread, &r), 0);
        assert_int_equal((intptr_t) r, -EPERM);
}

static void kernel_thread_is_refused(void **state) {
        ProcStat st;

        if (proc_read_stat(2, &st) < 0 || !(st.flags & 0x00200000)) {
                print_message("pid 2 is no kernel thread: in a pid namespace of its own\n");
                skip();
        }
        assert_int_equal(kill_process(2, st.start_ticks, SIGKILL), -EPERM);
}

int main(void) {
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(process_is_signalled),
                cmocka_unit_test(unknown_start_is_not_compared),
                cmocka_unit_test(computed_start_is_accepted),
                cmocka_unit_test(recycled_number_is_refused),
                cmocka_unit_test(missing_process_is_esrch),
                cmocka_unit_test(ourselves_and_init_are_refused),
                cmocka_unit_test(kernel_thread_is_refused),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
