/* SPDX-License-Identifier: MIT */
/*
 * A filesystem of the test's own, a hold on a directory of it, and children that open files there: members of the session "aaaa", or
 * bystanders. This process is neither: it is the one that answers.
 */
#ifndef MOUNTWATCH_TESTS_HOLD_FIXTURE_H
#define MOUNTWATCH_TESTS_HOLD_FIXTURE_H

#include "daemon/kernel/hold_private.h"
#include "tests/unit/kernel/scratch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SESSION "aaaa"
#define FOREVER (3600 * USEC_PER_SEC)
#define PATIENCE_MSEC 30000 /* a hang fails, it does not hang the tests */

typedef struct HoldFixture {
        char dir[64], top[96], path[160]; /* of the test, of the filesystem, of the watch */
        Members *members;
        Connector *connector;
        Hold *hold;
        /* what judge() says */
        _Atomic Verb verb;
        atomic_bool preserve;
        atomic_uint n_judged;
        /* what was told, in order */
        pthread_mutex_t lock;
        int told_event;
        Attempt *told[4096];
        size_t n_told, n_taken;
} HoldFixture;

/* ---- hooks ---- */

static bool fixture_judge(Attempt *a, void *userdata) {
        HoldFixture *f = userdata;
        SessionRule rule;

        (void) atomic_fetch_add(&f->n_judged, 1);
        if (!members_find(f->members, a->pid, &rule))
                return false;
        memcpy(a->session, rule.id, sizeof(a->session));
        a->decision =
                (Decision){.verb = atomic_load(&f->verb), .preserve = atomic_load(&f->preserve)};
        return true;
}

static void fixture_tell(Attempt *a, void *userdata) {
        HoldFixture *f = userdata;

        (void) pthread_mutex_lock(&f->lock);
        if (f->n_told < ELEMENTSOF(f->told))
                f->told[f->n_told++] = a;
        else
                attempt_free(a);
        (void) pthread_mutex_unlock(&f->lock);
        (void) eventfd_write(f->told_event, 1);
}

/* The next that was told; the fixture keeps it. */
static _unused_ const Attempt *fixture_take(HoldFixture *f) {
        for (;;) {
                struct pollfd p = {.fd = f->told_event, .events = POLLIN};
                Attempt *a = NULL;

                (void) pthread_mutex_lock(&f->lock);
                if (f->n_taken < f->n_told)
                        a = f->told[f->n_taken++];
                (void) pthread_mutex_unlock(&f->lock);
                if (a)
                        return a;
                if (poll(&p, 1, PATIENCE_MSEC) <= 0)
                        fail_msg("nothing is told");
                (void) eventfd_read(f->told_event, &(eventfd_t){0});
        }
}

/* ---- life ---- */

/* False, with the reason told: not here. */
static _unused_ bool fixture_mount(HoldFixture *f, const char *type) {
        *f = (HoldFixture){0};
        if (!scratch_mount(type, f->dir, sizeof(f->dir)))
                return false;
        (void) pthread_mutex_init(&f->lock, NULL);
        f->told_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        assert_true(f->told_event >= 0);
        (void) snprintf(f->top, sizeof(f->top), "%s/fs", f->dir);
        (void) snprintf(f->path, sizeof(f->path), "%s/w", f->top);
        run("mkdir -p %s/w/sub/deep %s/o && echo old >%s/w/f && echo old >%s/w/sub/f && echo old >%s/o/f",
            f->top, f->top, f->top, f->top, f->top);
        assert_int_equal(chdir(f->top), 0);
        return true;
}

static _unused_ int fixture_start(HoldFixture *f, const char *path, usec_t deadline) {
        const SessionRule rule = {.id = SESSION, .policy = POLICY_DENY};
        _cleanup_(watch_sites_unrefp) WatchSites *sites = watch_sites_new();
        HoldConfig config = {
                .watch = "test",
                .path = path,
                .sites = sites,
                .hooks = {fixture_judge, fixture_tell, f},
                .deadline = deadline,
        };
        char reason[256];
        int r;

        assert_non_null(sites);
        assert_int_equal(watch_sites_add(sites, "test", path), 0);
        assert_int_equal(members_new(&f->members), 0);
        assert_int_equal(members_set_rule(f->members, &rule), 0);
        r = connector_new(&f->connector);
        if (r == 0)
                connector_set_members(f->connector, f->members);
        config.members = f->members;
        config.connector = f->connector;
        assert_int_equal(hold_new(&config, &f->hold), 0);
        for (;;) {
                struct pollfd p = {.fd = hold_fd(f->hold), .events = POLLIN};

                assert_true(poll(&p, 1, PATIENCE_MSEC) > 0);
                r = hold_state(f->hold, reason);
                if (r != 0)
                        return r;
        }
}

static _unused_ void fixture_stop(HoldFixture *f) {
        f->hold = hold_free(f->hold);
        f->connector = connector_free(f->connector);
        f->members = members_free(f->members);
}

static _unused_ void fixture_done(HoldFixture *f) {
        fixture_stop(f);
        for (size_t i = 0; i < f->n_told; i++)
                attempt_free(f->told[i]);
        safe_close(f->told_event);
        (void) pthread_mutex_destroy(&f->lock);
        assert_int_equal(chdir("/"), 0);
        run("umount -l %s && rm -rf %s", f->top, f->dir);
}

/* ---- children ---- */

typedef int (*act_t)(void); /* 0, or the errno that it got; in the top of the filesystem */

/* Starts when it is (or is not) a member. */
static _unused_ pid_t child_start(HoldFixture *f, bool member, act_t act) {
        pid_t pid;

        (void) fflush(NULL);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                (void) raise(SIGSTOP);
                _exit(act());
        }
        assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
        if (member)
                assert_int_equal(members_add(f->members, pid, SESSION), 0);
        assert_int_equal(kill(pid, SIGCONT), 0);
        return pid;
}

static _unused_ int child_end(pid_t pid) {
        int status;

        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        return WEXITSTATUS(status);
}

static _unused_ int as_member(HoldFixture *f, act_t act) {
        return child_end(child_start(f, true, act));
}

static _unused_ int as_bystander(HoldFixture *f, act_t act) {
        return child_end(child_start(f, false, act));
}

/* Does the process sleep in its call, waiting for an answer? (Its wchan may be 0 when it does: 6.12 dequeues late.) */
static _unused_ bool is_held(pid_t pid) {
        ProcSyscall s;

        return proc_syscall_read(pid, &s) == 0 && s.number >= 0;
}

/* ---- what every test does ---- */

static HoldFixture fixture;

static _unused_ int mount_tmpfs(void **state) {
        *state = fixture_mount(&fixture, "tmpfs") ? &fixture : NULL;
        return 0;
}

static _unused_ int unmount(void **state) {
        if (*state)
                fixture_done(*state);
        return 0;
}

static _unused_ HoldFixture *held(void **state, const char *path, Verb verb, usec_t deadline) {
        HoldFixture *f = *state;

        if (!f)
                skip();
        f->verb = verb;
        assert_int_equal(fixture_start(f, path, deadline), 1);
        return f;
}

static _unused_ int opened(long fd) {
        return fd < 0 ? errno : 0;
}

static _unused_ int open_writing(void) {
        return opened(open("w/f", O_WRONLY));
}

#endif
