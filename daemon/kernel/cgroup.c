/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "common/strv.h"
#include "daemon/kernel/cgroup.h"
#include "daemon/kernel/kill.h"
#include "daemon/kernel/mountinfo.h"
#include "daemon/kernel/textfile.h"

#define CGROUP_PREFIX "mountwatch-"
#define CGROUP_DEPTH_MAX 64 /* folders below one another that are followed */
#define CGROUP_PROCS_MAX (64 * 1024 * 1024)
/* Times that members are looked for again, because they fork or end meanwhile; without a pause at first. */
#define CGROUP_ROUNDS_MAX 100
#define CGROUP_ROUNDS_FAST 10
#define CGROUP_PAUSE_USEC 500

int cgroup_find_root(char **ret) {
        _cleanup_(mount_table_done) MountTable t = {0};
        int r = mountinfo_read(&t);

        if (r < 0)
                return r;
        for (size_t i = 0; i < t.n; i++) {
                const Mount *m = &t.mounts[i];
                char *root;

                /* A mount of a part of the hierarchy would need paths cut short: not ours. */
                if (strcmp(m->fstype, "cgroup2") != 0 || strcmp(m->root, "/") != 0 ||
                    mount_table_find(&t, m->target) != m)
                        continue;
                root = strdup(m->target);
                if (!root)
                        return -ENOMEM;
                *ret = root;
                return 0;
        }
        return -EOPNOTSUPP;
}

int cgroup_parse(const char *data, size_t size, char **ret) {
        static const char key[] = "0::";
        const char *p = data, *end = data + size;

        while (p < end) {
                const char *eol = memchr(p, '\n', (size_t) (end - p));
                size_t n = (size_t) ((eol ? eol : end) - p);
                char *path;

                if (n < sizeof(key) || memcmp(p, key, sizeof(key) - 1) != 0 || p[3] != '/') {
                        p = eol ? eol + 1 : end;
                        continue;
                }
                p += sizeof(key) - 1;
                n -= sizeof(key) - 1;
                if (memchr(p, '\0', n))
                        return -ENODATA;
                path = strndup(p, n);
                if (!path)
                        return -ENOMEM;
                *ret = path;
                return 0;
        }
        return -ENODATA;
}

static int join(const char *dir, const char *prefix, const char *name, char **ret) {
        char *s;

        if (asprintf(&s, "%s%s%s", dir, prefix, name) < 0)
                return -ENOMEM;
        *ret = s;
        return 0;
}

int cgroup_of_pid(const char *root, pid_t pid, char **ret) {
        _cleanup_free_ char *data = NULL, *path = NULL;
        char name[48];
        size_t n;
        int r;

        (void) snprintf(name, sizeof(name), "/proc/%d/cgroup", (int) pid);
        r = textfile_read_all_at(AT_FDCWD, name, CGROUP_PROCS_MAX, &data, &n);
        if (r == -ENOENT)
                return -ESRCH;
        if (r < 0)
                return r;
        r = cgroup_parse(data, n, &path);
        if (r == -ENODATA)
                return -EOPNOTSUPP;
        if (r < 0)
                return r;
        /* Relative to our own cgroup namespace: "/.." lies outside of what is mounted here. */
        if (strncmp(path, "/..", 3) == 0 && (path[3] == '/' || path[3] == '\0'))
                return -EOPNOTSUPP;
        return join(root, strcmp(path, "/") == 0 ? "" : path, "", ret);
}

static int open_cgroup(const char *cgroup, int *ret) {
        int fd = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0)
                return -errno;
        *ret = fd;
        return 0;
}

static int write_pid(int dirfd, pid_t pid) {
        char text[16];

        (void) snprintf(text, sizeof(text), "%d\n", (int) pid);
        return textfile_write_at(dirfd, "cgroup.procs", text);
}

static int write_number(const char *cgroup, const char *name, unsigned value) {
        _cleanup_close_ int dirfd = -1;
        char text[16];
        int r = open_cgroup(cgroup, &dirfd);

        if (r < 0)
                return r;
        (void) snprintf(text, sizeof(text), "%u\n", value);
        return textfile_write_at(dirfd, name, text);
}

/* No right to write here, or mounted read-only (containers): the same as no cgroup v2 at all. */
static int not_writable_is_unsupported(int r) {
        return r == -EROFS || r == -EACCES || r == -EPERM ? -EOPNOTSUPP : r;
}

