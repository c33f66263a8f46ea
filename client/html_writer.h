/* SPDX-License-Identifier: MIT */
/*
 * HTML, written so that it is always well formed and text stays text: elements end in the reverse order of their beginning, every name, command
 * line and label is escaped here and nowhere else, and nobody else writes to the file.
 *
 * Tags, names of attributes and classes are constants of the program; everything else may be hostile. No call fails: what went wrong
 * is kept, and told at the end.
 */
#ifndef MOUNTWATCH_CLIENT_HTML_WRITER_H
#define MOUNTWATCH_CLIENT_HTML_WRITER_H

#include <stdbool.h>
#include <stdio.h>

#include "common/macro.h"

/* Browsers flatten what is nested deeper than 512. */
#define HTML_DEPTH_MAX 400

typedef struct Html {
        FILE *file; /* borrowed */
        const char *open[HTML_DEPTH_MAX];
        size_t depth;
        bool in_tag; /* the '>' of the innermost element is still to come */
        int error;   /* the first that happened */
} Html;

/* Writes the document type. */
void html_init(Html *h, FILE *f);
/* Ends what is still open. -ENOMEM, -E2BIG (nested too deep): the document is not whole. Errors of the file are the caller's to find. */
int html_finish(Html *h);

void html_begin(Html *h, const char *tag);
/* The same with a class; NULL: none. */
void html_begin_class(Html *h, const char *tag, const char *class);
void html_end(Html *h);

/* Only right after html_begin(). */
void html_attribute(Html *h, const char *name, const char *value);
void html_attribute_format(Html *h, const char *name, const char *format, ...) _printf_(3, 4);

/* Text as path_to_text() shows it (no control character, no change of direction, no broken UTF-8) with the markup escaped. */
void html_text(Html *h, const char *text);
void html_format(Html *h, const char *format, ...) _printf_(2, 3);

/* An element with nothing but text in it. */
void html_element(Html *h, const char *tag, const char *class, const char *text);
/* An element that has no end: meta, br. Attributes may follow. */
void html_void(Html *h, const char *tag);
/* <style>: the sheet is a constant of the program without '<'. */
void html_style(Html *h, const char *sheet);

#endif
