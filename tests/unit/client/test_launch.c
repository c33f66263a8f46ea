/* SPDX-License-Identifier: MIT */
/* With real processes. The commands are shells that say with their status what they found. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>

#include "client/launch.h"
#include "common/macro.h"
#include "fixture.h"

static char *const *shell(const char *script) {
        static char *argv[] = {(char *) "sh", (char *) "-c", NULL, NULL};

        argv[2] = (char *) script;
        return argv;
}

/* Runs to the end; the status as a shell shows it. */
static int run(char *const *argv, int *ret_exec_errno) {
        int status = -1;
        Launch l;

        assert_int_equal(launch_fork(argv, NULL, &l), 0);
        assert_int_equal(launch_release(&l), 0);
        assert_int_equal(launch_wait(&l, NULL, &status, ret_exec_errno), 0);
        return status;
}

static void the_status_is_the_commands(void **state) {
        int error = -1;

        assert_int_equal(run(shell("exit 0"), &error), 0);
        assert_int_equal(error, 0);
        assert_int_equal(run(shell("exit 42"), &error), 42);
        assert_int_equal(run(shell("kill -9 $$"), &error), 128 + SIGKILL);
        assert_int_equal(run(shell("kill -TERM $$"), &error), 128 + SIGTERM);
        assert_int_equal(error, 0);
}

static void what_cannot_be_executed_is_told_apart(void **state) {
        int error = 0;

        assert_int_equal(run((char *[]){(char *) "mountwatch-no-such-command", NULL}, &error), 127);
        assert_int_equal(error, ENOENT);
        assert_int_equal(run((char *[]){(char *) "/", NULL}, &error), 126);
        assert_int_equal(error, EACCES);
}

static void an_aborted_command_never_starts(void **state) {
        char path[] = "/tmp/mountwatch-test-XXXXXX", script[128];
        int fd = mkstemp(path);
        Launch l;

        assert_true(fd >= 0);
        close(fd);
        snprintf(script, sizeof(script), "rm %s", path);
        assert_int_equal(launch_fork(shell(script), NULL, &l), 0);
        launch_abort(&l);
        assert_int_equal(access(path, F_OK), 0);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* and is not left behind */
}

/* In a child, so that the test's own signals stay as they are. */
static int in_child(int (*f)(void)) {
        int status;
        pid_t pid = fork();

        assert_true(pid >= 0);
        if (pid == 0)
                _exit(f());
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        return WEXITSTATUS(status);
}

static int run_plainly(char *const *argv) {
        pid_t pid = fork();

        if (pid == 0) {
                execvp(argv[0], argv);
                _exit(1);
        }
        /* ECHILD: SIGCHLD is ignored, and it has ended */
        return waitpid(pid, NULL, 0) == pid || errno == ECHILD ? 0 : 1;
}

/* What a command prints, run by launch.c or as it would be without. */
static int output_of(char *const *argv, bool launched, char buffer[static 512]) {
        int fds[2], r, error;
        ssize_t size;
        int saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);

        if (saved < 0 || pipe2(fds, O_CLOEXEC) < 0)
                return -1;
        (void) dup2(fds[1], STDOUT_FILENO);
        r = launched ? run(argv, &error) : run_plainly(argv);
        (void) dup2(saved, STDOUT_FILENO);
        close(saved);
        close(fds[1]);
        size = read(fds[0], buffer, 511);
        close(fds[0]);
        buffer[MAX(size, 0)] = '\0';
        return r;
}

static int compare(char *const *argv) {
        char plain[512], launched[512];

        if (output_of(argv, false, plain) != 0 || output_of(argv, true, launched) != 0)
                return 2;
        return *plain && strcmp(plain, launched) == 0 ? 0 : 1;
}

static int compare_signals(void) {
        sigset_t set;

        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        sigaddset(&set, SIGTERM);
        sigprocmask(SIG_BLOCK, &set, NULL);
        signal(SIGCHLD, SIG_IGN);
        signal(SIGINT, SIG_IGN);
        signal(SIGPIPE, SIG_DFL);
        return compare((char *[]){(char *) "grep", (char *) "-E", (char *) "Sig(Blk|Ign)",
                                  (char *) "/proc/self/status", NULL});
}

static void masks_and_dispositions_are_the_callers(void **state) {
        assert_int_equal(in_child(compare_signals), 0);
}

static int run_with_ignored_sigchld(void) {
        int error, status;

        signal(SIGCHLD, SIG_IGN);
        status = run(shell("exit 7"), &error);
        return status == 7 && signal(SIGCHLD, SIG_DFL) == SIG_IGN ? 0 : 1;
}

static void an_ignored_sigchld_does_not_lose_the_status(void **state) {
        assert_int_equal(in_child(run_with_ignored_sigchld), 0);
}

/* To us alone here; a terminal would send them to the command as well. */
static int run_interrupted(void) {
        int error;

        return run(shell("kill -INT $PPID; kill -QUIT $PPID; kill -TSTP $PPID; exit 3"), &error) ==
                        3
                ? 0
                : 1;
}

static void signals_of_the_terminal_are_the_commands_alone(void **state) {
        assert_int_equal(in_child(run_interrupted), 0);
}

static int run_terminated(void) {
        int error;

        return run(shell("trap 'exit 5' TERM; kill -TERM $PPID; while :; do sleep 0.01; done"),
                   &error) == 5 &&
                        run(shell("kill -HUP $PPID; exec sleep 60"), &error) == 128 + SIGHUP
                ? 0
                : 1;
}

static void what_is_sent_to_us_is_handed_on(void **state) {
        assert_int_equal(in_child(run_terminated), 0);
}

static void descriptors_are_inherited_and_ours_are_not(void **state) {
        int fds[2];

        assert_int_equal(pipe(fds), 0);
        assert_int_equal(dup2(fds[0], 9), 9);
        assert_int_equal(compare(shell("test -e /proc/$$/fd/9 && ls /proc/$$/fd")), 0);
        close(fds[0]);
        close(fds[1]);
        close(9);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_status_is_the_commands),
                cmocka_unit_test(what_cannot_be_executed_is_told_apart),
                cmocka_unit_test(an_aborted_command_never_starts),
                cmocka_unit_test(masks_and_dispositions_are_the_callers),
                cmocka_unit_test(an_ignored_sigchld_does_not_lose_the_status),
                cmocka_unit_test(signals_of_the_terminal_are_the_commands_alone),
                cmocka_unit_test(what_is_sent_to_us_is_handed_on),
                cmocka_unit_test(descriptors_are_inherited_and_ours_are_not),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
