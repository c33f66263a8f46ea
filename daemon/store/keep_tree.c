/* SPDX-License-Identifier: MIT */
/* All that is below a directory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "daemon/core/policy.h"
#include "daemon/store/foothold.h"
#include "daemon/store/keep_internal.h"
#include "daemon/store/walk.h"

static bool is_ignored(const Keeping *k, const char *path) {
        const char *root = k->q->watch_path;

        if (!k->q->ignore || !path_is_below(path, root))
                return false;
        path += strlen(root);
        return glob_find(k->q->ignore, path + strspn(path, "/"));
}

/* The files of a database come with it. */
static int keep_entry(Keeping *k, int dir_fd, const char *name, const char *path) {
        size_t length;

        if (!keep_is_sqlite(dir_fd, name, &length))
                return keep_one(k, dir_fd, name, path);
        return name[length] == 0 ? keep_sqlite(k, dir_fd, name, path) : 0;
}

/* What else there is may still be small enough. */
static int keep_without(Keeping *k, int dir_fd, const char *name, const char *path) {
        _cleanup_(kept_done) Kept kept = {};
        int r = keep_look(k, dir_fd, name, path, &kept);

        k->complete = false;
        if (r < 0)
                return r;
        kept.reason = strdup("no room was left in the store");
        return kept.reason ? kept_list_add(&k->list, &kept) : -ENOMEM;
}

static int walk_entry(Keeping *k, Walk *w, const char *name) {
        int dir_fd = walk_dir_fd(w);
        size_t before = k->list.n;
        int r;

        if (is_ignored(k, w->path))
                return 0;
        if (k->q->cancel && atomic_load(k->q->cancel))
                return -ECANCELED;
        if (k->entries_left == 0) {
                k->complete = false;
                return 0;
        }
        k->entries_left--;
        r = keep_entry(k, dir_fd, name, w->path);
        if (r == -ENOSPC)
                r = keep_without(k, dir_fd, name, w->path);
        if (r < 0)
                return r == -ENOENT ? 0 : r;
        if (k->list.n == before || k->list.list[k->list.n - 1].kind != KIND_DIR)
                return 0;
        r = walk_enter(w, name);
        if (r == 0)
                k->complete = false;
        return r == -EACCES ? 0 : MIN(r, 0);
}

int keep_tree(Keeping *k, int dir_fd, const char *name, const char *path) {
        _cleanup_(walk_done) Walk w = {};
        int r = walk_start(&w, dir_fd, name, path);

        while (w.depth > 0 && r >= 0) {
                const char *entry = walk_next(&w);

                if (entry)
                        r = walk_entry(k, &w, entry);
                else
                        walk_leave(&w);
        }
        return MIN(r, 0);
}

int keep_measure(const char *path, uint64_t bytes_max, size_t entries_max, CopyCancel cancel,
                 uint64_t *ret_bytes, size_t *ret_entries) {
        _cleanup_(walk_done) Walk w = {};
        uint64_t bytes = 0;
        size_t entries = 0;
        int r = walk_start(&w, AT_FDCWD, path, path);

        while (w.depth > 0 && r >= 0) {
                const char *name = walk_next(&w);
                struct stat st;

                if (!name) {
                        walk_leave(&w);
                        continue;
                }
                if (cancel && atomic_load(cancel))
                        return -ECANCELED;
                if (fstatat(walk_dir_fd(&w), name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                bytes += S_ISREG(st.st_mode) ? copy_data_size(&st) : 0;
                if (++entries > entries_max || bytes > bytes_max)
                        return -E2BIG;
                if (S_ISDIR(st.st_mode))
                        r = walk_enter(&w, name);
        }
        if (r < 0)
                return r;
        *ret_bytes = bytes;
        *ret_entries = entries;
        return 0;
}
