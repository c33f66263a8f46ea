/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "daemon/kernel/hold_made.h"

/* How long an open may wait before it is looked at, on a machine that is very busy. */
#define YOUNG ((int64_t) (2 * NSEC_PER_SEC))
#define WANTED (STATX_TYPE | STATX_NLINK | STATX_INO | STATX_SIZE | STATX_BTIME)

static int64_t born_of(const struct statx *st) {
        if (!(st->stx_mask & STATX_BTIME))
                return 0;
        return st->stx_btime.tv_sec * (int64_t) NSEC_PER_SEC + st->stx_btime.tv_nsec;
}

static bool is_young(int64_t born, usec_t now) {
        int64_t age = (int64_t) (now * NSEC_PER_USEC) - born;

        return born != 0 && age < YOUNG && age > -YOUNG;
}

/* What the client knows already: a server is not asked. */
static bool look(int fd, struct statx *ret) {
        return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, WANTED, ret) == 0;
}

static size_t place_of(dev_t dev, uint64_t ino) {
        return (size_t) ((ino ^ dev * 0x9e3779b97f4a7c15ULL) % MADE_TABLE);
}

void made_table_note(MadeTable *t, int fd, usec_t now) {
        struct statx st;
        dev_t dev;
        size_t i;

        if (!look(fd, &st) || !is_young(born_of(&st), now))
                return;
        dev = makedev(st.stx_dev_major, st.stx_dev_minor);
        i = place_of(dev, st.stx_ino);
        t->opened[i].dev = dev;
        t->opened[i].ino = st.stx_ino;
        t->opened[i].born = born_of(&st);
}

bool made_table_has(const MadeTable *t, const Made *m) {
        size_t i = place_of(m->dev, m->ino);

        return t->opened[i].ino == m->ino && t->opened[i].dev == m->dev &&
                t->opened[i].born == m->born;
}

Made made_table_judge(const MadeTable *t, int fd, const Intent *intent, usec_t now) {
        struct statx st;
        Made m;

        if (!intent->creates || !look(fd, &st) || !S_ISREG(st.stx_mode) || st.stx_size > 0 ||
            st.stx_nlink != 1)
                return (Made){0};
        m = (Made){
                .dev = makedev(st.stx_dev_major, st.stx_dev_minor),
                .ino = st.stx_ino,
                .born = born_of(&st),
        };
        m.yes = intent->exclusive || (is_young(m.born, now) && !made_table_has(t, &m));
        return m;
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
