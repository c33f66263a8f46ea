/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <sys/sysmacros.h>

#include "common/mount_table.h"

void mount_done(Mount *m) {
        free(m->root);
        free(m->target);
        free(m->options);
        free(m->fstype);
        free(m->source);
        free(m->super_options);
        *m = (Mount){0};
}

void mount_table_done(MountTable *t) {
        for (size_t i = 0; i < t->n; i++)
                mount_done(&t->mounts[i]);
        free(t->mounts);
        *t = (MountTable){0};
}

typedef struct Field {
        const char *s;
        size_t n;
} Field;

/* Takes the next field off [*p, end) and one blank behind it. Fields may be empty: the source of a mount can be "". */
static int take_field(const char **p, const char *end, Field *ret) {
        const char *stop;

        if (!*p)
                return -EBADMSG;
        stop = memchr(*p, ' ', (size_t) (end - *p));
        *ret = (Field){*p, (size_t) ((stop ? stop : end) - *p)};
        *p = stop ? stop + 1 : NULL;
        return 0;
}

static int field_number(const Field *f, char stop, unsigned long max, unsigned long *ret,
                        size_t *ret_used) {
        unsigned long v = 0;
        size_t i;

        for (i = 0; i < f->n && f->s[i] != stop; i++) {
                unsigned long d = (unsigned long) (f->s[i] - '0');

                if (f->s[i] < '0' || f->s[i] > '9' || v > (max - d) / 10)
                        return -EBADMSG;
                v = v * 10 + d;
        }
        if (i == 0)
                return -EBADMSG;
        *ret = v;
        *ret_used = i;
        return 0;
}

static int field_int(const Field *f, int *ret) {
        unsigned long v;
        size_t used;
        int r = field_number(f, '\0', INT_MAX, &v, &used);

        if (r < 0)
                return r;
        if (used != f->n)
                return -EBADMSG;
        *ret = (int) v;
        return 0;
}

static int field_dev(const Field *f, dev_t *ret) {
        unsigned long maj, min;
        size_t used;
        int r = field_number(f, ':', UINT_MAX, &maj, &used);
        Field rest;

        if (r < 0)
                return r;
        if (used == f->n)
                return -EBADMSG;
        rest = (Field){f->s + used + 1, f->n - used - 1};
        r = field_number(&rest, '\0', UINT_MAX, &min, &used);
        if (r < 0)
                return r;
        if (used != rest.n)
                return -EBADMSG;
        *ret = makedev((unsigned) maj, (unsigned) min);
        return 0;
}

static bool is_octal(char c) {
        return c >= '0' && c <= '7';
}

/* The kernel writes blank, tab, newline, backslash and # as \ooo (mangle_path). Anything else stays as it is. */
static int field_string(const Field *f, char **ret) {
        char *s = malloc(f->n + 1);
        size_t k = 0;

        if (!s)
                return -ENOMEM;
        for (size_t i = 0; i < f->n; i++) {
                const char *e = f->s + i;

                if (e[0] == '\\' && f->n - i >= 4 && e[1] <= '3' && is_octal(e[1]) &&
                    is_octal(e[2]) && is_octal(e[3])) {
                        s[k] = (char) (((e[1] - '0') << 6) | ((e[2] - '0') << 3) | (e[3] - '0'));
                        i += 3;
                } else
                        s[k] = e[0];
                if (s[k++] == '\0') {
                        free(s);
                        return -EBADMSG;
                }
        }
        s[k] = '\0';
        *ret = s;
        return 0;
}

static int take_int(const char **p, const char *end, int *ret) {
        Field f;
        int r = take_field(p, end, &f);

        return r < 0 ? r : field_int(&f, ret);
}

