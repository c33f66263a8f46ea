/* SPDX-License-Identifier: MIT */
/*
 * Renames: inside the watch, and across its border. An exchange (RENAME_EXCHANGE) comes as two records, one for each object, right
 * after one another: the first alone looks like a rename over the other.
 */
#include "daemon/kernel/translate_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>

/* The second half of an exchange is queued a moment after the first. */
#define EXCHANGE_WAIT_MSEC 100
#define EXCHANGE_OUTSIDE_WAIT_MSEC 5
/* So many records back a rename is looked for that was taken back. */
#define REPEAT_LOOKBACK 32

/* One side of a rename; directory is NULL outside of the watch. */
typedef struct Side {
        Node *directory;
        const char *name; /* NULL: not known */
        const FanHandle *handle;
} Side;

static Side side_of(Translator *t, const FanName *fan, uint64_t id) {
        Side s = {.directory = translate_directory(t, fan, id),
                  .name = fan->name,
                  .handle = &fan->dir};

        if (!s.name || (s.directory && !translator_covers(t, s.directory, s.name)))
                s.directory = NULL;
        return s;
}

/* The path outside of the watch, as it is now; NULL when it cannot be known. */
static char *outside_path(Translator *t, const Side *s) {
        _cleanup_free_ char *directory = NULL;
        char *path = NULL;
        uint64_t id = 0;

        if (!s->name || ground_directory_path(t->ground, s->handle, &directory) < 0)
                return NULL;
        /* Through a mount of a part of the filesystem the kernel may show a path that leads elsewhere. */
        if (ground_id_at(t->ground, AT_FDCWD, directory, &id) < 0 || id != fan_handle_id(s->handle))
                return NULL;
        if (asprintf(&path, "%s/%s", str_equal(directory, "/") ? "" : directory, s->name) < 0)
                return NULL;
        return path;
}

/* The same process gave a name back. A side outside, where only directories are marked, has no name in either. */
static bool is_reverse(const Record *first, const Record *rec) {
        return first->fan.mask & rec->fan.mask & FAN_BIT_RENAME && rec->fan.pid == first->fan.pid &&
                rec->at_id == first->to_id && rec->to_id == first->at_id &&
                str_equal(rec->fan.at.name, first->fan.to.name) &&
                str_equal(rec->fan.to.name, first->fan.at.name);
}

static bool is_second_half(const Record *first, const Record *rec) {
        return !rec->done && rec->child_id != first->child_id && is_reverse(first, rec);
}

/* Something that only the object under the new name can have done settles it: it was moved, or it lost a name. */
static size_t find_second_half(const Batch *b, size_t first, size_t from) {
        size_t k;

        for (k = from; k < b->n; k++) {
                if (is_second_half(&b->records[first], &b->records[k]))
                        return k;
        }
        return 0;
}

static bool lost_a_name(const Batch *b, size_t from, uint64_t id) {
        size_t k;

        for (k = from; k < b->n; k++) {
                const Record *rec = &b->records[k];

                if (rec->fan.mask & FAN_BIT_ATTRIB && !rec->fan.at.name && rec->child_id == id)
                        return true;
        }
        return false;
}

/* Does the object that had the new name have the old name now? */
static bool has_old_name(Translator *t, const Record *rec, Node *old_directory, uint64_t id) {
        _cleanup_close_ int fd = -1;
        uint64_t now = 0;

        fd = ground_open_node(t->ground, old_directory);
        return fd >= 0 && ground_id_at(t->ground, fd, rec->fan.at.name, &now) == 0 && now == id;
}

/*
 * The index of the record that makes an exchange of this one, or 0. `target` is what has the new name in the tree. The records move
 * when more are read.
 */
static size_t look_for_exchange(Translator *t, Batch *b, size_t i, Node *old_directory,
                                const Node *target) {
        struct pollfd p = {.fd = b->fd, .events = POLLIN};
        size_t from = i + 1, k;

        for (;;) {
                k = find_second_half(b, i, from);
                if (k > 0)
                        return k;
                if (lost_a_name(b, from, target->id))
                        return 0;
                from = b->n;
                if (batch_read_more(b) > 0)
                        continue;
                /* The end of the queue, in the middle of an exchange or after a plain rename. What came from outside cannot be
                 * told by a look: its second half is given a moment. */
                if (old_directory && !has_old_name(t, &b->records[i], old_directory, target->id))
                        return 0;
                if (poll(&p, 1, old_directory ? EXCHANGE_WAIT_MSEC : EXCHANGE_OUTSIDE_WAIT_MSEC) <=
                    0)
                        return 0;
                if (batch_read_more(b) <= 0)
                        return 0;
        }
}

/*
 * Did the rename take the name of another object? For a tree that does not have every name: the loser's link count changes, which is
 * the author's next record (6.18); before a link or unlink it would be followed by the name that came or went.
 */
