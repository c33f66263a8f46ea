/* SPDX-License-Identifier: MIT */
/*
 * Putting back what was kept. Content goes into the file in place: its hard links and the descriptors of a program that has it open go
 * on being of it. What is put back is compared with what was kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "daemon/store/keep.h"
#include "daemon/store/undo_internal.h"

#undef HASH_FUNCTION
#define HASH_FUNCTION(key, length, hash) ((hash) = undo_id_hash((const UndoObjectId *) (key)))

int undo_open_blob(const UndoRun *run, Kept *k) {
        _cleanup_close_ int fd = -1;
        uint8_t hash[COPY_HASH_SIZE];
        int r;

        if (run->store_fd < 0 || !k->blob)
                return -ENOENT;
        fd = openat(run->store_fd, k->blob, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        r = copy_hash(fd, run->options->cancel, hash);
        if (r < 0)
                return r;
        /* without a hash the daemon ended before it was made: then the blob is what there is */
        if (k->has_hash && memcmp(hash, k->hash, sizeof hash) != 0)
                return -ESTALE;
        memcpy(k->hash, hash, sizeof hash);
        k->has_hash = true;
        return TAKE_FD(fd);
}

static int ensure_hash(const UndoRun *run, Kept *k) {
        _cleanup_close_ int fd = k->has_hash ? -1 : undo_open_blob(run, k);

        return k->has_hash ? 0 : fd;
}

static int has_hash(const UndoRun *run, int fd, Kept *k) {
        uint8_t hash[COPY_HASH_SIZE];
        int r = ensure_hash(run, k);

        if (r >= 0)
                r = copy_hash(fd, run->options->cancel, hash);
        return r < 0 ? r : memcmp(hash, k->hash, sizeof hash) == 0;
}

static int has_target(int dir_fd, const char *name, const Kept *k) {
        char target[PATH_MAX + 1];
        ssize_t n = readlinkat(dir_fd, name, target, sizeof target - 1);

        if (n < 0)
                return -errno;
        target[n] = 0;
        return str_equal(target, k->target);
}

int undo_has_content(const UndoRun *run, int dir_fd, const char *name, Kept *k) {
        _cleanup_close_ int fd = -1;
        struct stat st;

        if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : -errno;
        if ((st.st_mode & S_IFMT) != (k->meta.mode & S_IFMT))
                return 0;
        if (S_ISLNK(st.st_mode))
                return has_target(dir_fd, name, k);
        if (!S_ISREG(st.st_mode))
                return 1;
        if ((uint64_t) st.st_size != k->size)
                return 0;
        fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        return fd < 0 ? -errno : has_hash(run, fd, k);
}

int undo_write(UndoRun *run, int fd, Kept *k) {
        _cleanup_close_ int blob = undo_open_blob(run, k);
        CopyMethod method;
        int r;

        if (blob < 0)
                return blob;
        r = copy_content(blob, fd, UINT64_MAX, run->options->cancel, &method);
        if (r < 0)
                return r;
        if (fsync(fd) < 0)
                return errno == EDQUOT ? -ENOSPC : -errno;
        r = has_hash(run, fd, k);
        return r < 0 ? r : r == 0 ? -EIO : 0;
}

