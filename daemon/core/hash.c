/* SPDX-License-Identifier: MIT */
#include <endian.h>

#include "daemon/core/hash.h"

typedef struct Sip {
        uint64_t v0, v1, v2, v3;
} Sip;

static inline uint64_t rotate(uint64_t x, unsigned n) {
        return x << n | x >> (64 - n);
}

static inline void sip_round(Sip *s) {
        s->v0 += s->v1;
        s->v1 = rotate(s->v1, 13) ^ s->v0;
        s->v0 = rotate(s->v0, 32);
        s->v2 += s->v3;
        s->v3 = rotate(s->v3, 16) ^ s->v2;
        s->v0 += s->v3;
        s->v3 = rotate(s->v3, 21) ^ s->v0;
        s->v2 += s->v1;
        s->v1 = rotate(s->v1, 17) ^ s->v2;
        s->v2 = rotate(s->v2, 32);
}

static inline void sip_word(Sip *s, uint64_t word) {
        s->v3 ^= word;
        sip_round(s);
        sip_round(s);
        s->v0 ^= word;
}

uint64_t hash64(const void *data, size_t size, uint64_t k0, uint64_t k1) {
        /* the constants are the paper's: "somepseudorandomlygeneratedbytes" */
        Sip s = {
                .v0 = k0 ^ 0x736f6d6570736575,
                .v1 = k1 ^ 0x646f72616e646f6d,
                .v2 = k0 ^ 0x6c7967656e657261,
                .v3 = k1 ^ 0x7465646279746573,
        };
        const uint8_t *p = data;
        uint64_t word, last = (uint64_t) size << 56;
        size_t left = size;

        for (; left >= 8; left -= 8, p += 8) {
                memcpy(&word, p, sizeof word);
                sip_word(&s, le64toh(word));
        }
        for (size_t i = 0; i < left; i++)
                last |= (uint64_t) p[i] << (8 * i);
        sip_word(&s, last);

        s.v2 ^= 0xff;
        for (unsigned i = 0; i < 4; i++)
                sip_round(&s);
        return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
