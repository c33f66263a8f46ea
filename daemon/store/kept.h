/* SPDX-License-Identifier: MIT */
/*
 * Kept: an object as it was before a session changed it. The row is here and in the store; its content, if it has any, is the
 * file DIR/preserve/SESSION/BLOB.
 *
 * The functions of store.h's kind (they take the Store) belong to the event loop thread, and touch no watched filesystem.
 */
#ifndef MOUNTWATCH_STORE_KEPT_H
#define MOUNTWATCH_STORE_KEPT_H

#include "daemon/store/copy.h"
#include "daemon/store/store.h"

typedef struct Kept {
        int64_t id; /* row; 0: not stored yet */
        char *path; /* as it was called when it was kept */
        char *watch;
        ObjectKind kind;
        CopyMeta meta;
        char *target; /* of a symlink */
        dev_t dev;
        ino_t ino;
        nlink_t nlink;  /* more than one: it has names that we do not know */
        int64_t born;   /* nanoseconds; 0: the filesystem does not tell */
        uint64_t size;  /* apparent */
        uint64_t bytes; /* what the blob costs at most: its data without holes; 0 without a blob */
        char *blob;     /* NULL: no content was kept */
        char *reason;   /* why content is missing, in words; NULL when nothing is */
        bool shared;    /* the blob shares its data with the original (reflink) */
        bool has_hash;  /* of a blob: see keep_hash() */
        uint8_t hash[COPY_HASH_SIZE];
        bool inconsistent; /* it was written to while it was copied */
        bool snapshot;     /* taken at the start of the session, not before a call */
        uint64_t unit;     /* SQLite: files with the same number (not 0) belong together */
        usec_t taken;
} Kept;

typedef struct KeptList {
        Kept *list;
        size_t n, allocated;
} KeptList;

void kept_done(Kept *k);
int kept_clone(const Kept *k, Kept *ret);
/* Takes what is in *k, also on failure. */
int kept_list_add(KeptList *l, Kept *k);
uint64_t kept_list_bytes(const KeptList *l);
void kept_list_done(KeptList *l);

/* Sets the ids. A row without content of a path that the session has one of already is left out (its id stays 0). -ENOENT: no
 * such session. */
int store_put_kept(Store *s, const char *session, KeptList *list);
int store_set_kept_hash(Store *s, int64_t id, const uint8_t hash[static COPY_HASH_SIZE]);
/* In the order in which they were taken; of inner sessions too when asked. */
int store_list_kept(Store *s, const char *session, bool with_inner, KeptList *ret);
/* Has this session kept the path already, with its content (or only metadata)? A look-up: ask before holding anybody. An object
 * that came to the path since is another one: ask with `ino` when it is known, else 0. */
int store_has_kept(Store *s, const char *session, const char *path, ino_t ino, bool content);

/* What all sessions keep, in bytes. */
int store_kept_bytes(Store *s, uint64_t *ret);

/* Eviction. Which sessions would have to give their kept content up, so that `need` bytes more stay within `limit`: ended ones only,
 * the oldest first. *ret_short is what is still missing then (the live sessions hold it): nothing more can be kept. */
typedef struct Eviction {
        char session[17];
        usec_t stopped;
        uint64_t bytes;
} Eviction;
int store_plan_eviction(Store *s, uint64_t limit, uint64_t need, Eviction **ret, size_t *ret_n,
                        uint64_t *ret_short);
/* The session's rows stay, without content, and say why. The files are removed by preserve_remove(), in any thread. */
int store_evict(Store *s, const char *session, usec_t now);

/* Removes what no row tells of from DIR/preserve: left behind by a daemon that was killed. At start, before anything is kept. */
int store_sweep_kept(Store *s);

/* The files of a session; any thread. That there are none is no error. */
int preserve_remove(const char *state_dir, const char *session);
/* Opens DIR/preserve/SESSION (0700), which is made with make; -ENOENT. A descriptor. */
int preserve_open(const char *state_dir, const char *session, bool make);

#endif
