/* SPDX-License-Identifier: MIT */
/*
 * uthash, for all of the tree: with a hash function that compiles without warnings everywhere (its own falls through
 * switch labels), and without its exit() for lack of memory. After HASH_ADD* an element whose hh.tbl is NULL was not added.
 *
 * A file whose keys are no single piece of memory defines HASH_FUNCTION and HASH_KEYCMP of its own after this.
 */
#ifndef MOUNTWATCH_COMMON_HASH_H
#define MOUNTWATCH_COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(key, length, hash) ((hash) = hash_of_bytes((key), (length)))
#include <uthash.h>

#define HASH_SEED 0xcbf29ce484222325ULL

/* FNV-1a, and the last step of MurmurHash3: tables use the lowest bits, which FNV makes of the lowest bits only. */
static inline uint64_t hash_mix(uint64_t h, uint64_t value) {
        return (h ^ value) * 0x100000001b3ULL;
}

static inline uint64_t hash_mix_bytes(uint64_t h, const void *data, size_t size) {
        const unsigned char *b = (const unsigned char *) data;

        for (size_t i = 0; i < size; i++)
                h = hash_mix(h, b[i]);
        return h;
}

static inline unsigned hash_fold(uint64_t h) {
        h = (h ^ h >> 33) * 0xff51afd7ed558ccdULL;
        h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ULL;
        return (unsigned) (h ^ h >> 33);
}

static inline unsigned hash_of_bytes(const void *data, size_t size) {
        return hash_fold(hash_mix_bytes(HASH_SEED, data, size));
}

#endif
