/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "common/name_tree.h"
#include "common/net.h"
#include "common/net_list.h"

/* What a rename without `replaced` pushed from its target: the second half of an exchange picks it up. */
typedef struct Displaced {
        bool waiting;
        Name *name; /* owned, detached; NULL: nothing was known there */
        char *from, *to;
        usec_t first;
        int64_t process_id;
} Displaced;

struct Net {
        NameTree names;
        Name *start, *now; /* roots */
        Displaced displaced;
        NetList list;
};

/* Where a path leads: the nearest name above it at which an object is known, and the rest of the path. */
typedef struct Spot {
        Name *above;
        const char *below;
} Spot;

int net_new(Net **ret) {
        _cleanup_(net_freep) Net *n = calloc(1, sizeof *n);
        int r;

        if (!n)
                return -ENOMEM;
        r = name_tree_add(&n->names, NULL, "start", 5, &n->start);
        if (r == 0)
                r = name_tree_add(&n->names, NULL, "now", 3, &n->now);
        if (r < 0)
                return r;
        n->now->present = true;
        n->now->origin = n->start;
        *ret = TAKE_PTR(n);
        return 0;
}

static void displaced_done(Displaced *d) {
        name_free(d->name);
        free(d->from);
        free(d->to);
        *d = (Displaced){};
}

Net *net_free(Net *n) {
        displaced_done(&n->displaced);
        name_tree_done(&n->names);
        net_list_done(&n->list);
        free(n);
        return NULL;
}

static Spot find_spot(const Net *n, const char *path) {
        Spot spot = {.above = n->now, .below = path};
        const char *text, *at = path;
        Name *name = n->now, *next;
        size_t length;

        for (; path_next_part(&at, &text, &length); name = next) {
                if (name->present) {
                        spot.above = name;
                        spot.below = text;
                }
                next = name_tree_find(&n->names, name, text, length);
                if (!next)
                        break;
        }
        return spot;
}

/* Makes the names that are missing; without_last stops at the parent and gives the last part. 0 when the path has no part. */
static int reach(Net *n, const char *path, Name **ret) {
        Name *name = n->now, *next;
        const char *text;
        size_t length;
        int r;

        while (path_next_part(&path, &text, &length)) {
                next = name_tree_find(&n->names, name, text, length);
                if (!next) {
                        r = name_tree_add(&n->names, name, text, length, &next);
                        if (r < 0)
                                return r;
                }
                name = next;
        }
        *ret = name;
        return 0;
}

/* Names that lead to nothing known are not kept, so that a million files made and removed leave nothing behind. */
static void prune(Net *n, Name *name) {
        while (name && name != n->now && !name->present && !name->first) {
                Name *parent = name->key.parent;

                name_tree_remove(&n->names, name);
                name = parent;
        }
}

/* The name at the start of what nobody told of yet. NULL in *ret: it was not there, or what was there has gone elsewhere. */
static int conclude_origin(Net *n, const Spot *spot, Name **ret) {
        Name *name = spot->above->origin, *next;
        const char *at = spot->below, *text;
        size_t length;
        int r;

        while (name && path_next_part(&at, &text, &length)) {
                next = name_tree_find(&n->names, name, text, length);
                if (!next) {
                        r = name_tree_add(&n->names, name, text, length, &next);
                        if (r < 0)
                                return r;
                }
                name = next->fate == FATE_UNKNOWN ? next : NULL;
        }
        *ret = name;
        return 0;
}

/* Puts at `name` the object that an operation proves to be there. */
static int set_concluded(Net *n, const Spot *spot, ObjectKind kind, Name *name) {
        int r;

        r = conclude_origin(n, spot, &name->origin);
        if (r < 0)
                return r;
        name->present = true;
        name->dirty = false;
        name->is_dir = kind == KIND_DIR || name->first;
        name->foreign = !spot->above->origin;
        if (name->origin) {
                name->origin->fate = FATE_LIVE;
                name->origin->is_dir = name->is_dir;
        }
        return 0;
}

