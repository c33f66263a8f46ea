/* SPDX-License-Identifier: MIT */
/*
 * The journal of undo: a file in the state folder with a record for each step that has been begun, and the object that it touches. So a
 * run that goes on where another one was stopped knows a half-written file, or a time changed by a rename, for its own.
 *
 * Steps are told in batches, when they are on disk: a sync for each would be all that an undo of many small files does.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#include "daemon/store/store_internal.h"
#include "daemon/store/undo_internal.h"

#undef HASH_FUNCTION
#define HASH_FUNCTION(key, length, hash) ((hash) = undo_id_hash((const UndoObjectId *) (key)))

#define BATCH_NSEC (NSEC_PER_SEC / 4)

void undo_journal_done(UndoRun *run) {
        UndoTouch *t, *next;

        for (size_t i = 0; i < run->n_unsynced; i++)
                (void) safe_close(run->unsynced[i].fd);
        run->n_unsynced = 0;
        run->store_fd = safe_close(run->store_fd);
        run->journal_fd = safe_close(run->journal_fd);
        HASH_ITER (hh, run->touches, t, next) {
                HASH_DEL(run->touches, t);
                free(t);
        }
}

static int add_touch(UndoRun *run, const UndoObjectId *id) {
        UndoTouch *t;

        HASH_FIND(hh, run->touches, id, sizeof *id, t);
        if (t)
                return 0;
        t = calloc(1, sizeof *t);
        if (!t)
                return -ENOMEM;
        t->id = *id;
        HASH_ADD(hh, run->touches, id, sizeof t->id, t);
        if (t->hh.tbl)
                return 0;
        free(t);
        return -ENOMEM;
}

bool undo_has_touched(const UndoRun *run, const struct stat *st) {
        UndoObjectId id = {.dev = st->st_dev, .ino = st->st_ino};
        UndoTouch *t;

        HASH_FIND(hh, run->touches, &id, sizeof id, t);
        return t != NULL;
}

void undo_item(const UndoStep *s, bool in_the_way, char ret[static 17]) {
        (void) snprintf(ret, 17, "%016llx", (unsigned long long) s->key + in_the_way);
}

bool undo_is_in_quarantine(const UndoRun *run, const char *item) {
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s/quarantine/%s/%s", run->options->state_dir, run->plan->session,
                     item) < 0) {
                path = NULL;
                return false;
        }
        return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Done in a run of which the store has not heard any more. */
static void mark_done(const UndoRun *run, UndoStep *s) {
        char item[17];

        s->state = UNDO_DONE;
        for (int in_the_way = 0; in_the_way < 2; in_the_way++) {
                undo_item(s, in_the_way, item);
                if (undo_is_in_quarantine(run, item))
                        (void) strcpy(s->item, item);
        }
}

static int by_key(const void *a, const void *b) {
        const UndoStep *x = *(UndoStep *const *) a, *y = *(UndoStep *const *) b;

        return x->key < y->key ? -1 : x->key > y->key;
}

static void recall(const UndoRun *run, UndoStep **sorted, const UndoRecord *record) {
        UndoStep wanted = {.key = record->key}, *p = &wanted, **found;

        found = bsearch(&p, sorted, run->plan->n, sizeof(UndoStep *), by_key);
        if (!found)
                return;
        (*found)->begun = true;
        if (record->done && (*found)->state == UNDO_PENDING)
                mark_done(run, *found);
}

/* A record cut off by the end of the last run is left out, and the next one is written over it. */
static int read_journal(UndoRun *run, int fd) {
        UndoPlan *p = run->plan;
        _cleanup_free_ UndoStep **sorted = calloc(p->n + 1, sizeof(UndoStep *));
        UndoRecord record;
        off_t at = 0;
        int r = 0;

        if (!sorted)
                return -ENOMEM;
        for (size_t i = 0; i < p->n; i++)
                sorted[i] = &p->steps[i];
        qsort(sorted, p->n, sizeof(UndoStep *), by_key);
        while (r >= 0 && pread(fd, &record, sizeof record, at) == (ssize_t) sizeof record) {
                recall(run, sorted, &record);
                r = add_touch(run, &record.id);
                at += (off_t) sizeof record;
        }
        return r < 0 ? r : lseek(fd, at, SEEK_SET) < 0 ? -errno : 0;
}

