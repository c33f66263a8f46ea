/* SPDX-License-Identifier: MIT */
/*
 * bench_guard [CALLS]    what the guard costs a call that does not touch a watch: unlink of a file beside it, as supervised by
 * the guard, by a bare loop that continues at once, and by nobody. Rounds of each in turn, so that all see the same machine;
 * medians. One JSON line.
 */
#include "common/guard_filter.h"
#include "common/guard_ledger.h"
#include "daemon/kernel/batch.h"
#include "daemon/kernel/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define ROUNDS 7
#define CALLS_DEFAULT 4000
#define WATCH "/tmp/mwbench-guard"

typedef enum Run {
        RUN_FREE,
        RUN_BARE,
        RUN_GUARDED,
        _RUNS,
} Run;

static void die(const char *what) {
        perror(what);
        exit(1);
}

/* Nothing is in the watch: nobody asks. */
static bool judge(Attempt *a, void *userdata) {
        return false;
}

static void tell(Attempt *a, void *userdata) {
        (void) attempt_free(a);
}

static void send_fd(int sock, int fd) {
        char room[CMSG_SPACE(sizeof(int))] = {}, byte = 0;
        struct iovec v = {&byte, 1};
        struct msghdr m = {.msg_iov = &v,
                           .msg_iovlen = 1,
                           .msg_control = room,
                           .msg_controllen = sizeof(room)};
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);

        *c = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
                              .cmsg_type = SCM_RIGHTS,
                              .cmsg_len = CMSG_LEN(sizeof(int))};
        memcpy(CMSG_DATA(c), &fd, sizeof(int));
        if (sendmsg(sock, &m, 0) != 1)
                die("sendmsg");
}

static int receive_fd(int sock) {
        char room[CMSG_SPACE(sizeof(int))], byte;
        struct iovec v = {&byte, 1};
        struct msghdr m = {.msg_iov = &v,
                           .msg_iovlen = 1,
                           .msg_control = room,
                           .msg_controllen = sizeof(room)};
        int fd;

        if (recvmsg(sock, &m, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&m))
                die("recvmsg");
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
        return fd;
}

static int compare(const void *a, const void *b) {
        double x = *(const double *) a, y = *(const double *) b;

        return (x > y) - (x < y);
}

static double median(double *values, size_t n) {
        qsort(values, n, sizeof(double), compare);
        return values[n / 2];
}

/* ns for one call */
typedef struct Cost {
        double p50, p99;
} Cost;

/* The file is made and removed, and the making is not counted. */
static Cost measure(unsigned calls) {
        double *spent = calloc(calls, sizeof(double));

        if (!spent)
                die("calloc");
        for (unsigned i = 0; i < calls; i++) {
                nsec_t begin;

                if (syscall(SYS_link, WATCH ".source", WATCH ".file") < 0)
                        die("link");
                begin = clock_nsec();
                if (syscall(SYS_unlink, WATCH ".file") < 0)
                        die("unlink");
                spent[i] = (double) (clock_nsec() - begin);
        }
        return (Cost){.p50 = median(spent, calls), .p99 = spent[calls * 99UL / 100]};
}

_Noreturn static void child_main(Run kind, int sock, unsigned calls) {
        Cost cost;
        char byte;

        if (kind != RUN_FREE) {
                int fd = guard_filter_install(/* no_io_uring= */ true);

                if (fd < 0)
                        die("filter");
                send_fd(sock, fd);
                (void) close(fd);
        }
        if (read(sock, &byte, 1) != 1)
                _exit(1);
        cost = measure(calls);
        if (write(sock, &cost, sizeof(cost)) != (ssize_t) sizeof(cost))
                _exit(1);
        _exit(0);
}

/* The least that a supervisor can do. */
static void serve_bare(int listener) {
        struct pollfd p = {.fd = listener, .events = POLLIN};

        while (poll(&p, 1, -1) >= 0 && !(p.revents & POLLHUP)) {
                struct seccomp_notif n = {};
                struct seccomp_notif_resp r = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

                if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0)
                        continue;
                r.id = n.id;
                (void) ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &r);
        }
}

