/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "common/strv.h"
#include "daemon/kernel/proc.h"

#define REST                                                                                   \
        " S 77 4242 77 34816 4242 4194304 912 3001 0 2 11 7 30 9 20 0 3 0 123456 8822784 980 " \
        "18446744073709551615 94 94 140 0 0 0 65536 4 65538 0 0 0 17 1 0 0 0 0 0\n"

static int parse_stat(const char *s, ProcStat *ret) {
        return proc_parse_stat(s, strlen(s), ret);
}

static void stat_of_any_name_is_read(void **state) {
        static const char *const names[] = {
                "(bash)", "(a) b)",      "())",        "()",    "(a\nb)",
                "(((()",  "() S 1 2 3)", "(\x80\xff)", "(x) )", "(kworker/0:1H-events_highpri)",
        };

        for (size_t i = 0; i < ELEMENTSOF(names); i++) {
                ProcStat st;
                char line[512];

                (void) snprintf(line, sizeof(line), "4242 %s" REST, names[i]);
                assert_int_equal(parse_stat(line, &st), 0);
                assert_int_equal(st.pid, 4242);
                assert_int_equal(st.ppid, 77);
                assert_int_equal(st.state, 'S');
                assert_int_equal(st.flags, 4194304);
                assert_int_equal(st.num_threads, 3);
                assert_int_equal(st.start_ticks, 123456);
        }
}

static void stat_of_a_kernel_thread_is_read(void **state) {
        ProcStat st;

        assert_int_equal(
                parse_stat("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 1 0 0 20 0 1 0 1 0 0\n",
                           &st),
                0);
        assert_int_equal(st.ppid, 0);
        assert_true(st.flags & 0x00200000);
        assert_int_equal(st.start_ticks, 1);
}

static void garbage_is_no_stat(void **state) {
        static const char *const lines[] = {
                "",
                "\n",
                "4242",
                "4242 (bash",
                "4242 (bash)",
                "4242 (bash) ",
                "4242 bash) S 1",
                "4242(bash)" REST,
                "-1 (bash)" REST,
                "99999999999 (bash)" REST,
                "4242 (bash) S 77 4242 77 34816 4242 4194304 912 3001 0 2 11 7 30 9 20 0 3 0",
                "4242 (bash) S 77 4242 77 34816 4242 4194304 912 3001 0 2 11 7 30 9 20 0 3 0 -5",
                "4242 (bash) S -7 4242 77 34816 4242 4194304 912 3001 0 2 11 7 30 9 20 0 3 0 5",
                "4242 (bash) S 77 4242 77 34816 4242 4194304 912 3001 0 2 11 7 30 9 20 0 3 0 5x",
                "4242 (bash) S 77 4242 77 34816 4242 4194304 912 3001 0 2 11 7 30 9 20 0 3 0 18446744073709551616",
                "4242 (bash) SS 77 4242 77 34816 4242 4194304 912 3001 0 2 11 7 30 9 20 0 3 0 5",
                "4242 (bash) S  77 4242 77 34816 4242 4194304 912 3001 0 2 11 7 30 9 20 0 3 0 5",
        };

        for (size_t i = 0; i < ELEMENTSOF(lines); i++) {
                ProcStat st = {.pid = 7};

                assert_int_equal(parse_stat(lines[i], &st), -EBADMSG);
                assert_int_equal(st.pid, 7);
        }
}

static void effective_uid_is_read(void **state) {
        static const char status[] =
                "Name:\tUid:\\t0\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t7\n"
                "Uid:\t1000\t1001\t1002\t1003\nGid:\t0\t0\t0\t0\n";
        static const char *const bad[] = {
                "",
                "Name:\tx\n",
                "Uid:",
                "Uid:\t",
                "Uid:\t1000",
                "Uid:\t1000\n1001\n",
                "Uid:\t1\t4294967296\t1\t1\n",
                "Uid:\t1\t-1\t1\t1\n",
                "xUid:\t1\t1\t1\t1\n",
        };
        uid_t uid = 5;

        assert_int_equal(proc_parse_status_uid(status, strlen(status), &uid), 0);
        assert_int_equal(uid, 1001);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                assert_int_equal(proc_parse_status_uid(bad[i], strlen(bad[i]), &uid), -EBADMSG);
                assert_int_equal(uid, 1001);
        }
}

static void command_line_keeps_every_argument(void **state) {
        static const struct {
                const char *data;
                size_t size;
                const char *args[5];
        } cases[] = {
#define CASE(s, ...)                \
        {                           \
                s, sizeof(s) - 1, { \
                        __VA_ARGS__ \
                }                   \
        }
                CASE("ls\0-l\0", "ls", "-l"),
                CASE("ls\0-l", "ls", "-l"),
                CASE("", NULL),
                CASE("\0", ""),
                CASE("sh\0-c\0echo 'a b'\nls\0", "sh", "-c", "echo 'a b'\nls"),
                CASE("touch\0\0", "touch", ""),
                CASE("touch\0\0x\0\0", "touch", "", "x", ""),
                CASE("sshd: user [priv]\0\0\0\0\0\0", "sshd: user [priv]"),
                CASE("\xff\xfe\0", "\xff\xfe"),
#undef CASE
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_(strv_freep) char **v = NULL;
                size_t n = 0;

                assert_int_equal(proc_parse_cmdline(cases[i].data, cases[i].size, &v), 0);
                for (; cases[i].args[n]; n++) {
                        assert_non_null(v[n]);
                        assert_string_equal(v[n], cases[i].args[n]);
                }
                assert_null(v[n]);
        }
}

