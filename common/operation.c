/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/operation.h"

static const char *const op_type_table[_OP_MAX] = {
        [OP_CREATE] = "create", [OP_MODIFY] = "modify",     [OP_DELETE] = "delete",
        [OP_RENAME] = "rename", [OP_METADATA] = "metadata",
};

static const char *const object_kind_table[_KIND_MAX] = {
        [KIND_FILE] = "file",
        [KIND_DIR] = "dir",
        [KIND_SYMLINK] = "symlink",
        [KIND_OTHER] = "other",
};

static const char *const action_table[_ACTION_MAX] = {
        [ACTION_RECORDED] = "recorded", [ACTION_ALERTED] = "alerted", [ACTION_DENIED] = "denied",
        [ACTION_HELD] = "held",         [ACTION_FROZEN] = "frozen",   [ACTION_KILLED] = "killed",
};

static const char *const policy_table[_POLICY_MAX] = {
        [POLICY_RECORD] = "record", [POLICY_ALERT] = "alert",   [POLICY_ASK] = "ask",
        [POLICY_DENY] = "deny",     [POLICY_FREEZE] = "freeze", [POLICY_KILL] = "kill",
};

static const char *const scope_table[_SCOPE_MAX] = {
        [SCOPE_FILESYSTEM] = "filesystem",
        [SCOPE_SUBTREE] = "subtree",
        [SCOPE_FILE] = "file",
};

static const char *const sight_table[_SIGHT_MAX] = {
        [SIGHT_NONE] = "none",
        [SIGHT_INFERRED] = "inferred",
        [SIGHT_EXACT] = "exact",
};

static const char *const session_state_table[_SESSION_STATE_MAX] = {
        [SESSION_ACTIVE] = "active",
        [SESSION_LINGERING] = "lingering",
        [SESSION_STOPPED] = "stopped",
        [SESSION_KILLED] = "killed",
};

static const char *const verdict_table[_VERDICT_MAX] = {
        [VERDICT_CLEAN] = "clean",
        [VERDICT_DIRTY] = "dirty",
        [VERDICT_INCOMPLETE] = "incomplete",
};

static const char *word_of(const char *const *table, size_t n, size_t value) {
        return value < n ? table[value] : NULL;
}

static int value_of(const char *const *table, size_t n, const char *word) {
        for (size_t i = 0; word && i < n; i++)
                if (strcmp(table[i], word) == 0)
                        return (int) i;
        return -EINVAL;
}

#define DEFINE_WORDS(name, type)                                               \
        const char *name##_to_string(type value) {                             \
                return word_of(name##_table, ELEMENTSOF(name##_table), value); \
        }                                                                      \
        int name##_from_string(const char *s) {                                \
                return value_of(name##_table, ELEMENTSOF(name##_table), s);    \
        }

DEFINE_WORDS(op_type, OpType)
DEFINE_WORDS(object_kind, ObjectKind)
DEFINE_WORDS(action, Action)
DEFINE_WORDS(policy, Policy)
DEFINE_WORDS(scope, Scope)
DEFINE_WORDS(sight, Sight)
DEFINE_WORDS(session_state, SessionState)
DEFINE_WORDS(verdict, Verdict)

void process_info_done(ProcessInfo *p) {
        free(p->exe);
        for (char **s = p->cmdline; s && *s; s++)
                free(*s);
        free(p->cmdline);
        free(p->cwd);
        *p = (ProcessInfo){};
}

void operation_done(Operation *o) {
        free(o->session);
        free(o->watch);
        free(o->path);
        free(o->from);
        free(o->to);
        free(o->rule);
        free(o->test);
        *o = (Operation){};
}

void loss_done(Loss *l) {
        free(l->reason);
        free(l->watch);
        *l = (Loss){};
}
