/* SPDX-License-Identifier: MIT */
/*
 * A real filesystem in a mount namespace of the test's own, a watcher on a directory of it, and children that do things to
 * it. What the watcher says is compared as text, one change for each line:
 *
 *   create file w/a            w/ is the watched directory; o/ lies beside it on the same filesystem
 *   rename dir w/y from w/x replaced
 *   delete file w/a to o/a
 *
 * The author must be the child that was run last, unless the line ends in " by PID". Equal lines that follow one another count once.
 */
#ifndef MOUNTWATCH_TESTS_WATCHER_FIXTURE_H
#define MOUNTWATCH_TESTS_WATCHER_FIXTURE_H

#include "daemon/kernel/watcher.h"
#include "tests/unit/kernel/scratch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define TEXT_MAX (1 << 20)

typedef struct Fixture {
        char dir[64], top[96], path[160]; /* of the test, of the filesystem, of the watch */
        WatchSpec *spec;
        Watcher *watcher;
        pid_t child;
        WatcherStatus status; /* the last that was told */
        unsigned states;      /* how many were told */
        char changes[TEXT_MAX], losses[4096];
        char last[1024];
        uint64_t cookie, answered;
        bool quiet;     /* keeps the last line only */
        bool forgiving; /* does not tell what was inferred from what was told */
} Fixture;

/* False, with the reason told: not here. */
static _unused_ bool fixture_mount(Fixture *f, const char *type) {
        *f = (Fixture){.child = -1};
        if (!scratch_mount(type, f->dir, sizeof(f->dir)))
                return false;
        (void) snprintf(f->top, sizeof(f->top), "%s/fs", f->dir);
        (void) snprintf(f->path, sizeof(f->path), "%s/w", f->top);
        run("mkdir %s/w %s/o", f->top, f->top);
        assert_int_equal(chdir(f->top), 0);
        return true;
}

static _unused_ void fixture_path_text(const Fixture *f, const char *path, char *ret, size_t size) {
        size_t n = strlen(f->top);

        if (!path)
                (void) snprintf(ret, size, "(null)");
        else if (strncmp(path, f->top, n) == 0)
                (void) snprintf(ret, size, "%s", path[n] ? path + n + 1 : ".");
        else
                (void) snprintf(ret, size, "%s", path);
}

static _unused_ void fixture_change(Fixture *f, const Change *c) {
        char line[sizeof(f->last)], text[300];
        int n;

        fixture_path_text(f, c->path, text, sizeof(text));
        n = snprintf(line, sizeof(line), "%s %s %s", op_type_to_string(c->op),
                     object_kind_to_string(c->kind), text);
        if (c->from) {
                fixture_path_text(f, c->from, text, sizeof(text));
                n += snprintf(line + n, sizeof(line) - (size_t) n, " from %s", text);
        }
        if (c->to) {
                fixture_path_text(f, c->to, text, sizeof(text));
                n += snprintf(line + n, sizeof(line) - (size_t) n, " to %s", text);
        }
        if (c->pid != f->child)
                n += snprintf(line + n, sizeof(line) - (size_t) n, " by %d", c->pid);
        (void) snprintf(line + n, sizeof(line) - (size_t) n, "%s%s%s",
                        c->replaced ? " replaced" : "", c->linked ? " linked" : "",
                        c->inferred && !f->forgiving ? " inferred" : "");
        assert_true(c->not_before <= c->read_at);
        if (str_equal(line, f->last))
                return;
        assert_true(strlen(f->changes) + strlen(line) + 2 < sizeof(f->changes));
        memcpy(f->last, line, sizeof(line));
        if (f->quiet)
                return;
        (void) strcat(strcat(f->changes, line), "\n");
}

static _unused_ void fixture_note(Fixture *f, const Note *n) {
        switch (n->type) {
        case NOTE_CHANGE:
                fixture_change(f, &n->change);
                break;
        case NOTE_LOSS:
                assert_true(n->at <= n->until);
                (void) strcat(strcat(f->losses, n->loss), "\n");
                break;
        case NOTE_STATE:
                f->status = n->status;
                f->states++;
                break;
        case NOTE_SYNC:
                f->answered = n->count;
                break;
        }
}

static _unused_ void fixture_take(Fixture *f) {
        struct pollfd p = {.fd = watcher_fd(f->watcher), .events = POLLIN};
        Note *n, *next;

        assert_true(poll(&p, 1, 30000) > 0); /* a hang fails, it does not hang the tests */
        for (n = watcher_take(f->watcher); n; n = next) {
                next = n->next;
                fixture_note(f, n);
                note_free(n);
        }
}

static _unused_ void fixture_sync(Fixture *f) {
        watcher_sync(f->watcher, ++f->cookie);
        while (f->answered != f->cookie)
                fixture_take(f);
}

/* Until the watcher has told of a state that often. */
static _unused_ void fixture_wait_state(Fixture *f, WatcherState state) {
        while (f->states == 0 || f->status.state != state)
                fixture_take(f);
}

static _unused_ void fixture_watch(Fixture *f, const char *path, const WatcherOptions *options) {
        assert_int_equal(watch_spec_new("test", &f->spec), 0);
        f->spec->path = strdup(path);
        assert_non_null(f->spec->path);
        assert_int_equal(watcher_new(f->spec, options, &f->watcher), 0);
        watcher_arm(f->watcher);
        while (f->states == 0)
                fixture_take(f);
}

static _unused_ void fixture_unwatch(Fixture *f) {
        f->watcher = watcher_free(f->watcher);
        f->spec = watch_spec_unref(f->spec);
        f->states = 0;
}

static _unused_ void fixture_done(Fixture *f) {
        fixture_unwatch(f);
        assert_int_equal(chdir("/"), 0);
        run("umount -l %s && rm -rf %s", f->top, f->dir);
}

/* In a child: what was done so far is read before anything else is done. (The kernel puts things that one process does to one
 * object into one record while it waits to be read.) */
static _unused_ void until_read(void) {
        (void) raise(SIGSTOP);
}

/* Has a child do it, in the top of the filesystem, and waits for its end. */
static _unused_ pid_t fixture_do(Fixture *f, void (*what)(void)) {
        int status;

        (void) fflush(NULL);
        f->child = fork();
        assert_true(f->child >= 0);
        if (f->child == 0) {
                what();
                _exit(0);
        }
        for (;;) {
                assert_int_equal(waitpid(f->child, &status, WUNTRACED), f->child);
                if (!WIFSTOPPED(status))
                        break;
                fixture_sync(f);
                assert_int_equal(kill(f->child, SIGCONT), 0);
        }
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        return f->child;
}

static _unused_ void fixture_expect(Fixture *f, const char *changes) {
        fixture_sync(f);
        assert_string_equal(f->changes, changes);
        f->changes[0] = f->last[0] = '\0';
}

/* What a child does must work, else there is nothing to see. */
#define MUST(call)                                                                            \
        do {                                                                                  \
                if ((call) < 0) {                                                             \
                        (void) fprintf(stderr, "%s:%d: %s: %m\n", __FILE__, __LINE__, #call); \
                        _exit(1);                                                             \
                }                                                                             \
        } while (0)

static _unused_ void put(const char *path, int flags, const char *text) {
        int fd = open(path, O_WRONLY | flags, 0644);

        MUST(fd);
        if (*text)
                MUST(write(fd, text, strlen(text)));
        MUST(close(fd));
}

#endif
