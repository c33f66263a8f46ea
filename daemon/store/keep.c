/* SPDX-License-Identifier: MIT */
#include "daemon/store/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#include "daemon/store/foothold.h"
#include "daemon/store/keep_internal.h"

#define NSEC INT64_C(1000000000)

static usec_t now_usec(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_REALTIME, &t);
        return (usec_t) t.tv_sec * USEC_PER_SEC + (usec_t) t.tv_nsec / NSEC_PER_USEC;
}

static ObjectKind kind_of(mode_t mode) {
        if (S_ISREG(mode))
                return KIND_FILE;
        if (S_ISDIR(mode))
                return KIND_DIR;
        return S_ISLNK(mode) ? KIND_SYMLINK : KIND_OTHER;
}

static int read_target(int dir_fd, const char *name, char **ret) {
        char target[PATH_MAX + 1];
        ssize_t n = readlinkat(dir_fd, name, target, sizeof target - 1);

        if (n < 0)
                return -errno;
        target[n] = 0;
        *ret = strdup(target);
        return *ret ? 0 : -ENOMEM;
}

/* The moment at which the object came into being, where the filesystem tells. */
static int64_t read_born(int dir_fd, const char *name) {
        struct statx x;

        if (statx(dir_fd, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
                  STATX_BTIME, &x) < 0 ||
            !(x.stx_mask & STATX_BTIME))
                return 0;
        return x.stx_btime.tv_sec * NSEC + x.stx_btime.tv_nsec;
}

static int fill(const Keeping *k, int dir_fd, const char *name, const char *path, Kept *kept) {
        struct stat st;
        int r;

        if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0)
                return -errno;
        r = copy_meta_read(dir_fd, name, &kept->meta);
        if (r < 0)
                return r;
        kept->kind = kind_of(st.st_mode);
        kept->dev = st.st_dev;
        kept->ino = st.st_ino;
        kept->nlink = S_ISDIR(st.st_mode) ? 1 : st.st_nlink;
        kept->size = S_ISREG(st.st_mode) ? (uint64_t) st.st_size : 0;
        kept->born = read_born(dir_fd, name);
        kept->snapshot = k->q->snapshot;
        kept->taken = now_usec();
        kept->path = strdup(path);
        kept->watch = strdup(k->q->watch);
        if (!kept->path || !kept->watch)
                return -ENOMEM;
        return kept->kind == KIND_SYMLINK ? read_target(dir_fd, name, &kept->target) : 0;
}

int keep_look(const Keeping *k, int dir_fd, const char *name, const char *path, Kept *kept) {
        int r = fill(k, dir_fd, name, path, kept);

        if (r < 0)
                kept_done(kept);
        return r;
}

static int open_file(int dir_fd, const char *name) {
        const int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
        int fd = openat(dir_fd, name, flags | O_NOATIME);

        if (fd < 0 && errno == EPERM)
                fd = openat(dir_fd, name, flags);
        return fd < 0 ? -errno : fd;
}

