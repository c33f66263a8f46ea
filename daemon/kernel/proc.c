/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "common/strv.h"
#include "daemon/kernel/proc.h"
#include "daemon/kernel/textfile.h"

#define CMDLINE_ARGS_MAX 4096
#define CUT_MARK "…"

/* Fields of /proc/PID/stat after the name, counted from `state` (field 3 in proc(5)). */
enum {
        STAT_STATE = 0,
        STAT_PPID = 1,
        STAT_FLAGS = 6,
        STAT_NUM_THREADS = 17,
        STAT_START_TIME = 19,
        STAT_N_FIELDS = 20,
};

/* Takes digits off the front of [*p, end). */
static int take_number(const char **p, const char *end, uint64_t max, uint64_t *ret) {
        const char *s = *p;
        uint64_t v = 0;

        if (s == end || !isdigit((unsigned char) *s))
                return -EBADMSG;
        for (; s < end && isdigit((unsigned char) *s); s++) {
                unsigned d = (unsigned) (*s - '0');

                if (v > (max - d) / 10)
                        return -EBADMSG;
                v = v * 10 + d;
        }
        *p = s;
        *ret = v;
        return 0;
}

/* Takes one field and the blank behind it; only the fields of interest must be numbers without sign. */
static int take_stat_field(const char **p, const char *end, int field, ProcStat *st) {
        const char *stop = memchr(*p, ' ', (size_t) (end - *p));
        const char *s = *p;
        uint64_t v = 0;
        int r = 0;

        if (!stop)
                stop = end;
        if (stop == s)
                return -EBADMSG;

        switch (field) {
        case STAT_STATE:
                st->state = *s++;
                break;
        case STAT_PPID:
                r = take_number(&s, stop, INT_MAX, &v);
                st->ppid = (pid_t) v;
                break;
        case STAT_FLAGS:
                r = take_number(&s, stop, ULONG_MAX, &v);
                st->flags = (unsigned long) v;
                break;
        case STAT_NUM_THREADS:
                r = take_number(&s, stop, ULONG_MAX, &v);
                st->num_threads = (unsigned long) v;
                break;
        case STAT_START_TIME:
                r = take_number(&s, stop, UINT64_MAX, &st->start_ticks);
                break;
        default:
                s = stop;
        }
        if (r < 0)
                return r;
        if (s != stop)
                return -EBADMSG;
        *p = stop < end ? stop + 1 : end;
        return 0;
}

int proc_parse_stat(const char *data, size_t size, ProcStat *ret) {
        const char *p = data, *end = data + size;
        const char *name_end;
        ProcStat st = {0};
        uint64_t pid;
        int r;

        if (size > 0 && end[-1] == '\n')
                end--;
        r = take_number(&p, end, INT_MAX, &pid);
        if (r < 0)
                return r;
        if (end - p < 2 || p[0] != ' ' || p[1] != '(')
                return -EBADMSG;
        p += 2;

        /* The name may hold ")" itself; what follows it cannot. */
        name_end = memrchr(p, ')', (size_t) (end - p));
        if (!name_end || end - name_end < 2 || name_end[1] != ' ')
                return -EBADMSG;
        p = name_end + 2;

        st.pid = (pid_t) pid;
        for (int field = 0; field < STAT_N_FIELDS; field++) {
                r = take_stat_field(&p, end, field, &st);
                if (r < 0)
                        return r;
        }
        *ret = st;
        return 0;
}

/* What follows `key` in the status of a process. A newline in the name is escaped there (seq_put_escape in the kernel), so
 * a line is a line. NULL: no such line. */
static const char *find_status(const char *p, const char *end, const char *key,
                               const char **ret_eol) {
        size_t n = strlen(key);

        while (p < end) {
                const char *eol = memchr(p, '\n', (size_t) (end - p));

                if (!eol)
                        eol = end;
                if ((size_t) (eol - p) >= n && memcmp(p, key, n) == 0) {
                        *ret_eol = eol;
                        return p + n;
                }
                p = eol < end ? eol + 1 : end;
        }
        return NULL;
}

static int take_column(const char **p, const char *eol, uint64_t max, uint64_t *ret) {
        while (*p < eol && (**p == '\t' || **p == ' '))
                (*p)++;
        return take_number(p, eol, max, ret);
}