static int take_string(const char **p, const char *end, char **ret) {
        Field f;
        int r = take_field(p, end, &f);

        return r < 0 ? r : field_string(&f, ret);
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue": proc_pid_mountinfo(5). What has
 * been filled in stays in *m on failure, for mount_done(). */
static int parse_line(const char *p, const char *end, Mount *m) {
        Field f;
        int r;

        r = take_int(&p, end, &m->id);
        if (r < 0)
                return r;
        r = take_int(&p, end, &m->parent_id);
        if (r < 0)
                return r;
        r = take_field(&p, end, &f);
        if (r < 0)
                return r;
        r = field_dev(&f, &m->dev);
        if (r < 0)
                return r;
        r = take_string(&p, end, &m->root);
        if (r < 0)
                return r;
        r = take_string(&p, end, &m->target);
        if (r < 0)
                return r;
        r = take_string(&p, end, &m->options);
        if (r < 0)
                return r;
        do { /* zero or more optional fields, up to the hyphen */
                r = take_field(&p, end, &f);
                if (r < 0)
                        return r;
        } while (f.n != 1 || f.s[0] != '-');
        r = take_string(&p, end, &m->fstype);
        if (r < 0)
                return r;
        r = take_string(&p, end, &m->source);
        if (r < 0)
                return r;
        return take_string(&p, end, &m->super_options);
}

static int grow(MountTable *t, size_t *room) {
        size_t wanted = *room ? 2 * *room : 64;
        Mount *grown;

        if (t->n < *room)
                return 0;
        grown = reallocarray(t->mounts, wanted, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        t->mounts = grown;
        *room = wanted;
        return 0;
}

int mountinfo_parse(const char *data, size_t size, MountTable *ret) {
        _cleanup_(mount_table_done) MountTable t = {0};
        const char *p = data, *end = data + size;
        size_t room = 0;

        while (p < end) {
                const char *eol = memchr(p, '\n', (size_t) (end - p));
                int r;

                if (!eol)
                        eol = end;
                r = grow(&t, &room);
                if (r < 0)
                        return r;
                t.mounts[t.n++] = (Mount){0};
                r = parse_line(p, eol, &t.mounts[t.n - 1]);
                if (r < 0)
                        return r;
                p = eol < end ? eol + 1 : end;
        }
        *ret = t;
        t = (MountTable){0};
        return 0;
}

/* Does `path` lead to `target` or below it? Both absolute, without a trailing slash. */
static bool lies_on(const char *path, const char *target) {
        size_t n = strlen(target);

        if (strcmp(target, "/") == 0)
                return path[0] == '/';
        return strncmp(path, target, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static bool has_id(const MountTable *t, int id) {
        for (size_t i = 0; i < t->n; i++)
                if (t->mounts[i].id == id)
                        return true;
        return false;
}

/* Is `m` mounted on `parent`? Without a parent: is it where the walk begins (its parent lies outside of our root)? */
static bool is_child(const MountTable *t, const Mount *m, const Mount *parent) {
        if (parent)
                return m->parent_id == parent->id && m != parent;
        return m->parent_id == m->id || !has_id(t, m->parent_id);
}

/* The mount that a walk along `path` meets next after `from`: the one with the shortest target. */
static const Mount *step(const MountTable *t, const Mount *from, const char *path) {
        const Mount *next = NULL;

        for (size_t i = 0; i < t->n; i++) {
                const Mount *m = &t->mounts[i];

                if (lies_on(path, m->target) && is_child(t, m, from) &&
                    (!next || strlen(m->target) <= strlen(next->target)))
                        next = m;
        }
        return next;
}

/* Follows the path from mount to mount as the kernel does, so that a mount below a directory that has been mounted over
 * since is not taken for a visible one. Two mounts on one directory are parent and child. The bound is against ids that
 * go in a circle. */
const Mount *mount_table_covering(const MountTable *t, const char *path) {
        const Mount *at = NULL;

        for (size_t i = 0; i < t->n; i++) {
                const Mount *next = step(t, at, path);

                if (!next)
                        break;
                at = next;
        }
        return at;
}

const Mount *mount_table_find(const MountTable *t, const char *path) {
        const Mount *m = mount_table_covering(t, path);

        return m && strcmp(m->target, path) == 0 ? m : NULL;
}