/* The name now, with its object; NULL for a path without parts, which is nothing that a session can change. */
static int reach_object(Net *n, const char *path, ObjectKind kind, Name **ret) {
        Spot spot = find_spot(n, path);
        Name *name;
        int r;

        r = reach(n, path, &name);
        if (r < 0)
                return r;
        if (!name->present) {
                r = set_concluded(n, &spot, kind, name);
                if (r < 0)
                        return r;
        }
        *ret = name == n->now ? NULL : name;
        return 0;
}

static void lose_origin(Name *name, bool out, const Name *covering) {
        Name *origin = name->origin;

        if (!name->present || !origin)
                return;
        origin->fate = covering && name_is_below(origin, covering) ? FATE_COVERED : FATE_LOST;
        origin->gone_out = out;
        name->origin = NULL;
}

/* Removes what is below `name` and forgets its object; the name itself stays. out: moved out of the watch as a whole. */
static void lose(Net *n, Name *name, bool out) {
        const Name *covering = out && name->present ? name->origin : NULL;
        Name *leaf = name_leaf(name), *parent;

        for (; leaf != name; leaf = name_leaf(parent)) {
                parent = leaf->key.parent;
                lose_origin(leaf, out, covering);
                name_tree_remove(&n->names, leaf);
        }
        lose_origin(name, out, NULL);
        name->present = false;
}

static void settle_displaced(Net *n) {
        if (n->displaced.name)
                lose(n, n->displaced.name, /* out= */ false);
        displaced_done(&n->displaced);
}

static int apply_create(Net *n, const Operation *o) {
        Name *name;
        int r;

        if (o->replaced) { /* moved in over something, which is thereby known */
                r = reach_object(n, o->path, o->kind, &name);
                if (r < 0)
                        return r;
        }
        r = reach(n, o->path, &name);
        if (r < 0 || name == n->now)
                return r;
        /* what is known here went unseen; what is known below it may have been told of first */
        lose_origin(name, /* out= */ false, NULL);
        name->present = true;
        name->origin = NULL;
        name->dirty = name->foreign = false;
        name->is_dir = o->kind == KIND_DIR;
        return 0;
}

static int apply_modify(Net *n, const Operation *o) {
        Name *name;
        int r;

        r = reach_object(n, o->path, o->kind, &name);
        if (r == 0 && name)
                name->dirty = true;
        return r;
}

static int apply_delete(Net *n, const Operation *o) {
        Name *name;
        int r;

        r = reach_object(n, o->path, o->kind, &name);
        if (r < 0 || !name)
                return r;
        lose(n, name, o->to != NULL);
        prune(n, name);
        return 0;
}

/* A path without its last part, in a copy; ret_last points into `path`. 0 when there is no part. */
static int split_last(const char *path, char **ret_parent, const char **ret_last,
                      size_t *ret_length) {
        const char *text = NULL, *at = path;
        size_t length = 0;

        while (path_next_part(&at, &text, &length))
                ;
        if (!text)
                return 0;
        *ret_parent = strndup(path, (size_t) (text - path));
        if (!*ret_parent)
                return -ENOMEM;
        *ret_last = text;
        *ret_length = length;
        return 1;
}

/* Makes the place free: what stands there is lost, or waits for the second half of an exchange. */
static int clear_target(Net *n, const Operation *o, Name *parent, const char *last, size_t length) {
        Displaced *d = &n->displaced;
        Name *name = name_tree_find(&n->names, parent, last, length);
        int r;

        if (name || o->replaced) {
                r = reach_object(n, o->path, o->kind, &name);
                if (r < 0)
                        return r;
        }
        if (o->replaced) {
                lose(n, name, /* out= */ false);
                name_tree_remove(&n->names, name);
                return 0;
        }
        d->from = strdup(o->from);
        d->to = strdup(o->path);
        if (!d->from || !d->to)
                return -ENOMEM;
        d->waiting = true;
        d->first = o->first;
        d->process_id = o->process_id;
        d->name = name;
        if (name)
                name_tree_detach(&n->names, name);
        return 0;
}

