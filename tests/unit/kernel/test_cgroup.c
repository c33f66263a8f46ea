/* SPDX-License-Identifier: MIT */
/* The real hierarchy, in a folder of our own below its root. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "daemon/kernel/cgroup.h"

#define PATIENCE_MSEC 20000

/* ---- parser ---- */

static void unified_line_is_found(void **state) {
        static const struct {
                const char *data;
                int r;
                const char *path;
        } cases[] = {
                {"0::/\n", 0, "/"},
                {"0::/user.slice/a b:c/x.scope\n", 0, "/user.slice/a b:c/x.scope"},
                {"0::/x", 0, "/x"},
                {"0::/../other\n", 0, "/../other"},
                {"9:name=systemd:/\n4:memory:/a/b\n0::/unified\n", 0, "/unified"},
                {"1:cpu:/0::/x\n", -ENODATA, NULL},
                {"10::/x\n", -ENODATA, NULL},
                {"0::\n", -ENODATA, NULL},
                {"0::relative\n", -ENODATA, NULL},
                {"0:", -ENODATA, NULL},
                {"", -ENODATA, NULL},
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *path = NULL;

                assert_int_equal(cgroup_parse(cases[i].data, strlen(cases[i].data), &path),
                                 cases[i].r);
                if (cases[i].path)
                        assert_string_equal(path, cases[i].path);
                else
                        assert_null(path);
        }
}

static void nul_in_a_path_is_refused(void **state) {
        char *path = NULL;

        assert_int_equal(cgroup_parse("0::/a\0b\n", 8, &path), -ENODATA);
}

/* ---- real ---- */

typedef struct Place {
        char *root;
        char *base; /* our folder; NULL: no cgroup v2 to write to */
} Place;

static pid_t spawn_tree(unsigned children) {
        int ready[2];
        char byte;
        pid_t pid;

        assert_int_equal(pipe(ready), 0);
        pid = fork();
        if (pid == 0) {
                for (unsigned i = 0; i < children; i++)
                        if (fork() == 0)
                                break;
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                (void) !write(ready[1], "x", 1);
                for (;;)
                        (void) pause();
        }
        assert_true(pid > 0);
        for (unsigned i = 0; i < children + 1; i++)
                assert_int_equal(read(ready[0], &byte, 1), 1);
        safe_close(ready[0]);
        safe_close(ready[1]);
        return pid;
}

