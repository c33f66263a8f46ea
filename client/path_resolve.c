/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "client/path_resolve.h"
#include "common/macro.h"

static int append(char **path, const char *name, size_t n) {
        char *grown;

        if (asprintf(&grown, "%s/%.*s", str_equal(*path, "/") ? "" : *path, (int) n, name) < 0)
                return -ENOMEM;
        free(*path);
        *path = grown;
        return 0;
}

static void remove_last(char *path) {
        char *slash = strrchr(path, '/');

        slash[slash == path] = '\0';
}

/* The links of what there is; a path that is gone stays. */
static int follow(char **path) {
        char *real = realpath(*path, NULL);

        if (!real)
                return errno == ENOMEM ? -ENOMEM : 0;
        free(*path);
        *path = real;
        return 0;
}

/* One name of the path. Links in the directories before it have been followed, so ".." is safe to take by its letters. */
static int step(char **path, const char *name, size_t n, bool is_last) {
        int r;

        if (n == 0 || (n == 1 && name[0] == '.'))
                return 0;
        if (n == 2 && name[0] == '.' && name[1] == '.') {
                remove_last(*path);
                return 0;
        }
        r = append(path, name, n);
        return r < 0 || is_last ? r : follow(path);
}

/* Nothing but slashes after it. */
static bool is_last_name(const char *rest) {
        return rest[strspn(rest, "/")] == '\0';
}

int path_resolve(const char *cwd, const char *path, char **ret) {
        _cleanup_free_ char *whole = NULL, *resolved = strdup("/");
        int r;

        if (!resolved)
                return -ENOMEM;
        if (!*path)
                return -EINVAL;
        if (asprintf(&whole, "%s/%s", *path == '/' ? "" : cwd, path) < 0) {
                whole = NULL;
                return -ENOMEM;
        }
        for (const char *p = whole + strspn(whole, "/"); *p; p += strspn(p, "/")) {
                size_t n = strcspn(p, "/");

                r = step(&resolved, p, n, is_last_name(p + n));
                if (r < 0)
                        return r;
                p += n;
        }
        *ret = TAKE_PTR(resolved);
        return 0;
}
