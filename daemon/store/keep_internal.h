/* SPDX-License-Identifier: MIT */
/* What the files of keep share. */
#ifndef MOUNTWATCH_STORE_KEEP_INTERNAL_H
#define MOUNTWATCH_STORE_KEEP_INTERNAL_H

#include "daemon/store/keep.h"

typedef struct Keeping {
        const KeepRequest *q;
        int store_fd; /* folder of the blobs */
        KeptList list;
        uint64_t bytes_left;
        size_t entries_left;
        bool complete;
} Keeping;

/* keep.c */
/* Without content. -ENOENT. `kept` is then to be completed and added, or to be freed. */
int keep_look(const Keeping *k, int dir_fd, const char *name, const char *path, Kept *kept);
/* Adds the blob, or the reason why there is none. -ENOSPC, -ECANCELED, -ENOMEM. */
int keep_content(Keeping *k, int dir_fd, const char *name, Kept *kept);
/* The object alone, with content. */
int keep_one(Keeping *k, int dir_fd, const char *name, const char *path);

/* keep_sqlite.c */
/* Is it a database, or a side file of one beside it? *ret_length: how much of the name is the database's. */
bool keep_is_sqlite(int dir_fd, const char *name, size_t *ret_length);
/* All of the family, of which `name` and `path` name the database. */
int keep_sqlite(Keeping *k, int dir_fd, const char *name, const char *path);

/* keep_tree.c: what is below the directory, which is kept already. */
int keep_tree(Keeping *k, int dir_fd, const char *name, const char *path);

#endif