int undo_create(UndoRun *run, int dir_fd, const char *name, Kept *k) {
        _cleanup_close_ int blob = -1;
        int r, made;

        if (k->kind == KIND_FILE) {
                blob = undo_open_blob(run, k);
                if (blob < 0)
                        return blob;
        }
        made = copy_make(dir_fd, name,
                         &(CopySource){.meta = &k->meta, .target = k->target, .fd = blob},
                         run->options->cancel);
        if (made < 0)
                return made;
        if (k->kind == KIND_FILE)
                undo_sync_later(
                        run, openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
        undo_sync_later(run, fcntl(dir_fd, F_DUPFD_CLOEXEC, 3));
        r = undo_has_content(run, dir_fd, name, k);
        return r < 0 ? r : r == 0 ? -EIO : made;
}

static int fail(UndoStep *s, int error) {
        if (error == -ESTALE)
                return undo_set_reason(s, UNDO_FAILED, "the kept copy is damaged");
        if (error == -EIO)
                return undo_set_reason(s, UNDO_FAILED, "it could not be written as it was");
        return undo_fail(s, error);
}

static int done(UndoStep *s, bool all) {
        s->state = UNDO_DONE;
        if (all)
                return 0;
        return undo_set_reason(s, UNDO_DONE,
                               "owner, mode, times or attributes could not all be put back");
}

/* Is it as it was, metadata and all? */
static int is_as_kept(const UndoRun *run, int dir_fd, const char *name, Kept *k) {
        _cleanup_(copy_meta_done) CopyMeta meta = {};
        int r = undo_has_content(run, dir_fd, name, k);

        if (r > 0)
                r = copy_meta_read(dir_fd, name, &meta);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        return copy_meta_equal(&meta, &k->meta, /* with_times= */ true);
}

/* The other name must lead to the same file as it did: then it is linked, and 1. */
static int link_alias(UndoRun *run, const UndoStep *s, const char *alias, const Kept *k,
                      const Foothold *to) {
        _cleanup_(foothold_done) Foothold from = FOOTHOLD_NULL;
        struct stat st;
        int r = undo_spot(s, alias, &from);

        if (r < 0 || fstatat(from.dir_fd, from.name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISREG(st.st_mode))
                return 0;
        if (k && (st.st_ino != k->ino || st.st_dev != k->dev))
                return 0;
        r = linkat(from.dir_fd, from.name, to->dir_fd, to->name, 0);
        return r < 0 ? 0 : 1;
}

void undo_made_done(UndoRun *run) {
        UndoMade *m, *next;

        HASH_ITER (hh, run->made, m, next) {
                HASH_DEL(run->made, m);
                free(m->path);
                free(m);
        }
}

static int remember_made(UndoRun *run, const UndoObjectId *id, const char *path) {
        UndoMade *m = calloc(1, sizeof *m);

        if (!m || !(m->path = strdup(path))) {
                free(m);
                return -ENOMEM;
        }
        m->id = *id;
        HASH_ADD(hh, run->made, id, sizeof m->id, m);
        if (m->hh.tbl)
                return 0;
        free(m->path);
        free(m);
        return -ENOMEM;
}

/* Several names of one lost file: the first is made, the others are linked to it. */
static int link_restored(UndoRun *run, const UndoStep *s, const Kept *k, const Foothold *to) {
        UndoObjectId id = {k->dev, k->ino};
        UndoMade *m;

        HASH_FIND(hh, run->made, &id, sizeof id, m);
        return m ? link_alias(run, s, m->path, NULL, to) : remember_made(run, &id, s->path);
}

static int make(UndoRun *run, UndoStep *s, const Foothold *spot, Kept *k) {
        bool several = k->kind == KIND_FILE && k->nlink > 1;
        int r = several && s->alias ? link_alias(run, s, s->alias, k, spot) : 0;

        if (r == 0 && several)
                r = link_restored(run, s, k, spot);
        if (r < 0)
                return r;
        return r > 0 ? 0 : undo_create(run, spot->dir_fd, spot->name, k);
}

/* What stands there now. 1: the way is free. */
static int look(UndoRun *run, UndoStep *s, const Foothold *spot, Kept *k) {
        struct stat st;
        int r;

        if (fstatat(spot->dir_fd, spot->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 1 : -errno;
        r = is_as_kept(run, spot->dir_fd, spot->name, k);
        if (r < 0)
                return r;
        if (r > 0 || (s->begun && S_ISDIR(st.st_mode) && k->kind == KIND_DIR)) {
                s->state = UNDO_NOTHING;
                return 0;
        }
        if (run->options->dry_run)
                return 1; /* what stands there now leaves in an earlier step, or is told of then */
        r = undo_make_way(run, s);
        return r < 0 ? r : r == 0;
}

int undo_run_restore(UndoRun *run, UndoStep *s) {
        _cleanup_(foothold_done) Foothold spot = FOOTHOLD_NULL;
        Kept *k = &s->kept.list[0];
        int r = undo_spot(s, s->path, &spot);

        if (r >= 0)
                r = look(run, s, &spot, k);
        else if (run->options->dry_run)
                return 0; /* its directory is made by an earlier step */
        if (r == 0 || (r > 0 && run->options->dry_run))
                return 0;
        if (r > 0)
                r = undo_begin(run, s, 0, 0);
        if (r >= 0)
                r = make(run, s, &spot, k);
        return r < 0 ? fail(s, r) : done(s, r == 0);
}

static int put_metadata(UndoRun *run, UndoStep *s, const Foothold *spot, const CopyMeta *meta) {
        _cleanup_(copy_meta_done) CopyMeta now = {};
        int r;

        (void) copy_meta_write(spot->dir_fd, spot->name, meta);
        r = copy_meta_read(spot->dir_fd, spot->name, &now);
        return r < 0 ? undo_fail(s, r)
                     : done(s, copy_meta_equal(&now, meta, /* with_times= */ true));
}

static int put_content(UndoRun *run, UndoStep *s, const Foothold *spot, Kept *k) {
        _cleanup_close_ int fd =
                openat(spot->dir_fd, spot->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        struct stat st;
        int r;

        if (fd < 0 || fstat(fd, &st) < 0)
                return undo_fail(s, -errno);
        r = undo_begin_writing(run, s, &st);
        if (r >= 0)
                r = undo_write(run, fd, k);
        if (r < 0)
                return fail(s, r);
        return put_metadata(run, s, spot, &k->meta);
}

int undo_run_content(UndoRun *run, UndoStep *s) {
        _cleanup_(foothold_done) Foothold spot = FOOTHOLD_NULL;
        Kept *k = &s->kept.list[0];
        struct stat st;
        int r = undo_spot(s, undo_where(run, s), &spot);

        if (r < 0 || fstatat(spot.dir_fd, spot.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return undo_run_restore(run, s);
        if ((st.st_mode & S_IFMT) != (k->meta.mode & S_IFMT))
                return undo_run_restore(run, s);
        r = is_as_kept(run, spot.dir_fd, spot.name, k);
        if (r > 0) {
                s->state = UNDO_NOTHING;
                return 0;
        }
        if (r == 0)
                r = undo_check_foreign(run, s, spot.dir_fd, spot.name);
        if (r < 0)
                return fail(s, r);
        return r > 0 || run->options->dry_run ? 0 : put_content(run, s, &spot, k);
}

int undo_run_metadata(UndoRun *run, UndoStep *s) {
        _cleanup_(foothold_done) Foothold spot = FOOTHOLD_NULL;
        _cleanup_(copy_meta_done) CopyMeta now = {};
        const Kept *k = &s->kept.list[0];
        struct stat st;
        int r = undo_spot(s, undo_where(run, s), &spot);

        if (r >= 0)
                r = copy_meta_read(spot.dir_fd, spot.name, &now);
        if (r < 0)
                return run->options->dry_run ? 0 : undo_fail(s, r);
        if ((now.mode & S_IFMT) != (k->meta.mode & S_IFMT)) {
                if (run->options->dry_run)
                        return 0; /* an earlier step restores it */
                return undo_set_reason(s, UNDO_REFUSED, "something else has this name now");
        }
        if (copy_meta_equal(&now, &k->meta, /* with_times= */ true)) {
                s->state = UNDO_NOTHING;
                return 0;
        }
        r = undo_check_foreign(run, s, spot.dir_fd, spot.name);
        if (r != 0 || run->options->dry_run)
                return r < 0 ? undo_fail(s, r) : 0;
        if (fstatat(spot.dir_fd, spot.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return undo_fail(s, -errno);
        r = undo_begin(run, s, st.st_dev, st.st_ino);
        return r < 0 ? undo_fail(s, r) : put_metadata(run, s, &spot, &k->meta);
}