static bool replaced_unknown(Batch *b, size_t i) {
        const Record *loser = NULL, *rec;
        pid_t pid = b->records[i].fan.pid;
        uint64_t id = b->records[i].child_id;
        size_t k;

        if (b->n - i < 3)
                (void) batch_read_more(b);
        for (k = i + 1; k < b->n; k++) {
                rec = &b->records[k];
                if (rec->fan.pid != pid)
                        continue;
                if (loser)
                        return !(rec->fan.mask & (FAN_BIT_CREATE | FAN_BIT_DELETE) &&
                                 rec->child_id == loser->child_id);
                if (!(rec->fan.mask & FAN_BIT_ATTRIB) || rec->fan.at.name || rec->child_id == id)
                        return false;
                loser = rec;
        }
        return loser != NULL;
}

/* The node of the object that was moved, under its old name. */
static Node *moved_node(Translator *t, const Record *rec, const Side *old) {
        Node *n = old->directory ? tree_find(t->tree, old->directory, old->name) : NULL;

        if (n && n->id == 0)
                tree_set_id(t->tree, n, rec->child_id);
        return n && n->id == rec->child_id ? n : NULL;
}

static ObjectKind moved_kind(Translator *t, const Record *rec, const Side *new, const Node *n) {
        GroundStat s;

        if (rec->fan.mask & FAN_BIT_ONDIR)
                return KIND_DIR;
        if (!n)
                n = tree_find_object(t->tree, rec->child_id);
        if (n)
                return (ObjectKind) n->kind;
        return translate_look(t, rec, new->directory, new->name, &s) == 0 ? s.kind : KIND_FILE;
}

/* Puts the object under its new name. What comes from outside, or was not known, is read. */
static int place_node(Translator *t, const Record *rec, const Side *new, Node *n, ObjectKind kind) {
        uint64_t id;
        int r;

        if (!n && kind == KIND_DIR) {
                /* It was read after it had been moved, or is known under another name of that time. */
                n = tree_find_object(t->tree, rec->child_id);
                if (n && !n->parent)
                        n = NULL;
        }
        if (n)
                r = tree_move(t->tree, n, new->directory, new->name);
        else
                r = translate_add(t, new->directory, new->name, kind, rec->child_id, &n);
        if (r < 0)
                return r == -ELOOP ? 0 : r;
        if (!n || n->kind != KIND_DIR || n->listed)
                return 0;
        /* At once: the records that follow are about directories that nobody has heard of. */
        id = n->id;
        r = translate_read_directory(t, n, NULL);
        n = tree_find_object(t->tree, id);
        if (r >= 0 && n)
                translate_arrived(t, n);
        return r;
}

static int rename_inside(Translator *t, const Record *rec, const Side *old, const Side *new,
                         Node *n, bool replaced) {
        Change c = translate_change(rec, OP_RENAME, moved_kind(t, rec, new, n));
        int r;

        c.from = node_path(old->directory, t->base, old->name);
        c.path = node_path(new->directory, t->base, new->name);
        c.replaced = replaced;
        r = place_node(t, rec, new, n, c.kind);
        translate_emit(t, &c);
        return r;
}

static int move_in(Translator *t, const Record *rec, const Side *old, const Side *new,
                   bool replaced) {
        Change c = translate_change(rec, OP_CREATE, moved_kind(t, rec, new, NULL));
        int r;

        c.from = outside_path(t, old);
        c.linked = !c.from; /* it was there before, under a name that cannot be known */
        c.path = node_path(new->directory, t->base, new->name);
        c.replaced = replaced;
        r = place_node(t, rec, new, NULL, c.kind);
        translate_emit(t, &c);
        return r;
}

static void move_out(Translator *t, const Record *rec, const Side *old, const Side *new, Node *n) {
        Change c = translate_change(rec, OP_DELETE, moved_kind(t, rec, new, n));

        c.path = node_path(old->directory, t->base, old->name);
        c.to = outside_path(t, new);
        if (n)
                tree_remove(t->tree, n);
        translate_emit(t, &c);
}

static void move_root(Translator *t, const Record *rec, const Side *new) {
        Change c = translate_change(rec, OP_DELETE, KIND_DIR);

        t->root_gone = true;
        if (t->file)
                return;
        c.path = strdup(t->base);
        c.to = outside_path(t, new);
        translate_emit(t, &c);
}

typedef struct Move {
        Side old, new;
        Node *node;       /* of the object, NULL when the tree does not have it */
        Node *target;     /* what has the new name, NULL when it is free */
        char *found_name; /* old.name, when the record does not have it */
} Move;

static void move_done(Move *m) {
        free(m->found_name);
}

/* Renamed out of a directory that had no mark yet: the record has the new side only, the tree may know the old one. */
static int find_old_side(Translator *t, const Record *rec, Move *m) {
        Node *known = tree_find_object(t->tree, rec->child_id);

        if (m->old.name || !known || !known->parent || node_has_other_name(t->tree, known))
                return 0;
        /* The node's own name goes when it gets another. */
        m->found_name = strdup(known->name);
        if (!m->found_name)
                return -ENOMEM;
        m->node = known;
        m->old.directory = known->parent;
        m->old.name = m->found_name;
        return 0;
}

