/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "client/canary.h"
#include "common/json_member.h"
#include "common/path_text.h"

#define CONTENT "mountwatch canary: may be removed\n"

typedef struct Canary {
        const char *socket;
        char *path;
        char *moved, *made;   /* what attempts may leave behind */
        char report[64];      /* file that the session's report is written to */
        struct stat original; /* as it was made */
} Canary;

static const struct {
        const char *what, *script;
} attempts[] = {
        {"open for writing", "echo x >>\"$1\""},
        {"open and truncate", ": >\"$1\""},
        {"create a file", ": >\"$1.made\""},
        {"mkdir", "mkdir \"$1.made\""},
        {"unlink", "rm -f \"$1\""},
        {"rename", "mv \"$1\" \"$1.moved\""},
        {"chmod", "chmod 600 \"$1\""},
};

static void canary_remove(Canary *c) {
        (void) unlink(c->path);
        (void) unlink(c->moved);
        (void) unlink(c->made);
        (void) rmdir(c->made);
}

static void canary_done(Canary *c) {
        if (c->path)
                canary_remove(c);
        if (c->report[0])
                (void) unlink(c->report);
        free(c->path);
        free(c->moved);
        free(c->made);
}

/* Makes it, anew when something is left of the last attempt. */
static int canary_make(Canary *c) {
        _cleanup_close_ int fd = -1;

        canary_remove(c);
        fd = open(c->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (fd < 0 || write(fd, CONTENT, strlen(CONTENT)) != (ssize_t) strlen(CONTENT) ||
            fchmod(fd, 0644) < 0 || fstat(fd, &c->original) < 0)
                return errno > 0 ? -errno : -EIO;
        return 0;
}

static bool is_there(const char *path) {
        return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool canary_is_whole(const Canary *c) {
        _cleanup_close_ int fd = open(c->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        char content[sizeof(CONTENT) + 1];
        struct stat st;
        ssize_t n;

        if (fd < 0 || fstat(fd, &st) < 0 || is_there(c->moved) || is_there(c->made))
                return false;
        n = read(fd, content, sizeof content);
        return n == (ssize_t) strlen(CONTENT) && memcmp(content, CONTENT, (size_t) n) == 0 &&
                st.st_mode == c->original.st_mode &&
                st.st_mtim.tv_sec == c->original.st_mtim.tv_sec &&
                st.st_mtim.tv_nsec == c->original.st_mtim.tv_nsec;
}

static int canary_init(Canary *c, const char *socket, const WatchView *w) {
        int fd;

        c->socket = socket;
        if (asprintf(&c->path, "%s/.mountwatch-canary-%d", w->path, (int) getpid()) < 0)
                c->path = NULL;
        if (!c->path || asprintf(&c->moved, "%s.moved", c->path) < 0)
                c->moved = NULL;
        if (!c->moved || asprintf(&c->made, "%s.made", c->path) < 0)
                c->made = NULL;
        if (!c->made) {
                free(TAKE_PTR(c->path)); /* there is nothing to remove */
                return -ENOMEM;
        }
        (void) strcpy(c->report, "/tmp/mountwatch-canary.XXXXXX");
        fd = mkostemp(c->report, O_CLOEXEC);
        if (fd < 0) {
                c->report[0] = 0;
                return -errno;
        }
        (void) close(fd);
        return canary_make(c);
}

/* This program again, silently. */
static int run_self(char *const *argv) {
        pid_t pid = fork();
        int status;

        if (pid < 0)
                return -errno;
        if (pid == 0) {
                int null = open("/dev/null", O_RDWR | O_CLOEXEC);

                if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
                    dup2(null, STDERR_FILENO) < 0)
                        _exit(127);
                (void) execv("/proc/self/exe", argv);
                _exit(127);
        }
        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

static int run_session(const Canary *c, const char *policy, const char *script) {
        char *argv[] = {
                (char *) "mountwatch",
                (char *) "--socket",
                (char *) c->socket,
                (char *) "run",
                (char *) "--policy",
                (char *) policy,
                (char *) "--label",
                (char *) "doctor",
                (char *) "--fail-on",
                (char *) "never",
                (char *) "--json",
                (char *) c->report,
                (char *) "--",
                (char *) "/bin/sh",
                (char *) "-c",
                (char *) script,
                (char *) "sh",
                (char *) c->path,
                NULL,
        };

        return run_self(argv);
}

/* The session's id, and how many operations it has. */
static int read_report(const Canary *c, char ret_id[static 17], size_t *ret_n) {
        _cleanup_json_ json_object *report = json_object_from_file(c->report);
        json_object *session, *operations;
        const char *id;

        if (!report || json_get(report, "session", json_type_object, &session) <= 0 ||
            json_get_string(session, "id", &id) <= 0 ||
            json_get(report, "operations", json_type_array, &operations) <= 0)
                return -EBADMSG;
        (void) snprintf(ret_id, 17, "%s", id);
        *ret_n = json_object_array_length(operations);
        return 0;
}

static void put(const Terminal *t, const char *what, bool good, const char *result) {
        fprintf(t->file, "    %-18s %s%s%s\n", what,
                terminal_style(t, good ? STYLE_GOOD : STYLE_BAD), result, terminal_reset(t));
}

static int try_refusals(const Terminal *t, Canary *c, bool expected, bool *ret_proved) {
        for (size_t i = 0; i < ELEMENTSOF(attempts); i++) {
                bool whole, seen;
                char id[17];
                size_t n = 0;
                int r = canary_make(c);

                if (r < 0)
                        return r;
                (void) run_session(c, "deny", attempts[i].script);
                whole = canary_is_whole(c);
                seen = read_report(c, id, &n) >= 0 && n > 0;
                *ret_proved &= seen && (whole || !expected);
                put(t, attempts[i].what, seen && (whole || !expected),
                    whole ? seen ? "refused, and seen" : "did not happen, but is not in the report"
                            : seen ? "NOT refused, but seen"
                                   : "NOT refused and NOT seen (or allowed by Allow= or Ignore=)");
        }
        return 0;
}

static int try_undo(const Terminal *t, Canary *c, const WatchView *w, bool *ret_proved) {
        char id[17] = "";
        bool changed;
        size_t n = 0;
        int r;

        if (w->policy > POLICY_ALERT || !w->facts.preserve) {
                fprintf(t->file, "    %-18s not tried: %s\n", "undo",
                        w->facts.preserve ? "the watch's policy would refuse the change"
                                          : "the watch has no Preserve=yes");
                return 0;
        }
        r = canary_make(c);
        if (r < 0)
                return r;
        (void) run_session(c, "record",
                           "echo x >>\"$1\"; chmod 600 \"$1\"; mv \"$1\" \"$1.moved\"");
        changed = !canary_is_whole(c);
        if (read_report(c, id, &n) >= 0 && n > 0) {
                char *argv[] = {(char *) "mountwatch",
                                (char *) "--socket",
                                (char *) c->socket,
                                (char *) "undo",
                                id,
                                NULL};

                (void) run_self(argv);
        }
        *ret_proved &= changed && n > 0 && canary_is_whole(c);
        put(t, "undo", changed && n > 0 && canary_is_whole(c),
            !changed                     ? "there was no change to undo"
                    : n == 0             ? "the change was NOT seen"
                    : canary_is_whole(c) ? "changed, renamed, and put back as it was"
                                         : "NOT put back");
        return 0;
}

int canary_prove(const Terminal *t, const char *socket, const WatchView *w, bool *ret_proved) {
        _cleanup_(canary_done) Canary c = {};
        _cleanup_free_ char *text = NULL;
        int r = 0;

        *ret_proved = true;
        if (w->scope == SCOPE_FILE) {
                fputs("  proof     not tried: it would have to change the watched file itself\n",
                      t->file);
                return 0;
        }
        r = canary_init(&c, socket, w);
        text = c.path ? path_to_text(c.path) : NULL;
        if (r < 0 || !text) {
                fprintf(t->file, "  proof     %sno canary can be made: %s%s\n",
                        terminal_style(t, STYLE_BAD), strerror(r < 0 ? -r : ENOMEM),
                        terminal_reset(t));
                return r < 0 ? r : -ENOMEM;
        }
        fprintf(t->file, "  proof     with %s, in runs with --policy deny:\n", text);
        r = try_refusals(t, &c, w->facts.guard, ret_proved);
        if (r >= 0)
                r = try_undo(t, &c, w, ret_proved);
        if (r < 0)
                put(t, "the canary", false, strerror(-r));
        return r;
}
