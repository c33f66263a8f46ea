/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>

#include "common/path_text.h"
#include "common/utf8.h"

static bool is_control(uint32_t c) {
        return c < 0x20 || (c >= 0x7f && c <= 0x9f) || /* C0, DEL, C1 */
                c == 0x200e || c == 0x200f ||          /* marks of direction */
                (c >= 0x2028 && c <= 0x202e) || /* separators of lines, embedding, override */
                (c >= 0x2066 && c <= 0x2069);   /* isolation */
}

typedef bool (*MustEscape)(uint32_t character);

static bool never(uint32_t c) {
        return false;
}

static bool needs_escapes(const char *path, MustEscape must) {
        uint32_t c;

        for (size_t n, left = strlen(path); left > 0; path += n, left -= n) {
                n = utf8_sequence(path, left, &c);
                if (n == 0 || must(c))
                        return true;
        }
        return false;
}

static char *put_escape(char *out, unsigned char byte) {
        static const char hex[] = "0123456789abcdef";

        *out++ = '\\';
        *out++ = 'x';
        *out++ = hex[byte >> 4];
        *out++ = hex[byte & 15];
        return out;
}

static char *escape(const char *path, MustEscape must) {
        size_t left = strlen(path), n;
        char *text, *out;
        uint32_t c = 0;

        if (!needs_escapes(path, must))
                return strdup(path);
        text = out = calloc(left + 1, 4);
        if (!text)
                return NULL;
        for (; left > 0; path += n, left -= n) {
                n = utf8_sequence(path, left, &c);
                if (n == 0 || c == '\\' || must(c)) {
                        n = MAX(n, (size_t) 1);
                        for (size_t i = 0; i < n; i++)
                                out = put_escape(out, (unsigned char) path[i]);
                } else {
                        memcpy(out, path, n);
                        out += n;
                }
        }
        *out = 0;
        return text;
}

char *path_to_utf8(const char *path) {
        return escape(path, never);
}

char *path_to_text(const char *path) {
        return escape(path, is_control);
}

static const char base64_alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *data, size_t size) {
        const unsigned char *b = data;
        char *text, *out;

        text = out = malloc((size + 2) / 3 * 4 + 1);
        if (!text)
                return NULL;
        for (size_t i = 0; i < size; i += 3) {
                size_t n = MIN(size - i, (size_t) 3);
                uint32_t v = (uint32_t) b[i] << 16 | (n > 1 ? (uint32_t) b[i + 1] << 8 : 0) |
                        (n > 2 ? b[i + 2] : 0);

                *out++ = base64_alphabet[v >> 18];
                *out++ = base64_alphabet[v >> 12 & 63];
                *out++ = n > 1 ? base64_alphabet[v >> 6 & 63] : '=';
                *out++ = n > 2 ? base64_alphabet[v & 63] : '=';
        }
        *out = 0;
        return text;
}

static int base64_value(char c) {
        const char *p = c ? strchr(base64_alphabet, c) : NULL;

        return p ? (int) (p - base64_alphabet) : -1;
}

/* Four letters of which the last `padding` are '='. */
static bool decode_group(const char *s, size_t padding, char out[static 3]) {
        uint32_t v = 0;

        for (size_t i = 0; i < 4; i++) {
                int d = i < 4 - padding ? base64_value(s[i]) : 0;

                if (d < 0)
                        return false;
                v = v << 6 | (uint32_t) d;
        }
        if (padding > 0 && (v & (padding == 1 ? 0xff : 0xffff)) != 0)
                return false;
        out[0] = (char) (v >> 16);
        out[1] = (char) (v >> 8);
        out[2] = (char) v;
        return true;
}

int base64_decode(const char *s, char **ret, size_t *ret_size) {
        size_t length = strlen(s), padding = 0, size;
        char *data;

        if (length % 4 != 0)
                return -EINVAL;
        while (padding < 2 && padding < length && s[length - 1 - padding] == '=')
                padding++;
        size = length / 4 * 3;
        data = malloc(size + 1);
        if (!data)
                return -ENOMEM;
        for (size_t i = 0; i < length; i += 4)
                if (!decode_group(s + i, i + 4 == length ? padding : 0, data + i / 4 * 3)) {
                        free(data);
                        return -EINVAL;
                }
        size -= padding;
        data[size] = 0;
        *ret = data;
        *ret_size = size;
        return 0;
}
