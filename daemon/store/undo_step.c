/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "daemon/store/quarantine.h"
#include "daemon/store/store_internal.h"
#include "daemon/store/undo_internal.h"

static const char *const action_names[] = {
        [UNDO_QUARANTINE] = "quarantine", [UNDO_RENAME] = "rename",
        [UNDO_RESTORE] = "restore",       [UNDO_CONTENT] = "content",
        [UNDO_DATABASE] = "database",     [UNDO_METADATA] = "metadata",
};
static const char *const state_names[] = {
        [UNDO_PENDING] = "pending",       [UNDO_DONE] = "done",
        [UNDO_NOTHING] = "nothing",       [UNDO_REFUSED] = "refused",
        [UNDO_IMPOSSIBLE] = "impossible", [UNDO_FAILED] = "failed",
};

const char *undo_action_to_string(UndoAction a) {
        return action_names[a];
}

const char *undo_state_to_string(UndoState s) {
        return state_names[s];
}

void undo_step_done(UndoStep *s) {
        free(s->watch);
        free(s->root);
        free(s->path);
        free(s->from);
        free(s->now);
        free(s->alias);
        free(s->reason);
        kept_list_done(&s->kept);
        *s = (UndoStep){};
}

UndoPlan *undo_plan_free(UndoPlan *p) {
        if (!p)
                return NULL;
        for (size_t i = 0; i < p->n; i++)
                undo_step_done(&p->steps[i]);
        free(p->steps);
        for (size_t i = 0; i < p->n_own; i++)
                free(p->own[i]);
        free(p->own);
        free(p);
        return NULL;
}

int undo_set_reason(UndoStep *s, UndoState state, const char *format, ...) {
        char *reason;
        va_list ap;
        int n;

        va_start(ap, format);
        n = vasprintf(&reason, format, ap);
        va_end(ap);
        if (n < 0)
                return -ENOMEM;
        free(s->reason);
        s->reason = reason;
        s->state = state;
        return 0;
}

static uint64_t mix_string(uint64_t h, const char *s) {
        return hash_mix_bytes(h, s ? s : "", s ? strlen(s) + 1 : 1);
}

/* An operation more of the session on the object makes another key: the step is to be done once more. */
static uint64_t step_key(const UndoDraft *d) {
        uint64_t h = hash_mix(HASH_SEED, (uint64_t) d->action);

        h = mix_string(h, d->path);
        h = mix_string(h, d->from);
        h = hash_mix(h, d->object ? (uint64_t) d->object->last_seq : 0);
        h = hash_mix(h, d->name ? (uint64_t) d->name->last_seq : 0);
        return h & INT64_MAX; /* a row of SQLite */
}

int undo_read_done(UndoPlanner *p) {
        _cleanup_(statement_done) Statement st = {0};
        int r = statement_open(p->store, STATEMENT_UNDO_GET,
                               "SELECT key FROM undo_step WHERE session = (SELECT n FROM session "
                               "WHERE id = ?) ORDER BY key",
                               &st);

        if (r < 0)
                return r;
        statement_bind_text(&st, p->session.session->id);
        while ((r = statement_step(&st)) > 0) {
                r = seq_list_add(&p->done, statement_int(&st, 0));
                if (r < 0)
                        return r;
        }
        return r;
}

static int compare_keys(const void *a, const void *b) {
        const int64_t *x = a, *y = b;

        return *x < *y ? -1 : *x > *y;
}

static bool is_done(const UndoPlanner *p, uint64_t key) {
        int64_t wanted = (int64_t) key;

        return p->done.n > 0 &&
                bsearch(&wanted, p->done.seqs, p->done.n, sizeof wanted, compare_keys);
}

static int name_foreign(UndoPlanner *p, UndoStep *s, int64_t process) {
        ProcessInfo info = {};
        int r = process > 0 ? store_get_process(p->store, process, &info) : -ENOENT;

        s->foreign = true;
        r = r < 0 ? undo_set_reason(s, UNDO_PENDING, "changed by somebody else since")
                  : undo_set_reason(s, UNDO_PENDING, "changed by %s (pid %d) since",
                                    info.exe ? info.exe : "a process", (int) info.pid);
        process_info_done(&info);
        return r;
}

static int copy_string(const char *s, char **ret) {
        char *copy = s ? strdup(s) : NULL;

        if (s && !copy)
                return -ENOMEM;
        *ret = copy;
        return 0;
}

static int fill(UndoPlanner *p, const UndoDraft *d, UndoStep *s) {
        int64_t foreign = d->foreign              ? d->foreign
                : d->object && d->object->foreign ? d->object->foreign
                : d->name                         ? d->name->foreign
                                                  : 0;
        int r = copy_string(d->watch, &s->watch);

        s->action = d->action;
        s->kind = d->kind;
        s->key = step_key(d);
        s->last = MAX(d->object ? d->object->last : 0, d->name ? d->name->last : 0);
        /* It has this name since its directory was renamed; or an operation on another name of the
         * same file has changed its times. */
        if (s->last == 0 || (d->object && d->object->meta && d->object->meta->nlink > 1))
                s->last = p->last;
        if (r >= 0)
                r = copy_string(undo_watch_root(p, d->watch), &s->root);
        if (r >= 0)
                r = copy_string(d->path, &s->path);
        if (r >= 0)
                r = copy_string(d->from, &s->from);
        if (r >= 0)
                r = copy_string(d->now, &s->now);
        if (r >= 0 && foreign != 0)
                r = name_foreign(p, s, foreign);
        if (r >= 0 && is_done(p, s->key))
                s->state = UNDO_DONE;
        return r;
}

int undo_add_step(UndoPlanner *p, const UndoDraft *draft, UndoStep **ret) {
        UndoPlan *plan = p->plan;
        UndoStep s = {};
        int r;

        if (plan->n == plan->allocated) {
                size_t n = plan->allocated ? plan->allocated * 2 : 16;
                UndoStep *grown = reallocarray(plan->steps, n, sizeof *grown);

                if (!grown)
                        return -ENOMEM;
                plan->steps = grown;
                plan->allocated = n;
        }
        r = fill(p, draft, &s);
        if (r < 0) {
                undo_step_done(&s);
                return r;
        }
        plan->steps[plan->n] = s;
        *ret = &plan->steps[plan->n++];
        return 0;
}

int store_put_undo_step(Store *s, const char *session, const UndoStep *step, usec_t now) {
        _cleanup_(statement_done) Statement st = {0};
        int64_t n;
        int r = session_number(s, session, &n);

        if (r >= 0)
                r = store_begin(s);
        if (r < 0 || step->state != UNDO_DONE)
                return r;
        if (step->item[0]) {
                Quarantined q = {.watch = step->watch,
                                 .path = step->path,
                                 .kind = step->kind,
                                 .bytes = step->bytes,
                                 .at = now};

                (void) snprintf(q.session, sizeof q.session, "%s", session);
                memcpy(q.item, step->item, sizeof q.item);
                r = store_put_quarantined(s, &q);
        }
        if (r >= 0)
                r = statement_open(s, STATEMENT_UNDO_PUT,
                                   "INSERT OR REPLACE INTO undo_step(session, key, at) "
                                   "VALUES(?, ?, ?)",
                                   &st);
        if (r < 0)
                return r;
        statement_bind_int(&st, n);
        statement_bind_int(&st, (int64_t) step->key);
        statement_bind_int(&st, (int64_t) now);
        r = statement_run(&st);
        return r < 0 ? r : 0;
}
