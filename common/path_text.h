/* SPDX-License-Identifier: MIT */
/*
 * Paths are bytes; JSON and people want text. What is UTF-8 is its own text. In what is not, every byte that belongs to no
 * character becomes \xNN and so does the backslash, so that the text names one path only.
 */
#ifndef MOUNTWATCH_COMMON_PATH_TEXT_H
#define MOUNTWATCH_COMMON_PATH_TEXT_H

#include "common/macro.h"

/* Always UTF-8; for machines. NULL for lack of memory. */
char *path_to_utf8(const char *path);
/* For people, safe on a terminal: control characters (also those of Unicode that turn the direction of text) are escaped
 * too, and the backslash whenever something is. NULL for lack of memory. */
char *path_to_text(const char *path);

/* RFC 4648, with padding. NULL for lack of memory. */
char *base64_encode(const void *data, size_t size);
/* Strict: no white space, no missing padding, no bits after the end. The result has a NUL behind it, which *ret_size does
 * not count. -EINVAL. */
int base64_decode(const char *s, char **ret, size_t *ret_size);

#endif
