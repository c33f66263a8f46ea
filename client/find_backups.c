/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>

#include "client/find_backups.h"

#define LEVEL_MAX 20000

/* Folders that are equally deep. */
typedef struct Level {
        char **paths;
        size_t n;
} Level;

bool backup_is_named_so(const char *name) {
        static const char *const words[] = {"backup", "backups"};
        const size_t n = strlen(name);

        for (size_t i = 0; i < ELEMENTSOF(words); i++) {
                const size_t k = strlen(words[i]);

                if (strcasecmp(name, words[i]) == 0)
                        return true;
                if (n > k && strcasecmp(name + n - k, words[i]) == 0 &&
                    strchr("-_. ", name[n - k - 1]))
                        return true;
                if (n > k && strncasecmp(name, words[i], k) == 0 && strchr("-_ ", name[k]))
                        return true;
        }
        return false;
}

/* Where nobody keeps backups of their own, and much is to be walked through. */
static bool is_passed_over(const char *path) {
        static const char *const paths[] = {
                "/proc",
                "/sys",
                "/dev",
                "/run",
                "/tmp",
                "/usr",
                "/bin",
                "/sbin",
                "/lib",
                "/lib32",
                "/lib64",
                "/libx32",
                "/etc",
                "/boot",
                "/var/tmp",
                "/var/cache",
                "/var/log",
                "/var/run",
                "/var/lock",
                "/var/backups",
                "/lost+found",
                "/nix",
                "/gnu",
                "/snap",
                "/var/lib/docker",
                "/var/lib/containerd",
                "/var/lib/containers",
                "/var/lib/dpkg",
                "/var/lib/apt",
                "/var/lib/snapd",
                "/var/lib/mountwatch",
        };
        const char *name = strrchr(path, '/');

        for (size_t i = 0; i < ELEMENTSOF(paths); i++)
                if (str_equal(paths[i], path))
                        return true;
        return str_equal(name, "/node_modules") || str_equal(name, "/lost+found") ||
                str_equal(name, "/__pycache__");
}

static bool has(int dir_fd, const char *name, mode_t type) {
        struct stat st;

        return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                (st.st_mode & S_IFMT) == type;
}

static bool begins_with(int dir_fd, const char *name, const char *text) {
        _cleanup_close_ int fd =
                openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
        char head[64];
        ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);

        return n >= (ssize_t) strlen(text) && memcmp(head, text, strlen(text)) == 0;
}

/* By the marks that the programs leave in their repositories. */
static const char *repository_kind(int dir_fd) {
        if (has(dir_fd, "config", S_IFREG) && has(dir_fd, "data", S_IFDIR)) {
                if (begins_with(dir_fd, "config", "[repository]"))
                        return "borg repository";
                if (has(dir_fd, "index", S_IFDIR) && has(dir_fd, "keys", S_IFDIR) &&
                    has(dir_fd, "snapshots", S_IFDIR))
                        return "restic repository";
        }
        if (has(dir_fd, "kopia.repository.f", S_IFREG))
                return "kopia repository";
        if (has(dir_fd, "alpha.0", S_IFDIR) || has(dir_fd, "hourly.0", S_IFDIR) ||
            has(dir_fd, "daily.0", S_IFDIR))
                return "rsnapshot folder";
        return NULL;
}

static bool is_empty(DIR *dir) {
        struct dirent *e;

        rewinddir(dir);
        while ((e = readdir(dir)))
                if (!str_equal(e->d_name, ".") && !str_equal(e->d_name, ".."))
                        return false;
        return true;
}

static bool is_folder(const struct dirent *e, int dir_fd) {
        /* some filesystems do not tell the type */
        return e->d_type == DT_DIR || (e->d_type == DT_UNKNOWN && has(dir_fd, e->d_name, S_IFDIR));
}

/* Puts the folders in `dir` on the list of the next level. */
static int queue_folders(DIR *dir, const char *path, Level *next, SearchBound *bound) {
        rewinddir(dir);
        for (struct dirent *e; (e = readdir(dir));) {
                char *below = NULL;

                if (*e->d_name == '.' || !is_folder(e, dirfd(dir)))
                        continue;
                if (next->n == LEVEL_MAX) {
                        bound->hit = true;
                        return 0;
                }
                if (asprintf(&below, "%s/%s", str_equal(path, "/") ? "" : path, e->d_name) < 0)
                        return -ENOMEM;
                next->paths[next->n++] = below;
        }
        return 0;
}

/* 1: this is one, and what is in it needs no look; 0: it is not. */
static int judge(DIR *dir, const char *path, Findings *f) {
        const char *kind = repository_kind(dirfd(dir)), *name = strrchr(path, '/');
        int r;

        if (!kind && name && backup_is_named_so(name + 1) && !is_empty(dir))
                kind = "folder of backups, by its name";
        if (!kind)
                return 0;
        r = findings_add(f, path, /* preserve= */ true, kind);
        return r < 0 ? r : 1;
}

/* `next` is NULL on the deepest level. */
static int look_at(const char *path, Level *next, SearchBound *bound, Findings *f) {
        int fd, r;
        DIR *dir;

        if (is_passed_over(path) || search_avoids(bound, path) || findings_cover(f, path))
                return 0;
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        dir = fd < 0 ? NULL : fdopendir(fd);
        if (!dir) {
                safe_close(fd);
                return 0;
        }
        r = judge(dir, path, f);
        if (r == 0 && next)
                r = queue_folders(dir, path, next, bound);
        (void) closedir(dir);
        return MIN(r, 0);
}

static int look_at_level(const Level *level, Level *next, SearchBound *bound, Findings *f) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < level->n && search_goes_on(bound); i++)
                r = look_at(level->paths[i], next, bound, f);
        return r;
}

static void empty_level(Level *level) {
        for (size_t i = 0; i < level->n; i++)
                free(level->paths[i]);
        level->n = 0;
}

static void free_level(Level *level) {
        empty_level(level);
        free(level->paths);
}

int find_backups(const char *top, SearchBound *bound, Findings *f) {
        _cleanup_(free_level) Level level = {.paths = calloc(LEVEL_MAX, sizeof(char *))},
                                    next = {.paths = calloc(LEVEL_MAX, sizeof(char *))};
        int r = 0;

        if (!level.paths || !next.paths)
                return -ENOMEM;
        level.paths[0] = strdup(top);
        if (!level.paths[0])
                return -ENOMEM;
        level.n = 1;
        for (unsigned depth = 0; r >= 0 && level.n > 0 && depth <= BACKUP_DEPTH_MAX; depth++) {
                Level done = level;

                r = look_at_level(&level, depth < BACKUP_DEPTH_MAX ? &next : NULL, bound, f);
                empty_level(&done);
                level = next;
                next = done;
        }
        return r;
}
