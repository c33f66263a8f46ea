/* SPDX-License-Identifier: MIT */
/* Samples are what Linux 6.18 shows for a thread that waits; real threads wait in the open of a fifo that nobody reads. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "daemon/kernel/proc_intent.h"

static int parse(const char *s, ProcSyscall *ret) {
        return proc_syscall_parse(s, strlen(s), ret);
}

static void call_and_arguments_are_read(void **state) {
        ProcSyscall s;

        assert_int_equal(parse("257 0xffffff9c 0x7ffee0c25da6 0x241 0x1b6 0x0 0x0 0x7ffee0c23358 "
                               "0x7f22e5c1f1ae\n",
                               &s),
                         0);
        assert_int_equal(s.number, 257);
        assert_true(s.args[0] == 0xffffff9c);
        assert_true(s.args[1] == 0x7ffee0c25da6);
        assert_true(s.args[2] == 0x241);
        assert_true(s.args[5] == 0);

        assert_int_equal(parse("-1 0x7ffc4b7d7d28 0x7f2c1c3b9b57\n", &s), 0);
        assert_int_equal(s.number, -1);
        assert_int_equal(parse("running\n", &s), 0);
        assert_int_equal(s.number, -1);
}

static void garbage_is_no_call(void **state) {
        static const char *const cases[] = {
                "",
                "\n",
                "257",
                "257 0x1 0x2 0x3 0x4 0x5 0x6",
                "257 0x1 0x2 0x3 0x4 0x5 0x6 0x7",
                "257 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x",
                "257  0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8",
                "257 1 2 3 4 5 6 7 8",
                "257 0x10000000000000000 0x2 0x3 0x4 0x5 0x6 0x7 0x8",
                "4294967296 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8",
                "-257 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8",
                "walking\n",
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                ProcSyscall s;

                assert_int_equal(parse(cases[i], &s), -EBADMSG);
        }
}

#ifdef __x86_64__
typedef struct Sample {
        const char *text;
        const char *intent; /* as text_of() puts it; "how" when the flags are in memory */
} Sample;
#endif

static const char *text_of(const Intent *i, char *buf, size_t size) {
        (void) snprintf(buf, size, "%s%s%s%s%s%s", i->known ? "" : "unknown ",
                        i->may_write ? "write" : "read", i->truncates ? " truncate" : "",
                        i->creates ? " create" : "", i->exclusive ? " exclusive" : "",
                        i->nameless ? " nameless" : "");
        return buf;
}

#ifdef __x86_64__
#define REST " 0x0 0x0 0x7ffee0c23358 0x7f22e5c1f1ae\n"
#define REST32 " 0x0 0x0 0xffb3a2c8 0xf7f2a579\n"

