/* SPDX-License-Identifier: MIT */
/*
 * Owns: the list of closes that nothing explains yet. Moves: the tree. Looks at the ground only where a record does not say
 * enough (the kind of a new object, size and time of a file). Must not: block on anything but the ground.
 */
#include "daemon/kernel/translate_private.h"

#include <errno.h>

#define LOOKAHEAD 8
/* A record with these alone says nothing but that a name is gone. */
#define DELETE_ALONE (FAN_BIT_DELETE | FAN_BIT_ONDIR)

static const char *const family[] = {"-wal", "-shm", "-journal"};

int translator_new(const TranslatorConfig *config, Translator **ret) {
        _cleanup_(translator_freep) Translator *t = calloc(1, sizeof(Translator));

        if (!t)
                return -ENOMEM;
        t->base = strdup(config->base);
        t->file = config->file ? strdup(config->file) : NULL;
        if (!t->base || (config->file && !t->file))
                return -ENOMEM;
        t->by_directories = config->by_directories;
        t->late_stores = config->late_stores;
        t->tree = config->tree;
        t->ground = config->ground;
        t->walk = config->walk;
        t->emit = config->emit;
        t->userdata = config->userdata;
        t->self = getpid();
        *ret = TAKE_PTR(t);
        return 0;
}

Translator *translator_free(Translator *t) {
        size_t i;

        if (!t)
                return NULL;
        for (i = 0; i < t->n_unexplained; i++)
                change_done(&t->unexplained[i].change);
        free(t->unexplained);
        free(t->base);
        free(t->file);
        free(t);
        return NULL;
}

bool translator_root_gone(const Translator *t) {
        return t->root_gone;
}

bool translator_take_doubt(Translator *t) {
        bool doubt = t->doubt;

        t->doubt = false;
        return doubt;
}

size_t translator_take_unresolved(Translator *t) {
        size_t n = t->unresolved;

        t->unresolved = 0;
        return n;
}

bool translator_covers(const Translator *t, const Node *directory, const char *name) {
        size_t n, i;

        if (!t->file)
                return true;
        n = strlen(t->file);
        if (directory->parent || strncmp(name, t->file, n) != 0)
                return false;
        for (i = 0; i < ELEMENTSOF(family); i++) {
                if (str_equal(name + n, family[i]))
                        return true;
        }
        return name[n] == '\0';
}

Change translate_change(const Record *rec, OpType op, ObjectKind kind) {
        return (Change){
                .op = op,
                .kind = kind,
                .object = rec->child_id,
                .pid = rec->fan.pid,
                .author_gone = rec->author_gone,
                .not_before = rec->not_before,
                .read_at = rec->read_at,
                .at = rec->at,
        };
}

void translate_emit(Translator *t, Change *c) {
        if (c->pid != t->self)
                t->emit(t->userdata, c);
        change_done(c);
}

bool translator_author(const Translator *t, uint64_t tag, Change *ret) {
        if (tag == 0 || tag + AUTHORS <= t->tag)
                return false;
        *ret = t->authors[tag % AUTHORS];
        return true;
}

int translate_read_directory(Translator *t, const Node *n, const Record *author) {
        uint64_t tag = 0;
        int r;

        if (author) {
                tag = ++t->tag;
                t->authors[tag % AUTHORS] = translate_change(author, OP_CREATE, KIND_DIR);
        }
        r = tree_walk_add(t->walk, n, tag);
        if (r >= 0)
                r = tree_walk_round(t->walk);
        return r == -ENOMEM ? r : 0;
}

Node *translate_directory(Translator *t, const FanName *name, uint64_t id) {
        Node *n;

        if (!name->dir.data)
                return NULL;
        n = tree_find_object(t->tree, id);
        if (n)
                return n->kind == KIND_DIR ? n : NULL;
        /* With marks on directories there are no events from those that were never in the tree. */
        if (t->file || t->by_directories)
                return NULL;
        n = translate_trace(t, &name->dir, id);
        if (n || !tree_lacks_directories(t->tree))
                return n;
        return translate_locate(t, &name->dir, id);
}

int translate_add(Translator *t, Node *directory, const char *name, ObjectKind kind, uint64_t id,
                  Node **ret) {
        int r = tree_add(t->tree, directory, name, kind, id, ret);

        if (r == -ENOBUFS)
                *ret = NULL;
        return r == -ENOBUFS ? 0 : r;
}

int translate_look(Translator *t, const Record *rec, const Node *directory, const char *name,
                   GroundStat *ret) {
        int r = ground_stat_handle(t->ground, &rec->fan.child, ret);

        if (r != -EOPNOTSUPP || !directory)
                return r;
        return translate_look_at_name(t, rec, directory, name, ret);
}

int translate_look_at_name(Translator *t, const Record *rec, const Node *directory,
                           const char *name, GroundStat *ret) {
        _cleanup_close_ int fd = ground_open_node(t->ground, directory);
        GroundStat s;
        int r;

        if (fd < 0)
                return fd;
        r = ground_stat_at(t->ground, fd, name, GROUND_ID, &s);
        if (r < 0)
                return r;
        if (s.id != rec->child_id)
                return -ESTALE;
        *ret = s;
        return 0;
}

