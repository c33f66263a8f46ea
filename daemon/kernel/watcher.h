/* SPDX-License-Identifier: MIT */
/*
 * A watcher: one thread that owns the fanotify descriptors of one watch and is the only one that touches the watched
 * filesystem. The event loop talks to it by requests and gets notes back, in order, through a queue with an eventfd.
 *
 * The thread may hang for ever in a system call on a dead share. Nothing here waits for it: watcher_free() asks it to end
 * and lets go; the thread frees what is shared when it comes back.
 */
#ifndef MOUNTWATCH_KERNEL_WATCHER_H
#define MOUNTWATCH_KERNEL_WATCHER_H

#include "daemon/core/change.h"
#include "daemon/core/watch.h"

typedef struct Watcher Watcher;

/* How operations on this watch are seen; the order is from best to worst. */
typedef enum Tier {
        TIER_NONE,       /* not placed, or nothing works here */
        TIER_FILESYSTEM, /* name events by one filesystem mark */
        TIER_DIRECTORIES, /* name events by a mark on each directory, content by fd mode with a filesystem mark */
        _TIER_MAX,
} Tier;

typedef enum WatcherState {
        WATCHER_IDLE,    /* no mark placed */
        WATCHER_WAITING, /* wanted, but the path is not there or not mounted yet */
        WATCHER_ARMED,   /* marks are in place and the tree has been read */
        WATCHER_FAILED,  /* the kernel or the filesystem refused: see reason */
        _WATCHER_STATE_MAX,
} WatcherState;

typedef enum NoteType {
        NOTE_CHANGE,
        NOTE_LOSS,  /* something may have been missed */
        NOTE_STATE, /* state, tier, scope or coverage changed */
        NOTE_SYNC, /* answer to watcher_sync(): all that happened before the call has been delivered */
} NoteType;

typedef struct WatcherStatus {
        WatcherState state;
        Tier tier;
        Scope scope;
        Coverage coverage;
        char fstype[32]; /* "ext4", "cifs", …; "" when not known */
        char reason
                [256]; /* why it waits, failed or is on a lower tier; a sentence, "" when there is nothing to say */
        uint64_t directories, files; /* known to the tree */
        bool tree_partial; /* the tree is larger than its limit: names outside it are looked up after the fact */
} WatcherStatus;

typedef struct Note {
        struct Note *next;
        NoteType type;
        Change change;        /* NOTE_CHANGE */
        char loss[32];        /* NOTE_LOSS: reason word */
        usec_t at, until;     /* NOTE_LOSS: span */
        uint64_t count;       /* NOTE_LOSS: how many, 0 unknown; NOTE_SYNC: the cookie */
        WatcherStatus status; /* NOTE_STATE */
} Note;

typedef struct WatcherOptions {
        size_t nodes_max;        /* entries in the tree; 0: the default (500,000) */
        bool limited_queue;      /* leave the kernel's queue limit on (tests of overflow) */
        bool no_filesystem_mark; /* start at TIER_DIRECTORIES (tests of that tier) */
} WatcherOptions;

/* Starts the thread; no mark yet. `options` may be NULL. Takes a reference on spec. */
int watcher_new(const WatchSpec *spec, const WatcherOptions *options, Watcher **ret);
/* Ends the thread if it answers, else leaves it to free itself. Never blocks longer than a moment. */
Watcher *watcher_free(Watcher *w);
DEFINE_CLEANUP(Watcher *, watcher_free)

/* An eventfd, readable when notes wait. Owned by the watcher. */
int watcher_fd(const Watcher *w);
/* All notes that wait, oldest first, linked by next; NULL when there are none. The caller owns them. */
Note *watcher_take(Watcher *w);
Note *note_free(Note *n); /* frees one, returns NULL */

/* Requests; each returns at once. */
void watcher_arm(
        Watcher *
                w); /* place marks and read the tree: ends in NOTE_STATE (ARMED, WAITING or FAILED) */
void watcher_disarm(Watcher *w); /* remove marks, drop the tree: NOTE_STATE (IDLE) */
void watcher_probe(
        Watcher *w); /* find out scope, tier and coverage without leaving a mark: NOTE_STATE */
void watcher_mounts_changed(
        Watcher *w); /* mountinfo changed: look again whether path leads where it did */
void watcher_sync(Watcher *w, uint64_t cookie);

const char *tier_to_string(Tier t);
const char *watcher_state_to_string(WatcherState s);

#endif
