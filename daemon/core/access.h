/* SPDX-License-Identifier: MIT */
/*
 * An access: what a process is about to do to a watched path while it waits for our answer, and what policy makes of it. Pure.
 *
 * An operation has happened; an access has not. The gate (seccomp guard or held open) describes the access, decide() says what
 * to do, and the change that follows, if it is let, is seen by the watch thread like any other.
 */
#ifndef MOUNTWATCH_CORE_ACCESS_H
#define MOUNTWATCH_CORE_ACCESS_H

#include "daemon/core/watch.h"

typedef enum AccessType {
        ACCESS_OPEN,     /* for writing, of what exists; nothing changes by itself */
        ACCESS_TRUNCATE, /* open with O_TRUNC of what exists, truncate(2) */
        ACCESS_CREATE,   /* open with O_CREAT of what does not exist, mkdir, mknod, symlink, link */
        ACCESS_DELETE,   /* unlink, rmdir */
        ACCESS_RENAME,
        ACCESS_METADATA, /* mode, owner, times, xattrs */
        _ACCESS_MAX,
} AccessType;

typedef struct Access {
        AccessType type;
        ObjectKind kind;
        char *path; /* owned; below the configured path of the watch. For a rename: the new name; when that lies outside
                          the watch, `leaves` is set and path is the old one */
        char *from;    /* owned; rename inside or into the watch: the old name (may lie outside) */
        char *to;      /* owned; rename out of the watch: the new name */
        bool replaces; /* a rename whose target exists */
        bool leaves;
} Access;

void access_done(Access *a);
/* The kind of operation that it would be; ACCESS_OPEN counts as a modify. */
OpType access_operation(AccessType type);

/* What the session brings to the decision; a copy, so that a gate thread can hold it. */
typedef struct SessionRule {
        char id[17];
        bool has_policy;
        Policy policy;    /* floor */
        bool allow_asked; /* "allow-session" was answered: what would be asked is let */
        bool thawed;      /* frozen and thawed by a person: what would freeze is let */
        bool guarded;     /* its calls go through the seccomp guard */
} SessionRule;

typedef enum Verb {
        VERB_LET,
        VERB_REFUSE, /* with EPERM */
        VERB_ASK,    /* hold until a person answers; the deadline refuses */
        VERB_FREEZE, /* hold, freeze the tree, tell; let when thawed */
        VERB_KILL,   /* kill by KillScope, never let */
} Verb;

typedef struct Decision {
        Verb verb;
        bool violation;
        bool preserve;    /* keep what is there before it is let */
        const char *rule; /* the Allow= pattern that covers it, borrowed from the spec, or NULL */
} Decision;

/*
 * Ignore= and Allow= cover as in attribution.h (a rename needs both names inside the watch covered). Not covered: the stricter of
 * watch and session decides. A plain ACCESS_OPEN is a violation under deny and ask only (SQLite opens for writing to read):
 * under alert, freeze and kill it is let, and the first real change is what counts. Preserve= keeps what the
 * access may lose (of a create and a plain rename: the times of the directories), whether covered by Allow= or not, unless ignored.
 */
Decision decide(const Access *a, const WatchSpec *w, const SessionRule *s);

/* Whether any watch or the session's own policy needs a gate at all. */
bool policy_needs_gate(const WatchSpec *w, const SessionRule *s);

#endif