/* FAN_ONDIR tells directories. A write to it, in this record or soon after, tells a regular file without a look. */
static ObjectKind created_kind(Translator *t, const Batch *b, size_t i, const Node *directory) {
        const Record *rec = &b->records[i];
        const Node *object;
        GroundStat s;
        size_t k;

        if (rec->fan.mask & FAN_BIT_ONDIR)
                return KIND_DIR;
        for (k = i; k < MIN(b->n, i + LOOKAHEAD); k++) {
                if (b->records[k].child_id == rec->child_id &&
                    b->records[k].fan.mask & (FAN_BIT_MODIFY | FAN_BIT_CLOSE_WRITE))
                        return KIND_FILE;
        }
        object = tree_find_object(t->tree, rec->child_id);
        if (object)
                return (ObjectKind) object->kind;
        if (translate_look(t, rec, directory, rec->fan.at.name, &s) == 0)
                return s.kind;
        return KIND_FILE;
}

/* link(2) changes the link count first, which is a record of its own: is there one of the object among the last? */
static bool link_count_changed(const Translator *t, uint64_t id) {
        size_t i;

        for (i = 0; i < COUNTED; i++) {
                if (t->counted[i] == id)
                        return true;
        }
        return false;
}

/* Was the object there before, under another name? */
static bool is_linked(Translator *t, const Record *rec, const Node *directory) {
        const Node *known = tree_find_object(t->tree, rec->child_id);
        GroundStat s;

        if (rec->fan.mask & FAN_BIT_ONDIR || rec->child_id == 0)
                return false;
        /* unless the tree was read after this happened, and knows it under this very name */
        if (known)
                return known != tree_find(t->tree, directory, rec->fan.at.name);
        /* The other name may be outside; a nameless file that was given one (O_TMPFILE) has this one only. */
        return (t->by_directories || link_count_changed(t, rec->child_id)) &&
                translate_look(t, rec, directory, rec->fan.at.name, &s) == 0 && s.links > 1;
}

static int translate_create(Translator *t, const Batch *b, size_t i, Node *directory) {
        const Record *rec = &b->records[i];
        Change c = translate_change(rec, OP_CREATE, created_kind(t, b, i, directory));
        Node *n;
        int r;

        c.linked = is_linked(t, rec, directory);
        r = translate_add(t, directory, rec->fan.at.name, c.kind, rec->child_id, &n);
        if (r < 0)
                return r;
        c.path = node_path(directory, t->base, rec->fan.at.name);
        translate_emit(t, &c);
        if (!n || n->kind != KIND_DIR || n->listed)
                return 0;
        if (t->by_directories)
                return translate_read_directory(t, n, rec);
        /* It was empty when it was made, and all that comes into it is an event. */
        n->listed = true;
        return 0;
}

static void translate_delete(Translator *t, const Record *rec, Node *directory) {
        Change c = translate_change(rec, OP_DELETE, KIND_FILE);
        Node *n = tree_find(t->tree, directory, rec->fan.at.name), *object;

        translate_settle_object(t, rec->child_id);
        object = tree_find_object(t->tree, rec->child_id);
        /* Another object has the name by now: the tree was read after this happened. */
        if (n && n->id && rec->child_id && n->id != rec->child_id)
                n = NULL;
        if (rec->fan.mask & FAN_BIT_ONDIR)
                c.kind = KIND_DIR;
        else if (n || object)
                c.kind = (ObjectKind) (n ? n->kind : object->kind);
        c.path = node_path(directory, t->base, rec->fan.at.name);
        if (n)
                tree_remove(t->tree, n);
        translate_emit(t, &c);
}

/* The watched directory itself was removed: its parent, which is outside, tells. */
static void translate_root_delete(Translator *t, const Record *rec) {
        Change c = translate_change(rec, OP_DELETE, KIND_DIR);

        t->root_gone = true;
        if (t->file)
                return;
        c.path = strdup(t->base);
        translate_emit(t, &c);
}

/* The same where the parent has no mark: it was removed, or has another path by now. */
static void translate_root_end(Translator *t, const Record *rec, const FanHandle *h) {
        Change c = translate_change(rec, OP_DELETE, KIND_DIR);

        if (t->root_gone)
                return;
        t->root_gone = true;
        if (t->file)
                return;
        c.path = strdup(t->base);
        if (rec->fan.mask & FAN_BIT_MOVE_SELF && ground_directory_path(t->ground, h, &c.to) < 0)
                c.to = NULL;
        translate_emit(t, &c);
}

/* A directory's record about itself. */
static void translate_self(Translator *t, const Record *rec) {
        Change c = translate_change(rec, OP_METADATA, KIND_DIR);
        const Node *n = translate_directory(t, &rec->fan.at, rec->at_id);

        if (n && !n->parent && rec->fan.mask & (FAN_BIT_DELETE_SELF | FAN_BIT_MOVE_SELF)) {
                translate_root_end(t, rec, &rec->fan.at.dir);
                return;
        }

        if (!(rec->fan.mask & FAN_BIT_ATTRIB) || !n || t->file)
                return;
        c.object = rec->at_id;
        c.path = node_path(n, t->base, NULL);
        translate_emit(t, &c);
}

