/* SPDX-License-Identifier: MIT */
#include "daemon/store/quarantine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "daemon/store/branch.h"
#include "daemon/store/foothold.h"
#include "daemon/store/keep.h"
#include "daemon/store/store_internal.h"

void quarantined_done(Quarantined *q) {
        free(q->watch);
        free(q->path);
        *q = (Quarantined){};
}

int store_put_quarantined(Store *s, const Quarantined *q) {
        _cleanup_(statement_done) Statement st = {0};
        int r = store_begin(s);

        if (r >= 0)
                r = statement_open(
                        s, STATEMENT_QUARANTINE_PUT,
                        "INSERT OR REPLACE INTO quarantine(item, session, uid, watch, path, "
                        "kind, bytes, at) VALUES(?1, ?2, (SELECT uid FROM session WHERE "
                        "id = ?2), ?3, ?4, ?5, ?6, ?7)",
                        &st);
        if (r < 0)
                return r;
        statement_bind_text(&st, q->item);
        statement_bind_text(&st, q->session);
        statement_bind_string(&st, q->watch);
        statement_bind_string(&st, q->path);
        statement_bind_int(&st, q->kind);
        statement_bind_int(&st, (int64_t) q->bytes);
        statement_bind_int(&st, (int64_t) q->at);
        r = statement_run(&st);
        return r < 0 ? r : 0;
}

#define QUARANTINE_COLUMNS "item, session, watch, path, kind, bytes, at"

static int read_id(Statement *st, int column, char ret[static 17]) {
        _cleanup_free_ char *s = NULL;
        int r = statement_string(st, column, &s);

        if (r >= 0)
                (void) stpncpy(ret, s ? s : "", 16);
        return r;
}

static int read_row(Statement *st, Quarantined *ret) {
        _cleanup_(quarantined_done) Quarantined q = {
                .kind = (ObjectKind) statement_int(st, 4),
                .bytes = (uint64_t) statement_int(st, 5),
                .at = (usec_t) statement_int(st, 6),
        };
        int r;

        if (q.kind < 0 || q.kind >= _KIND_MAX)
                return -EUCLEAN;
        r = read_id(st, 0, q.item);
        if (r >= 0)
                r = read_id(st, 1, q.session);
        if (r >= 0)
                r = statement_string(st, 2, &q.watch);
        if (r >= 0)
                r = statement_string(st, 3, &q.path);
        if (r < 0)
                return r;
        *ret = q;
        q = (Quarantined){};
        return 0;
}

static int read_rows(Statement *st, Quarantined **list, size_t *n) {
        int r;

        while ((r = statement_step(st)) > 0) {
                Quarantined *grown = reallocarray(*list, *n + 1, sizeof *grown);

                if (!grown)
                        return -ENOMEM;
                *list = grown;
                r = read_row(st, &grown[*n]);
                if (r < 0)
                        return r;
                (*n)++;
        }
        return r;
}

int store_list_quarantined(Store *s, const char *session, uid_t uid, Quarantined **ret,
                           size_t *ret_n) {
        _cleanup_(statement_done) Statement st = {0};
        Quarantined *list = NULL;
        size_t n = 0;
        int r = statement_open(s, STATEMENT_QUARANTINE_LIST,
                               "SELECT " QUARANTINE_COLUMNS " FROM quarantine WHERE "
                               "(?1 IS NULL OR session = ?1) AND (?2 < 0 OR uid = ?2) "
                               "ORDER BY at, path, item",
                               &st);

        if (r < 0)
                return r;
        statement_bind_text(&st, session);
        statement_bind_int(&st, uid == (uid_t) -1 ? -1 : (int64_t) uid);
        r = read_rows(&st, &list, &n);
        if (r < 0) {
                for (size_t i = 0; i < n; i++)
                        quarantined_done(&list[i]);
                free(list);
                return r;
        }
        *ret = list;
        *ret_n = n;
        return 0;
}

int store_get_quarantined(Store *s, const char *item, Quarantined *ret) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(s, STATEMENT_QUARANTINE_GET,
                               "SELECT " QUARANTINE_COLUMNS " FROM quarantine WHERE item = ?", &st);

        if (r < 0)
                return r;
        statement_bind_text(&st, item);
        r = statement_step(&st);
        if (r <= 0)
                return r < 0 ? r : -ENOENT;
        return read_row(&st, ret);
}