static int move(Net *n, const Operation *o, Name *source, Name *parent, const char *last,
                size_t length) {
        Name *target = name_tree_find(&n->names, parent, last, length), *left;
        int r;

        /* nothing moves below itself or over what it is in: such an order is nonsense, or two links of one file */
        if (name_is_below(parent, source) || (target && name_is_below(source, target))) {
                prune(n, parent);
                return 0;
        }
        r = clear_target(n, o, parent, last, length);
        if (r < 0)
                return r;
        left = source->key.parent;
        name_tree_detach(&n->names, source);
        source->foreign = false;
        r = name_tree_attach(&n->names, source, parent, last, length);
        if (r < 0)
                return r;
        prune(n, left);
        return 0;
}

static int apply_rename(Net *n, const Operation *o) {
        _cleanup_free_ char *directory = NULL;
        const char *last;
        Name *source, *parent;
        size_t length;
        int r;

        if (!o->from)
                return apply_create(n, o);
        r = split_last(o->path, &directory, &last, &length);
        if (r <= 0)
                return r;
        r = reach_object(n, o->from, o->kind, &source);
        if (r < 0 || !source)
                return r;
        r = reach(n, directory, &parent);
        return r < 0 ? r : move(n, o, source, parent, last, length);
}

/* What is known to have stood there must have gone somewhere. Else only the moment tells an exchange from there and back. */
static bool completes_exchange(const Displaced *d, const Operation *o) {
        return d->waiting && o->op == OP_RENAME && !o->replaced &&
                (d->name || o->first == d->first) && o->process_id == d->process_id &&
                str_equal(o->from, d->to) && str_equal(o->path, d->from);
}

static int apply_second_half(Net *n, const Operation *o) {
        _cleanup_free_ char *directory = NULL;
        const char *last;
        Name *parent, *name = TAKE_PTR(n->displaced.name);
        Spot spot = find_spot(n, o->from);
        size_t length;
        int r;

        displaced_done(&n->displaced);
        if (!name) {
                r = reach(n, o->path, &name);
                return r < 0 ? r : set_concluded(n, &spot, o->kind, name);
        }
        name->foreign = false;
        r = split_last(o->path, &directory, &last, &length);
        if (r == 0)
                r = -EINVAL; /* cannot be: the first half had it */
        else if (r > 0)
                r = reach(n, directory, &parent);
        if (r < 0) {
                n->displaced.name = name;
                return r;
        }
        return name_tree_attach(&n->names, name, parent, last, length);
}

int net_apply(Net *n, const Operation *o) {
        if (!operation_has_happened(o) || o->op == OP_METADATA)
                return 0;
        if (completes_exchange(&n->displaced, o))
                return apply_second_half(n, o);
        settle_displaced(n);
        switch (o->op) {
        case OP_CREATE:
                return apply_create(n, o);
        case OP_MODIFY:
                return apply_modify(n, o);
        case OP_DELETE:
                return apply_delete(n, o);
        case OP_RENAME:
                return apply_rename(n, o);
        case OP_METADATA:
        case _OP_MAX:
                break;
        }
        return 0;
}

int net_lists(Net *n, const NetLists **ret) {
        int r;

        settle_displaced(n);
        r = net_list_make(&n->list, &n->names, n->start, n->now);
        if (r < 0)
                return r;
        *ret = &n->list.lists;
        return 0;
}