static int move_of(Translator *t, const Record *rec, Move *ret) {
        Move m = {.old = side_of(t, &rec->fan.at, rec->at_id),
                  .new = side_of(t, &rec->fan.to, rec->to_id)};
        int r;

        m.node = moved_node(t, rec, &m.old);
        if (t->by_directories && !m.old.directory) {
                r = find_old_side(t, rec, &m);
                if (r < 0)
                        return r;
        }
        if (m.new.directory)
                m.target = tree_find(t->tree, m.new.directory, m.new.name);
        if (m.target &&
            (m.target == m.node || (m.target->id == rec->child_id && m.target->id != 0)))
                m.target = NULL;
        *ret = m;
        return 0;
}

static int move_one(Translator *t, const Record *rec, const Move *m, bool replaced) {
        translate_settle_object(t, rec->child_id);
        if (m->old.directory && m->new.directory)
                return rename_inside(t, rec, &m->old, &m->new, m->node, replaced);
        if (m->new.directory)
                return move_in(t, rec, &m->old, &m->new, replaced);
        if (m->old.directory)
                move_out(t, rec, &m->old, &m->new, m->node);
        else if (rec->child_id == tree_root(t->tree)->id)
                move_root(t, rec, &m->new);
        return 0;
}

static int move_record(Translator *t, const Record *rec) {
        _cleanup_(move_done) Move m = {};
        int r = move_of(t, rec, &m);

        return r < 0 ? r : move_one(t, rec, &m, /* replaced= */ false);
}

/* Both objects get the other's name; none is lost. */
static int exchange(Translator *t, Batch *b, size_t first, size_t second, const Move *m) {
        Move back = {.old = m->new, .new = m->old, .node = m->target};
        int r;

        b->records[second].done = true;
        /* what tells it from there and back (common/net.h) */
        b->records[second].at = b->records[first].at;
        /* The tree must not remove what is in the way: it leaves first when the other comes from outside. */
        if (!m->node) {
                r = move_record(t, &b->records[second]);
                return r < 0 ? r : move_record(t, &b->records[first]);
        }
        /* Else they change places first; both records find that done. */
        r = tree_exchange(t->tree, m->node, m->target);
        if (r < 0)
                return r == -ELOOP ? 0 : r;
        r = move_one(t, &b->records[first], m, /* replaced= */ false);
        return r < 0 ? r : move_one(t, &b->records[second], &back, /* replaced= */ false);
}

/*
 * There, back, and there again are two records: the third is added to the first. Only the ground tells. Returns the record that
 * happened again, NULL for none.
 */
static const Record *find_repeated(Translator *t, const Batch *b, size_t i, const Move *m) {
        const Record *rec = &b->records[i];
        size_t k, from = i > REPEAT_LOOKBACK ? i - REPEAT_LOOKBACK : 0;
        GroundStat s;

        if (!m->old.directory || !m->new.directory || !rec->fan.at.name || !rec->fan.to.name)
                return NULL;
        for (k = i; k-- > from;) {
                const Record *first = &b->records[k];

                if (!is_reverse(first, rec) || first->done || first->child_id != rec->child_id)
                        continue;
                return translate_look_at_name(t, rec, m->new.directory, m->new.name, &s) < 0 &&
                                translate_look_at_name(t, rec, m->old.directory, m->old.name, &s) ==
                                        0
                        ? first
                        : NULL;
        }
        return NULL;
}

int translate_rename(Translator *t, Batch *b, size_t i) {
        _cleanup_(move_done) Move m = {};
        const Record *again;
        bool replaced;
        size_t second;
        int r;

        r = move_of(t, &b->records[i], &m);
        if (r < 0)
                return r;
        replaced = m.target != NULL;
        if (b->records[i].fan.mask & FAN_BIT_ONDIR) {
                translate_forget_outside(t);
                t->doubt = t->doubt || !m.old.directory;
        }
        if (m.target) {
                second = look_for_exchange(t, b, i, m.old.directory, m.target);
                /* The names lie in the buffer, which stays; the handles in the records, which move. */
                m.old.handle = &b->records[i].fan.at.dir;
                m.new.handle = &b->records[i].fan.to.dir;
                if (second > 0)
                        return exchange(t, b, i, second, &m);
                translate_settle_object(t, m.target->id);
        } else if (m.new.directory && tree_is_partial(t->tree)) {
                replaced = replaced_unknown(b, i);
                m.old.handle = &b->records[i].fan.at.dir;
                m.new.handle = &b->records[i].fan.to.dir;
        }
        r = move_one(t, &b->records[i], &m, replaced);
        again = r < 0 ? NULL : find_repeated(t, b, i, &m);
        return again ? move_record(t, again) : r;
}