int cgroup_add(const char *cgroup, pid_t pid) {
        _cleanup_close_ int dirfd = -1;
        int r;

        if (pid <= 0) /* the kernel would take 0 for the writer */
                return -EINVAL;
        r = open_cgroup(cgroup, &dirfd);
        if (r < 0)
                return r;
        return not_writable_is_unsupported(write_pid(dirfd, pid));
}

int cgroup_create_for(const char *root, pid_t pid, const char *id, char **ret) {
        _cleanup_free_ char *parent = NULL, *path = NULL;
        int r;

        if (id[0] == '\0' || strlen(id) + strlen(CGROUP_PREFIX) > NAME_MAX || strchr(id, '/') ||
            strchr(id, '\n'))
                return -EINVAL;
        r = cgroup_of_pid(root, pid, &parent);
        if (r < 0)
                return r;
        r = join(parent, "/" CGROUP_PREFIX, id, &path);
        if (r < 0)
                return r;
        /* Root's and 0755: an ordinary user cannot write its cgroup.procs, nor move a process out of it unless the
         * user may write to the folder above, too. */
        if (mkdir(path, 0755) < 0)
                return not_writable_is_unsupported(-errno);
        r = cgroup_add(path, pid);
        if (r < 0) {
                (void) rmdir(path);
                return r;
        }
        *ret = TAKE_PTR(path);
        return 0;
}

static void closedirp(DIR **d) {
        if (*d)
                (void) closedir(*d);
}

typedef int (*visit_t)(int dirfd, const char *name, unsigned depth, void *userdata);

/* Calls `f` for each folder in the one that dirfd is open on. One that vanishes meanwhile is no error. */
static int foreach_child(int dirfd, unsigned depth, visit_t f, void *userdata) {
        _cleanup_(closedirp) DIR *d = NULL;
        int fd;

        if (depth >= CGROUP_DEPTH_MAX)
                return -ELOOP;
        fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        d = fdopendir(fd);
        if (!d) {
                safe_close(fd);
                return -errno;
        }
        for (;;) {
                const struct dirent *e;
                int r;

                errno = 0;
                e = readdir(d);
                if (!e)
                        return -errno; /* 0 at the end */
                if (e->d_type != DT_DIR || strcmp(e->d_name, ".") == 0 ||
                    strcmp(e->d_name, "..") == 0)
                        continue;
                r = f(dirfd, e->d_name, depth + 1, userdata);
                if (r < 0 && r != -ENOENT && r != -ENODEV)
                        return r;
        }
}

static int open_child(int dirfd, const char *name, int *ret) {
        int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (fd < 0)
                return -errno;
        *ret = fd;
        return 0;
}

typedef struct PidList {
        pid_t *pids;
        size_t n, room;
} PidList;

static void pid_list_done(PidList *l) {
        free(l->pids);
}

static int pid_list_add(PidList *l, pid_t pid) {
        if (l->n == l->room) {
                size_t room = l->room ? 2 * l->room : 64;
                pid_t *grown = reallocarray(l->pids, room, sizeof(*grown));

                if (!grown)
                        return -ENOMEM;
                l->pids = grown;
                l->room = room;
        }
        l->pids[l->n++] = pid;
        return 0;
}

/* Appends the members of this folder. 0 stands for a process outside our pid namespace: nothing can be done with it. */
static int read_members(int dirfd, PidList *l) {
        _cleanup_free_ char *data = NULL;
        size_t n;
        int r = textfile_read_all_at(dirfd, "cgroup.procs", CGROUP_PROCS_MAX, &data, &n);

        if (r == -EOPNOTSUPP) /* threaded: the members are listed in the folder above */
                return 0;
        if (r < 0)
                return r;
        for (char *s = data; *s;) {
                char *stop;
                long pid = strtol(s, &stop, 10);

                if (stop == s || (*stop != '\n' && *stop != '\0'))
                        return -EBADMSG;
                r = pid > 0 ? pid_list_add(l, (pid_t) pid) : 0;
                if (r < 0)
                        return r;
                s = *stop ? stop + 1 : stop;
        }
        return 0;
}

static int collect_members(int dirfd, unsigned depth, PidList *l);

