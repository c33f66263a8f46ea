/* SPDX-License-Identifier: MIT */
/*
 * Filesystems in a mount namespace of the test's own, and children that make calls behind a real filter, with the guard in this
 * process as supervisor. What the judge is asked is kept as text:
 *
 *   delete file w/a            w/ is the watched directory; o/ lies beside it on another filesystem, p/ on the same one
 *   rename file w/b from w/a replaces
 *   rename file w/a to p/a leaves
 *
 * Children begin in the directory that holds w, o and p.
 */
#ifndef MOUNTWATCH_TESTS_GUARD_FIXTURE_H
#define MOUNTWATCH_TESTS_GUARD_FIXTURE_H

#include "common/guard_filter.h"
#include "common/guard_ledger.h"
#include "daemon/kernel/guard.h"
#include "tests/unit/kernel/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define FIXTURE_DEADLINE (60 * USEC_PER_SEC)

typedef long (*fixture_action_t)(void);

typedef struct Fixture {
        char base[64]; /* holds w, o and p */
        char fs[64];   /* the filesystem of w and p */
        WatchSites *sites;
        Decision decision; /* what the judge says */
        bool unknown;      /* the judge knows nothing of the caller */
        pthread_mutex_t lock;
        pthread_cond_t told;
        char asked[4096];
        Attempt *attempts; /* that were told, the latest first */
        unsigned n_told;
        pid_t child;
        Guard *guard;
        int ledger_fd, listener_copy;
        GuardLedger *ledger;
} Fixture;

/* w and p are directories of one tmpfs, each with a bind mount in base; o is another tmpfs. */
static _unused_ void fixture_init(Fixture *f) {
        *f = (Fixture){.ledger_fd = -1, .listener_copy = -1};
        (void) pthread_mutex_init(&f->lock, NULL);
        (void) pthread_cond_init(&f->told, NULL);
        strcpy(f->base, "/tmp/mwguard.XXXXXX");
        assert_non_null(mkdtemp(f->base));
        assert_int_equal(mount("guard-test", f->base, "tmpfs", 0, "mode=755"), 0);
        run("cd %s && mkdir w o fs && mount -t tmpfs o o && mount -t tmpfs fs fs && mkdir fs/w fs/p && mount --bind fs/w w",
            f->base);
        run("cd %s && ln -s fs/p p", f->base);
        f->sites = watch_sites_new();
        assert_non_null(f->sites);
}

static _unused_ void fixture_watch(Fixture *f, const char *path) {
        char full[256];

        (void) snprintf(full, sizeof(full), "%s/%s", f->base, path);
        assert_int_equal(watch_sites_add(f->sites, path, full), 0);
}

static _unused_ void fixture_forget(Fixture *f) {
        while (f->attempts) {
                Attempt *a = f->attempts;

                f->attempts = a->next;
                (void) attempt_free(a);
        }
        f->n_told = 0;
        f->asked[0] = '\0';
}

static _unused_ void fixture_done(Fixture *f) {
        fixture_forget(f);
        (void) watch_sites_unref(f->sites);
        (void) pthread_mutex_destroy(&f->lock);
        (void) pthread_cond_destroy(&f->told);
        run("cd / && umount -l %s/w %s/o %s/fs %s && rmdir %s", f->base, f->base, f->base, f->base,
            f->base);
}

