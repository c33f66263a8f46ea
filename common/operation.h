/* SPDX-License-Identifier: MIT */
/*
 * The nouns that daemon and client share: an operation (one change to one path), the process that did it, a loss
 * (what was not seen), the coverage of a watch. Plain structs, no JSON here (operation_json.h), no system calls.
 *
 * Paths are bytes, NUL-terminated, absolute, below the configured path of the watch; NULL means "none".
 */
#ifndef MOUNTWATCH_COMMON_OPERATION_H
#define MOUNTWATCH_COMMON_OPERATION_H

#include "common/macro.h"

#include <stdbool.h>
#include <sys/types.h>

typedef enum OpType {
        OP_CREATE,
        OP_MODIFY,
        OP_DELETE,
        OP_RENAME,
        OP_METADATA,
        _OP_MAX,
} OpType;

typedef enum ObjectKind {
        KIND_FILE,
        KIND_DIR,
        KIND_SYMLINK,
        KIND_OTHER,
        _KIND_MAX,
} ObjectKind;

typedef enum Action {
        ACTION_RECORDED,
        ACTION_ALERTED,
        ACTION_DENIED,
        ACTION_HELD,
        ACTION_FROZEN,
        ACTION_KILLED,
        _ACTION_MAX,
} Action;

/* Ordered from lenient to strict: a stricter policy has a higher value. */
typedef enum Policy {
        POLICY_RECORD,
        POLICY_ALERT,
        POLICY_ASK,
        POLICY_DENY,
        POLICY_FREEZE,
        POLICY_KILL,
        _POLICY_MAX,
} Policy;

typedef enum Scope {
        SCOPE_FILESYSTEM,
        SCOPE_SUBTREE,
        SCOPE_FILE,
        _SCOPE_MAX,
} Scope;

/* How well one operation can be tied to its process: not at all, by a rule, by the kernel's word. */
typedef enum Sight {
        SIGHT_NONE,
        SIGHT_INFERRED,
        SIGHT_EXACT,
        _SIGHT_MAX,
} Sight;

typedef enum SessionState {
        SESSION_ACTIVE,
        SESSION_LINGERING,
        SESSION_STOPPED,
        SESSION_KILLED,
        _SESSION_STATE_MAX,
} SessionState;

typedef enum Verdict {
        VERDICT_CLEAN,
        VERDICT_DIRTY,
        VERDICT_INCOMPLETE,
        _VERDICT_MAX,
} Verdict;

/* One program image of one process: pid and start time name the process, each execve makes a new image. */
typedef struct ProcessInfo {
        int64_t id;        /* row in the store; 0 is "not stored yet" */
        int64_t parent_id; /* image of the parent when this process was forked; 0 is "unknown" */
        pid_t pid, ppid;
        uint64_t
                start_ticks; /* clock ticks since boot, field 22 of /proc/PID/stat; 0 is "unknown" */
        uid_t uid;
        char *exe; /* NULL is "unknown" */
        char **cmdline;
        char *cwd;
} ProcessInfo;

typedef struct Operation {
        int64_t seq;        /* order of arrival, over all sessions; assigned by the store */
        char *session;      /* NULL: untagged */
        int64_t process_id; /* ProcessInfo.id */
        OpType op;
        ObjectKind kind;
        char *watch;
        char *path;
        char *from; /* old name (rename), outside name (create by a move into the watch) */
        char *to;   /* outside name (delete by a move out of the watch) */
        bool replaced;
        uint64_t count;
        usec_t first, last;
        bool violation;
        char *rule; /* the Allow= pattern that covered it, or NULL */
        Action action;
        Sight attribution; /* SIGHT_EXACT or SIGHT_INFERRED */
        bool preserved;
        bool attempt; /* stopped before it happened: refused, or its process was killed or frozen for it */
        char *test;
} Operation;

/* Attempts are told, and change nothing. */
static inline bool operation_has_happened(const Operation *o) {
        return !o->attempt && o->action != ACTION_DENIED;
}

/* Something that was not, or may not have been, seen. `at` to `until` is the span in which it may have happened. */
typedef struct Loss {
        char *reason; /* a word: overflow, daemon-restart, unmounted, … (docs/architecture.md lists them) */
        char *watch; /* NULL: every watch */
        usec_t at, until;
        uint64_t count; /* how many; 0 is "unknown" */
} Loss;

typedef struct Coverage {
        Sight op[_OP_MAX];
        bool deny[_OP_MAX];
} Coverage;

const char *op_type_to_string(OpType op);
const char *object_kind_to_string(ObjectKind kind);
const char *action_to_string(Action action);
const char *policy_to_string(Policy policy);
const char *scope_to_string(Scope scope);
const char *sight_to_string(Sight sight);
const char *session_state_to_string(SessionState state);
const char *verdict_to_string(Verdict verdict);

/* The reverse: the value, or -EINVAL for a word that is none of them. */
int op_type_from_string(const char *s);
int object_kind_from_string(const char *s);
int action_from_string(const char *s);
int policy_from_string(const char *s);
int scope_from_string(const char *s);
int sight_from_string(const char *s);
int session_state_from_string(const char *s);
int verdict_from_string(const char *s);

/* Everything inside is owned by the struct. `_done` releases what is inside, not the struct. */
void process_info_done(ProcessInfo *p);
void operation_done(Operation *o);
void loss_done(Loss *l);

#endif