static int collect_child(int dirfd, const char *name, unsigned depth, void *userdata) {
        _cleanup_close_ int child = -1;
        int r = open_child(dirfd, name, &child);

        return r < 0 ? r : collect_members(child, depth, userdata);
}

static int collect_members(int dirfd, unsigned depth, PidList *l) {
        int r = read_members(dirfd, l);

        return r < 0 ? r : foreach_child(dirfd, depth, collect_child, l);
}

/* Removed while we read is the same as not there. */
static int removed_is_enoent(int r) {
        return r == -ENODEV ? -ENOENT : r;
}

int cgroup_list(const char *cgroup, pid_t **ret, size_t *ret_n) {
        _cleanup_(pid_list_done) PidList l = {0};
        _cleanup_close_ int dirfd = -1;
        int r = open_cgroup(cgroup, &dirfd);

        if (r < 0)
                return r;
        r = collect_members(dirfd, 0, &l);
        if (r < 0)
                return removed_is_enoent(r);
        *ret = TAKE_PTR(l.pids);
        *ret_n = l.n;
        return 0;
}

/* The value of `key` in cgroup.events ("populated 1\nfrozen 0\n"). */
static int event_value(const char *data, const char *key) {
        size_t n = strlen(key);

        for (const char *line = data; line;) {
                if (strncmp(line, key, n) == 0 && line[n] == ' ')
                        return line[n + 1] == '1';
                line = strchr(line, '\n');
                if (line)
                        line++;
        }
        return -EBADMSG;
}

static int read_event(const char *cgroup, const char *event) {
        _cleanup_close_ int dirfd = -1;
        char data[256];
        size_t n;
        int r = open_cgroup(cgroup, &dirfd);

        if (r < 0)
                return r;
        r = textfile_read_at(dirfd, "cgroup.events", data, sizeof(data) - 1, &n);
        if (r < 0)
                return removed_is_enoent(r);
        data[n] = '\0';
        return event_value(data, event);
}

int cgroup_is_populated(const char *cgroup) {
        return read_event(cgroup, "populated");
}

int cgroup_is_frozen(const char *cgroup) {
        return read_event(cgroup, "frozen");
}

