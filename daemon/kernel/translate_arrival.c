/* SPDX-License-Identifier: MIT */
/*
 * A directory that is moved in is read when its record is, and by then much may have happened in it. What is known of that lies in the
 * records that wait: renames among them are taken back in the tree, and a directory that was removed or moved away before it could be
 * read is known from the record of that, or from where it is now.
 */
#include "daemon/kernel/translate_private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Directories within directories that nobody has read. */
#define TRACE_DEPTH 64

void translate_arrived(Translator *t, const Node *n) {
        t->arrived[t->n_arrived++ % ARRIVED] = n->id;
        t->arrived_at = clock_nsec();
        t->arrived_now = true;
        memset(t->untraced, 0, sizeof(t->untraced));
}

static bool is_arrival(const Translator *t, const Node *n) {
        size_t i;

        for (i = 0; n->id && i < ARRIVED; i++) {
                if (t->arrived[i] == n->id)
                        return true;
        }
        return false;
}

/* May the record be from before the reading of the last arrival? */
static bool is_early(const Translator *t, const Record *rec) {
        return !t->by_directories && t->n_arrived > 0 && rec->not_before <= t->arrived_at;
}

bool translate_is_vague(const Translator *t, const Record *rec, const Node *n) {
        if (!is_early(t, rec))
                return false;
        while (n && !is_arrival(t, n))
                n = n->parent;
        return n != NULL;
}

static bool tells_name(const Record *rec, uint64_t id) {
        return rec->child_id == id && rec->fan.at.name && rec->fan.mask & FAN_BIT_ONDIR &&
                rec->fan.mask & (FAN_BIT_DELETE | FAN_BIT_RENAME);
}

/* The first of the records that wait which tells what the directory was called until then. */
static const Record *find_end(const Translator *t, uint64_t id) {
        size_t i;

        for (i = t->at; i < t->batch->n; i++) {
                if (tells_name(&t->batch->records[i], id))
                        return &t->batch->records[i];
        }
        return NULL;
}

/*
 * Where it is now, in the part of its path that is below an arrival: `path` is cut off there, *ret_below is the rest. NULL: it is gone, or
 * elsewhere.
 */
static Node *find_above(Translator *t, char *path, uint64_t id, char **ret_below) {
        GroundStat s;
        char *end = NULL, *slash;

        for (;;) {
                Node *n;

                if (ground_stat_at(t->ground, AT_FDCWD, path, GROUND_ID, &s) < 0 || s.mount_root)
                        return NULL;
                if (!end && s.id != id)
                        return NULL;
                n = end ? tree_find_object(t->tree, s.id) : NULL;
                if (n && n->kind == KIND_DIR) {
                        *ret_below = end + 1;
                        return n;
                }
                slash = strrchr(path, '/');
                if (!slash || slash == path)
                        return NULL;
                if (end)
                        *end = '/';
                *slash = '\0';
                end = slash;
        }
}

static Node *trace_now(Translator *t, const Record *rec, const FanHandle *h, uint64_t id) {
        _cleanup_free_ char *path = NULL;
        char *below, *name;
        Node *n;

        if (ground_directory_path(t->ground, h, &path) < 0)
                return NULL;
        n = find_above(t, path, id, &below);
        if (!n || !translate_is_vague(t, rec, n))
                return NULL;
        while (n && (name = strsep(&below, "/"))) {
                if (translate_add(t, n, name, KIND_DIR, below ? 0 : id, &n) < 0)
                        return NULL;
        }
        return n;
}

static Node *trace(Translator *t, const Record *rec, const FanHandle *h, uint64_t id,
                   unsigned depth) {
        const Record *end;
        Node *parent, *n;

        end = find_end(t, id);
        if (!end)
                return trace_now(t, rec, h, id);
        parent = tree_find_object(t->tree, end->at_id);
        if (!parent && depth > 0)
                parent = trace(t, rec, &end->fan.at.dir, end->at_id, depth - 1);
        if (!parent || parent->kind != KIND_DIR || !translate_is_vague(t, rec, parent) ||
            translate_add(t, parent, end->fan.at.name, KIND_DIR, id, &n) < 0)
                return NULL;
        return n;
}

Node *translate_trace(Translator *t, const FanHandle *h, uint64_t id) {
        const Record *rec = t->batch ? &t->batch->records[t->at] : NULL;
        uint64_t *untraced = &t->untraced[id % ARRIVED];
        Node *n;

        if (!rec || !is_early(t, rec) || *untraced == id)
                return NULL;
        n = trace(t, rec, h, id, TRACE_DEPTH);
        if (!n)
                *untraced = id;
        return n;
}

/* What was read has the names of now; the records that wait will give them again. */
static int take_back(Translator *t, const Record *rec) {
        Node *n = tree_find_object(t->tree, rec->child_id), *from, *to;

        from = tree_find_object(t->tree, rec->at_id);
        to = tree_find_object(t->tree, rec->to_id);
        if (!n || !from || !to || !rec->fan.at.name || !rec->fan.to.name || node_next_name(n) ||
            n->parent != to || !str_equal(n->name, rec->fan.to.name) ||
            tree_find(t->tree, from, rec->fan.at.name) || !translate_is_vague(t, rec, n))
                return 0;
        return tree_move(t->tree, n, from, rec->fan.at.name);
}

int translate_arrival(Translator *t, Batch *b, size_t i) {
        size_t k;
        int r = 0;

        t->arrived_now = false;
        while (batch_read_more(b) > 0)
                ;
        for (k = b->n; k-- > i + 1 && r >= 0;) {
                if (b->records[k].fan.mask & FAN_BIT_RENAME)
                        r = take_back(t, &b->records[k]);
        }
        return r == -ELOOP ? 0 : r;
}
