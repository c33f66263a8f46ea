/* SPDX-License-Identifier: MIT */
/*
 * The planner: reads the operations since the session's start in order, its own and everybody else's, and remembers for each object
 * of the start what was kept of it, and for each touched name who came later.
 *
 * What was kept is found by its name of that moment. A name can lead to several objects one after the other: a kept one that
 * came into being during the session is none of the start, one that was taken after an operation is not what that operation
 * changed, and each (device, inode) is one object's only.
 */
#include <errno.h>

#include "daemon/store/foothold.h"
#include "daemon/store/store_internal.h"
#include "daemon/store/undo_internal.h"

#define SLICE 256 /* operations read by one step */

static void free_strings(char **v) {
        for (size_t i = 0; v && v[i]; i++)
                free(v[i]);
        free(v);
}

UndoPlanner *undo_planner_free(UndoPlanner *p) {
        if (!p)
                return NULL;
        stored_session_done(&p->session);
        free_strings(p->paths);
        free_strings(p->own);
        for (size_t i = 0; i < p->n_watches; i++)
                stored_watch_done(&p->watches[i]);
        free(p->watches);
        seq_list_done(&p->done);
        undo_table_done(&p->table);
        kept_list_done(&p->kept);
        free(p->owners);
        if (p->net)
                p->net = net_free(p->net);
        if (p->plan)
                p->plan = undo_plan_free(p->plan);
        free(p);
        return NULL;
}

static int copy_strings(char *const *v, char ***ret) {
        size_t n = 0;
        char **copy;

        while (v && v[n])
                n++;
        copy = calloc(n + 1, sizeof *copy);
        if (!copy)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                copy[i] = strdup(v[i]);
                if (!copy[i]) {
                        free_strings(copy);
                        return -ENOMEM;
                }
        }
        *ret = copy;
        return 0;
}

/* The session and all that were started inside it. */
static int read_own(UndoPlanner *p, const char *session) {
        _cleanup_(statement_done) Statement st = {0};
        size_t n = 0;
        int r = statement_open(
                p->store, STATEMENT_UNDO_INSIDE,
                "WITH RECURSIVE inside(id) AS (SELECT ? UNION SELECT session.id FROM "
                "inside JOIN session ON session.outer_id = inside.id) "
                "SELECT id FROM inside",
                &st);

        if (r < 0)
                return r;
        statement_bind_text(&st, session);
        while ((r = statement_step(&st)) > 0) {
                char **grown = reallocarray(p->own, n + 2, sizeof *grown);

                if (!grown)
                        return -ENOMEM;
                p->own = grown;
                grown[n] = grown[n + 1] = NULL;
                r = statement_string(&st, 0, &grown[n++]);
                if (r < 0)
                        return r;
        }
        return r;
}

static int load(UndoPlanner *p, const char *session, char *const *paths) {
        int r = store_get_session(p->store, session, &p->session);

        if (r >= 0 && paths)
                r = copy_strings(paths, &p->paths);
        if (r >= 0)
                r = read_own(p, session);
        if (r >= 0)
                r = store_get_session_watches(p->store, session, &p->watches, &p->n_watches);
        if (r >= 0)
                r = store_list_kept(p->store, session, /* with_inner= */ true, &p->kept);
        if (r >= 0)
                r = undo_table_shelve(&p->table, &p->kept);
        if (r >= 0)
                r = undo_read_done(p);
        if (r >= 0)
                r = net_new(&p->net);
        if (r < 0)
                return r;
        p->owners = calloc(MAX(p->kept.n, (size_t) 1), sizeof(*p->owners));
        if (!p->owners)
                return -ENOMEM;
        p->after_seq = p->session.first_seq;
        return 0;
}

int undo_planner_new(Store *s, const char *session, char *const *paths, UndoPlanner **ret) {
        _cleanup_(undo_planner_freep) UndoPlanner *p = calloc(1, sizeof *p);
        int r;

        if (!p)
                return -ENOMEM;
        p->store = s;
        r = load(p, session, paths);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(p);
        return 0;
}

const char *undo_watch_root(const UndoPlanner *p, const char *watch) {
        for (size_t i = 0; i < p->n_watches; i++)
                if (str_equal(p->watches[i].spec->name, watch))
                        return p->watches[i].spec->path;
        return NULL;
}

