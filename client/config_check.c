/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

#include "client/config_check.h"
#include "common/macro.h"

extern char **environ;

/* Where the daemon is looked for: beside this program, where installations put it, in PATH. */
static const char *const places[] = {"%s/mountwatchd", "%s/../sbin/mountwatchd",
                                     "/usr/local/sbin/mountwatchd", "/usr/sbin/mountwatchd",
                                     "mountwatchd"};

static int own_folder(char folder[static PATH_MAX]) {
        ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
        char *slash;

        if (n < 0)
                return -errno;
        folder[n] = '\0';
        slash = strrchr(folder, '/');
        if (!slash)
                return -ENOENT;
        *slash = '\0';
        return 0;
}

static int make_place(const char *place, const char *folder, char **ret) {
        const char *hole = strstr(place, "%s");
        int r;

        if (hole)
                r = asprintf(ret, "%s%s", folder, hole + strlen("%s"));
        else
                r = asprintf(ret, "%s", place);
        return r < 0 ? -ENOMEM : 0;
}

static int spawn_daemon(const char *file, pid_t *ret) {
        char folder[PATH_MAX];
        char *argv[] = {(char *) "mountwatchd", (char *) "--check-config", (char *) file, NULL};
        int r = own_folder(folder);

        for (size_t i = r < 0 ? 2 : 0; i < ELEMENTSOF(places); i++) {
                _cleanup_free_ char *program = NULL;

                r = make_place(places[i], folder, &program);
                if (r < 0)
                        return r;
                r = posix_spawnp(ret, program, NULL, NULL, argv, environ);
                if (r != ENOENT && r != ENOTDIR)
                        return -r;
        }
        return -ENOENT;
}

int config_check(const char *file, bool *ret_good) {
        int r, status = 0;
        pid_t pid;

        r = spawn_daemon(file, &pid);
        if (r < 0)
                return r;
        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        *ret_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        return 0;
}
