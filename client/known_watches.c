/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

#include "client/known_watches.h"

#define CONFIG_MAX (1024 * 1024)

int config_read_text(const char *path, char **ret) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        _cleanup_free_ char *text = malloc(CONFIG_MAX + 1);
        size_t size = 0;

        if (!text)
                return -ENOMEM;
        if (fd < 0)
                return -errno;
        for (ssize_t n; (n = read(fd, text + size, CONFIG_MAX + 1 - size)) != 0;
             size += (size_t) n) {
                if (n < 0)
                        return -errno;
                if (size + (size_t) n > CONFIG_MAX)
                        return -EFBIG;
        }
        text[size] = '\0';
        *ret = TAKE_PTR(text);
        return 0;
}

static char *trim(char *s) {
        char *end;

        s += strspn(s, " \t\r");
        for (end = s + strlen(s); end > s && strchr(" \t\r", end[-1]);)
                end--;
        *end = '\0';
        return s;
}

/* "[Watch nas]" */
static int know_section(char *line, Findings *f) {
        const size_t n = strlen(line);

        if (n < 3 || line[n - 1] != ']' || strncmp(line, "[Watch", 6) != 0 ||
            !strchr(" \t", line[6]))
                return 0;
        line[n - 1] = '\0';
        return findings_know(f, trim(line + 6), NULL);
}

/* "Path=/mnt/nas/": a slash at its end says nothing */
static int know_path(char *line, Findings *f) {
        char *equals = strchr(line, '='), *path;

        if (!equals)
                return 0;
        *equals = '\0';
        if (!str_equal(trim(line), "Path"))
                return 0;
        path = trim(equals + 1);
        for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
                path[n - 1] = '\0';
        return *path == '/' && path[1] ? findings_know(f, NULL, path) : 0;
}

int known_watches_parse(const char *text, Findings *f) {
        _cleanup_free_ char *copy = strdup(text);
        char *next = copy, *line;
        int r = 0;

        if (!copy)
                return -ENOMEM;
        while (r >= 0 && (line = strsep(&next, "\n"))) {
                line = trim(line);
                r = *line == '[' ? know_section(line, f) : know_path(line, f);
        }
        return r;
}

static int read_one(const char *path, Findings *f) {
        _cleanup_free_ char *text = NULL;
        int r = config_read_text(path, &text);

        if (r < 0 || !text)
                return r == -ENOENT ? 0 : r;
        return known_watches_parse(text, f);
}

static int read_folder(const char *folder, Findings *f) {
        DIR *dir = opendir(folder);
        int r = 0;

        if (!dir)
                return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
        for (struct dirent *e; r >= 0 && (e = readdir(dir));) {
                _cleanup_free_ char *path = NULL;
                const size_t n = strlen(e->d_name);

                if (*e->d_name == '.' || n <= 5 || !str_equal(e->d_name + n - 5, ".conf"))
                        continue;
                r = asprintf(&path, "%s/%s", folder, e->d_name) < 0 ? -ENOMEM : 0;
                if (r < 0)
                        path = NULL;
                r = r < 0 ? r : read_one(path, f);
        }
        (void) closedir(dir);
        return r;
}

int known_watches_read(const char *config, Findings *f) {
        _cleanup_free_ char *folder = NULL;
        int r;

        r = read_one(config, f);
        if (r < 0)
                return r;
        if (asprintf(&folder, "%s.d", config) < 0) {
                folder = NULL;
                return -ENOMEM;
        }
        return read_folder(folder, f);
}
