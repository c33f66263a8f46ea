/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/wait.h>

#include "client/top_pager.h"
#include "client/verb.h"

/* more(1) ends with the last page, and that page would be gone before it is read. $0 is this program. */
static const char script[] = "\"$0\" --socket \"$1\" report \"$2\" 2>&1 |\n"
                             "if [ -n \"${PAGER:-}\" ]; then eval \"$PAGER\"\n"
                             "elif command -v less >/dev/null 2>&1; then less\n"
                             "else more; printf 'Enter goes back '; read -r line </dev/tty; fi\n";

/* This program, or after an upgrade the one that took its name. */
static void find_program(char path[static PATH_MAX]) {
        ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

        path[MAX(n, 0)] = '\0';
        if (n <= 0 || access(path, X_OK) < 0)
                strcpy(path, "mountwatch");
}

_Noreturn static void run_child(const char *socket, const char *id, unsigned columns,
                                const sigset_t *mask) {
        char text[16], program[PATH_MAX];

        find_program(program);
        (void) snprintf(text, sizeof(text), "%u", columns);
        (void) setenv("COLUMNS", text, 1);
        (void) sigprocmask(SIG_SETMASK, mask, NULL);
        execl("/bin/sh", "sh", "-c", script, program, socket, id, (char *) NULL);
        _exit(STATUS_NOT_FOUND);
}

int top_pager_show(const char *socket, const char *id, unsigned columns, const sigset_t *mask) {
        pid_t pid = fork();

        if (pid < 0)
                return -errno;
        if (pid == 0)
                run_child(socket, id, columns, mask);
        while (waitpid(pid, NULL, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        return 0;
}
