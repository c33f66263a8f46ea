/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <limits.h>

#include "client/finding.h"
#include "common/path_text.h"
#include "common/strv.h"

#define NAME_MAX_BYTES 40 /* the daemon takes 64; a number may follow */

static void finding_done(Finding *f) {
        free(f->path);
        free(f->name);
        free(f->why);
        *f = (Finding){};
}

void findings_done(Findings *f) {
        for (size_t i = 0; i < f->n; i++)
                finding_done(&f->items[i]);
        free(f->items);
        (void) strv_free(f->names);
        (void) strv_free(f->paths);
        *f = (Findings){};
}

int findings_know(Findings *f, const char *name, const char *path) {
        if (name && !strv_append(&f->names, name))
                return -ENOMEM;
        if (path && !strv_append(&f->paths, path))
                return -ENOMEM;
        return 0;
}

static bool is_below(const char *path, const char *top) {
        const size_t n = strlen(top);

        return strncmp(path, top, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

static bool is_known(const Findings *f, const char *path) {
        for (size_t i = 0; f->paths && f->paths[i]; i++)
                if (is_below(path, f->paths[i]))
                        return true;
        return false;
}

static bool is_found(const Findings *f, const char *path) {
        for (size_t i = 0; i < f->n; i++)
                if (is_below(path, f->items[i].path))
                        return true;
        return false;
}

bool findings_cover(const Findings *f, const char *path) {
        return is_known(f, path) || is_found(f, path);
}

/* A line is trimmed, and holds no control character; the root as a whole cannot be watched. */
static bool is_speakable(const char *path) {
        const size_t n = strlen(path);

        if (n < 2 || n >= PATH_MAX || *path != '/' || path[n - 1] == ' ')
                return false;
        for (const char *p = path; *p; p++)
                if ((*p > 0 && *p < ' ') || *p == 127)
                        return false;
        return true;
}

/* The last component, or what is left of it in the letters that names have. */
static void base_name(const char *path, char name[static NAME_MAX_BYTES + 1]) {
        const char *last = strrchr(path, '/');
        size_t n = 0;

        for (const char *p = last ? last + 1 : path; *p && n < NAME_MAX_BYTES; p++) {
                bool good = isascii((unsigned char) *p) &&
                        (isalnum((unsigned char) *p) || strchr("_.-", *p));

                if (good)
                        name[n++] = *p;
                else if (n > 0 && name[n - 1] != '-')
                        name[n++] = '-';
        }
        while (n > 0 && strchr("-.", name[n - 1]))
                n--;
        name[n] = '\0';
        if (n == 0)
                strcpy(name, "watch");
}

static int make_name(const Findings *f, const char *path, char **ret) {
        char base[NAME_MAX_BYTES + 1];
        char *name = NULL;

        base_name(path, base);
        name = strdup(base);
        /* the number of names in the list bounds it */
        for (unsigned i = 2; name && strv_contains(f->names, name); i++) {
                free(name);
                if (asprintf(&name, "%s-%u", base, i) < 0)
                        name = NULL;
        }
        if (!name)
                return -ENOMEM;
        *ret = name;
        return 0;
}

static int append(Findings *f, Finding *item) {
        Finding *grown = realloc(f->items, (f->n + 1) * sizeof(*grown));

        if (!grown)
                return -ENOMEM;
        f->items = grown;
        if (!strv_append(&f->names, item->name))
                return -ENOMEM;
        f->items[f->n++] = *item;
        return 1;
}

int findings_add(Findings *f, const char *path, bool preserve, const char *why) {
        Finding item = {.preserve = preserve};
        int r;

        if (findings_cover(f, path))
                return 0;
        if (!is_speakable(path)) {
                f->n_unspeakable++;
                return 0;
        }
        if (f->n == FINDINGS_MAX) {
                f->n_dropped++;
                return 0;
        }
        item.path = strdup(path);
        item.why = path_to_text(why);
        r = item.path && item.why ? make_name(f, path, &item.name) : -ENOMEM;
        if (r >= 0)
                r = append(f, &item);
        if (r < 0)
                finding_done(&item);
        return r;
}

/* Marks the numbers in `text`. */
static int read_numbers(const char *text, size_t n, bool *chosen) {
        bool any = false;

        while (*text) {
                char *end;
                unsigned long number;

                text += strspn(text, " \t,\r\n");
                if (!*text)
                        break;
                if (!isdigit((unsigned char) *text))
                        return -EINVAL;
                number = strtoul(text, &end, 10);
                if (number == 0 || number > n || (*end && !strchr(" \t,\r\n", *end)))
                        return -EINVAL;
                chosen[number - 1] = any = true;
                text = end;
        }
        return any ? 0 : -EINVAL;
}

int findings_choose(Findings *f, const char *text) {
        bool chosen[FINDINGS_MAX] = {};
        size_t kept = 0;
        int r;

        r = read_numbers(text, f->n, chosen);
        if (r < 0)
                return r;
        for (size_t i = 0; i < f->n; i++) {
                if (chosen[i])
                        f->items[kept++] = f->items[i];
                else
                        finding_done(&f->items[i]);
        }
        f->n = kept;
        return 0;
}

void findings_write(const Findings *f, FILE *file) {
        for (size_t i = 0; i < f->n; i++) {
                const Finding *item = &f->items[i];

                fprintf(file, "%s# %s\n[Watch %s]\nPath=%s\nPolicy=alert\n%s", i > 0 ? "\n" : "",
                        item->why, item->name, item->path, item->preserve ? "Preserve=yes\n" : "");
        }
}
