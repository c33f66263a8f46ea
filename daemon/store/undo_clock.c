/* SPDX-License-Identifier: MIT */
/*
 * Has somebody else changed an object since the session's last operation on it? Its time of change tells. On a filesystem of this
 * machine that time is of our own clock. A server has a clock of its own: how far it is ahead shows in a file that we
 * write there, and what is written back late is given some seconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <time.h>

#include "daemon/store/undo_internal.h"

#define SLACK_USEC (INT64_C(100000))
#define SERVER_SLACK_USEC (INT64_C(5000000))
#define SMB1_MAGIC 0xFF534D42
#define SMB2_MAGIC 0xFE534D42
#define PROBE ".mountwatch-clock"

static int64_t to_usec(const struct timespec *t) {
        return t->tv_sec * (int64_t) USEC_PER_SEC + t->tv_nsec / (int64_t) NSEC_PER_USEC;
}

static int64_t now_usec(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_REALTIME, &t);
        return to_usec(&t);
}

static bool is_remote(int dir_fd) {
        struct statfs fs;

        if (fstatfs(dir_fd, &fs) < 0)
                return true;
        switch ((uint32_t) fs.f_type) {
        case NFS_SUPER_MAGIC:
        case SMB1_MAGIC:
        case SMB2_MAGIC:
        case FUSE_SUPER_MAGIC:
                return true;
        default:
                return false;
        }
}

static bool write_probe(int dir_fd, struct stat *ret) {
        _cleanup_close_ int fd = -1;

        (void) unlinkat(dir_fd, PROBE, 0);
        fd = openat(dir_fd, PROBE, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        return fd >= 0 && write(fd, "?", 1) == 1 && fsync(fd) == 0 && fstat(fd, ret) == 0;
}

/* The directory gets its times back. */
static bool measure(int dir_fd, int64_t *ret_ahead) {
        int64_t before = now_usec();
        struct stat dir, probe = {};
        bool known;

        if (fstat(dir_fd, &dir) < 0)
                return false;
        known = write_probe(dir_fd, &probe);
        *ret_ahead = to_usec(&probe.st_mtim) - (before + (now_usec() - before) / 2);
        (void) unlinkat(dir_fd, PROBE, 0);
        (void) futimens(dir_fd, (const struct timespec[]){dir.st_atim, dir.st_mtim});
        return known;
}

static UndoClock read_clock(const UndoRun *run, int dir_fd) {
        UndoClock c = {.known = true, .slack = SLACK_USEC};

        if (!is_remote(dir_fd))
                return c;
        c.slack = SERVER_SLACK_USEC;
        c.known = !run->options->dry_run && measure(dir_fd, &c.ahead);
        return c;
}

/* One after the other, steps are mostly of one filesystem. */
static const UndoClock *find_clock(UndoRun *run, int dir_fd, dev_t dev) {
        if (!run->clock.measured || run->clock.dev != dev) {
                run->clock = read_clock(run, dir_fd);
                run->clock.measured = true;
                run->clock.dev = dev;
        }
        return &run->clock;
}

/* A directory's time is changed by our own steps as well; who else has been in it shows in its entries. */
bool undo_has_changed_since(UndoRun *run, const UndoStep *s, int dir_fd, const char *name,
                            usec_t *ret_when) {
        const UndoClock *c;
        struct stat st;
        int64_t changed;

        if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISDIR(st.st_mode) ||
            undo_has_touched(run, &st))
                return false;
        c = find_clock(run, dir_fd, st.st_dev);
        changed = to_usec(&st.st_ctim) - c->ahead;
        if (!c->known || changed <= (int64_t) s->last + c->slack)
                return false;
        *ret_when = (usec_t) changed;
        return true;
}