static int make_blob(Keeping *k, char name[static 17]) {
        uint64_t id;
        int fd;

        if (k->store_fd < 0) {
                k->store_fd = preserve_open(k->q->state_dir, k->q->session, /* make= */ true);
                if (k->store_fd < 0)
                        return k->store_fd;
        }
        if (getrandom(&id, sizeof id, 0) != (ssize_t) sizeof id)
                return -EIO;
        (void) snprintf(name, 17, "%016llx", (unsigned long long) id);
        fd = openat(k->store_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
        if (fd < 0)
                return errno == EDQUOT ? -ENOSPC : -errno;
        return fd;
}

/* "256M"; bytes where it is not round. */
static int format_size(uint64_t n, char *ret, size_t size) {
        static const char units[] = "KMGT";
        int unit = -1;

        while (n > 0 && n % 1024 == 0 && unit < 3) {
                n /= 1024;
                unit++;
        }
        return snprintf(ret, size, unit < 0 ? "%llu" : "%llu%c", (unsigned long long) n,
                        units[MAX(unit, 0)]);
}

static int set_reason(const Keeping *k, Kept *kept, int error) {
        char limit[32];
        int n;

        (void) format_size(k->q->file_max, limit, sizeof limit);
        if (error == -EFBIG)
                n = asprintf(&kept->reason, "larger than PreserveMax=%s", limit);
        else
                n = asprintf(&kept->reason, "could not be read: %s", strerrordesc_np(-error));
        if (n < 0)
                kept->reason = NULL;
        return n < 0 ? -ENOMEM : 0;
}

/* -EFBIG: larger than one file may be. -ENOSPC: larger than what is left. */
static int copy_blob(Keeping *k, int from, Kept *kept) {
        uint64_t max = MIN(k->q->file_max, k->bytes_left);
        _cleanup_close_ int to = -1;
        CopyMethod method;
        struct stat st;
        char name[17];
        int r;

        if (fstat(from, &st) < 0)
                return -errno;
        if (copy_data_size(&st) > max)
                return copy_data_size(&st) > k->q->file_max ? -EFBIG : -ENOSPC;
        to = make_blob(k, name);
        if (to < 0)
                return to;
        r = copy_content(from, to, max, k->q->cancel, &method);
        if (r >= 0) {
                kept->blob = strdup(name);
                r = kept->blob && fstat(to, &st) == 0 ? 0 : -ENOMEM;
        }
        if (r < 0) {
                (void) unlinkat(k->store_fd, name, 0);
                return r == -EFBIG && max < k->q->file_max ? -ENOSPC : r;
        }
        kept->size = (uint64_t) st.st_size;
        kept->bytes = copy_data_size(&st);
        kept->shared = method == COPY_REFLINK;
        k->bytes_left -= MIN(k->bytes_left, kept->bytes);
        return 0;
}

/* An error of the watched file is told, an error of the store stops. */
int keep_content(Keeping *k, int dir_fd, const char *name, Kept *kept) {
        _cleanup_close_ int from = -1;
        int r;

        if (kept->kind != KIND_FILE)
                return 0;
        from = open_file(dir_fd, name);
        r = from < 0 ? from : copy_blob(k, from, kept);
        if (r >= 0 || r == -ENOSPC || r == -ECANCELED || r == -ENOMEM)
                return r;
        free(kept->blob);
        kept->blob = NULL;
        return set_reason(k, kept, r);
}

int keep_one(Keeping *k, int dir_fd, const char *name, const char *path) {
        _cleanup_(kept_done) Kept kept = {};
        int r = keep_look(k, dir_fd, name, path, &kept);

        if (r >= 0)
                r = keep_content(k, dir_fd, name, &kept);
        return r < 0 ? r : kept_list_add(&k->list, &kept);
}

/* The directory that the object is in: what happens to the object changes its times. */
static int keep_directory(Keeping *k, int dir_fd) {
        _cleanup_(kept_done) Kept kept = {};
        const char *slash = strrchr(k->q->path, '/');
        _cleanup_free_ char *path = strndup(k->q->path, (size_t) MAX(slash - k->q->path, 1));
        int r;

        if (!path)
                return -ENOMEM;
        r = keep_look(k, dir_fd, "", path, &kept);
        return r < 0 ? r : kept_list_add(&k->list, &kept);
}

static int keep_metadata(Keeping *k, const Foothold *spot) {
        _cleanup_(kept_done) Kept kept = {};
        int r = keep_look(k, spot->dir_fd, spot->name, k->q->path, &kept);

        return r < 0 ? r : kept_list_add(&k->list, &kept);
}

static int keep_whole(Keeping *k, const Foothold *spot) {
        const KeepRequest *q = k->q;
        size_t length;
        int r;

        if (keep_is_sqlite(spot->dir_fd, spot->name, &length)) {
                size_t cut = strlen(spot->name) - length;
                _cleanup_free_ char *name = strndup(spot->name, length);
                _cleanup_free_ char *path = strndup(q->path, strlen(q->path) - cut);

                return name && path ? keep_sqlite(k, spot->dir_fd, name, path) : -ENOMEM;
        }
        r = keep_one(k, spot->dir_fd, spot->name, q->path);
        if (r < 0 || q->what != KEEP_TREE || k->list.list[k->list.n - 1].kind != KIND_DIR)
                return r;
        return keep_tree(k, spot->dir_fd, spot->name, q->path);
}

static int keep_all(Keeping *k) {
        _cleanup_(foothold_done) Foothold spot = FOOTHOLD_NULL;
        int r = foothold_open(k->q->watch_path, k->q->path, &spot);

        if (r >= 0 && !str_equal(spot.name, "."))
                r = keep_directory(k, spot.dir_fd);
        if (r < 0)
                return r;
        switch (k->q->what) {
        case KEEP_NAME:
        case KEEP_METADATA:
                r = keep_metadata(k, &spot);
                break;
        case KEEP_CONTENT:
        case KEEP_TREE:
                r = keep_whole(k, &spot);
                break;
        }
        return r == -ENOENT ? 0 : r;
}

int keep_object(const KeepRequest *q, KeptList *ret, bool *ret_complete) {
        Keeping k = {
                .q = q,
                .store_fd = -1,
                .bytes_left = q->bytes_max,
                .entries_left = q->entries_max,
                .complete = true,
        };
        int r = keep_all(&k);

        (void) safe_close(k.store_fd);
        if (r < 0) {
                keep_forget(q->state_dir, q->session, &k.list);
                kept_list_done(&k.list);
                return r;
        }
        *ret = k.list;
        *ret_complete = k.complete;
        return 0;
}

static int open_blob(const char *state_dir, const char *session, const char *blob) {
        _cleanup_close_ int dir = preserve_open(state_dir, session, /* make= */ false);
        int fd;

        if (dir < 0)
                return dir;
        fd = openat(dir, blob, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

/* Nobody waits any more: now the blob is made to last, too. */
int keep_hash(const char *state_dir, const char *session, Kept *k, CopyCancel cancel) {
        _cleanup_close_ int fd = -1;
        int r;

        if (!k->blob)
                return -ENOENT;
        fd = open_blob(state_dir, session, k->blob);
        if (fd < 0)
                return fd;
        if (fsync(fd) < 0)
                return -errno;
        r = copy_hash(fd, cancel, k->hash);
        if (r < 0)
                return r;
        k->has_hash = true;
        return 0;
}

void keep_forget(const char *state_dir, const char *session, const KeptList *l) {
        _cleanup_close_ int dir = preserve_open(state_dir, session, /* make= */ false);

        for (size_t i = 0; dir >= 0 && i < l->n; i++)
                if (l->list[i].blob)
                        (void) unlinkat(dir, l->list[i].blob, 0);
}
