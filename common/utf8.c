/* SPDX-License-Identifier: MIT */
#include "common/utf8.h"

size_t utf8_sequence(const char *s, size_t size, uint32_t *ret_character) {
        static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
        const unsigned char *b = (const unsigned char *) s;
        uint32_t c;
        size_t n;

        if (size == 0)
                return 0;
        if (b[0] < 0x80) {
                *ret_character = b[0];
                return 1;
        }
        if ((b[0] & 0xe0) == 0xc0) {
                n = 2;
                c = b[0] & 0x1f;
        } else if ((b[0] & 0xf0) == 0xe0) {
                n = 3;
                c = b[0] & 0x0f;
        } else if ((b[0] & 0xf8) == 0xf0) {
                n = 4;
                c = b[0] & 0x07;
        } else
                return 0;
        if (n > size)
                return 0;
        for (size_t i = 1; i < n; i++) {
                if ((b[i] & 0xc0) != 0x80)
                        return 0;
                c = c << 6 | (b[i] & 0x3f);
        }
        if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
                return 0;
        *ret_character = c;
        return n;
}

bool utf8_is_valid(const char *s, size_t size) {
        uint32_t c;

        for (size_t i = 0, n; i < size; i += n) {
                n = utf8_sequence(s + i, size - i, &c);
                if (n == 0)
                        return false;
        }
        return true;
}