/* As the guard asks for it: the same handover for both. */
static void *bare_thread(void *argument) {
        int listener = *(int *) argument;

        (void) ioctl(listener, SECCOMP_IOW(4, __u64), 1UL);
        (void) setpriority(PRIO_PROCESS, 0, -15);
        serve_bare(listener);
        return NULL;
}

static Cost run(Run kind, WatchSites *sites, unsigned calls) {
        const GateHooks hooks = {.judge = judge, .tell = tell};
        _cleanup_(guard_freep) Guard *guard = NULL;
        _cleanup_(guard_ledger_freep) GuardLedger *ledger = NULL;
        int sock[2], listener = -1, ledger_fd;
        pthread_t thread;
        Cost cost = {};
        pid_t pid;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock) < 0)
                die("socketpair");
        pid = fork();
        if (pid == 0)
                child_main(kind, sock[1], calls);
        (void) close(sock[1]);
        if (kind != RUN_FREE)
                listener = receive_fd(sock[0]);
        if (kind == RUN_GUARDED &&
            (guard_ledger_new(&ledger, &ledger_fd) < 0 ||
             guard_new(listener, ledger_fd, sites, &hooks, USEC_PER_SEC, &guard) < 0))
                die("guard");
        if (kind == RUN_BARE && pthread_create(&thread, NULL, bare_thread, &listener) != 0)
                die("thread");
        if (write(sock[0], "", 1) != 1 ||
            read(sock[0], &cost, sizeof(cost)) != (ssize_t) sizeof(cost))
                die("child");
        (void) waitpid(pid, NULL, 0);
        if (kind == RUN_BARE) {
                (void) pthread_join(thread, NULL);
                (void) close(listener);
        }
        (void) close(sock[0]);
        return cost;
}

int main(int argc, char **argv) {
        unsigned calls = argc > 1 ? (unsigned) atoi(argv[1]) : CALLS_DEFAULT;
        _cleanup_(watch_sites_unrefp) WatchSites *sites = watch_sites_new();
        double ns[_RUNS][ROUNDS], ns99[_RUNS][ROUNDS];
        Cost cost[_RUNS];

        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                die("mount namespace");
        if ((mkdir(WATCH, 0700) < 0 && errno != EEXIST) ||
            mount("bench", WATCH, "tmpfs", 0, NULL) < 0)
                die(WATCH);
        if (!sites || watch_sites_add(sites, "bench", WATCH) < 0)
                die("site");
        (void) unlink(WATCH ".file");
        (void) close(open(WATCH ".source", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        for (size_t i = 0; i < ROUNDS; i++)
                for (Run k = 0; k < _RUNS; k++) {
                        Cost c = run(k, sites, calls);

                        ns[k][i] = c.p50;
                        ns99[k][i] = c.p99;
                }
        for (Run k = 0; k < _RUNS; k++)
                cost[k] = (Cost){median(ns[k], ROUNDS), median(ns99[k], ROUNDS)};
        (void) umount(WATCH);
        (void) rmdir(WATCH);
        (void) unlink(WATCH ".source");
        printf("{\"bench\":\"guard\",\"calls\":%u,\"rounds\":%d,\"free_ns\":%.0f,\"bare_ns\":%.0f,"
               "\"guarded_ns\":%.0f,\"free_p99_ns\":%.0f,\"bare_p99_ns\":%.0f,\"guarded_p99_ns\":%.0f,"
               "\"ratio\":%.2f}\n",
               calls, ROUNDS, cost[RUN_FREE].p50, cost[RUN_BARE].p50, cost[RUN_GUARDED].p50,
               cost[RUN_FREE].p99, cost[RUN_BARE].p99, cost[RUN_GUARDED].p99,
               cost[RUN_GUARDED].p50 / cost[RUN_BARE].p50);
        return 0;
}
