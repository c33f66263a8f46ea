/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "daemon/core/created.h"

#define SIZE_MIN 64

typedef struct Slot {
        uint64_t key; /* 0: free */
        uint64_t object;
} Slot;

struct CreatedSet {
        Slot *slots; /* linear probing; at most 3/4 are used */
        size_t size; /* a power of two */
        size_t n;
};

int created_set_new(CreatedSet **ret) {
        CreatedSet *c = calloc(1, sizeof *c);

        if (!c)
                return -ENOMEM;
        c->size = SIZE_MIN;
        c->slots = calloc(c->size, sizeof *c->slots);
        if (!c->slots) {
                free(c);
                return -ENOMEM;
        }
        *ret = c;
        return 0;
}

CreatedSet *created_set_free(CreatedSet *c) {
        if (!c)
                return NULL;
        free(c->slots);
        free(c);
        return NULL;
}

static uint64_t key_used(uint64_t key) {
        return key ? key : 1;
}

/* The slot of `key`, or the free one where it belongs. */
static Slot *probe(Slot *slots, size_t size, uint64_t key) {
        size_t i = key & (size - 1);

        while (slots[i].key != 0 && slots[i].key != key)
                i = (i + 1) & (size - 1);
        return &slots[i];
}

static int grow(CreatedSet *c) {
        size_t size = c->size * 2;
        Slot *slots = calloc(size, sizeof *slots);

        if (!slots)
                return -ENOMEM;
        for (size_t i = 0; i < c->size; i++)
                if (c->slots[i].key != 0)
                        *probe(slots, size, c->slots[i].key) = c->slots[i];
        free(c->slots);
        c->slots = slots;
        c->size = size;
        return 0;
}

int created_set_put(CreatedSet *c, uint64_t key, uint64_t object) {
        Slot *slot;

        key = key_used(key);
        slot = probe(c->slots, c->size, key);
        if (slot->key == 0) {
                if (c->n >= CREATED_MAX)
                        return -ENOSPC;
                if ((c->n + 1) * 4 > c->size * 3) {
                        int r = grow(c);

                        if (r < 0)
                                return r;
                        slot = probe(c->slots, c->size, key);
                }
                c->n++;
        }
        *slot = (Slot){.key = key, .object = object};
        return 0;
}

bool created_set_find(const CreatedSet *c, uint64_t key, uint64_t *ret_object) {
        const Slot *slot = probe(c->slots, c->size, key_used(key));

        if (slot->key == 0)
                return false;
        *ret_object = slot->object;
        return true;
}

void created_set_remove(CreatedSet *c, uint64_t key) {
        const Slot *slot = probe(c->slots, c->size, key_used(key));
        size_t mask = c->size - 1, hole, i;

        if (slot->key == 0)
                return;
        /* close the gap: whoever sits behind it and could have sat in it moves up */
        hole = (size_t) (slot - c->slots);
        for (i = (hole + 1) & mask; c->slots[i].key != 0; i = (i + 1) & mask) {
                size_t home = c->slots[i].key & mask;

                if (((i - home) & mask) >= ((i - hole) & mask)) {
                        c->slots[hole] = c->slots[i];
                        hole = i;
                }
        }
        c->slots[hole] = (Slot){};
        c->n--;
}

size_t created_set_count(const CreatedSet *c) {
        return c->n;
}
