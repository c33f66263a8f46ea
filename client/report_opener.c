/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>

#include "client/report_opener.h"
#include "common/strv.h"

extern char **environ;

/* $1 the program, $2 the socket, $3 the session. Debian's x-terminal-emulator takes a command and its arguments after -e. */
static const char script[] =
        "if command -v x-terminal-emulator >/dev/null; then\n"
        "    exec x-terminal-emulator -e sh -c '\"$1\" --socket \"$2\" report \"$3\"; printf \"\\n"
        "Return closes this window. \"; read -r answer' sh \"$1\" \"$2\" \"$3\"\n"
        "fi\n"
        "page=${XDG_RUNTIME_DIR:?}/mountwatch-report-$3.html\n"
        "\"$1\" --socket \"$2\" report \"$3\" --html \"$page\" >/dev/null && exec xdg-open \"$page\"\n";

/* What a window needs of our surroundings. */
static const char *const passed_on[] = {"DISPLAY",         "WAYLAND_DISPLAY",     "XAUTHORITY",
                                        "XDG_RUNTIME_DIR", "XDG_CURRENT_DESKTOP", "PATH"};

static int append_setenv(char ***argv, const char *name) {
        const char *value = getenv(name);
        char *word = NULL;

        if (!value)
                return 0;
        if (asprintf(&word, "--setenv=%s=%s", name, value) < 0)
                return -ENOMEM;
        if (strv_take(argv, word))
                return 0;
        free(word);
        return -ENOMEM;
}

/* A service starts it as a service of its own: a browser needs more than the agent's unit allows, and outlives the agent. */
static int append_systemd_run(char ***argv) {
        int r = 0;

        if (!getenv("INVOCATION_ID"))
                return 0;
        if (!strv_append(argv, "systemd-run") || !strv_append(argv, "--user") ||
            !strv_append(argv, "--quiet") || !strv_append(argv, "--collect"))
                return -ENOMEM;
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(passed_on); i++)
                r = append_setenv(argv, passed_on[i]);
        return r < 0 || strv_append(argv, "--") ? r : -ENOMEM;
}

static int make_argv(const char *program, const char *socket_path, const char *session,
                     char ***ret) {
        _cleanup_(strv_freep) char **argv = NULL;
        /* through PATH, or from wherever it is started */
        _cleanup_free_ char *whole = strchr(program, '/') ? realpath(program, NULL) : NULL;
        const char *const words[] = {"sh",        "-c",   script, "sh", whole ? whole : program,
                                     socket_path, session};
        int r = append_systemd_run(&argv);

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(words); i++)
                r = strv_append(&argv, words[i]) ? 0 : -ENOMEM;
        if (r < 0)
                return r;
        *ret = TAKE_PTR(argv);
        return 0;
}

/* The loop blocks the signals that it reads. */
static int spawn(char **argv) {
        posix_spawnattr_t attributes;
        sigset_t none;
        pid_t pid;
        int r = posix_spawnattr_init(&attributes);

        if (r != 0)
                return -r;
        (void) sigemptyset(&none);
        (void) posix_spawnattr_setsigmask(&attributes, &none);
        (void) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
        r = posix_spawnp(&pid, argv[0], NULL, &attributes, argv, environ);
        (void) posix_spawnattr_destroy(&attributes);
        return -r;
}

int report_open(const char *program, const char *socket_path, const char *session) {
        _cleanup_(strv_freep) char **argv = NULL;
        int r;

        if (!*session || session[strspn(session, "0123456789abcdef")])
                return -EINVAL;
        r = make_argv(program, socket_path, session, &argv);
        return r < 0 ? r : spawn(argv);
}
