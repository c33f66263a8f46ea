/* SPDX-License-Identifier: MIT */
/* Strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef MOUNTWATCH_COMMON_UTF8_H
#define MOUNTWATCH_COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of bytes (1 to 4) of the valid sequence that `s` begins with, and its character; 0 when it begins with none. */
size_t utf8_sequence(const char *s, size_t size, uint32_t *ret_character);
bool utf8_is_valid(const char *s, size_t size);

#endif