int undo_journal_open(UndoRun *run) {
        bool dry = run->options->dry_run;
        _cleanup_close_ int fd = -1;
        int r = preserve_open(run->options->state_dir, run->plan->session, /* make= */ !dry);

        if (r < 0)
                return r == -ENOENT && dry ? 0 : r;
        run->store_fd = r;
        fd = openat(run->store_fd, "undo", (dry ? O_RDONLY : O_RDWR | O_CREAT) | O_CLOEXEC, 0600);
        if (fd < 0)
                return errno == ENOENT && dry ? 0 : -errno;
        r = read_journal(run, fd);
        if (r >= 0 && !dry)
                run->journal_fd = TAKE_FD(fd);
        return r;
}

static int write_record(const UndoRun *run, const UndoRecord *record) {
        ssize_t n = write(run->journal_fd, record, sizeof *record);

        if (n == (ssize_t) sizeof *record)
                return 0;
        return n < 0 && errno != EDQUOT ? -errno : -ENOSPC;
}

int undo_begin(UndoRun *run, UndoStep *s, dev_t dev, ino_t ino) {
        UndoRecord record = {.key = s->key, .id = {.dev = dev, .ino = ino}};
        int r = add_touch(run, &record.id);

        if (r >= 0)
                r = write_record(run, &record);
        if (r >= 0)
                s->begun = true;
        return r;
}

int undo_begin_writing(UndoRun *run, UndoStep *s, const struct stat *st) {
        int r = undo_begin(run, s, st->st_dev, st->st_ino);

        if (r >= 0 && fdatasync(run->journal_fd) < 0)
                r = -errno;
        return r;
}

/* The first that is synced takes most of the others with it. */
static void sync_all(UndoRun *run) {
        for (size_t i = 0; i < run->n_unsynced; i++) {
                UndoUnsynced *u = &run->unsynced[i];
                UndoStep *s = &run->plan->steps[u->step];

                if (fsync(u->fd) < 0 && errno != EINVAL && errno != EBADF && s->state == UNDO_DONE)
                        (void) undo_fail(s, -errno);
                u->fd = safe_close(u->fd);
        }
        run->n_unsynced = 0;
        run->last_dir = (UndoObjectId){};
}

void undo_sync_later(UndoRun *run, int fd) {
        struct stat st;
        UndoObjectId id;

        if (fd < 0)
                return;
        /* the same directory, step after step */
        if (fstat(fd, &st) < 0) {
                (void) close(fd);
                return;
        }
        id = (UndoObjectId){st.st_dev, st.st_ino};
        if (run->n_unsynced > 0 && id.ino == run->last_dir.ino && id.dev == run->last_dir.dev) {
                (void) close(fd);
                return;
        }
        if (S_ISDIR(st.st_mode))
                run->last_dir = id;
        if (run->n_unsynced == UNDO_UNSYNCED_MAX)
                sync_all(run);
        run->unsynced[run->n_unsynced++] = (UndoUnsynced){.fd = fd, .step = run->at};
}

static nsec_t now_nsec(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (nsec_t) t.tv_sec * NSEC_PER_SEC + (nsec_t) t.tv_nsec;
}

static int tell(UndoRun *run) {
        const UndoOptions *o = run->options;
        int r = 0;

        sync_all(run);
        for (; run->told < run->at; run->told++) {
                const UndoStep *s = &run->plan->steps[run->told];

                if (r >= 0 && s->state == UNDO_DONE && !o->dry_run)
                        r = write_record(run, &(UndoRecord){.key = s->key, .done = 1});
                if (o->progress)
                        o->progress(run->plan, s, o->userdata);
        }
        run->told_at = now_nsec();
        return r;
}

int undo_tell(UndoRun *run, bool all) {
        nsec_t batch = run->options->batch ? run->options->batch : BATCH_NSEC;

        if (all || run->n_unsynced == 0 || now_nsec() - run->told_at >= batch)
                return tell(run);
        return 0;
}
