/* SPDX-License-Identifier: MIT */
#include "daemon/store/store_hash.h"

#include <endian.h>
#include <string.h>

static inline uint64_t rotate(uint64_t x, int bits) {
        return x << bits | x >> (64 - bits);
}

static inline void sip_round(uint64_t v[4]) {
        v[0] += v[1];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[0] = rotate(v[0], 32);
        v[2] += v[3];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[2] = rotate(v[2], 32);
}

static inline void sip_word(uint64_t v[4], uint64_t word) {
        v[3] ^= word;
        sip_round(v);
        sip_round(v);
        v[0] ^= word;
}

/* Up to eight bytes, the first one lowest, so that the hashes in a database mean the same on
 * every machine. */
static uint64_t read_little_endian(const uint8_t *p, size_t n) {
        uint64_t word = 0;

        memcpy(&word, p, n);
        return le64toh(word);
}

uint64_t hash_bytes(const HashKey *key, const void *data, size_t size) {
        const uint8_t *p = data;
        uint64_t v[4] = {
                key->k0 ^ 0x736f6d6570736575,
                key->k1 ^ 0x646f72616e646f6d,
                key->k0 ^ 0x6c7967656e657261,
                key->k1 ^ 0x7465646279746573,
        };
        size_t left = size;

        for (; left >= 8; left -= 8, p += 8)
                sip_word(v, read_little_endian(p, 8));
        sip_word(v, read_little_endian(p, left) | (uint64_t) size << 56);

        v[2] ^= 0xff;
        for (int i = 0; i < 4; i++)
                sip_round(v);
        return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t hash_string(const HashKey *key, const char *s) {
        return s ? hash_bytes(key, s, strlen(s)) : 0;
}