bool undo_is_wanted(const UndoPlanner *p, const char *path) {
        if (!p->paths)
                return true;
        for (size_t i = 0; path && p->paths[i]; i++)
                if (path_is_below(path, p->paths[i]))
                        return true;
        return false;
}

static bool is_own(const UndoPlanner *p, const Operation *o) {
        for (size_t i = 0; o->session && p->own[i]; i++)
                if (str_equal(o->session, p->own[i]))
                        return true;
        return false;
}

/* Is it what was there at the start? A snapshot is taken while the session already runs: what has been written to since is not. */
static bool is_of_start(const UndoPlanner *p, const Kept *k) {
        int64_t started = (int64_t) (p->session.session->started * NSEC_PER_USEC);

        return k->born <= started &&
                (!k->snapshot || k->kind == KIND_DIR || k->meta.mtime <= started);
}

static bool same_object(const Kept *a, const Kept *b) {
        return a->dev == b->dev && a->ino == b->ino;
}

static void claim(UndoPlanner *p, const UndoShelf *shelf, const UndoObject *o) {
        for (size_t i = 0; i < shelf->n; i++)
                if (same_object(&p->kept.list[shelf->kept[i]], o->meta))
                        p->owners[shelf->kept[i]] = o;
}

void undo_attach(UndoPlanner *p, UndoObject *o, const char *path, usec_t before, bool snapshot) {
        const UndoShelf *shelf = undo_table_find_shelf(&p->table, path);

        for (size_t i = 0; shelf && i < shelf->n && !o->content; i++) {
                const Kept *k = &p->kept.list[shelf->kept[i]];
                const UndoObject *owner = p->owners[shelf->kept[i]];

                if (k->taken > before)
                        break;
                if ((owner && owner != o) || !is_of_start(p, k) || (snapshot && !k->snapshot) ||
                    (o->meta && !same_object(k, o->meta)))
                        continue;
                if (!o->meta) {
                        o->meta = k;
                        claim(p, shelf, o);
                }
                if ((k->blob || k->reason) && !o->missed)
                        o->content = k;
        }
}

/* The object of the start that stands at `path`; NULL in *ret: none. Attaches what was kept of it. */
static int find_object(UndoPlanner *p, const Operation *op, const char *path, UndoObject **ret) {
        _cleanup_free_ char *start = NULL;
        UndoObject *o;
        int r = net_origin(p->net, path, &start);

        *ret = NULL;
        if (r < 0 || !start)
                return r;
        r = undo_table_object(&p->table, start, op->watch, &o);
        if (r < 0)
                return r;
        undo_attach(p, o, path, op->first, /* snapshot= */ false);
        undo_attach(p, o, start, op->first, /* snapshot= */ true);
        *ret = o;
        return 0;
}

static void touch(UndoObject *o, const Operation *op) {
        if (o->first_seq == 0)
                o->first_seq = op->seq;
        o->last_seq = op->seq;
        o->last = MAX(o->last, op->last);
}

/* A name in a directory comes or goes. */
static int touch_directory(UndoPlanner *p, const Operation *op, const char *path) {
        size_t n = (size_t) (strrchr(path, '/') - path);
        _cleanup_free_ char *directory = strndup(path, MAX(n, (size_t) 1));
        UndoObject *o;
        int r = directory ? find_object(p, op, directory, &o) : -ENOMEM;

        if (r >= 0 && o)
                o->entries = true;
        return r;
}

static int touch_name(UndoPlanner *p, const Operation *op, const char *path, UndoName **ret) {
        UndoName *n;
        int r = undo_table_name(&p->table, path, op->watch, &n);

        if (r < 0)
                return r;
        n->kind = op->kind;
        n->last_seq = op->seq;
        n->last = MAX(n->last, op->last);
        if (ret)
                *ret = n;
        return 0;
}

static int replace_string(char **at, const char *s) {
        char *copy = s ? strdup(s) : NULL;

        if (s && !copy)
                return -ENOMEM;
        free(*at);
        *at = copy;
        return 0;
}

static int note_create(UndoPlanner *p, const Operation *op) {
        UndoName *n;
        int r = touch_name(p, op, op->path, &n);

        if (r >= 0)
                r = replace_string(&n->came_from, op->from);
        return r < 0 ? r : touch_directory(p, op, op->path);
}