int proc_parse_status_uid(const char *data, size_t size, uid_t *ret) {
        const char *eol, *p = find_status(data, data + size, "Uid:", &eol);
        uint64_t real, effective;

        if (!p || take_column(&p, eol, UINT32_MAX, &real) < 0 ||
            take_column(&p, eol, UINT32_MAX, &effective) < 0)
                return -EBADMSG;
        *ret = (uid_t) effective;
        return 0;
}

int proc_parse_status_tgid(const char *data, size_t size, pid_t *ret) {
        const char *eol, *p = find_status(data, data + size, "Tgid:", &eol);
        uint64_t v;

        if (!p || take_column(&p, eol, INT_MAX, &v) < 0 || v == 0)
                return -EBADMSG;
        *ret = (pid_t) v;
        return 0;
}

/* One argument; the last one of a command line that was cut carries the mark. */
static char *argument_new(const char *s, size_t n, bool cut) {
        size_t mark = cut ? strlen(CUT_MARK) : 0;
        char *copy = malloc(n + mark + 1);

        if (!copy)
                return NULL;
        memcpy(copy, s, n);
        memcpy(copy + n, CUT_MARK, mark);
        copy[n + mark] = '\0';
        return copy;
}

/* A program that rewrites its title (setproctitle) leaves one string and fills the old arguments with NULs: they
 * would read as empty arguments. */
static size_t without_title_padding(const char *data, size_t size) {
        size_t n = strnlen(data, size);

        for (size_t i = n; i < size; i++)
                if (data[i] != '\0')
                        return size;
        return n > 0 && size - n > 2 ? n : size;
}

int proc_parse_cmdline(const char *data, size_t size, char ***ret) {
        _cleanup_(strv_freep) char **v = NULL;
        const char *p = data, *end;
        bool cut = size > PROC_CMDLINE_MAX;
        size_t n_args = 0, n = 0;

        size = without_title_padding(data, MIN(size, (size_t) PROC_CMDLINE_MAX));
        end = data + size;
        for (const char *s = data; s < end; s++)
                n_args += *s == '\0' || s + 1 == end;
        if (n_args > CMDLINE_ARGS_MAX) {
                n_args = CMDLINE_ARGS_MAX;
                cut = true;
        }

        v = calloc(n_args + 1, sizeof(*v));
        if (!v)
                return -ENOMEM;
        while (n < n_args) {
                size_t len = strnlen(p, (size_t) (end - p));

                v[n] = argument_new(p, len, cut && n + 1 == n_args);
                if (!v[n])
                        return -ENOMEM;
                n++;
                p += MIN(len + 1, (size_t) (end - p));
        }
        *ret = TAKE_PTR(v);
        return 0;
}

/* What the files of a process answer when it is gone, as one word. */
static int gone_is_esrch(int r) {
        return r == -ENOENT ? -ESRCH : r;
}

static int open_process(pid_t pid, int *ret) {
        char path[32];
        int fd;

        if (pid <= 0)
                return -ESRCH;
        (void) snprintf(path, sizeof(path), "/proc/%d", (int) pid);
        fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return gone_is_esrch(-errno);
        *ret = fd;
        return 0;
}

static int read_stat(int dirfd, ProcStat *ret) {
        char buf[2048];
        size_t n;
        int r = textfile_read_at(dirfd, "stat", buf, sizeof(buf), &n);

        if (r < 0)
                return gone_is_esrch(r);
        return proc_parse_stat(buf, n, ret);
}

static int read_uid(int dirfd, uid_t *ret) {
        char buf[4096]; /* Uid is the ninth line; what follows may be cut */
        size_t n;
        int r = textfile_read_at(dirfd, "status", buf, sizeof(buf), &n);

        if (r < 0)
                return gone_is_esrch(r);
        return proc_parse_status_uid(buf, n, ret);
}

/* NULL in *ret when the link leads nowhere: a kernel thread, or a process that is just ending. */
static int read_link(int dirfd, const char *name, char **ret) {
        char buf[PATH_MAX];
        ssize_t n = readlinkat(dirfd, name, buf, sizeof(buf));
        char *s = NULL;

        if (n >= 0) {
                s = strndup(buf, (size_t) n);
                if (!s)
                        return -ENOMEM;
        }
        *ret = s;
        return 0;
}

static int read_cmdline(int dirfd, char ***ret) {
        char buf[PROC_CMDLINE_MAX + 1]; /* one byte more tells that it was cut */
        size_t n;

        if (textfile_read_at(dirfd, "cmdline", buf, sizeof(buf), &n) < 0 || n == 0) {
                *ret = NULL;
                return 0;
        }
        return proc_parse_cmdline(buf, n, ret);
}