int cgroup_open_events(const char *cgroup) {
        _cleanup_close_ int dirfd = -1;
        int r = open_cgroup(cgroup, &dirfd);
        int fd;

        if (r < 0)
                return r;
        fd = openat(dirfd, "cgroup.events", O_RDONLY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

int cgroup_freeze(const char *cgroup, bool freeze) {
        return removed_is_enoent(write_number(cgroup, "cgroup.freeze", freeze));
}

int cgroup_kill_each(const char *cgroup) {
        int r = cgroup_freeze(cgroup, true);

        if (r < 0)
                return r;
        /* SIGKILL ends a frozen process, and what is frozen does not fork; but freezing takes a moment. */
        for (unsigned round = 0; round < CGROUP_ROUNDS_MAX; round++) {
                _cleanup_free_ pid_t *pids = NULL;
                size_t n = 0;

                r = cgroup_list(cgroup, &pids, &n);
                if (r < 0 || n == 0)
                        break;
                for (size_t i = 0; i < n; i++) {
                        r = kill_process(pids[i], 0, SIGKILL);
                        if (r < 0 && r != -ESRCH)
                                break;
                        r = -EAGAIN;
                }
                if (r != -EAGAIN)
                        break;
                (void) usleep(CGROUP_PAUSE_USEC);
        }
        (void) cgroup_freeze(cgroup, false);
        return r == -ENOENT ? 0 : r;
}

int cgroup_kill(const char *cgroup) {
        int r = removed_is_enoent(write_number(cgroup, "cgroup.kill", 1));

        /* Before 5.14 the file is not there. */
        if (r == -ENOENT && access(cgroup, F_OK) == 0)
                return cgroup_kill_each(cgroup);
        return r;
}

typedef struct Dissolve {
        int parent;      /* where the members go */
        bool has_nested; /* a session's folder lies below: it and what leads there stays */
} Dissolve;

/* Moves members up until none is left. One that is ending stays, although the write succeeds, until it has closed its
 * files (cgroup_migrate_add_task() leaves out PF_EXITING). */
static int move_members(int dirfd, int parent) {
        for (unsigned round = 0; round < CGROUP_ROUNDS_MAX; round++) {
                _cleanup_(pid_list_done) PidList l = {0};
                int r = read_members(dirfd, &l);

                if (r < 0)
                        return r;
                if (l.n == 0)
                        return 0;
                for (size_t i = 0; i < l.n; i++) {
                        r = write_pid(parent, l.pids[i]);
                        if (r < 0 && r != -ESRCH)
                                return r;
                }
                if (round >= CGROUP_ROUNDS_FAST)
                        (void) usleep(CGROUP_PAUSE_USEC);
        }
        return -EAGAIN;
}

/* Empties the folder and removes it, as `name` in `above`; somebody may move in between the two. */
static int move_and_remove(int dirfd, int parent, int above, const char *name) {
        for (unsigned round = 0; round < CGROUP_ROUNDS_MAX; round++) {
                int r = move_members(dirfd, parent);

                if (r < 0)
                        return r;
                if (unlinkat(above, name, AT_REMOVEDIR) == 0)
                        return 0;
                if (errno != EBUSY)
                        return -errno;
                if (round >= CGROUP_ROUNDS_FAST)
                        (void) usleep(CGROUP_PAUSE_USEC);
        }
        return -EAGAIN;
}

static int dissolve_child(int dirfd, const char *name, unsigned depth, void *userdata) {
        _cleanup_close_ int child = -1;
        Dissolve *d = userdata;
        Dissolve below = {.parent = d->parent};
        int r;

        if (strncmp(name, CGROUP_PREFIX, strlen(CGROUP_PREFIX)) == 0) {
                d->has_nested = true;
                return 0;
        }
        r = open_child(dirfd, name, &child);
        if (r < 0)
                return r;
        r = foreach_child(child, depth, dissolve_child, &below);
        if (r < 0)
                return r;
        if (below.has_nested) {
                d->has_nested = true;
                return 0;
        }
        return move_and_remove(child, d->parent, dirfd, name);
}

static int dissolve(const char *cgroup, int dirfd) {
        _cleanup_close_ int parent = openat(dirfd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        Dissolve d = {.parent = parent};
        int r;

        if (parent < 0)
                return -errno;
        r = foreach_child(dirfd, 0, dissolve_child, &d);
        if (r < 0)
                return r;
        if (!d.has_nested)
                return move_and_remove(dirfd, parent, AT_FDCWD, cgroup);
        r = move_members(dirfd, parent);
        return r < 0 ? r : -EBUSY;
}

int cgroup_dissolve(const char *cgroup) {
        _cleanup_close_ int dirfd = -1;
        int r = open_cgroup(cgroup, &dirfd);

        if (r == 0)
                r = dissolve(cgroup, dirfd);
        return r == -ENOENT || r == -ENODEV ? 0 : r;
}

typedef struct Search {
        const char *at; /* path of the folder that is being read */
        char ***found;
} Search;

static int find_left(int dirfd, const char *name, unsigned depth, void *userdata) {
        const Search *s = userdata;
        _cleanup_free_ char *path = NULL;
        _cleanup_close_ int child = -1;
        Search below;
        int r = open_child(dirfd, name, &child);

        if (r < 0)
                return r;
        r = join(s->at, "/", name, &path);
        if (r < 0)
                return r;
        below = (Search){path, s->found};
        r = foreach_child(child, depth, find_left, &below);
        if (r < 0 && r != -ENOENT && r != -ENODEV)
                return r;
        if (strncmp(name, CGROUP_PREFIX, strlen(CGROUP_PREFIX)) != 0)
                return 0;
        if (!strv_take(s->found, path))
                return -ENOMEM;
        path = NULL;
        return 0;
}

int cgroup_foreach_left(const char *root,
                        void (*f)(const char *cgroup, const char *id, void *userdata),
                        void *userdata) {
        _cleanup_(strv_freep) char **found = NULL;
        Search s = {root, &found};
        _cleanup_close_ int dirfd = -1;
        int r = open_cgroup(root, &dirfd);

        if (r < 0)
                return r;
        r = foreach_child(dirfd, 0, find_left, &s);
        if (r < 0)
                return r;
        /* Only now: f may remove the folder it is called for. */
        for (char **path = found; path && *path; path++) {
                const char *name = strrchr(*path, '/') + 1;

                f(*path, name + strlen(CGROUP_PREFIX), userdata);
        }
        return 0;
}
