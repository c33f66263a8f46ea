/* SPDX-License-Identifier: MIT */
/*
 * The net effect of a session (DESIGN.md 4.3): what is different at its end, from its operations in order of seq.
 *
 * Two trees of names: those of the start, as far as operations have told of them, and those of now. A name of now knows
 * which name its object had at the start. What was not told is concluded: below a directory that stood at D at the start and
 * stands at E now, E/x is what was D/x. Nonsense orders (of an incomplete session) never fail, they only conclude less.
 *
 *   created   new object at a name that was free at the start, or whose object of the start lives on elsewhere
 *   modified  content changed, at the name it has now; or a new object stands where an object of the start was lost
 *   deleted   object of the start that was removed, replaced by another object of the start, or moved out of the watch, under
 *             its name at the start. What was lost inside a directory that was moved out as a whole is not listed
 *   renamed   object of the start at another name; not what merely came along with its directory
 *
 * A directory that was removed and made again is nothing by itself; one kind of object in the place of another is deleted
 * and created.
 *
 * An exchange (RENAME_EXCHANGE) comes as two renames without `replaced`, A to B and B to A, one directly after the other, of
 * one process and with the same `first`. There and back differs in `first`.
 */
#ifndef MOUNTWATCH_COMMON_NET_H
#define MOUNTWATCH_COMMON_NET_H

#include "common/operation.h"

/* Bytes of the longest path that is listed; what lies deeper goes with its directory. PATH_MAX of the kernel is 4096. */
#define NET_PATH_MAX 16384

typedef struct Net Net;

typedef struct NetRename {
        const char *from, *to;
} NetRename;

typedef struct NetLists {
        const char **created, **modified, **deleted;
        size_t n_created, n_modified, n_deleted;
        NetRename *renamed;
        size_t n_renamed;
} NetLists;

int net_new(Net **ret);
Net *net_free(Net *n);
DEFINE_CLEANUP(Net *, net_free)

/* Refused operations and metadata do not count. After -ENOMEM the object can only be freed. */
int net_apply(Net *n, const Operation *o);
/* Borrowed until the next call; each list sorted by path (renamed: by from). An exchange of which only one half has been
 * applied counts as a rename that replaced its target. */
int net_lists(Net *n, const NetLists **ret);

/* The path that the object which is at `path` now had at the start; NULL in *ret: it was made by the session, or nothing is there.
 * The caller frees. Ask before the operation is applied. */
int net_origin(const Net *n, const char *path, char **ret);

/* One object that operations have told of; the paths are borrowed for the call. */
typedef struct NetObject {
        const char *start; /* NULL: made by the session */
        const char *now;   /* NULL: lost */
        bool is_dir;
        bool dirty;    /* content changed; of an object that is there now */
        bool foreign;  /* neither of the start nor made by the session */
        bool gone_out; /* lost by a move out of the watch */
        bool covered;  /* lost with the directory that it was in, which was moved out as a whole */
} NetObject;

/* First what is there now, then what was lost; directories before what is in them. What is too deep (NET_PATH_MAX) is left out. Stops
 * when `f` gives anything but 0, and returns that. */
int net_objects(Net *n, int (*f)(const NetObject *o, void *userdata), void *userdata);

#endif
