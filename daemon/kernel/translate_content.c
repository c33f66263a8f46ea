/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/translate_private.h"

#include <errno.h>

/* Nothing that waits in the queue for longer than this many closes is waited for. */
#define UNEXPLAINED_MAX 256

/*
 * The names under which a change of an object is told. The name in the record, when it is one of the watch and still leads to
 * that object; else (a nameless file, a name outside of the watch, a descriptor opened by a name that is gone) every name that the
 * object has inside.
 */
static size_t names_of(Translator *t, const Record *rec, Node *directory, Node **ret) {
        Node *n = directory ? tree_find(t->tree, directory, rec->fan.at.name) : NULL;
        size_t k = 0;

        if (n && n->id == 0)
                tree_set_id(t->tree, n, rec->child_id);
        if (n && (n->id == rec->child_id || rec->child_id == 0)) {
                ret[0] = n;
                return 1;
        }
        for (n = tree_find_object(t->tree, rec->child_id); n && k < NAMES_MAX;
             n = node_next_name(n)) {
                if (n->parent)
                        ret[k++] = n;
        }
        return k;
}

/* What the kernel calls a file without a name: '#' and its inode number. */
static bool is_nameless(const char *name) {
        return name[0] == '#' && name[1] && strspn(name + 1, "0123456789") == strlen(name + 1);
}

/* The tree does not have every name: the record's word is all there is. */
static int tell_unknown(Translator *t, const Record *rec, Node *directory) {
        static const struct {
                uint64_t bit;
                OpType op;
        } table[] = {{FAN_BIT_MODIFY, OP_MODIFY}, {FAN_BIT_ATTRIB, OP_METADATA}};
        size_t i;

        for (i = 0; i < ELEMENTSOF(table); i++) {
                Change c = translate_change(rec, table[i].op, KIND_FILE);

                if (!(rec->fan.mask & table[i].bit))
                        continue;
                c.path = node_path(directory, t->base, rec->fan.at.name);
                translate_emit(t, &c);
        }
        return 0;
}

static void tell(Translator *t, const Record *rec, Node *const *names, size_t n, OpType op) {
        size_t i;

        for (i = 0; i < n; i++) {
                Change c = translate_change(rec, op, (ObjectKind) names[i]->kind);

                c.path = node_path(names[i], t->base, NULL);
                translate_emit(t, &c);
        }
}

static int unexplained_push(Translator *t, Unexplained u) {
        Unexplained *bigger;
        size_t k;

        if (t->n_unexplained == t->allocated) {
                k = t->allocated ? t->allocated * 2 : 16;
                bigger = reallocarray(t->unexplained, k, sizeof(Unexplained));
                if (!bigger)
                        return -ENOMEM;
                t->unexplained = bigger;
                t->allocated = k;
        }
        t->unexplained[t->n_unexplained++] = u;
        return 0;
}

/* Two processes closed the file since it was as it should be: either may have stored to it. */
static bool mark_rivals(Translator *t, const Record *rec) {
        bool found = false;
        size_t i;

        for (i = 0; i < t->n_unexplained; i++) {
                Unexplained *u = &t->unexplained[i];

                if (u->id == rec->child_id && !u->late && u->change.pid != rec->fan.pid) {
                        u->change.inferred = true;
                        found = true;
                }
        }
        return found;
}

static void drop_late(Translator *t) {
        size_t i, k = 0;

        for (i = 0; i < t->n_unexplained; i++) {
                if (t->unexplained[i].late)
                        change_done(&t->unexplained[i].change);
                else
                        t->unexplained[k++] = t->unexplained[i];
        }
        t->n_unexplained = k;
}

static int leave_open(Translator *t, const Record *rec, Node *const *names, size_t n,
                      const GroundStat *s, bool late) {
        bool rival = !late && mark_rivals(t, rec);
        size_t i;
        int r;

        for (i = 0; i < n; i++) {
                Unexplained u = {
                        .id = rec->child_id,
                        .stat = *s,
                        .late = late,
                        .change = translate_change(rec, OP_MODIFY, (ObjectKind) names[i]->kind),
                };

                u.change.inferred = rival || late;
                u.change.path = node_path(names[i], t->base, NULL);
                r = unexplained_push(t, u);
                if (r < 0) {
                        change_done(&u.change);
                        return r;
                }
        }
        if (t->n_unexplained >= UNEXPLAINED_MAX) {
                (void) translator_settle(t, /* all= */ true);
                drop_late(t);
        }
        return 0;
}