/* Does the name lead to the object now? Most often the object is gone altogether, which is quickly seen. */
static bool has_name_now(Translator *t, const Record *rec, const Node *directory) {
        GroundStat s;
        int r = ground_stat_handle(t->ground, &rec->fan.child, &s);

        if ((r < 0 && r != -EOPNOTSUPP) || (r == 0 && s.links == 0))
                return false;
        return translate_look_at_name(t, rec, directory, rec->fan.at.name, &s) == 0;
}

/*
 * The kernel adds what a process does to the record of what it did to the same name before, so a deletion may stand in front of what it
 * came after: what others did to the object meanwhile, or what was done in the directory.
 */
static bool put_off_delete(Batch *b, size_t i) {
        size_t k = batch_find_later(b, i);

        if (k > 0)
                batch_put_off(b, i, k);
        return k > 0;
}

/* Everything but the deletion. */
static int translate_kept(Translator *t, const Batch *b, size_t i, Node *directory) {
        const Record *rec = &b->records[i];
        int r = 0;

        /* Several things in one record: there is but one order in which they can have happened. */
        if (rec->fan.mask & FAN_BIT_CREATE && directory)
                r = translate_create(t, b, i, directory);
        if (r >= 0 && rec->fan.mask & (FAN_BIT_MODIFY | FAN_BIT_ATTRIB | FAN_BIT_CLOSE_WRITE))
                r = translate_content(t, rec, directory);
        return r;
}

/*
 * One record says that an object both got and lost a name. An object that had the name before lost it first, and is a hard link
 * when it gets it again; how it ended can be looked up.
 */
static int translate_create_delete(Translator *t, Batch *b, size_t i, Node *directory) {
        const Record *rec = &b->records[i];
        const Node *n = tree_find(t->tree, directory, rec->fan.at.name);
        bool had = n && rec->child_id && n->id == rec->child_id;
        bool has = has_name_now(t, rec, directory);
        int r = 0;

        if (!had && !has && put_off_delete(b, i))
                return translate_kept(t, b, i, directory);
        rec = &b->records[i];

        if (had)
                translate_delete(t, rec, directory);
        r = translate_kept(t, b, i, directory);
        if (r < 0 || (had && has))
                return r;
        translate_delete(t, rec, directory);
        return has ? translate_create(t, b, i, directory) : 0;
}

/* The directory of a record's name; NULL: outside of the watch. */
static Node *entry_directory(Translator *t, const Record *rec) {
        Node *directory = translate_directory(t, &rec->fan.at, rec->at_id);

        return directory && translator_covers(t, directory, rec->fan.at.name) ? directory : NULL;
}

static int translate_entry(Translator *t, Batch *b, size_t i) {
        uint64_t mask = b->records[i].fan.mask;
        Node *directory = entry_directory(t, &b->records[i]);
        bool put_off;
        int r;

        if (directory && mask & FAN_BIT_CREATE && mask & FAN_BIT_DELETE)
                return translate_create_delete(t, b, i, directory);
        put_off =
                directory && mask & FAN_BIT_DELETE && mask & ~DELETE_ALONE && put_off_delete(b, i);
        r = translate_kept(t, b, i, directory);
        if (r < 0 || put_off || !(mask & FAN_BIT_DELETE))
                return r;
        if (directory)
                translate_delete(t, &b->records[i], directory);
        else if (b->records[i].child_id == tree_root(t->tree)->id)
                translate_root_delete(t, &b->records[i]);
        return 0;
}

/* What came before this record in the queue, and can have happened after it only. */
static void translate_put_off(Translator *t, const Batch *b, size_t i) {
        uint32_t k;

        for (k = b->records[i].put_off; k; k = b->records[k - 1].put_off_next) {
                Record rec = b->records[k - 1];
                Node *directory = entry_directory(t, &rec);

                rec.at = b->records[i].at;
                if (directory)
                        translate_delete(t, &rec, directory);
        }
}

static int translate_record(Translator *t, Batch *b, size_t i) {
        const FanRecord *fan = &b->records[i].fan;

        if (b->records[i].done)
                return 0;
        tree_trim(t->tree);
        if (fan->mask & FAN_BIT_RENAME)
                return translate_rename(t, b, i);
        /* Without a name: the link count of an object changed. A CREATE, DELETE or RENAME beside it says why. */
        if (!fan->at.name) {
                t->counted[t->n_counted++ % COUNTED] = b->records[i].child_id;
                return 0;
        }
        if (str_equal(fan->at.name, ".")) {
                translate_self(t, &b->records[i]);
                return 0;
        }
        return translate_entry(t, b, i);
}

int translator_record(Translator *t, Batch *b, size_t i) {
        int r;

        t->batch = b;
        t->at = i;
        r = translate_record(t, b, i);
        if (r >= 0)
                translate_put_off(t, b, i);
        if (r >= 0 && t->arrived_now)
                r = translate_arrival(t, b, i);
        t->batch = NULL;
        return r;
}