static void reap(pid_t pid) {
        (void) kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int setup(void **state) {
        Place *p = calloc(1, sizeof(*p));
        char base[4096];

        assert_non_null(p);
        *state = p;
        if (cgroup_find_root(&p->root) < 0) {
                print_message("no cgroup v2 mounted\n");
                return 0;
        }
        (void) snprintf(base, sizeof(base), "%s/test-%d", p->root, (int) getpid());
        if (mkdir(base, 0755) < 0) {
                print_message("cannot make %s: %s\n", base, strerror(errno));
                return 0;
        }
        p->base = strdup(base);
        return 0;
}

static int teardown(void **state) {
        Place *p = *state;

        if (p->base)
                assert_int_equal(cgroup_dissolve(p->base), 0);
        free(p->base);
        free(p->root);
        free(p);
        return 0;
}

static Place *place_of(void **state) {
        Place *p = *state;

        if (!p->base)
                skip();
        return p;
}

static void assert_in(const Place *p, pid_t pid, const char *cgroup) {
        _cleanup_free_ char *is = NULL;

        assert_int_equal(cgroup_of_pid(p->root, pid, &is), 0);
        assert_string_equal(is, cgroup);
}

/* A session around `pid`, which is put into our folder first. */
static char *tag(const Place *p, pid_t pid, const char *id) {
        char *cgroup = NULL;

        assert_int_equal(cgroup_add(p->base, pid), 0);
        assert_int_equal(cgroup_create_for(p->root, pid, id, &cgroup), 0);
        return cgroup;
}

static void wait_until_empty(const char *cgroup) {
        struct pollfd e = {.fd = cgroup_open_events(cgroup), .events = POLLPRI};
        char buffer[256];

        assert_true(e.fd >= 0);
        while (cgroup_is_populated(cgroup) == 1) {
                assert_true(poll(&e, 1, PATIENCE_MSEC) > 0);
                assert_true(pread(e.fd, buffer, sizeof(buffer), 0) > 0);
        }
        assert_int_equal(cgroup_is_populated(cgroup), 0);
        safe_close(e.fd);
}

static void tag_is_made_below_the_present_cgroup_and_inherited(void **state) {
        Place *p = place_of(state);
        _cleanup_free_ char *cgroup = NULL, *expected = NULL;
        _cleanup_free_ pid_t *pids = NULL;
        pid_t pid = spawn_tree(0);
        struct stat st;
        size_t n;

        cgroup = tag(p, pid, "one");
        assert_true(asprintf(&expected, "%s/mountwatch-one", p->base) > 0);
        assert_string_equal(cgroup, expected);
        assert_in(p, pid, cgroup);
        assert_int_equal(stat(cgroup, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0755);
        assert_int_equal(st.st_uid, 0);
        assert_int_equal(cgroup_list(cgroup, &pids, &n), 0);
        assert_int_equal(n, 1);
        assert_int_equal(pids[0], pid);
        reap(pid);
        wait_until_empty(cgroup);
        assert_int_equal(cgroup_dissolve(cgroup), 0);
        assert_int_equal(access(cgroup, F_OK), -1);
}

static void failed_tag_leaves_nothing(void **state) {
        static const char *const bad[] = {"", "a/b", "a\nb"};
        Place *p = place_of(state);
        _cleanup_free_ char *own = NULL, *path = NULL;
        char *cgroup = NULL;
        pid_t pid = spawn_tree(0);

        assert_int_equal(cgroup_add(p->base, pid), 0);
        for (size_t i = 0; i < ELEMENTSOF(bad); i++)
                assert_int_equal(cgroup_create_for(p->root, pid, bad[i], &cgroup), -EINVAL);
        reap(pid);
        assert_int_equal(cgroup_create_for(p->root, pid, "gone", &cgroup), -ESRCH);
        assert_null(cgroup);
        assert_int_equal(cgroup_add(p->base, 0), -EINVAL);
        assert_int_equal(cgroup_of_pid(p->root, getpid(), &own), 0);
        assert_true(asprintf(&path, "%s/mountwatch-gone", p->base) > 0);
        assert_int_equal(access(path, F_OK), -1);
}

static void same_id_twice_is_refused(void **state) {
        Place *p = place_of(state);
        _cleanup_free_ char *cgroup = NULL, *other = NULL;
        pid_t a = spawn_tree(0), b = spawn_tree(0);

        cgroup = tag(p, a, "same");
        assert_int_equal(cgroup_add(p->base, b), 0);
        assert_int_equal(cgroup_create_for(p->root, b, "same", &other), -EEXIST);
        assert_in(p, b, p->base);
        reap(a);
        reap(b);
        assert_int_equal(cgroup_dissolve(cgroup), 0);
}

static void end_of_the_last_member_is_told(void **state) {
        Place *p = place_of(state);
        _cleanup_free_ char *cgroup = NULL;
        _cleanup_close_ int events = -1;
        struct pollfd e = {.events = POLLPRI};
        char buffer[256];
        pid_t pid = spawn_tree(0);

        cgroup = tag(p, pid, "end");
        events = cgroup_open_events(cgroup);
        assert_true(events >= 0);
        e.fd = events;
        assert_int_equal(cgroup_is_populated(cgroup), 1);
        assert_true(pread(events, buffer, sizeof(buffer), 0) > 0);
        assert_int_equal(poll(&e, 1, 0), 0);
        reap(pid);
        assert_int_equal(poll(&e, 1, PATIENCE_MSEC), 1);
        assert_true(e.revents & POLLPRI);
        assert_int_equal(cgroup_is_populated(cgroup), 0);
        assert_int_equal(cgroup_dissolve(cgroup), 0);
        assert_int_equal(cgroup_is_populated(cgroup), -ENOENT);
        assert_int_equal(cgroup_open_events(cgroup), -ENOENT);
}

static void wait_until_frozen(const char *cgroup, const char *line) {
        struct pollfd e = {.fd = cgroup_open_events(cgroup), .events = POLLPRI};
        char buffer[256];

        assert_true(e.fd >= 0);
        for (;;) {
                ssize_t n = pread(e.fd, buffer, sizeof(buffer) - 1, 0);

                assert_true(n > 0);
                buffer[n] = '\0';
                if (strstr(buffer, line))
                        break;
                assert_int_equal(poll(&e, 1, PATIENCE_MSEC), 1);
        }
        safe_close(e.fd);
}

static void freeze_and_thaw(void **state) {
        Place *p = place_of(state);
        _cleanup_free_ char *cgroup = NULL;
        pid_t pid = spawn_tree(0);

        cgroup = tag(p, pid, "freeze");
        assert_int_equal(cgroup_freeze(cgroup, true), 0);
        wait_until_frozen(cgroup, "frozen 1");
        assert_int_equal(cgroup_freeze(cgroup, false), 0);
        wait_until_frozen(cgroup, "frozen 0");
        reap(pid);
        assert_int_equal(cgroup_dissolve(cgroup), 0);
        assert_int_equal(cgroup_freeze(cgroup, true), -ENOENT);
}

/* The whole tree of five in a nested folder, and one beside it. */
static char *tag_nested(const Place *p, const char *id, pid_t *ret_outer, pid_t *ret_inner) {
        _cleanup_free_ char *below = NULL, *deeper = NULL;
        _cleanup_free_ pid_t *pids = NULL;
        char *cgroup;
        size_t n;
        pid_t tree;

        *ret_outer = spawn_tree(0);
        cgroup = tag(p, *ret_outer, id);
        tree = spawn_tree(4);
        *ret_inner = tree;
        assert_true(asprintf(&below, "%s/below", cgroup) > 0);
        assert_true(asprintf(&deeper, "%s/deeper", below) > 0);
        assert_int_equal(mkdir(below, 0755), 0);
        assert_int_equal(mkdir(deeper, 0755), 0);
        assert_int_equal(cgroup_add(deeper, tree), 0);
        assert_int_equal(cgroup_list(cgroup, &pids, &n), 0);
        assert_int_equal(n, 2); /* the children stayed where they were */
        return cgroup;
}

static void kill_reaches_nested_members(void **state) {
        Place *p = place_of(state);

        for (int each = 0; each < 2; each++) {
                _cleanup_free_ char *cgroup = NULL;
                pid_t outer, inner;
                int r;

                cgroup = tag_nested(p, each ? "each" : "kill", &outer, &inner);
                r = each ? cgroup_kill_each(cgroup) : cgroup_kill(cgroup);
                assert_true(r == 0 || r == -EAGAIN);
                assert_int_equal(waitpid(outer, NULL, 0), outer);
                assert_int_equal(waitpid(inner, NULL, 0), inner);
                wait_until_empty(cgroup);
                assert_int_equal(cgroup_dissolve(cgroup), 0);
        }
        assert_int_equal(cgroup_kill("/no/such/folder"), -ENOENT);
}

static void dissolve_moves_everybody_up(void **state) {
        Place *p = place_of(state);
        _cleanup_free_ char *cgroup = NULL;
        pid_t outer, inner;

        cgroup = tag_nested(p, "dissolve", &outer, &inner);
        assert_int_equal(cgroup_dissolve(cgroup), 0);
        assert_in(p, outer, p->base);
        assert_in(p, inner, p->base);
        assert_int_equal(access(cgroup, F_OK), -1);
        assert_int_equal(cgroup_dissolve(cgroup), 0);
        reap(outer);
        reap(inner);
}

static void frozen_session_is_dissolved(void **state) {
        Place *p = place_of(state);
        _cleanup_free_ char *cgroup = NULL;
        pid_t pid = spawn_tree(0);

        cgroup = tag(p, pid, "frozen");
        assert_int_equal(cgroup_freeze(cgroup, true), 0);
        wait_until_frozen(cgroup, "frozen 1");
        assert_int_equal(cgroup_dissolve(cgroup), 0);
        assert_in(p, pid, p->base);
        assert_int_equal(kill(pid, SIGTERM), 0); /* is heeded: it runs again */
        assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void dissolve_keeps_a_session_inside(void **state) {
        Place *p = place_of(state);
        _cleanup_free_ char *outer = NULL, *inner = NULL;
        pid_t a = spawn_tree(0), b = spawn_tree(0);

        outer = tag(p, a, "outer");
        assert_int_equal(cgroup_add(outer, b), 0);
        assert_int_equal(cgroup_create_for(p->root, b, "inner", &inner), 0);
        assert_int_equal(cgroup_dissolve(outer), -EBUSY);
        assert_in(p, a, p->base);
        assert_in(p, b, inner);
        assert_int_equal(cgroup_dissolve(inner), 0);
        assert_in(p, b, outer);
        assert_int_equal(cgroup_dissolve(outer), 0);
        assert_in(p, b, p->base);
        reap(a);
        reap(b);
}

static void forking_members_are_moved(void **state) {
        Place *p = place_of(state);
        _cleanup_free_ char *cgroup = NULL;
        pid_t pid = fork();

        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;) {
                        pid_t child = fork();

                        if (child == 0)
                                _exit(0);
                        if (child > 0)
                                (void) waitpid(child, NULL, 0);
                }
        }
        assert_true(pid > 0);
        cgroup = tag(p, pid, "forks");
        assert_int_equal(cgroup_dissolve(cgroup), 0);
        assert_in(p, pid, p->base);
        reap(pid);
}

typedef struct Left {
        const Place *place;
        char order[64];
} Left;

static void note_left(const char *cgroup, const char *id, void *userdata) {
        Left *l = userdata;

        if (strncmp(cgroup, l->place->base, strlen(l->place->base)) != 0)
                return; /* a daemon's that runs beside the test */
        (void) strcat(strcat(l->order, id), " ");
        assert_int_equal(cgroup_dissolve(cgroup), 0);
}

static void left_sessions_are_found_inner_first(void **state) {
        Place *p = place_of(state);
        _cleanup_free_ char *outer = NULL, *inner = NULL;
        Left left = {.place = p};
        pid_t pid = spawn_tree(0);

        outer = tag(p, pid, "left1");
        assert_int_equal(cgroup_create_for(p->root, pid, "left2", &inner), 0);
        assert_int_equal(cgroup_foreach_left(p->root, note_left, &left), 0);
        assert_string_equal(left.order, "left2 left1 ");
        assert_in(p, pid, p->base);
        reap(pid);
}

int main(void) {
#define REAL(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(unified_line_is_found),
                cmocka_unit_test(nul_in_a_path_is_refused),
                REAL(tag_is_made_below_the_present_cgroup_and_inherited),
                REAL(failed_tag_leaves_nothing),
                REAL(same_id_twice_is_refused),
                REAL(end_of_the_last_member_is_told),
                REAL(freeze_and_thaw),
                REAL(kill_reaches_nested_members),
                REAL(dissolve_moves_everybody_up),
                REAL(frozen_session_is_dissolved),
                REAL(dissolve_keeps_a_session_inside),
                REAL(forking_members_are_moved),
                REAL(left_sessions_are_found_inner_first),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
