/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "daemon/core/attribution.h"
#include "daemon/core/policy.h"

/* ---- names ---- */

static bool is_ignored_name(const WatchSpec *watch, const char *path) {
        const char *name = watch_relative_name(watch, path);

        return !name || glob_find(watch->ignore, name);
}

static bool is_ignored(const WatchSpec *watch, const Change *c) {
        if (!is_ignored_name(watch, c->path))
                return false;
        return c->op != OP_RENAME || !c->from || is_ignored_name(watch, c->from);
}

/* The Allow= pattern that covers it, or NULL; a rename needs both of its names covered. */
static const char *allowed_by(const WatchSpec *watch, const Change *c) {
        const char *name = watch_relative_name(watch, c->path);

        if (!name)
                return NULL;
        if (c->op == OP_RENAME && c->from) {
                const char *from = watch_relative_name(watch, c->from);

                if (!from || !glob_find(watch->allow, from))
                        return NULL;
        }
        return glob_find(watch->allow, name);
}

/* ---- creations ---- */

static void forget_names(const Change *c, Session *s) {
        switch (c->op) {
        case OP_RENAME:
                if (c->from)
                        session_forget_created(s, c->from);
                session_forget_created(s, c->path);
                break;
        case OP_CREATE:
        case OP_DELETE:
                session_forget_created(s, c->path);
                break;
        case OP_MODIFY:
        case OP_METADATA:
        case _OP_MAX:
                break;
        }
}

/* What was moved in from outside, or linked, came into being elsewhere: only its name is new. */
static bool is_creation(const Change *c) {
        return c->op == OP_CREATE && !c->from && !c->linked;
}

static int remember_names(const Change *c, Session *s) {
        int r = 0;

        if (is_creation(c)) {
                r = session_remember_created(s, c->path, c->object);
                if (r == -ENOSPC)
                        r = session_add_loss(s, "created-limit", NULL, c->at, c->at, 1);
        } else
                forget_names(c, s);
        if (r < 0)
                return r;
        for (Session *outer = s->outer; outer; outer = outer->outer)
                forget_names(c, outer);
        return 0;
}

void attribution_forget(const Change *change, const Process *author, Session *session) {
        for (const Session *s = author ? author->session : NULL; s; s = s->outer)
                if (s == session)
                        return;
        forget_names(change, session);
}

static bool is_own_creation(const Change *c, const Session *s) {
        return c->op == OP_MODIFY && session_has_created(s, c->path, c->object);
}

/* ---- policy ---- */

/* A session inside another cannot be more lenient than that one. */
static Policy effective_policy(const WatchSpec *watch, const Session *s) {
        Policy policy = watch->policy;

        for (; s; s = s->outer)
                if (s->has_policy)
                        policy = policy_stricter(policy, s->policy);
        return policy;
}

static bool is_writer(const WatchSpec *watch, const Change *c, const Process *author) {
        const Image *image = author ? process_image_at(author, c->read_at) : NULL;
        const Program *program = image ? image->program : NULL;

        return program && program->exe && glob_find(watch->writers, program->exe);
}

static bool is_violation(const WatchSpec *watch, const Change *c, const Process *author,
                         const Session *s, const char *rule) {
        if (rule)
                return false;
        if (!s)
                return watch->untagged == UNTAGGED_ALERT && !is_writer(watch, c, author);
        return effective_policy(watch, s) != POLICY_RECORD;
}

/* ---- operation ---- */

static int copy(const char *s, char **ret) {
        char *c = s ? strdup(s) : NULL;

        if (s && !c)
                return -ENOMEM;
        *ret = c;
        return 0;
}

/* Everything but what is taken from the change. */
static int describe(const Change *c, const WatchSpec *watch, const Process *author,
                    Operation *ret) {
        const Session *s = author ? author->session : NULL;
        const char *rule = allowed_by(watch, c);
        bool violation = is_violation(watch, c, author, s, rule);
        int r;

        *ret = (Operation){
                .op = c->op,
                .kind = c->kind,
                .replaced = c->replaced,
                .count = 1,
                .first = c->at,
                .last = c->at,
                .violation = violation,
                .action = violation ? ACTION_ALERTED : ACTION_RECORDED,
                .attribution = c->inferred ? SIGHT_INFERRED : SIGHT_EXACT,
        };
        r = copy(watch->name, &ret->watch);
        if (r >= 0)
                r = copy(rule, &ret->rule);
        if (r >= 0)
                r = copy(s ? s->id : NULL, &ret->session);
        if (r >= 0)
                r = copy(s ? s->test : NULL, &ret->test);
        return r;
}

int attribute(Change *change, const WatchSpec *watch, Process *author, Operation *ret) {
        Session *s = author ? author->session : NULL;
        bool recorded = !is_ignored(watch, change);
        Operation op = {};
        int r = 0;

        if (!s && watch->untagged == UNTAGGED_IGNORE)
                return 0;
        if (s && is_own_creation(change, s))
                return 0;
        if (recorded)
                r = describe(change, watch, author, &op);
        if (r >= 0 && s)
                r = remember_names(change, s);
        if (r < 0 || !recorded) {
                operation_done(&op);
                return r;
        }
        if (s) {
                s->operations++;
                s->violations += op.violation;
        }
        op.path = TAKE_PTR(change->path);
        op.from = TAKE_PTR(change->from);
        op.to = TAKE_PTR(change->to);
        *ret = op;
        return 1;
}
