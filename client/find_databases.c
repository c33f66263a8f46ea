/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "client/find_databases.h"

#define HEADER "SQLite format 3" /* and the NUL behind it */

bool database_is_dispensable(const char *path) {
        static const char *const tops[] = {
                "/proc/",
                "/sys/",
                "/dev/",
                "/run/",
                "/tmp/",
                "/var/tmp/",
                "/var/cache/",
                "/usr/",
                "/var/run/",
                "/boot/",
                "/var/lib/dpkg/",
                "/var/lib/apt/",
                "/var/lib/rpm/",
                "/var/lib/dnf/",
                "/var/lib/PackageKit/",
                "/var/lib/snapd/",
                "/var/log/",
                "/var/lib/fwupd/",
                "/var/lib/colord/",
                "/var/lib/mountwatch/",
                "/var/lib/docker/",
                "/var/lib/containerd/",
                "/var/lib/containers/",
                "/var/lib/NetworkManager/",
        };
        /* a component of the path */
        static const char *const parts[] = {
                "/.cache/",         "/cache/",      "/Cache/",
                "/Caches/",         "/.mozilla/",   "/firefox/",
                "/google-chrome/",  "/chromium/",   "/BraveSoftware/",
                "/microsoft-edge/", "/vivaldi/",    "/opera/",
                "/.thunderbird/",   "/librewolf/",  "/Code/",
                "/tracker3/",       "/baloo/",      "/gnome-software/",
                "/zeitgeist/",      "/akonadi/",    "/node_modules/",
                "/.Trash-",         "/lost+found/", "/Local Storage/",
                "/.npm/",           "/.cargo/",     "/.vscode/",
                "/.vscode-server/", "/.gradle/",    "/.local/share/Trash/",
        };

        for (size_t i = 0; i < ELEMENTSOF(tops); i++)
                if (strncmp(path, tops[i], strlen(tops[i])) == 0)
                        return true;
        for (size_t i = 0; i < ELEMENTSOF(parts); i++)
                if (strstr(path, parts[i]))
                        return true;
        return false;
}

static bool has_header(int dir_fd, const char *name) {
        /* the link leads to the open file itself, whatever its name is by now; only regular files come here */
        _cleanup_close_ int fd =
                openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOATIME);
        char head[sizeof(HEADER)];

        if (fd < 0)
                fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        return fd >= 0 && pread(fd, head, sizeof(head), 0) == (ssize_t) sizeof(head) &&
                memcmp(head, HEADER, sizeof(head)) == 0;
}

/* "musicd": what the kernel calls the process. */
static void process_name(int process_fd, char name[static 64]) {
        _cleanup_close_ int fd = openat(process_fd, "comm", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? 0 : read(fd, name, 63);

        name[MAX(n, (ssize_t) 0)] = '\0';
        name[strcspn(name, "\n")] = '\0';
}

static int add(Findings *f, int process_fd, const char *pid, const char *path, off_t size) {
        _cleanup_free_ char *why = NULL;
        char name[64];

        process_name(process_fd, name);
        if (asprintf(&why, "SQLite database, in use by %s (pid %s)", *name ? name : "a process",
                     pid) < 0) {
                why = NULL;
                return -ENOMEM;
        }
        return findings_add(f, path, (unsigned long long) size <= DATABASE_PRESERVE_MAX, why);
}

/* Whether the path that the link shows leads to the same file here too: a process in a container has paths of its own. */
static bool is_here(const char *path, const struct stat *st) {
        struct stat here;

        return lstat(path, &here) == 0 && here.st_dev == st->st_dev && here.st_ino == st->st_ino;
}

static int look_at_file(int process_fd, const char *pid, int dir_fd, const char *name,
                        SearchBound *bound, Findings *f) {
        char path[PATH_MAX];
        struct stat link, st;
        ssize_t n = readlinkat(dir_fd, name, path, sizeof(path) - 1);

        if (n <= 0 || *path != '/')
                return 0;
        path[n] = '\0';
        /* the permissions of the link tell how it was opened */
        if (fstatat(dir_fd, name, &link, AT_SYMLINK_NOFOLLOW) < 0 || !(link.st_mode & S_IWUSR))
                return 0;
        /* by the name first: a look at the file itself may hang when its server is gone */
        if (database_is_dispensable(path) || search_avoids(bound, path) || findings_cover(f, path))
                return 0;
        if (fstatat(dir_fd, name, &st, 0) < 0 || !S_ISREG(st.st_mode) || !is_here(path, &st) ||
            !has_header(dir_fd, name))
                return 0;
        return add(f, process_fd, pid, path, st.st_size);
}

static int look_at_process(int proc_fd, const char *pid, SearchBound *bound, Findings *f) {
        _cleanup_close_ int process_fd = openat(proc_fd, pid, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int r = 0,
            fd = process_fd < 0 ? -1 : openat(process_fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *dir = fd < 0 ? NULL : fdopendir(fd);

        if (!dir) {
                safe_close(fd);
                return 0;
        }
        for (struct dirent *e; r >= 0 && (e = readdir(dir)) && search_goes_on(bound);)
                if (*e->d_name != '.')
                        r = look_at_file(process_fd, pid, dirfd(dir), e->d_name, bound, f);
        (void) closedir(dir);
        return r;
}

int find_databases(const char *proc, SearchBound *bound, Findings *f) {
        DIR *dir = opendir(proc);
        int r = 0;

        if (!dir)
                return 0;
        for (struct dirent *e; r >= 0 && (e = readdir(dir)) && search_goes_on(bound);)
                if (*e->d_name >= '1' && *e->d_name <= '9')
                        r = look_at_process(dirfd(dir), e->d_name, bound, f);
        (void) closedir(dir);
        return MIN(r, 0);
}
