/* SPDX-License-Identifier: MIT */
/*
 * Running a plan. The journal in the state folder has a record for each step that has been begun, and the object it touches. So a
 * run that goes on where another one was stopped knows a half-written file, or a time changed by a rename, for its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>

#include "common/time_text.h"
#include "daemon/store/branch.h"
#include "daemon/store/quarantine.h"
#include "daemon/store/store_internal.h"
#include "daemon/store/undo_internal.h"
#include "daemon/store/walk.h"

#undef HASH_FUNCTION
#define HASH_FUNCTION(key, length, hash) ((hash) = id_hash((const UndoObjectId *) (key)))

#define SLACK_USEC (USEC_PER_SEC / 10)
#define SMB1_MAGIC 0xFF534D42
#define SMB2_MAGIC 0xFE534D42

static unsigned id_hash(const UndoObjectId *id) {
        return hash_fold(hash_mix(hash_mix(HASH_SEED, id->dev), id->ino));
}

static void run_done(UndoRun *run) {
        UndoTouch *t, *next;

        run->store_fd = safe_close(run->store_fd);
        run->journal_fd = safe_close(run->journal_fd);
        HASH_ITER (hh, run->touches, t, next) {
                HASH_DEL(run->touches, t);
                free(t);
        }
        for (size_t i = 0; i < run->n_linked; i++)
                free(run->linked[i]);
        free(run->linked);
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

static int by_key(const void *a, const void *b) {
        const UndoStep *x = *(UndoStep *const *) a, *y = *(UndoStep *const *) b;

        return x->key < y->key ? -1 : x->key > y->key;
}

static void set_item(const UndoStep *s, uint64_t salt, char ret[static 17]) {
        (void) snprintf(ret, 17, "%016llx", (unsigned long long) s->key + salt);
}

static bool is_in_quarantine(const UndoRun *run, const char *item) {
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
        s->state = UNDO_DONE;
        for (uint64_t salt = 0; salt < 2; salt++) {
                char item[17];

                set_item(s, salt, item);
                if (is_in_quarantine(run, item))
                        (void) strcpy(s->item, item);
        }
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

static int open_journal(UndoRun *run) {
        bool dry = run->options->dry_run;
        _cleanup_close_ int fd = -1;
        int r;

        r = preserve_open(run->options->state_dir, run->plan->session, /* make= */ !dry);
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
        if (r < 0)
                return r;
        if (fdatasync(run->journal_fd) < 0)
                return -errno;
        s->begun = true;
        return 0;
}

int undo_fail(UndoStep *s, int error) {
        int r = undo_set_reason(s, UNDO_FAILED, "%s", strerrordesc_np(-error));

        s->error = error;
        if (r < 0)
                return r;
        return error == -ECANCELED || error == -ENOSPC || error == -ENOMEM ? error : 0;
}

const char *undo_where(const UndoRun *run, const UndoStep *s) {
        return run->options->dry_run && s->now ? s->now : s->path;
}

int undo_spot(const UndoStep *s, const char *path, Foothold *ret) {
        const char *root = s->root;
        size_t n = root ? strlen(root) : 0;

        if (root && !path_is_below(path, root) && strncmp(path, root, n) != 0)
                root = NULL;
        return foothold_open(root, path, ret);
}

/* The clock of a server is not ours: its times cannot be compared with those of operations. */
static bool has_own_clock(int dir_fd) {
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

static bool is_touched(const UndoRun *run, const struct stat *st) {
        UndoObjectId id = {.dev = st->st_dev, .ino = st->st_ino};
        UndoTouch *t;

        HASH_FIND(hh, run->touches, &id, sizeof id, t);
        return t != NULL;
}

/* A directory's time is changed by our own steps as well; who else has been in it shows in its entries. */
static bool has_changed_since(const UndoRun *run, const UndoStep *s, int dir_fd, const char *name,
                              usec_t *ret_when) {
        struct stat st;

        if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISDIR(st.st_mode) ||
            is_touched(run, &st) || has_own_clock(dir_fd))
                return false;
        *ret_when = (usec_t) st.st_ctim.tv_sec * USEC_PER_SEC +
                (usec_t) st.st_ctim.tv_nsec / NSEC_PER_USEC;
        return *ret_when > s->last + SLACK_USEC;
}