static void long_command_line_is_cut_and_says_so(void **state) {
        const size_t size = PROC_CMDLINE_MAX + 1;
        _cleanup_free_ char *data = malloc(size);
        _cleanup_(strv_freep) char **one = NULL, **many = NULL;
        size_t n;

        assert_non_null(data);
        memset(data, 'x', size);
        memcpy(data, "cat", 4);
        assert_int_equal(proc_parse_cmdline(data, size, &one), 0);
        assert_int_equal(strv_length(one), 2);
        assert_string_equal(one[0], "cat");
        assert_int_equal(strlen(one[1]), PROC_CMDLINE_MAX - 4 + strlen("…"));
        assert_string_equal(one[1] + PROC_CMDLINE_MAX - 4, "…");

        for (size_t i = 0; i < size; i += 2) {
                data[i] = 'a';
                if (i + 1 < size)
                        data[i + 1] = '\0';
        }
        assert_int_equal(proc_parse_cmdline(data, size, &many), 0);
        n = strv_length(many);
        assert_in_range(n, 1000, 10000);
        assert_string_equal(many[0], "a");
        assert_string_equal(many[n - 1], "a…");
}

static void own_details_are_complete(void **state) {
        ProcessDetails d = {0};
        ProcStat st;
        char exe[4096], cwd[4096];
        ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

        assert_true(n > 0);
        exe[n] = '\0';
        assert_non_null(getcwd(cwd, sizeof(cwd)));
        assert_int_equal(proc_read_details(getpid(), &d), 0);
        assert_int_equal(proc_read_stat(getpid(), &st), 0);
        assert_int_equal(d.pid, getpid());
        assert_int_equal(d.ppid, getppid());
        assert_int_equal(d.uid, geteuid());
        assert_int_equal(d.start_ticks, st.start_ticks);
        assert_non_null(d.program);
        assert_string_equal(d.program->exe, exe);
        assert_string_equal(d.program->cwd, cwd);
        assert_non_null(d.program->cmdline);
        program_unref(d.program);
}

static pid_t spawn_named(const char *name) {
        pid_t pid = fork();

        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                (void) prctl(PR_SET_NAME, name);
                for (;;)
                        (void) pause();
        }
        assert_true(pid > 0);
        return pid;
}

static void living_process_with_a_nasty_name_is_read(void **state) {
        pid_t pid = spawn_named(") R 1 1\n(");
        ProcessDetails d = {0};

        assert_int_equal(proc_read_details(pid, &d), 0);
        assert_int_equal(d.ppid, getpid());
        assert_int_equal(d.uid, geteuid());
        program_unref(d.program);
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, NULL, 0);
}

static void zombie_has_no_program(void **state) {
        ProcessDetails d = {0};
        siginfo_t info;
        pid_t pid = fork();

        if (pid == 0)
                _exit(0);
        assert_true(pid > 0);
        assert_int_equal(waitid(P_PID, (id_t) pid, &info, WEXITED | WNOWAIT), 0);
        assert_int_equal(proc_read_details(pid, &d), 0);
        assert_null(d.program);
        assert_int_equal(d.ppid, getpid());
        (void) waitpid(pid, NULL, 0);
        assert_int_equal(proc_read_details(pid, &d), -ESRCH);
}

static void kernel_thread_has_no_program(void **state) {
        ProcessDetails d = {0};
        ProcStat st;

        if (proc_read_stat(2, &st) < 0 || !(st.flags & 0x00200000)) {
                print_message("pid 2 is no kernel thread: in a pid namespace of its own\n");
                skip();
        }
        assert_int_equal(proc_read_details(2, &d), 0);
        if (d.program) { /* its working directory can be read */
                assert_null(d.program->exe);
                assert_null(d.program->cmdline);
        }
        program_unref(d.program);
}

static void missing_process_is_esrch(void **state) {
        ProcessDetails d;
        ProcStat st;

        assert_int_equal(proc_read_stat(0, &st), -ESRCH);
        assert_int_equal(proc_read_stat(-1, &st), -ESRCH);
        assert_int_equal(proc_read_stat(INT32_MAX, &st), -ESRCH);
        assert_int_equal(proc_read_details(INT32_MAX, &d), -ESRCH);
}

static void list_has_ourselves(void **state) {
        _cleanup_free_ pid_t *pids = NULL;
        size_t n = 0, found = 0;

        assert_int_equal(proc_list(&pids, &n), 0);
        for (size_t i = 0; i < n; i++) {
                assert_true(pids[i] > 0);
                found += pids[i] == getpid();
        }
        assert_int_equal(found, 1);
}

static void children_are_noticed(void **state) {
        pid_t pid = spawn_named("child");

        assert_true(proc_has_children(getpid()));
        assert_false(proc_has_children(pid));
        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, NULL, 0);
}

int main(void) {
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(stat_of_any_name_is_read),
                cmocka_unit_test(stat_of_a_kernel_thread_is_read),
                cmocka_unit_test(garbage_is_no_stat),
                cmocka_unit_test(effective_uid_is_read),
                cmocka_unit_test(command_line_keeps_every_argument),
                cmocka_unit_test(long_command_line_is_cut_and_says_so),
                cmocka_unit_test(own_details_are_complete),
                cmocka_unit_test(living_process_with_a_nasty_name_is_read),
                cmocka_unit_test(zombie_has_no_program),
                cmocka_unit_test(kernel_thread_has_no_program),
                cmocka_unit_test(missing_process_is_esrch),
                cmocka_unit_test(list_has_ourselves),
                cmocka_unit_test(children_are_noticed),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