static int note_change(UndoPlanner *p, const Operation *op) {
        UndoObject *o;
        int r = touch_name(p, op, op->path, NULL);

        if (r >= 0)
                r = find_object(p, op, op->path, &o);
        if (r < 0 || !o)
                return r;
        touch(o, op);
        if (op->op == OP_MODIFY) {
                o->modified = true;
                o->missed = !o->content;
        } else
                o->metadata = true;
        return 0;
}

static int note_delete(UndoPlanner *p, const Operation *op) {
        UndoObject *o;
        int r = touch_name(p, op, op->path, NULL);

        if (r >= 0)
                r = find_object(p, op, op->path, &o);
        if (r >= 0 && o) {
                touch(o, op);
                r = replace_string(&o->went_to, op->to);
        }
        return r < 0 ? r : touch_directory(p, op, op->path);
}

static int note_rename(UndoPlanner *p, const Operation *op) {
        _cleanup_free_ char *came_from = NULL;
        UndoObject *o = NULL;
        UndoName *n;
        int r = touch_name(p, op, op->from, &n);

        if (r < 0)
                return r;
        came_from = TAKE_PTR(n->came_from);
        r = find_object(p, op, op->path,
                        &o); /* without `replaced` it may be the other half of an exchange */
        if (r >= 0 && o && op->replaced)
                touch(o, op);
        if (r >= 0)
                r = find_object(p, op, op->from, &o);
        if (r >= 0 && o)
                touch(o, op);
        if (r >= 0)
                r = touch_name(p, op, op->path, &n);
        if (r >= 0)
                r = replace_string(&n->came_from, came_from);
        if (r >= 0)
                r = touch_directory(p, op, op->from);
        return r < 0 ? r : touch_directory(p, op, op->path);
}

static int note_own(UndoPlanner *p, const Operation *op) {
        int r = 0;

        p->last = MAX(p->last, op->last);
        switch (op->op) {
        case OP_CREATE:
                r = note_create(p, op);
                break;
        case OP_MODIFY:
        case OP_METADATA:
                r = note_change(p, op);
                break;
        case OP_DELETE:
                r = note_delete(p, op);
                break;
        case OP_RENAME:
                r = op->from ? note_rename(p, op) : note_create(p, op);
                break;
        case _OP_MAX:
                break;
        }
        return r < 0 ? r : net_apply(p->net, op);
}

/* Somebody else came to a name after the session had touched it. */
static int note_foreign(UndoPlanner *p, const Operation *op, const char *path) {
        _cleanup_free_ char *start = NULL;
        UndoName *n = path ? undo_table_find_name(&p->table, path) : NULL;
        int64_t who = op->process_id > 0 ? op->process_id : -1;
        UndoObject *o;
        int r;

        if (!n)
                return 0;
        n->foreign = who;
        r = net_origin(p->net, path, &start);
        if (r < 0)
                return r;
        o = start ? undo_table_find_object(&p->table, start) : NULL;
        if (o && o->first_seq > 0)
                o->foreign = who;
        return 0;
}

static int note(UndoPlanner *p, const Operation *op) {
        int r;

        if (!operation_has_happened(op))
                return 0;
        if (is_own(p, op))
                return note_own(p, op);
        r = note_foreign(p, op, op->path);
        return r < 0 ? r : note_foreign(p, op, op->from);
}

int undo_planner_step(UndoPlanner *p) {
        StoreQuery q = {.uid = (uid_t) -1, .after_seq = p->after_seq};
        _cleanup_free_ Operation *list = NULL;
        size_t n = 0;
        int r;

        if (p->plan)
                return 0;
        list = calloc(SLICE, sizeof *list);
        if (!list)
                return -ENOMEM;
        r = store_read_operations(p->store, &q, list, SLICE, &n);
        for (size_t i = 0; i < n; i++) {
                if (r >= 0)
                        r = note(p, &list[i]);
                p->after_seq = list[i].seq;
                operation_done(&list[i]);
        }
        if (r < 0)
                return r;
        return n > 0 ? 1 : undo_order(p);
}

UndoPlan *undo_planner_take(UndoPlanner *p) {
        return TAKE_PTR(p->plan);
}

int undo_plan(Store *s, const char *session, char *const *paths, UndoPlan **ret) {
        _cleanup_(undo_planner_freep) UndoPlanner *p = NULL;
        int r = undo_planner_new(s, session, paths, &p);

        while (r >= 0 && (r = undo_planner_step(p)) > 0)
                ;
        if (r < 0)
                return r;
        *ret = undo_planner_take(p);
        return 0;
}