static void end_open(Translator *t, Unexplained *u, bool told) {
        Node *object = told ? tree_find_object(t->tree, u->id) : NULL;

        told = told && (!u->late || content_differs(t->ground, object, &u->stat));
        if (told && object)
                content_settle(object, &u->stat);
        if (told)
                translate_emit(t, &u->change);
        else
                change_done(&u->change);
}

/* Takes the closes of one object off the list; with `told` they are told. */
static void close_open(Translator *t, uint64_t id, bool told) {
        size_t i, k = 0;

        for (i = 0; i < t->n_unexplained; i++) {
                if (t->unexplained[i].id == id)
                        end_open(t, &t->unexplained[i], told);
                else
                        t->unexplained[k++] = t->unexplained[i];
        }
        t->n_unexplained = k;
}

void translate_settle_object(Translator *t, uint64_t id) {
        if (t->n_unexplained && id)
                close_open(t, id, /* told= */ true);
}

/* A late one stays until it differs; then whoever closed the file first is told, since it does not differ any more. */
static bool is_due(Translator *t, Unexplained *u, bool all) {
        if (u->late)
                return all &&
                        content_differs(t->ground, tree_find_object(t->tree, u->id), &u->stat);
        return all || u->waited;
}

bool translator_settle(Translator *t, bool all) {
        size_t i, k = 0;
        bool open = false;

        for (i = 0; i < t->n_unexplained; i++) {
                Unexplained *u = &t->unexplained[i];

                if (is_due(t, u, all)) {
                        end_open(t, u, /* told= */ true);
                } else {
                        u->waited = true;
                        open = open || !u->late;
                        t->unexplained[k++] = *u;
                }
        }
        t->n_unexplained = k;
        return open;
}

/*
 * A name that no CREATE told of (SMB makes none for a plain open), and that is there: by whom it was made the record does not say, but
 * who writes to a file that was born since the queue was last empty made it.
 */
static int announce(Translator *t, const Record *rec, Node *directory, Node **ret) {
        Change c = translate_change(rec, OP_CREATE, KIND_FILE);
        GroundStat s;
        int r;

        *ret = NULL;
        if (translate_look_at_name(t, rec, directory, rec->fan.at.name, &s) < 0)
                return 0;
        r = translate_add(t, directory, rec->fan.at.name, s.kind, rec->child_id, ret);
        if (r < 0 || !*ret)
                return r;
        if (!content_is_born(&s, rec))
                return 0;
        c.kind = s.kind;
        c.inferred = true;
        c.path = node_path(directory, t->base, rec->fan.at.name);
        translate_emit(t, &c);
        return 0;
}

int translate_content(Translator *t, const Record *rec, Node *directory) {
        uint64_t mask = rec->fan.mask;
        Node *names[NAMES_MAX], *object;
        GroundStat s;
        size_t n;
        int r;

        n = names_of(t, rec, directory, names);
        if (n == 0 && directory && t->by_directories && !is_nameless(rec->fan.at.name)) {
                r = announce(t, rec, directory, &names[0]);
                if (r < 0)
                        return r;
                n = names[0] != NULL;
        }
        if (n == 0 && directory && !is_nameless(rec->fan.at.name) &&
            (tree_is_partial(t->tree) || translate_is_vague(t, rec, directory)))
                return tell_unknown(t, rec, directory);
        if (n == 0)
                return 0;
        object = tree_find_object(t->tree, rec->child_id);
        if (mask & (FAN_BIT_MODIFY | FAN_BIT_ATTRIB) && t->n_unexplained && rec->child_id)
                close_open(t, rec->child_id, /* told= */ false);
        if (mask & FAN_BIT_MODIFY) {
                ContentChange change = content_modified(t->ground, object, rec);

                if (change == CONTENT_CHANGED)
                        tell(t, rec, names, n, OP_MODIFY);
                else if (change == CONTENT_TIMES)
                        tell(t, rec, names, n, OP_METADATA);
        } else if (mask & FAN_BIT_ATTRIB) {
                content_touched(t->ground, object, rec);
        }
        if (mask & FAN_BIT_ATTRIB)
                tell(t, rec, names, n, OP_METADATA);
        if (!(mask & FAN_BIT_CLOSE_WRITE) || mask & FAN_BIT_MODIFY)
                return 0;
        if (content_closed(t->ground, object, rec, &s))
                return leave_open(t, rec, names, n, &s, /* late= */ false);
        if (t->late_stores && object && object->content == CONTENT_KNOWN) {
                /* The last who closed it is the likeliest to have it mapped still. */
                close_open(t, rec->child_id, /* told= */ false);
                return leave_open(t, rec, names, n, &(GroundStat){}, /* late= */ true);
        }
        return 0;
}
