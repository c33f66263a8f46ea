/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/hash_index.h"

#define ALLOCATED_MIN 64

void hash_index_done(HashIndex *x) {
        free(x->slots);
        *x = (HashIndex){};
}

void *hash_index_find(const HashIndex *x, uint32_t hash, HashIndexIs is, const void *key) {
        size_t mask = x->allocated - 1;

        if (x->allocated == 0)
                return NULL;
        for (size_t i = hash & mask; x->slots[i].element; i = (i + 1) & mask)
                if (x->slots[i].hash == hash && is(x->slots[i].element, key))
                        return x->slots[i].element;
        return NULL;
}

static void put(HashSlot *slots, size_t mask, HashSlot slot) {
        size_t i = slot.hash & mask;

        while (slots[i].element)
                i = (i + 1) & mask;
        slots[i] = slot;
}

static int grow(HashIndex *x) {
        size_t allocated = MAX(2 * x->allocated, (size_t) ALLOCATED_MIN);
        HashSlot *slots = calloc(allocated, sizeof *slots);

        if (!slots)
                return -ENOMEM;
        for (size_t i = 0; i < x->allocated; i++)
                if (x->slots[i].element)
                        put(slots, allocated - 1, x->slots[i]);
        free(x->slots);
        x->slots = slots;
        x->allocated = allocated;
        return 0;
}

int hash_index_add(HashIndex *x, uint32_t hash, void *element) {
        int r;

        /* at most three quarters full: there is always a free slot to end a search */
        if (4 * (x->n + 1) > 3 * x->allocated) {
                r = grow(x);
                if (r < 0)
                        return r;
        }
        put(x->slots, x->allocated - 1, (HashSlot){.element = element, .hash = hash});
        x->n++;
        return 0;
}

/* Moves what follows into the gap where that brings it nearer to its own place, so that no search ends too early. */
static void close_gap(HashIndex *x, size_t gap) {
        size_t mask = x->allocated - 1;

        for (size_t i = (gap + 1) & mask; x->slots[i].element; i = (i + 1) & mask) {
                size_t home = x->slots[i].hash & mask;

                if (((i - home) & mask) >= ((i - gap) & mask)) {
                        x->slots[gap] = x->slots[i];
                        gap = i;
                }
        }
        x->slots[gap].element = NULL;
}

void hash_index_remove(HashIndex *x, uint32_t hash, const void *element) {
        size_t mask = x->allocated - 1;

        if (x->allocated == 0)
                return;
        for (size_t i = hash & mask; x->slots[i].element; i = (i + 1) & mask)
                if (x->slots[i].element == element) {
                        close_gap(x, i);
                        x->n--;
                        return;
                }
}