static void samples_are_understood(void **state) {
        static const Sample samples[] = {
                {"257 0xffffff9c 0x7ffee0c25da6 0x0 0x0" REST, "read"},
                {"257 0xffffff9c 0x55d6a4c0 0x80000 0x0" REST, "read"},
                {"257 0xffffff9c 0x55d6a4c0 0x241 0x1b6" REST, "write truncate create"},
                {"257 0xffffff9c 0x55d6a4c0 0x441 0x1b6" REST, "write create"},
                {"257 0x3 0x55d6a4c0 0xc1 0x180" REST, "write create exclusive"},
                {"257 0xffffff9c 0x55d6a4c0 0x80002 0x0" REST, "write"},
                {"257 0xffffff9c 0x55d6a4c0 0x200 0x0" REST, "read truncate"},
                {"257 0xffffff9c 0x55d6a4c0 0x40 0x1a4" REST, "read create"},
                {"257 0xffffff9c 0x55d6a4c0 0x3 0x0" REST, "write"},
                {"257 0xffffff9c 0x55d6a4c0 0x410082 0x180" REST, "write nameless"},
                {"2 0x55d6a4c0 0x8002 0x0 0x0" REST, "write"},
                {"2 0x55d6a4c0 0x0 0x1b6 0x0" REST, "read"},
                {"85 0x55d6a4c0 0x1a4 0x0 0x0" REST, "write truncate create"},
                {"304 0x3 0x55d6a4c0 0x1 0x0" REST, "write"},
                {"304 0x3 0x55d6a4c0 0x0 0x0" REST, "read"},
                {"59 0x55d6a4c0 0x55d6a4e0 0x55d6a500 0x0" REST, "read"},
                {"322 0xffffff9c 0x55d6a4c0 0x55d6a4e0 0x55d6a500" REST, "read"},
                {"437 0xffffff9c 0x55d6a4c0 0x7ffee0c23400 0x18" REST, "how"},
                /* what is submitted cannot be told */
                {"426 0x4 0x1 0x1 0x1" REST, "unknown write"},
                {"0 0x3 0x7ffee0c23400 0x1000 0x0" REST, "unknown write"},
                {"-1 0x7ffee0c23358 0x7f22e5c1f1ae\n", "unknown write"},
                {"running\n", "unknown write"},
                /* i386 */
                {"5 0xffb3b6e4 0x8241 0x1b6 0x0" REST32, "write truncate create"},
                {"5 0xffb3b6e4 0x8000 0x0 0x0" REST32, "read"},
                {"295 0xffffff9c 0xffb3b6e4 0x88000 0x0" REST32, "read"},
                {"295 0xffffff9c 0xffb3b6e4 0x8001 0x0" REST32, "write"},
                {"8 0xffb3b6e4 0x1a4 0x0 0x0" REST32, "write truncate create"},
                {"342 0x3 0xffb3b6e4 0x8002 0x0" REST32, "write"},
                {"11 0xffb3b6e4 0xffb3b7e4 0xffb3b8e4 0x0" REST32, "read"},
                {"437 0xffffff9c 0xffb3b6e4 0xffb3a400 0x18" REST32, "how"},
                /* x32 */
                {"1073742081 0xffffff9c 0xffb3b6e4 0x1 0x0" REST32, "write"},
                {"1073742344 0xffb3b6e4 0xffb3b7e4 0xffb3b8e4 0x0" REST32, "read"},
        };

        for (size_t i = 0; i < ELEMENTSOF(samples); i++) {
                char text[64];
                ProcSyscall s;
                uint64_t how;
                Intent intent;

                assert_int_equal(parse(samples[i].text, &s), 0);
                intent = intent_of_open(&s, &how);
                if (how)
                        assert_string_equal("how", samples[i].intent);
                else
                        assert_string_equal(text_of(&intent, text, sizeof(text)),
                                            samples[i].intent);
        }
}
#endif

/* ---- real threads ---- */

typedef void (*opener_t)(const char *fifo, int flags);

static void by_openat(const char *fifo, int flags) {
        (void) openat(AT_FDCWD, fifo, flags, 0600);
}

static void by_openat2(const char *fifo, int flags) {
        struct open_how how = {.flags = (uint64_t) (unsigned) flags};

        (void) syscall(SYS_openat2, AT_FDCWD, fifo, &how, sizeof(how));
}

#ifdef __x86_64__
static void by_open(const char *fifo, int flags) {
        (void) syscall(SYS_open, fifo, flags, 0600);
}

/* The calls of a 32-bit program: the kernel takes its table for int 0x80 from a 64-bit program, too. */
static long call_i386(long number, long a, long b, long c, long d) {
        long r;

        __asm__ volatile("int $0x80"
                         : "=a"(r)
                         : "a"(number), "b"(a), "c"(b), "d"(c), "S"(d)
                         : "memory");
        return r;
}

static void *low_memory(const void *data, size_t size) {
        void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT,
                       -1, 0);

        if (p == MAP_FAILED)
                _exit(1);
        memcpy(p, data, size);
        return p;
}

static void by_open_i386(const char *fifo, int flags) {
        (void) call_i386(5, (long) low_memory(fifo, strlen(fifo) + 1), flags, 0600, 0);
}

