/* SPDX-License-Identifier: MIT */
/* The text of a configuration file as a sequence of headings and assignments. */
#ifndef MOUNTWATCH_CONFIG_TEXT_H
#define MOUNTWATCH_CONFIG_TEXT_H

#include <stddef.h>

#define CONFIG_LINE_MAX 8192 /* bytes; less where libinih cannot be told (see config_text.c) */

typedef enum ConfigLine {
        CONFIG_LINE_SECTION,    /* a: what stands between the brackets */
        CONFIG_LINE_ASSIGNMENT, /* a: key, b: value, both without blanks around */
        CONFIG_LINE_BAD,        /* a: why */
} ConfigLine;

/* A negative value ends the parsing and becomes its result. The strings are valid during the call. */
typedef int (*config_line_t)(void *userdata, unsigned line, ConfigLine kind, const char *a,
                             const char *b);

int config_text_parse(const char *text, size_t size, config_line_t on_line, void *userdata);

#endif
