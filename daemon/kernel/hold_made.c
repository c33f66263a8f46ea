/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "daemon/kernel/fan_decode.h"
#include "daemon/kernel/hold_made.h"

/* Kernel ABI that glibc 2.36 lacks: FAN_REPORT_TID, and object, directory, name and object of a name (5.17). */
#define INIT_REPORT (0x00000100U | 0x00000200U | 0x00000400U | 0x00000800U | 0x00001000U)

#ifndef AT_HANDLE_FID
#define AT_HANDLE_FID 0x200 /* 6.5 */
#endif

#define WANTED (STATX_TYPE | STATX_NLINK | STATX_INO | STATX_SIZE | STATX_BTIME)

void creations_init(Creations *c) {
        *c = (Creations){.group = -1};
        (void) pthread_mutex_init(&c->lock, NULL);
        /* The queue is limited: what overflows is not known to have been made, and stays. */
        c->group = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK |
                                         FAN_UNLIMITED_MARKS | INIT_REPORT,
                                 O_RDONLY | O_LARGEFILE | O_CLOEXEC);
}

void creations_done(Creations *c) {
        c->group = safe_close(c->group);
        (void) pthread_mutex_destroy(&c->lock);
}

void creations_mark_filesystem(Creations *c, const char *root) {
        if (c->group >= 0 &&
            fanotify_mark(c->group, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_CREATE, AT_FDCWD,
                          root) < 0)
                c->by_directory = true;
}

void creations_mark_directory(Creations *c, int fd) {
        if (c->by_directory)
                (void) fanotify_mark(c->group, FAN_MARK_ADD | FAN_MARK_ONLYDIR, FAN_CREATE, fd,
                                     NULL);
}

int creations_fd(const Creations *c) {
        return c->group;
}

/* ---- what is told ---- */

static void note(Creations *c, const FanRecord *r) {
        if (!(r->mask & FAN_BIT_CREATE) || !r->child.data)
                return;
        c->ring[c->next].tid = r->pid;
        c->ring[c->next].id = fan_handle_id(&r->child);
        c->next = (c->next + 1) % CREATIONS;
}

/* False: nothing more. With the lock held. */
static bool read_some(Creations *c) {
        _Alignas(struct fanotify_event_metadata) char buffer[8192];
        ssize_t n = c->group < 0 ? -1 : read(c->group, buffer, sizeof(buffer));
        size_t offset = 0;
        FanRecord r;

        while (n > 0 && fan_decode_next(buffer, (size_t) n, &offset, &r) > 0)
                note(c, &r);
        return n > 0;
}

void creations_read(Creations *c) {
        (void) pthread_mutex_lock(&c->lock);
        while (read_some(c))
                ;
        (void) pthread_mutex_unlock(&c->lock);
}

static bool take(Creations *c, pid_t tid, uint64_t id) {
        for (size_t i = 0; i < CREATIONS; i++) {
                if (c->ring[i].id != id || c->ring[i].tid != tid)
                        continue;
                c->ring[i].id = 0;
                return true;
        }
        return false;
}

/* Others may create faster than the ring is long: it is searched after each read. */
static bool find(Creations *c, pid_t tid, uint64_t id) {
        bool found;

        (void) pthread_mutex_lock(&c->lock);
        do
                found = take(c, tid, id);
        while (!found && read_some(c));
        (void) pthread_mutex_unlock(&c->lock);
        return found;
}

/* ---- the file ---- */

static int64_t born_of(const struct statx *st) {
        if (!(st->stx_mask & STATX_BTIME))
                return 0;
        return st->stx_btime.tv_sec * (int64_t) NSEC_PER_SEC + st->stx_btime.tv_nsec;
}

/* What the client knows already: a server is not asked. */
static bool look(int fd, struct statx *ret) {
        return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, WANTED, ret) == 0;
}

/* As the kernel tells it in an event; 0: no handles here. */
static uint64_t id_of(int fd) {
        union {
                struct file_handle handle;
                unsigned char bytes[sizeof(struct file_handle) + FAN_HANDLE_MAX];
        } b = {.handle.handle_bytes = FAN_HANDLE_MAX};
        FanHandle h;
        int mount_id;

        if (name_to_handle_at(fd, "", &b.handle, &mount_id, AT_EMPTY_PATH) < 0 &&
            (errno != EOPNOTSUPP ||
             name_to_handle_at(fd, "", &b.handle, &mount_id, AT_EMPTY_PATH | AT_HANDLE_FID) < 0))
                return 0;
        h = (FanHandle){
                .data = b.handle.f_handle,
                .size = b.handle.handle_bytes,
                .type = b.handle.handle_type,
        };
        return fan_handle_id(&h);
}

Made creations_judge(Creations *c, int fd, pid_t tid, const Intent *intent) {
        struct statx st;
        uint64_t id;
        Made m;

        if (!intent->creates || !look(fd, &st) || !S_ISREG(st.stx_mode) || st.stx_size > 0 ||
            st.stx_nlink != 1)
                return (Made){0};
        m = (Made){
                .dev = makedev(st.stx_dev_major, st.stx_dev_minor),
                .ino = st.stx_ino,
                .born = born_of(&st),
        };
        id = id_of(fd);
        m.yes = (id && find(c, tid, id)) || intent->exclusive;
        return m;
}

bool made_is(const Made *m, int fd) {
        struct statx st;

        return look(fd, &st) && st.stx_ino == m->ino &&
                makedev(st.stx_dev_major, st.stx_dev_minor) == m->dev;
}

static int split(const char *path, char **ret_directory, const char **ret_name) {
        const char *slash = strrchr(path, '/');

        if (!slash || !slash[1])
                return -EINVAL;
        *ret_directory = slash == path ? strdup("/") : strndup(path, (size_t) (slash - path));
        *ret_name = slash + 1;
        return *ret_directory ? 0 : -ENOMEM;
}

int made_remove(const Made *m, const char *path) {
        _cleanup_free_ char *directory = NULL;
        _cleanup_close_ int fd = -1;
        const char *name;
        struct statx st;
        int r;

        r = split(path, &directory, &name);
        if (r < 0)
                return r;
        fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        if (statx(fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, WANTED, &st) < 0)
                return -errno;
        if (makedev(st.stx_dev_major, st.stx_dev_minor) != m->dev || st.stx_ino != m->ino ||
            born_of(&st) != m->born || !S_ISREG(st.stx_mode))
                return -ESTALE;
        if (st.stx_size > 0 || st.stx_nlink != 1)
                return -EBUSY;
        return unlinkat(fd, name, 0) < 0 ? -errno : 0;
}