/* "/a/b" of a name below `root`, into a buffer of NET_PATH_MAX from its end. NULL: too long. */
static char *write_path(const Name *name, const Name *root, char *buffer) {
        char *at = buffer + NET_PATH_MAX - 1;

        *at = 0;
        for (; name && name != root; name = name->key.parent) {
                if ((size_t) (at - buffer) < name->key.length + 1)
                        return NULL;
                at -= name->key.length;
                memcpy(at, name->key.text, name->key.length);
                *--at = '/';
        }
        return name ? at : NULL;
}

/* A name of now that is known to have an object, or NULL. */
static const Name *find_present(const Net *n, const char *path) {
        const char *text;
        const Name *name = n->now;
        size_t length;

        while (path_next_part(&path, &text, &length)) {
                name = name_tree_find(&n->names, name, text, length);
                if (!name)
                        return NULL;
        }
        return name->present ? name : NULL;
}

/* From a name at the start on along the path, as far as names are known. NULL: it leads to what has gone elsewhere. */
static const Name *follow(const Net *n, const Name *origin, const char **path) {
        const char *at = *path, *text;
        size_t length;

        while (origin && path_next_part(&at, &text, &length)) {
                const Name *next = name_tree_find(&n->names, origin, text, length);

                if (!next)
                        return origin;
                origin = next->fate == FATE_UNKNOWN ? next : NULL;
                *path = at;
        }
        return origin;
}

int net_origin(const Net *n, const char *path, char **ret) {
        _cleanup_free_ char *buffer = malloc(NET_PATH_MAX);
        const Name *present = find_present(n, path), *origin;
        const char *rest = "", *start;

        if (!buffer)
                return -ENOMEM;
        if (present)
                origin = present->origin;
        else {
                Spot spot = find_spot(n, path);

                rest = spot.below;
                origin = follow(n, spot.above->origin, &rest);
        }
        rest += strspn(rest, "/");
        start = origin ? write_path(origin, n->start, buffer) : NULL;
        if (!start) {
                *ret = NULL;
                return 0;
        }
        return asprintf(ret, "%s%s%s", start, *rest ? "/" : "", rest) < 0 ? -ENOMEM : 0;
}

typedef struct Paths {
        char *start, *now; /* buffers */
} Paths;

static void paths_done(Paths *p) {
        free(p->start);
        free(p->now);
}

static int tell_present(Net *n, const Paths *p, int (*f)(const NetObject *, void *),
                        void *userdata) {
        int r = 0;

        for (const Name *name = name_next(n->now, n->now); name && r == 0;
             name = name_next(n->now, name)) {
                NetObject o = {.is_dir = name->is_dir,
                               .dirty = name->dirty,
                               .foreign = name->foreign};

                if (!name->present)
                        continue;
                o.now = write_path(name, n->now, p->now);
                o.start = name->origin ? write_path(name->origin, n->start, p->start) : NULL;
                if (o.now && (o.start || !name->origin))
                        r = f(&o, userdata);
        }
        return r;
}

static int tell_lost(Net *n, const Paths *p, int (*f)(const NetObject *, void *), void *userdata) {
        int r = 0;

        for (const Name *name = name_next(n->start, n->start); name && r == 0;
             name = name_next(n->start, name)) {
                NetObject o = {.is_dir = name->is_dir,
                               .gone_out = name->gone_out,
                               .covered = name->fate == FATE_COVERED};

                if (name->fate != FATE_LOST && name->fate != FATE_COVERED)
                        continue;
                o.start = write_path(name, n->start, p->start);
                if (o.start)
                        r = f(&o, userdata);
        }
        return r;
}

int net_objects(Net *n, int (*f)(const NetObject *o, void *userdata), void *userdata) {
        _cleanup_(paths_done)
                Paths p = {.start = malloc(NET_PATH_MAX), .now = malloc(NET_PATH_MAX)};
        int r;

        if (!p.start || !p.now)
                return -ENOMEM;
        settle_displaced(n);
        r = tell_present(n, &p, f, userdata);
        return r != 0 ? r : tell_lost(n, &p, f, userdata);
}
