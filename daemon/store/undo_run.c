/* SPDX-License-Identifier: MIT */
/* Running a plan: what is in the way, who has been there since, what leaves and what goes back to its name. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "common/time_text.h"
#include "daemon/store/branch.h"
#include "daemon/store/keep_internal.h"
#include "daemon/store/quarantine.h"
#include "daemon/store/undo_internal.h"
#include "daemon/store/walk.h"

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

int undo_check_foreign(UndoRun *run, UndoStep *s, int dir_fd, const char *name) {
        char when[TIME_TEXT_MAX];
        usec_t at;
        int r;

        if (run->options->force || s->begun)
                return 0;
        if (s->foreign) {
                s->state = UNDO_REFUSED;
                return 1;
        }
        if (!undo_has_changed_since(run, s, dir_fd, name, &at))
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
        undo_item(s, /* in_the_way= */ true, item);
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

static bool is_own(const UndoPlan *p, const char *path) {
        return bsearch(&path, p->own, p->n_own, sizeof *p->own, compare_strings);
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
                if (!is_own(p, path)) {
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

/* 1: a side file of a database that the session did not make. Others may use it through this one, so it is SQLite's to remove. */
static int check_side_file(const UndoRun *run, UndoStep *s, const Foothold *spot) {
        const char *path = s->now ? s->now : s->path;
        _cleanup_free_ char *database = NULL;
        struct stat st;
        size_t length;
        int r;

        if (!keep_is_sqlite(spot->dir_fd, spot->name, &length) || spot->name[length] == 0 ||
            fstatat(spot->dir_fd, spot->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return 0;
        database = strndup(path, strlen(path) - strlen(spot->name + length));
        if (!database)
                return -ENOMEM;
        if (is_own(run->plan, database))
                return 0;
        r = str_equal(spot->name + length, "-shm") || st.st_size == 0
                ? undo_set_reason(s, UNDO_NOTHING, "SQLite uses it")
                : undo_set_reason(s, UNDO_IMPOSSIBLE,
                                  "it belongs to a database that was not preserved");
        return r < 0 ? r : 1;
}

/* 1: it may go. */
static int may_leave(UndoRun *run, UndoStep *s, const Foothold *spot) {
        int r = undo_check_foreign(run, s, spot->dir_fd, spot->name);

        if (r == 0)
                r = check_side_file(run, s, spot);
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

        undo_item(s, /* in_the_way= */ false, item);
        gone = r == -ENOENT || r == -ENOTDIR ||
                (r >= 0 && fstatat(spot.dir_fd, spot.name, &st, AT_SYMLINK_NOFOLLOW) < 0);
        if (gone && !(s->begun && undo_is_in_quarantine(run, item))) {
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
        undo_sync_later(run, TAKE_FD(spot.dir_fd));
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

static int do_rename(UndoRun *run, UndoStep *s, Foothold *from, Foothold *to,
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
        undo_sync_later(run, TAKE_FD(from->dir_fd));
        undo_sync_later(run, TAKE_FD(to->dir_fd));
        s->state = UNDO_DONE;
        return 0;
}

/* Earlier steps have not been done: where it goes may not be there yet, or not be free yet. */
static int look_at_rename(UndoRun *run, UndoStep *s) {
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
        int r = 0, told = 0;

        while (run->at < run->plan->n && r >= 0 && told >= 0) {
                UndoStep *s = &run->plan->steps[run->at];

                if (o->cancel && atomic_load(o->cancel)) {
                        r = -ECANCELED;
                        break;
                }
                if (s->state == UNDO_PENDING)
                        r = run_step(run, s);
                run->at++;
                told = undo_tell(run, /* all= */ false);
        }
        if (told >= 0)
                told = undo_tell(run, /* all= */ true);
        return r < 0 ? r : told;
}

static void run_done(UndoRun *run) {
        undo_journal_done(run);
        undo_made_done(run);
}

int undo_run(UndoPlan *p, const UndoOptions *options) {
        _cleanup_(run_done) UndoRun run = {
                .plan = p,
                .options = options,
                .store_fd = -1,
                .journal_fd = -1,
        };
        int r = undo_journal_open(&run);

        return r < 0 ? r : run_all(&run);
}
