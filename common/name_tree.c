/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/hash.h"
#include "common/name_tree.h"

static uint32_t key_hash(const NameKey *k) {
        uint64_t h = hash_mix(HASH_SEED, (uint64_t) (uintptr_t) k->parent >> 4);

        return hash_fold(hash_mix_bytes(h, k->text, k->length));
}

static bool has_key(const void *element, const void *key) {
        const NameKey *a = &((const Name *) element)->key, *b = key;

        return a->parent == b->parent && a->length == b->length &&
                memcmp(a->text, b->text, a->length) == 0;
}

Name *name_free(Name *name) {
        if (name)
                free(name->key.text);
        free(name);
        return NULL;
}

void name_tree_done(NameTree *t) {
        for (size_t i = 0; i < t->names.allocated; i++)
                name_free(t->names.slots[i].element);
        hash_index_done(&t->names);
}

Name *name_tree_find(const NameTree *t, const Name *parent, const char *text, size_t length) {
        const NameKey key = {.parent = (Name *) parent, .text = (char *) text, .length = length};

        return hash_index_find(&t->names, key_hash(&key), has_key, &key);
}

static int insert(NameTree *t, Name *name) {
        Name *parent = name->key.parent;
        int r;

        r = hash_index_add(&t->names, key_hash(&name->key), name);
        if (r < 0)
                return r;
        if (!parent)
                return 0;
        name->prev = NULL;
        name->next = parent->first;
        if (name->next)
                name->next->prev = name;
        parent->first = name;
        return 0;
}

int name_tree_add(NameTree *t, Name *parent, const char *text, size_t length, Name **ret) {
        _cleanup_(name_freep) Name *name = calloc(1, sizeof *name);
        int r;

        if (!name)
                return -ENOMEM;
        name->key.parent = parent;
        name->key.length = length;
        name->key.text = strndup(text, length);
        if (!name->key.text)
                return -ENOMEM;
        r = insert(t, name);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(name);
        return 0;
}

void name_tree_detach(NameTree *t, Name *name) {
        hash_index_remove(&t->names, key_hash(&name->key), name);
        if (name->prev)
                name->prev->next = name->next;
        else if (name->key.parent)
                name->key.parent->first = name->next;
        if (name->next)
                name->next->prev = name->prev;
        name->key.parent = name->prev = name->next = NULL;
}

int name_tree_attach(NameTree *t, Name *name, Name *parent, const char *text, size_t length) {
        char *copy = strndup(text, length);
        int r = copy ? 0 : -ENOMEM;

        if (r == 0) {
                free(name->key.text);
                name->key = (NameKey){.parent = parent, .text = copy, .length = length};
                r = insert(t, name);
        }
        if (r == 0)
                return 0;
        /* what is below stays in the table, to be freed with it */
        for (Name *child = name->first; child; child = child->next)
                child->key.parent = NULL;
        name_free(name);
        return r;
}

void name_tree_remove(NameTree *t, Name *name) {
        name_tree_detach(t, name);
        name_free(name);
}

Name *name_next_beside(const Name *top, const Name *name) {
        while (name != top && !name->next)
                name = name->key.parent;
        return name == top ? NULL : name->next;
}

Name *name_next(const Name *top, const Name *name) {
        return name->first ? name->first : name_next_beside(top, name);
}

Name *name_leaf(Name *name) {
        while (name->first)
                name = name->first;
        return name;
}

bool name_is_below(const Name *name, const Name *above) {
        while (name && name != above)
                name = name->key.parent;
        return name != NULL;
}

bool path_next_part(const char **path, const char **ret_text, size_t *ret_length) {
        const char *s = *path + strspn(*path, "/");
        size_t n = strcspn(s, "/");

        if (n == 0)
                return false;
        *ret_text = s;
        *ret_length = n;
        *path = s + n;
        return true;
}