int undo_check_foreign(const UndoRun *run, UndoStep *s, int dir_fd, const char *name) {
        char when[TIME_TEXT_MAX];
        usec_t at;
        int r;

        if (run->options->force || s->begun)
                return 0;
        if (s->foreign) {
                s->state = UNDO_REFUSED;
                return 1;
        }
        if (!has_changed_since(run, s, dir_fd, name, &at))
                return 0;
        r = undo_set_reason(s, UNDO_REFUSED, "changed by somebody else at %s",
                            time_to_text(at, when));
        return r < 0 ? r : 1;
}

int undo_make_way(UndoRun *run, UndoStep *s) {
        char item[17];
        uint64_t bytes;
        int r;

        if (!run->options->force) {
                r = undo_set_reason(s, UNDO_REFUSED, "something else has this name now");
                return r < 0 ? r : 1;
        }
        set_item(s, 1, item);
        r = undo_begin(run, s, 0, 0);
        if (r >= 0)
                r = quarantine_move(run->options->state_dir, run->plan->session, item, s->root,
                                    s->path, run->options->cancel, &bytes);
        if (r >= 0)
                (void) strcpy(s->item, item);
        return r;
}

static int compare_strings(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

/* 1: there is something in the directory that the session did not make; then it is refused. */
static int check_entries(const UndoRun *run, UndoStep *s, const Foothold *spot) {
        const UndoPlan *p = run->plan;
        const char *top = s->now ? s->now : s->path;
        Walk w;
        int r = walk_start(&w, spot->dir_fd, spot->name, top);

        if (r < 0)
                return r == -ENOTDIR ? 0 : r;
        while (w.depth > 0 && r >= 0) {
                const char *name = walk_next(&w), *path = w.path;

                if (!name) {
                        walk_leave(&w);
                        continue;
                }
                if (!bsearch(&path, p->own, p->n_own, sizeof *p->own, compare_strings)) {
                        r = undo_set_reason(s, UNDO_REFUSED, "'%s' in it is somebody else's",
                                            path + strlen(top) + 1);
                        r = r < 0 ? r : 1;
                        break;
                }
                r = walk_enter(&w, name);
        }
        walk_done(&w);
        return r == 1 && s->state == UNDO_REFUSED ? 1 : MIN(r, 0);
}

/* 1: it may go. */
static int may_leave(UndoRun *run, UndoStep *s, const Foothold *spot) {
        int r = undo_check_foreign(run, s, spot->dir_fd, spot->name);

        if (r == 0 && !s->moved_in && !run->options->force)
                r = check_entries(run, s, spot);
        return r < 0 ? r : r == 0;
}

int undo_run_quarantine(UndoRun *run, UndoStep *s) {
        _cleanup_(foothold_done) Foothold spot = FOOTHOLD_NULL;
        struct stat st = {};
        char item[17];
        bool gone;
        int r = undo_spot(s, undo_where(run, s), &spot);

        set_item(s, 0, item);
        gone = r == -ENOENT || r == -ENOTDIR ||
                (r >= 0 && fstatat(spot.dir_fd, spot.name, &st, AT_SYMLINK_NOFOLLOW) < 0);
        if (gone && !(s->begun && is_in_quarantine(run, item))) {
                s->state = UNDO_NOTHING;
                return 0;
        }
        if (r < 0 && !gone)
                return undo_fail(s, r);
        if (!gone) {
                r = may_leave(run, s, &spot);
                if (r <= 0)
                        return r < 0 ? undo_fail(s, r) : 0;
        }
        if (run->options->dry_run)
                return 0;
        r = gone ? 0 : undo_begin(run, s, st.st_dev, st.st_ino);
        if (r >= 0 && !gone)
                r = quarantine_move(run->options->state_dir, run->plan->session, item, s->root,
                                    s->path, run->options->cancel, &s->bytes);
        if (r < 0)
                return undo_fail(s, r);
        (void) strcpy(s->item, item);
        s->state = UNDO_DONE;
        return 0;
}

/* There is no way back to where it came from. */
static int quarantine_instead(UndoRun *run, UndoStep *s) {
        free(s->path);
        s->path = TAKE_PTR(s->from);
        s->action = UNDO_QUARANTINE;
        return undo_run_quarantine(run, s);
}

/* `from` is not there (any more). */
static int rename_of_nothing(UndoRun *run, UndoStep *s, const Foothold *to, int to_error) {
        struct stat st;

        if (to_error >= 0 && fstatat(to->dir_fd, to->name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
                s->state = UNDO_NOTHING;
                return 0;
        }
        if (s->moved_in) {
                s->state = UNDO_NOTHING;
                return 0;
        }
        if (s->kept.n > 0)
                return undo_run_restore(run, s);
        return undo_set_reason(s, UNDO_FAILED, "it is not at '%s' any more", s->from);
}

static int do_rename(UndoRun *run, UndoStep *s, const Foothold *from, const Foothold *to,
                     const struct stat *st) {
        int r = undo_check_foreign(run, s, from->dir_fd, from->name);

        if (r != 0)
                return r < 0 ? undo_fail(s, r) : 0;
        r = undo_begin(run, s, st->st_dev, st->st_ino);
        if (r >= 0)
                r = branch_move((BranchPlace){from->dir_fd, from->name},
                                (BranchPlace){to->dir_fd, to->name}, run->options->cancel);
        if (r < 0)
                return undo_fail(s, r);
        s->state = UNDO_DONE;
        return 0;
}

/* Earlier steps have not been done: where it goes may not be there yet, or not be free yet. */
static int look_at_rename(const UndoRun *run, UndoStep *s) {
        _cleanup_(foothold_done) Foothold from = FOOTHOLD_NULL, to = FOOTHOLD_NULL;
        struct stat st;
        int r = undo_spot(s, s->now ? s->now : s->from, &from);

        if (r >= 0 && fstatat(from.dir_fd, from.name, &st, AT_SYMLINK_NOFOLLOW) == 0)
                return MIN(undo_check_foreign(run, s, from.dir_fd, from.name), 0);
        if (undo_spot(s, s->path, &to) >= 0 &&
            fstatat(to.dir_fd, to.name, &st, AT_SYMLINK_NOFOLLOW) == 0)
                s->state = UNDO_NOTHING;
        else if (!s->moved_in && s->kept.n == 0)
                return undo_set_reason(s, UNDO_FAILED, "it is not at '%s' any more", s->from);
        return 0;
}

int undo_run_rename(UndoRun *run, UndoStep *s) {
        _cleanup_(foothold_done) Foothold from = FOOTHOLD_NULL, to = FOOTHOLD_NULL;
        struct stat a, b;
        int r, to_error;

        if (run->options->dry_run)
                return look_at_rename(run, s);
        r = undo_spot(s, s->from, &from);
        to_error = undo_spot(s, s->path, &to);
        if (r == -ENOENT || r == -ENOTDIR ||
            (r >= 0 && fstatat(from.dir_fd, from.name, &a, AT_SYMLINK_NOFOLLOW) < 0))
                return rename_of_nothing(run, s, &to, to_error);
        if (r < 0)
                return undo_fail(s, r);
        if (to_error < 0)
                return s->moved_in ? quarantine_instead(run, s) : undo_fail(s, to_error);
        if (fstatat(to.dir_fd, to.name, &b, AT_SYMLINK_NOFOLLOW) == 0) {
                if (s->moved_in)
                        return quarantine_instead(run, s);
                r = undo_make_way(run, s);
                if (r != 0)
                        return r < 0 ? undo_fail(s, r) : 0;
        }
        return do_rename(run, s, &from, &to, &a);
}

static int run_step(UndoRun *run, UndoStep *s) {
        switch (s->action) {
        case UNDO_QUARANTINE:
                return undo_run_quarantine(run, s);
        case UNDO_RENAME:
                return undo_run_rename(run, s);
        case UNDO_RESTORE:
                return undo_run_restore(run, s);
        case UNDO_CONTENT:
                return undo_run_content(run, s);
        case UNDO_DATABASE:
                return undo_run_database(run, s);
        case UNDO_METADATA:
                return undo_run_metadata(run, s);
        case _UNDO_ACTION_MAX:
                break;
        }
        return -EINVAL;
}

static int run_all(UndoRun *run) {
        const UndoOptions *o = run->options;
        int r = 0;

        for (size_t i = 0; i < run->plan->n && r >= 0; i++) {
                UndoStep *s = &run->plan->steps[i];

                if (o->cancel && atomic_load(o->cancel))
                        return -ECANCELED;
                if (s->state == UNDO_PENDING) {
                        r = run_step(run, s);
                        if (s->state == UNDO_DONE &&
                            r >= 0) /* durable with the next that is begun */
                                r = write_record(run, &(UndoRecord){.key = s->key, .done = 1});
                }
                if (o->progress)
                        o->progress(run->plan, s, o->userdata);
        }
        return r;
}

int undo_run(UndoPlan *p, const UndoOptions *options) {
        _cleanup_(run_done) UndoRun run = {
                .plan = p,
                .options = options,
                .store_fd = -1,
                .journal_fd = -1,
        };
        int r = open_journal(&run);

        return r < 0 ? r : run_all(&run);
}