static void by_openat_i386(const char *fifo, int flags) {
        (void) call_i386(295, AT_FDCWD, (long) low_memory(fifo, strlen(fifo) + 1), flags, 0600);
}

static void by_openat2_i386(const char *fifo, int flags) {
        struct open_how how = {.flags = (uint64_t) (unsigned) flags};

        (void) call_i386(437, AT_FDCWD, (long) low_memory(fifo, strlen(fifo) + 1),
                         (long) low_memory(&how, sizeof(how)), sizeof(how));
}

static bool has_i386(void) {
        return call_i386(20, 0, 0, 0, 0) == getpid();
}
#endif

static void assert_shown_as(opener_t opener, int flags, const char *expected) {
        char dir[] = "/tmp/mwtest.XXXXXX", fifo[64], text[64];
        Intent intent = {0};
        ProcSyscall s = {.number = -1};
        pid_t pid;

        assert_non_null(mkdtemp(dir));
        (void) snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
        assert_int_equal(mkfifo(fifo, 0600), 0);
        pid = fork();
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                (void) raise(SIGSTOP);
                opener(fifo, flags);
                _exit(1);
        }
        assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
        assert_int_equal(kill(pid, SIGCONT), 0);
        /* Until it sleeps in its open; it may be seen in mmap or in the stop before. */
        for (int i = 0; i < 20000 && (!intent.known || s.number < 0); i++) {
                uint64_t how;

                assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
                (void) usleep(500);
                if (proc_syscall_read(pid, &s) < 0 || s.number < 0)
                        continue;
                (void) intent_of_open(&s, &how);
                intent = intent_read_open(pid);
        }
        assert_string_equal(text_of(&intent, text, sizeof(text)), expected);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_int_equal(unlink(fifo), 0);
        assert_int_equal(rmdir(dir), 0);
}

static void waiting_thread_tells_its_flags(void **state) {
        if (geteuid() != 0) {
                print_message("skipped: needs root\n");
                skip();
        }
        assert_shown_as(by_openat, O_WRONLY, "write");
        assert_shown_as(by_openat, O_RDONLY, "read");
        assert_shown_as(by_openat, O_WRONLY | O_CREAT | O_TRUNC, "write truncate create");
        assert_shown_as(by_openat2, O_WRONLY | O_TRUNC, "write truncate");
        assert_shown_as(by_openat2, O_RDONLY, "read");
#ifdef __x86_64__
        assert_shown_as(by_open, O_WRONLY | O_APPEND, "write");
        assert_shown_as(by_open, O_RDONLY, "read");
#endif
}

static void waiting_thread_of_a_32_bit_program_tells_its_flags(void **state) {
#ifdef __x86_64__
        if (geteuid() != 0 || !has_i386()) {
                print_message("skipped: needs root, and a kernel that runs i386 programs\n");
                skip();
        }
        assert_shown_as(by_open_i386, O_WRONLY | O_TRUNC, "write truncate");
        assert_shown_as(by_open_i386, O_RDONLY, "read");
        assert_shown_as(by_openat_i386, O_WRONLY, "write");
        assert_shown_as(by_openat_i386, O_RDONLY, "read");
        assert_shown_as(by_openat2_i386, O_WRONLY, "write");
        assert_shown_as(by_openat2_i386, O_RDONLY, "read");
#else
        print_message("skipped: no second table of calls is known for this machine\n");
        skip();
#endif
}

static void thread_that_is_gone_may_write(void **state) {
        Intent i = intent_read_open(4194304 + 1);

        assert_true(i.may_write);
        assert_false(i.known);
}

int main(void) {
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(call_and_arguments_are_read),
                cmocka_unit_test(garbage_is_no_call),
#ifdef __x86_64__
                cmocka_unit_test(samples_are_understood),
#endif
                cmocka_unit_test(waiting_thread_tells_its_flags),
                cmocka_unit_test(waiting_thread_of_a_32_bit_program_tells_its_flags),
                cmocka_unit_test(thread_that_is_gone_may_write),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
