/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>

#include "client/html_writer.h"
#include "common/path_text.h"

void html_init(Html *h, FILE *f) {
        *h = (Html){.file = f};
        fputs("<!DOCTYPE html>\n", f);
}

static void set_error(Html *h, int error) {
        if (h->error == 0)
                h->error = error;
}

/* From here on attributes are over. */
static void leave_tag(Html *h) {
        if (h->in_tag)
                fputc('>', h->file);
        h->in_tag = false;
}

/* A line for each of them: people and diff look at the source too. */
static bool is_block(const char *tag) {
        static const char *const tags[] = {"html",    "head",   "body",    "header", "main",
                                           "section", "footer", "details", "ul",     "li",
                                           "dl",      "div",    "article", "title",  "summary",
                                           "svg",     "h1",     "h2"};

        for (size_t i = 0; i < ELEMENTSOF(tags); i++)
                if (str_equal(tags[i], tag))
                        return true;
        return false;
}

void html_begin(Html *h, const char *tag) {
        leave_tag(h);
        if (h->depth == HTML_DEPTH_MAX) {
                set_error(h, -E2BIG);
                return;
        }
        h->open[h->depth++] = tag;
        if (is_block(tag))
                fputc('\n', h->file);
        fprintf(h->file, "<%s", tag);
        h->in_tag = true;
}

void html_begin_class(Html *h, const char *tag, const char *class) {
        html_begin(h, tag);
        if (class)
                html_attribute(h, "class", class);
}

void html_end(Html *h) {
        leave_tag(h);
        if (h->depth > 0)
                fprintf(h->file, "</%s>", h->open[--h->depth]);
}

int html_finish(Html *h) {
        while (h->depth > 0)
                html_end(h);
        fputc('\n', h->file);
        return h->error;
}

static void put_escaped(FILE *f, const char *text) {
        for (const char *special; *text; text = special) {
                special = text + strcspn(text, "&<>\"'");
                fwrite(text, 1, (size_t) (special - text), f);
                switch (*special) {
                case '&':
                        fputs("&amp;", f);
                        break;
                case '<':
                        fputs("&lt;", f);
                        break;
                case '>':
                        fputs("&gt;", f);
                        break;
                case '"':
                        fputs("&quot;", f);
                        break;
                case '\'':
                        fputs("&#39;", f);
                        break;
                default:
                        return;
                }
                special++;
        }
}

static void put_hostile(Html *h, const char *text) {
        _cleanup_free_ char *safe = path_to_text(text);

        if (safe)
                put_escaped(h->file, safe);
        else
                set_error(h, -ENOMEM);
}

void html_attribute(Html *h, const char *name, const char *value) {
        fprintf(h->file, " %s=\"", name);
        put_hostile(h, value);
        fputc('"', h->file);
}

void html_attribute_format(Html *h, const char *name, const char *format, ...) {
        _cleanup_free_ char *value = NULL;
        va_list ap;

        va_start(ap, format);
        if (vasprintf(&value, format, ap) < 0)
                value = NULL;
        va_end(ap);
        if (value)
                html_attribute(h, name, value);
        else
                set_error(h, -ENOMEM);
}

void html_text(Html *h, const char *text) {
        leave_tag(h);
        put_hostile(h, text);
}

void html_format(Html *h, const char *format, ...) {
        _cleanup_free_ char *text = NULL;
        va_list ap;

        va_start(ap, format);
        if (vasprintf(&text, format, ap) < 0)
                text = NULL;
        va_end(ap);
        if (text)
                html_text(h, text);
        else
                set_error(h, -ENOMEM);
}

void html_element(Html *h, const char *tag, const char *class, const char *text) {
        html_begin_class(h, tag, class);
        html_text(h, text);
        html_end(h);
}

void html_void(Html *h, const char *tag) {
        leave_tag(h);
        fprintf(h->file, "\n<%s", tag);
        h->in_tag = true;
}

void html_style(Html *h, const char *sheet) {
        html_begin(h, "style");
        leave_tag(h);
        fputs(sheet, h->file);
        html_end(h);
}