int store_remove_quarantined(Store *s, const char *item) {
        _cleanup_(statement_done) Statement st = {0};
        int r = store_begin(s);

        if (r >= 0)
                r = statement_open(s, STATEMENT_QUARANTINE_DELETE,
                                   "DELETE FROM quarantine WHERE item = ?", &st);
        if (r < 0)
                return r;
        statement_bind_text(&st, item);
        r = statement_run(&st);
        return r < 0 ? r : r == 0 ? -ENOENT : 0;
}

/* DIR/quarantine/SESSION */
static int open_session(const char *state_dir, const char *session, bool make) {
        _cleanup_free_ char *top = NULL, *path = NULL;
        int fd;

        if (strspn(session, "0123456789abcdef") != 16 || session[16])
                return -EINVAL;
        if (asprintf(&top, "%s/quarantine", state_dir) < 0) {
                top = NULL;
                return -ENOMEM;
        }
        if (asprintf(&path, "%s/%s", top, session) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        if (make && mkdir(top, 0700) < 0 && errno != EEXIST)
                return -errno;
        if (make && mkdir(path, 0700) < 0 && errno != EEXIST)
                return -errno;
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

static int measure(const char *state_dir, const char *session, BranchPlace place, uint64_t *ret) {
        _cleanup_free_ char *path = NULL;
        struct stat st;
        size_t entries;

        if (fstatat(place.dir_fd, place.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        *ret = S_ISREG(st.st_mode) ? copy_data_size(&st) : 0;
        if (!S_ISDIR(st.st_mode))
                return 0;
        if (asprintf(&path, "%s/quarantine/%s/%s", state_dir, session, place.name) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        return keep_measure(path, UINT64_MAX, SIZE_MAX, NULL, ret, &entries);
}

/* The last run came as far as the item. What is left of the original goes; what is not of it stays. */
static int remove_rest(BranchPlace from, BranchPlace item, CopyCancel cancel) {
        struct stat st;
        int r;

        if (fstatat(from.dir_fd, from.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return errno == ENOENT ? 0 : -errno;
        r = branch_equal(from, item, cancel);
        return r < 0 ? r : r == 0 ? -EEXIST : branch_remove(from);
}

int quarantine_move(const char *state_dir, const char *session, const char *item, const char *root,
                    const char *path, CopyCancel cancel, uint64_t *ret_bytes) {
        _cleanup_close_ int dir = open_session(state_dir, session, /* make= */ true);
        _cleanup_(foothold_done) Foothold spot = FOOTHOLD_NULL;
        BranchPlace to = {dir, item};
        struct stat st;
        int r;

        if (dir < 0)
                return dir;
        r = foothold_open(root, path, &spot);
        if (r < 0)
                return r;
        r = fstatat(dir, item, &st, AT_SYMLINK_NOFOLLOW) < 0
                ? branch_move((BranchPlace){spot.dir_fd, spot.name}, to, cancel)
                : remove_rest((BranchPlace){spot.dir_fd, spot.name}, to, cancel);
        return r < 0 ? r : measure(state_dir, session, to, ret_bytes);
}

int quarantine_restore(const char *state_dir, const char *root, const Quarantined *q,
                       CopyCancel cancel) {
        _cleanup_close_ int dir = open_session(state_dir, q->session, /* make= */ false);
        _cleanup_(foothold_done) Foothold spot = FOOTHOLD_NULL;
        int r;

        if (dir < 0)
                return dir;
        r = foothold_open(root, q->path, &spot);
        return r < 0 ? r
                     : branch_move((BranchPlace){dir, q->item},
                                   (BranchPlace){spot.dir_fd, spot.name}, cancel);
}

int quarantine_purge(const char *state_dir, const Quarantined *q) {
        _cleanup_close_ int dir = open_session(state_dir, q->session, /* make= */ false);

        if (dir < 0)
                return dir == -ENOENT ? 0 : dir;
        return branch_remove((BranchPlace){dir, q->item});
}
