/* SPDX-License-Identifier: MIT */
/*
 * SipHash-2-4. Names of files are chosen by those who are watched: with a key they cannot know,
 * nobody can make two names that the store takes for one.
 */
#ifndef MOUNTWATCH_STORE_STORE_HASH_H
#define MOUNTWATCH_STORE_STORE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct HashKey {
        uint64_t k0, k1;
} HashKey;

uint64_t hash_bytes(const HashKey *key, const void *data, size_t size);
/* 0 for NULL. */
uint64_t hash_string(const HashKey *key, const char *s);

#endif
