/* SPDX-License-Identifier: MIT */
/*
 * From the queue of the kernel to the queue of notes. Owns: the guesses, until events explain them or none comes. Hands over: changes
 * and losses, in the order in which they can have happened.
 */
#include "daemon/kernel/lookout_private.h"
#include "daemon/kernel/resync.h"

#include <errno.h>
#include <stdio.h>

void lookout_put_loss(const Lookout *l, const char *reason, usec_t at, usec_t until,
                      uint64_t count) {
        Note *n = note_new(NOTE_LOSS);

        if (!n)
                return;
        (void) snprintf(n->loss, sizeof(n->loss), "%s", reason);
        n->at = at;
        n->until = until;
        n->count = count;
        notes_put(l->config->notes, n);
}

/* In file scope the configured path may be a symlink to a file of another name. */
static char *as_configured(const Lookout *l, char *path) {
        const char *name;
        char *renamed;

        if (l->place.scope != SCOPE_FILE || !path)
                return path;
        name = strrchr(path, '/') + 1;
        if (asprintf(&renamed, "%s%s", l->config->path, name + strlen(l->place.file)) < 0)
                renamed = NULL;
        free(path);
        return renamed;
}

/* Takes what is inside. */
static void put_change(Lookout *l, Change *c) {
        Note *n = note_new(NOTE_CHANGE);

        c->path = as_configured(l, c->path);
        if (c->op == OP_RENAME)
                c->from = as_configured(l, c->from);
        if (!n || !c->path || (c->op == OP_RENAME && !c->from)) {
                note_free(n);
                lookout_put_loss(l, "out-of-memory", c->at, c->at, 1);
                change_done(c);
                return;
        }
        n->change = *c;
        *c = (Change){};
        notes_put(l->config->notes, n);
}

static void put_guesses(Lookout *l) {
        Change c;

        while (guesses_take(l->guesses, &c))
                put_change(l, &c);
}

/* What must have come before this, whether or not an event for it was seen. */
static void put_creations(Lookout *l, const char *path, const Change *next) {
        Change c;

        while (guesses_take_creation(l->guesses, path, &c)) {
                /* Who writes to a new file is more likely its maker than who made the directory. */
                if (next->op == OP_MODIFY && str_equal(c.path, next->path)) {
                        c.pid = next->pid;
                        c.author_gone = next->author_gone;
                        c.not_before = next->not_before;
                        c.read_at = next->read_at;
                }
                put_change(l, &c);
        }
}

void lookout_emit(void *userdata, Change *c) {
        Lookout *l = userdata;

        if (!guesses_is_empty(l->guesses) && c->path) {
                guesses_explain(l->guesses, c);
                put_creations(l, c->path, c);
                if (c->op == OP_RENAME && c->from)
                        put_creations(l, c->from, c);
                /* Guesses below have another name, or none, from now on. */
                if (c->kind == KIND_DIR && (c->op == OP_RENAME || c->op == OP_DELETE))
                        put_guesses(l);
        }
        put_change(l, c);
}

void lookout_found(void *userdata, const Found *found) {
        Lookout *l = userdata;
        Change c;

        if (!l->live || !found->fresh || !translator_author(l->translator, found->tag, &c))
                return;
        c.op = OP_CREATE;
        c.kind = (ObjectKind) found->node->kind;
        c.object = found->node->id;
        c.inferred = true;
        l->guesses_waited = false;
        c.path = node_path(found->node, l->place.base, NULL);
        if (guesses_consume(l->guesses, &c) < 0)
                lookout_put_loss(l, "out-of-memory", clock_usec(), clock_usec(), 1);
}

/* The kernel dropped events, and what was queued before and after has been read: see what was missed. */
static int catch_up(Lookout *l) {
        ResyncConfig config = {
                .tree = l->tree,
                .ground = &l->ground,
                .base = l->place.base,
                .names = l->place.file ? (const char *const *) l->family : NULL,
                .enter = lookout_enter,
                .enter_userdata = l,
                .abort = l->config->abort,
                .abort_userdata = l->config->userdata,
        };
        Guesses *differences;
        Change c;
        int r;

        r = guesses_new(&differences);
        if (r < 0)
                return r;
        l->behind = l->guesses_waited = false;
        r = resync(&config, differences);
        while (r >= 0 && guesses_take(differences, &c)) {
                c.not_before = l->behind_since;
                c.read_at = clock_nsec();
                c.at = clock_usec();
                r = guesses_consume(l->guesses, &c);
        }
        guesses_free(differences);
        if (r < 0)
                l->behind = true;
        return r;
}

static void fall_behind(Lookout *l, usec_t since, const Record *rec) {
        lookout_put_loss(l, "overflow", since, rec->at, 0);
        if (!l->behind)
                l->behind_since = rec->not_before;
        l->behind = true;
        /* A directory that nobody told of is not outside for that reason. */
        tree_set_lacks_directories(l->tree, true);
}

static int work(Lookout *l, usec_t since) {
        size_t i, n;
        int r = 0;

        for (i = 0; i < l->batch.n && r >= 0; i++) {
                if (l->batch.records[i].fan.mask & FAN_BIT_OVERFLOW)
                        fall_behind(l, since, &l->batch.records[i]);
                else
                        r = translator_record(l->translator, &l->batch, i);
        }
        l->seen += l->batch.n;
        n = translator_take_unresolved(l->translator);
        if (n > 0)
                lookout_put_loss(l, "unresolved", since, clock_usec(), n);
        return r;
}

/* The queue was read empty. True: it has to be read once more. */
static int come_to_rest(Lookout *l, bool *ret_again) {
        bool again = translator_settle(l->translator, /* all= */ false);
        int r = 0;

        if (translator_take_doubt(l->translator) && !ground_is_there(&l->ground))
                l->astray = true;
        /* Directories that were not where they should be: by now the events that moved them are known. */
        if (!tree_walk_is_done(l->walk)) {
                r = tree_walk_round(l->walk);
                again = true;
        } else if (!guesses_is_empty(l->guesses) && !l->guesses_waited) {
                /* Their events may have come after the read that found the end of the queue. */
                l->guesses_waited = true;
                again = true;
        } else {
                put_guesses(l);
                if (l->behind) {
                        r = catch_up(l);
                        again = true;
                }
        }
        *ret_again = again;
        return r == -ENOMEM || r == -ECANCELED ? r : 0;
}

int lookout_read(Lookout *l) {
        usec_t since = l->batch.empty_at_wall;
        bool again = true;
        int r;

        r = batch_read(&l->batch);
        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                lookout_put_loss(l, "read-error", since, clock_usec(), 1);
                notes_publish(l->config->notes);
                return 1;
        }
        r = work(l, since);
        if (r >= 0 && l->batch.drained)
                r = come_to_rest(l, &again);
        notes_publish(l->config->notes);
        return r < 0 ? r : again;
}

void lookout_rest(Lookout *l) {
        (void) translator_settle(l->translator, /* all= */ true);
        put_guesses(l);
        notes_publish(l->config->notes);
}
