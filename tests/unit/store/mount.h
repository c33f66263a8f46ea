/* SPDX-License-Identifier: MIT */
/* A real filesystem in a mount namespace of the test's own; a watched folder on it, and a folder for the state. */
#ifndef MOUNTWATCH_TESTS_STORE_MOUNT_H
#define MOUNTWATCH_TESTS_STORE_MOUNT_H

#include "tests/unit/store/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>

typedef struct Mount {
        char dir[64];            /* of the test */
        char top[80], watch[96]; /* of the filesystem; of the watch */
        char state[96];
} Mount;

static _unused_ int shell_status(const char *format, va_list ap) {
        char command[4096];

        assert_true((size_t) vsnprintf(command, sizeof command, format, ap) < sizeof command);
        return system(command);
}

/* In the watched folder's filesystem: mount_shell() goes there first. */
static _unused_ void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static _unused_ void shell(const char *format, ...) {
        va_list ap;
        int r;

        va_start(ap, format);
        r = shell_status(format, ap);
        va_end(ap);
        assert_int_equal(r, 0);
}

/* The caller frees. */
static _unused_ char *shell_output(const char *format, ...) __attribute__((format(printf, 1, 2)));
static _unused_ char *shell_output(const char *format, ...) {
        char command[4096], *text = NULL;
        size_t size = 0;
        FILE *p, *out;
        va_list ap;
        int c;

        va_start(ap, format);
        (void) vsnprintf(command, sizeof command, format, ap);
        va_end(ap);
        p = popen(command, "r");
        out = open_memstream(&text, &size);
        assert_non_null(p);
        assert_non_null(out);
        while ((c = fgetc(p)) != EOF)
                (void) fputc(c, out);
        (void) pclose(p);
        (void) fclose(out);
        return text;
}

/* "tmpfs", or what mkfs.TYPE makes on a loop device. same: the state lies on it too. False, with the reason told: not here. */
static _unused_ bool mount_open(Mount *m, const char *type, bool same) {
        if (geteuid() != 0) {
                print_message("skipped: needs root\n");
                return false;
        }
        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
                print_message("skipped: no mount namespace: %s\n", strerror(errno));
                return false;
        }
        (void) strcpy(m->dir, "/tmp/mwstore.XXXXXX");
        assert_non_null(mkdtemp(m->dir));
        (void) snprintf(m->top, sizeof m->top, "%s/fs", m->dir);
        (void) snprintf(m->watch, sizeof m->watch, "%s/w", m->top);
        (void) snprintf(m->state, sizeof m->state, "%s/state", same ? m->top : m->dir);
        assert_int_equal(mkdir(m->top, 0755), 0);
        if (str_equal(type, "tmpfs"))
                shell("mount -t tmpfs test %s", m->top);
        else {
                char *have = shell_output("command -v mkfs.%s", type);
                bool found = have[0];

                free(have);
                if (!found) {
                        print_message("skipped: no mkfs.%s\n", type);
                        shell("rm -rf %s", m->dir);
                        return false;
                }
                shell("truncate -s 320M %s/image && mkfs.%s -q %s/image >/dev/null && "
                      "mount -o loop %s/image %s",
                      m->dir, type, m->dir, m->dir, m->top);
        }
        shell("mkdir %s", m->watch);
        return true;
}

static _unused_ void mount_close(Mount *m) {
        shell("umount %s && rm -rf %s", m->top, m->dir);
}

static _unused_ void print_xattrs(FILE *out, const char *path) {
        char names[4096], value[4096];
        ssize_t n = llistxattr(path, names, sizeof names);

        for (const char *name = names; n > 0 && name < names + n; name += strlen(name) + 1) {
                ssize_t size = lgetxattr(path, name, value, sizeof value);

                (void) fprintf(out, "%s %s=", path, name);
                for (ssize_t i = 0; i < size; i++)
                        (void) fprintf(out, "%02x", (unsigned char) value[i]);
                (void) fputc('\n', out);
        }
}

/* Everything about a tree that undo has to bring back, as text: names, kinds, modes, owners, sizes, times, link targets, link
 * counts, contents, attributes. */
static _unused_ char *tree_text(const char *path) {
        _cleanup_free_ char *stats =
                shell_output("cd %s && find . -printf '%%p %%y %%m %%U %%G %%T@ %%l\n' | sort; "
                             "cd %s && find . -type f -printf '%%p %%s %%n\n' | sort; "
                             "cd %s && find . -type f -print0 | sort -z | xargs -0r sha256sum",
                             path, path, path);
        _cleanup_free_ char *names = shell_output("find %s | sort", path);
        char *text = NULL, *save = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);

        assert_non_null(out);
        (void) fputs(stats, out);
        for (char *name = strtok_r(names, "\n", &save); name; name = strtok_r(NULL, "\n", &save))
                print_xattrs(out, name);
        (void) fclose(out);
        return text;
}

static _unused_ void write_text(const char *path, const char *text) {
        FILE *f = fopen(path, "w");

        assert_non_null(f);
        (void) fputs(text, f);
        (void) fclose(f);
}

/* The tree is as the text says; else the differences are shown. */
static _unused_ void assert_tree(const Mount *m, const char *path, const char *text) {
        _cleanup_free_ char *now = tree_text(path);
        char before[128], after[128];

        if (str_equal(now, text))
                return;
        (void) snprintf(before, sizeof before, "%s/before", m->dir);
        (void) snprintf(after, sizeof after, "%s/after", m->dir);
        write_text(before, text);
        write_text(after, now);
        shell("diff %s %s; true", before, after);
        fail_msg("the tree is not as it was");
}

#endif