int proc_read_tgid(pid_t tid, pid_t *ret) {
        char path[32], buf[512]; /* Tgid is the fourth line */
        size_t n;
        int r;

        (void) snprintf(path, sizeof(path), "/proc/%d/status", (int) tid);
        r = textfile_read_at(AT_FDCWD, path, buf, sizeof(buf), &n);
        if (r < 0)
                return gone_is_esrch(r);
        return proc_parse_status_tgid(buf, n, ret);
}

int proc_read_stat(pid_t pid, ProcStat *ret) {
        _cleanup_close_ int dirfd = -1;
        int r = open_process(pid, &dirfd);

        if (r < 0)
                return r;
        return read_stat(dirfd, ret);
}

int proc_read_details(pid_t pid, ProcessDetails *ret) {
        _cleanup_(program_unrefp) Program *program = NULL;
        _cleanup_(strv_freep) char **cmdline = NULL;
        _cleanup_free_ char *exe = NULL, *cwd = NULL;
        _cleanup_close_ int dirfd = -1;
        ProcStat st;
        uid_t uid;
        int r;

        r = open_process(pid, &dirfd);
        if (r < 0)
                return r;

        /* In the order in which an ending process loses them: the memory (cmdline, exe), the working directory,
         * and only when it is reaped stat and status. */
        r = read_cmdline(dirfd, &cmdline);
        if (r < 0)
                return r;
        r = read_link(dirfd, "exe", &exe);
        if (r < 0)
                return r;
        r = read_link(dirfd, "cwd", &cwd);
        if (r < 0)
                return r;
        r = read_stat(dirfd, &st);
        if (r < 0)
                return r;
        r = read_uid(dirfd, &uid);
        if (r < 0)
                return r;

        if (cmdline || exe || cwd) {
                r = program_new(TAKE_PTR(exe), TAKE_PTR(cmdline), TAKE_PTR(cwd), &program);
                if (r < 0)
                        return r;
        }
        *ret = (ProcessDetails){
                .pid = pid,
                .ppid = st.ppid,
                .start_ticks = st.start_ticks,
                .uid = uid,
                .program = TAKE_PTR(program),
        };
        return 0;
}

static void closedirp(DIR **d) {
        if (*d)
                (void) closedir(*d);
}

/* The number that a name in /proc stands for, 0 for the others. */
static pid_t pid_of_name(const char *name) {
        const char *p = name, *end = name + strlen(name);
        uint64_t v;

        if (take_number(&p, end, INT_MAX, &v) < 0 || p != end)
                return 0;
        return (pid_t) v;
}

int proc_list(pid_t **ret, size_t *ret_n) {
        _cleanup_(closedirp) DIR *d = opendir("/proc");
        _cleanup_free_ pid_t *pids = NULL;
        size_t n = 0, room = 0;

        if (!d)
                return -errno;
        for (;;) {
                const struct dirent *e;
                pid_t pid;

                errno = 0;
                e = readdir(d);
                if (!e && errno > 0)
                        return -errno;
                if (!e)
                        break;
                pid = pid_of_name(e->d_name);
                if (pid == 0)
                        continue;
                if (n == room) {
                        pid_t *grown;

                        room = room ? 2 * room : 256;
                        grown = reallocarray(pids, room, sizeof(*pids));
                        if (!grown)
                                return -ENOMEM;
                        pids = grown;
                }
                pids[n++] = pid;
        }
        *ret = TAKE_PTR(pids);
        *ret_n = n;
        return 0;
}

bool proc_has_children(pid_t pid) {
        _cleanup_(closedirp) DIR *d = NULL;
        char path[64];
        const struct dirent *e;

        (void) snprintf(path, sizeof path, "/proc/%d/task", (int) pid);
        d = opendir(path);
        if (!d)
                return true;
        while ((e = readdir(d))) {
                char name[sizeof e->d_name + sizeof "/children"], byte;
                size_t n = 0;

                if (pid_of_name(e->d_name) == 0)
                        continue;
                (void) snprintf(name, sizeof name, "%s/children", e->d_name);
                if (textfile_read_at(dirfd(d), name, &byte, 1, &n) < 0 || n > 0)
                        return true;
        }
        return false;
}
