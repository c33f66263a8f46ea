/* SPDX-License-Identifier: MIT */
/* What a caller sees: its root, its memory, and what it would call an object. */
#include "daemon/kernel/guard_walk.h"

#include <sched.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000U
#endif

#define PAGE \
        4096U /* the smallest there is: a read that stays in one of these faults as a whole or not at all */
#define SHORT 256U /* most paths are shorter than that */

/* ---- root ---- */

static int own_root(Walker *w) {
        struct statx st;

        w->root_inode =
                0; /* no root at all, so that a failure is made good by the next walker_enter() */
        if (statx(AT_FDCWD, "/", 0, STATX_INO | STATX_MNT_ID, &st) < 0)
                return -errno;
        w->root_mount = st.stx_mnt_id;
        w->root_inode = st.stx_ino;
        w->root_dev = makedev(st.stx_dev_major, st.stx_dev_minor);
        return 0;
}

int walker_init(Walker *w) {
        int r;

        *w = (Walker){.proc_fd = -1};
        if (unshare(CLONE_FS) < 0)
                return -errno;
        w->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (w->proc_fd < 0)
                return -errno;
        r = own_root(w);
        if (r < 0)
                w->proc_fd = safe_close(w->proc_fd);
        return r;
}

void walker_done(Walker *w) {
        w->proc_fd = safe_close(w->proc_fd);
}

static int move_root(Walker *w, const char *name) {
        _cleanup_close_ int fd = openat(w->proc_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0 || fchdir(fd) < 0 || chroot(".") < 0)
                return -errno;
        w->n_moves++;
        return own_root(w);
}

void walker_enter(Walker *w, pid_t tid, nsec_t now, bool may_trust) {
        w->tid = tid;
        w->now = now;
        w->rooted = false;
        w->may_trust = may_trust;
}

static bool is_known_root(const Walker *w) {
        for (size_t i = 0; w->may_trust && i < WALKER_RECENT; i++)
                if (w->recent[i].tid == w->tid && w->recent[i].n_moves == w->n_moves &&
                    w->now - w->recent[i].at < WALKER_TRUST_NSEC)
                        return true;
        return false;
}

static void remember_root(Walker *w) {
        size_t i;

        for (i = 0; i < WALKER_RECENT && w->recent[i].tid != w->tid; i++)
                ;
        if (i == WALKER_RECENT) {
                i = w->next;
                w->next = (i + 1) % WALKER_RECENT;
        }
        w->recent[i].tid = w->tid;
        w->recent[i].at = w->now;
        w->recent[i].n_moves = w->n_moves;
}

int walker_take_root(Walker *w) {
        struct statx st;
        ProcName name;
        int r = 0;

        if (w->rooted || is_known_root(w)) {
                w->rooted = true;
                return 0;
        }
        proc_name(w, "root", name);
        if (statx(w->proc_fd, name, 0, STATX_INO | STATX_MNT_ID, &st) < 0)
                return errno == ENOENT ? -ESRCH : -errno;
        if (st.stx_ino != w->root_inode || st.stx_mnt_id != w->root_mount ||
            makedev(st.stx_dev_major, st.stx_dev_minor) != w->root_dev)
                r = move_root(w, name);
        if (r < 0)
                return r;
        remember_root(w);
        w->rooted = true;
        return 0;
}

/* ---- memory ---- */

int walker_read(const Walker *w, uint64_t address, void *ret, size_t size) {
        const struct iovec local = {ret, size};
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        const struct iovec remote = {(void *) (uintptr_t) address, size};
        ssize_t n;

        if (address > UINTPTR_MAX - size)
                return -EFAULT;
        n = process_vm_readv(w->tid, &local, 1, &remote, 1, 0);
        if (n < 0)
                return -errno;
        return (size_t) n == size ? 0 : -EFAULT;
}

/* Page by page: the string may end on the last one that is mapped. */
int walker_read_string(const Walker *w, uint64_t address, char ret[static PATH_MAX]) {
        size_t n = 0;

        while (n < PATH_MAX) {
                size_t k = MIN(PAGE - (size_t) ((address + n) % PAGE),
                               n ? (size_t) PATH_MAX - n : SHORT);
                const char *end;
                int r;

                if (address > UINT64_MAX - PATH_MAX)
                        return -EFAULT;
                r = walker_read(w, address + n, ret + n, k);
                if (r < 0)
                        return r;
                end = memchr(ret + n, '\0', k);
                if (end)
                        return (int) (end - ret);
                n += k;
        }
        return -ENAMETOOLONG;
}

/* ---- names ---- */

/* The kernel marks what has no name any more, and a name may look as if it was marked: then it is looked up. */
static bool is_removed(int fd, const char *path) {
        static const char mark[] = " (deleted)";
        size_t n = strlen(path);
        struct stat st, now;

        if (fstat(fd, &st) < 0 || st.st_nlink == 0)
                return true;
        if (n < sizeof(mark) || !str_equal(path + n - (sizeof(mark) - 1), mark))
                return false;
        return lstat(path, &now) < 0 || now.st_dev != st.st_dev || now.st_ino != st.st_ino;
}

int walker_path_of(const Walker *w, int fd, char ret[static PATH_MAX]) {
        char name[32];
        ssize_t n;

        (void) snprintf(name, sizeof(name), "self/fd/%d", fd);
        n = readlinkat(w->proc_fd, name, ret, PATH_MAX);
        if (n < 0)
                return -errno;
        if (n == PATH_MAX)
                return -ENAMETOOLONG;
        ret[n] = '\0';
        return is_removed(fd, ret) ? -ESTALE : 0;
}