static _unused_ const char *shorten(const Fixture *f, const char *path) {
        size_t n = strlen(f->base);

        return strncmp(path, f->base, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

static _unused_ void put_text(Fixture *f, const Attempt *a) {
        static const char *const types[] = {"open",   "truncate", "create",
                                            "delete", "rename",   "metadata"};
        const Access *x = &a->access;
        size_t n = strlen(f->asked);

        (void) snprintf(f->asked + n, sizeof(f->asked) - n, "%s%s %s %s%s%s%s%s%s%s", n ? "\n" : "",
                        types[x->type], object_kind_to_string(x->kind), shorten(f, x->path),
                        x->from ? " from " : "", x->from ? shorten(f, x->from) : "",
                        x->to ? " to " : "", x->to ? shorten(f, x->to) : "",
                        x->replaces ? " replaces" : "", x->leaves ? " leaves" : "");
}

static _unused_ bool fixture_judge(Attempt *a, void *userdata) {
        Fixture *f = userdata;
        bool known;

        (void) pthread_mutex_lock(&f->lock);
        put_text(f, a);
        a->decision = f->decision;
        known = !f->unknown;
        (void) pthread_mutex_unlock(&f->lock);
        a->pending = a->decision.preserve ||
                (a->decision.verb != VERB_LET && a->decision.verb != VERB_REFUSE);
        return known;
}

static _unused_ void fixture_tell(Attempt *a, void *userdata) {
        Fixture *f = userdata;

        (void) pthread_mutex_lock(&f->lock);
        a->next = f->attempts;
        f->attempts = a;
        f->n_told++;
        (void) pthread_cond_broadcast(&f->told);
        (void) pthread_mutex_unlock(&f->lock);
}

/* Until that many have been told. The latest. */
static _unused_ const Attempt *fixture_await(Fixture *f, unsigned n) {
        const Attempt *a;

        (void) pthread_mutex_lock(&f->lock);
        while (f->n_told < n)
                (void) pthread_cond_wait(&f->told, &f->lock);
        a = f->attempts;
        (void) pthread_mutex_unlock(&f->lock);
        return a;
}

static _unused_ void send_fd(int sock, int fd) {
        char room[CMSG_SPACE(sizeof(int))] = {}, byte = 0;
        struct iovec v = {&byte, 1};
        struct msghdr m = {.msg_iov = &v,
                           .msg_iovlen = 1,
                           .msg_control = room,
                           .msg_controllen = sizeof(room)};
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);

        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &fd, sizeof(int));
        if (sendmsg(sock, &m, 0) != 1)
                _exit(99);
}

static _unused_ int receive_fd(int sock) {
        char room[CMSG_SPACE(sizeof(int))], byte;
        struct iovec v = {&byte, 1};
        struct msghdr m = {.msg_iov = &v,
                           .msg_iovlen = 1,
                           .msg_control = room,
                           .msg_controllen = sizeof(room)};
        int fd;

        assert_int_equal(recvmsg(sock, &m, MSG_CMSG_CLOEXEC), 1);
        assert_non_null(CMSG_FIRSTHDR(&m));
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
        return fd;
}

_Noreturn static _unused_ void child_main(const Fixture *f, int sock, fixture_action_t prepare,
                                          fixture_action_t action) {
        char byte;
        int fd;
        long r;

        if (chdir(f->base) < 0 || (prepare && prepare() < 0))
                _exit(98);
        fd = guard_filter_install(/* no_io_uring= */ true);
        if (fd < 0)
                _exit(97);
        send_fd(sock, fd);
        (void) close(fd);
        if (read(sock, &byte, 1) != 1)
                _exit(96);
        errno = 0;
        r = action();
        _exit(r < 0 ? errno : 0);
}

/* The child is there, guarded, and about to act; fixture_go() lets it. `prepare` runs before it is guarded. */
static _unused_ int fixture_start(Fixture *f, fixture_action_t prepare, fixture_action_t action,
                                  usec_t deadline) {
        const GateHooks hooks = {.judge = fixture_judge, .tell = fixture_tell, .userdata = f};
        int sock[2], listener;

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock), 0);
        (void) fflush(NULL);
        f->child = fork();
        assert_true(f->child >= 0);
        if (f->child == 0)
                child_main(f, sock[1], prepare, action);
        (void) close(sock[1]);
        listener = receive_fd(sock[0]);
        f->listener_copy = fcntl(listener, F_DUPFD_CLOEXEC, 3);
        assert_int_equal(guard_new(listener, f->ledger_fd, f->sites, &hooks, deadline, &f->guard),
                         0);
        f->ledger_fd = -1;
        return sock[0];
}

static _unused_ void fixture_go(int sock) {
        assert_int_equal(write(sock, "", 1), 1);
        (void) close(sock);
}

/* Its errno, 0, or 1000 plus the signal that ended it. */
static _unused_ int fixture_reap(Fixture *f) {
        int status;

        while (waitpid(f->child, &status, 0) < 0)
                assert_int_equal(errno, EINTR);
        return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static _unused_ void fixture_end(Fixture *f) {
        f->guard = guard_free(f->guard);
        f->listener_copy = safe_close(f->listener_copy);
}

static _unused_ int fixture_run(Fixture *f, fixture_action_t prepare, fixture_action_t action) {
        int r;

        fixture_forget(f);
        fixture_go(fixture_start(f, prepare, action, FIXTURE_DEADLINE));
        r = fixture_reap(f);
        assert_int_equal(guard_take_lapses(f->guard), 0);
        fixture_end(f);
        return r;
}

#endif
