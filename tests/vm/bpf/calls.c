/* SPDX-License-Identifier: MIT */
/*
 * calls DIR OUTSIDE: every call that changes a tree, once, against what test_bpf.sh has laid out in DIR: all are expected to fail with
 * EPERM. Prints "op path" for each, as the report should have it; a call that did not fail so is told on standard error.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define EXCHANGE 2U /* RENAME_EXCHANGE */

static int failures;

static const char *in(const char *dir, const char *name) {
        static char names[4][4096];
        static unsigned turn;
        char *at = names[turn++ % 4];

        (void) snprintf(at, sizeof names[0], "%s/%s", dir, name);
        return at;
}

static void expect(const char *call, const char *op, const char *path, long r) {
        int error = errno;

        if (r >= 0 || error != EPERM) {
                fprintf(stderr, "calls: %s %s: %s\n", call, path,
                        r < 0 ? strerror(error) : "was not refused");
                failures++;
        }
        printf("%s %s\n", op, path);
}

static int exchange(const char *a, const char *b) {
        return (int) syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, EXCHANGE);
}

static void opens(const char *d) {
        expect("open O_WRONLY", "modify", in(d, "write"), open(in(d, "write"), O_WRONLY));
        expect("open O_RDWR", "modify", in(d, "readwrite"), open(in(d, "readwrite"), O_RDWR));
        expect(">", "modify", in(d, "empty"),
               open(in(d, "empty"), O_WRONLY | O_CREAT | O_TRUNC, 0644));
        expect(">>", "modify", in(d, "append"),
               open(in(d, "append"), O_WRONLY | O_CREAT | O_APPEND, 0644));
        expect("O_RDONLY|O_TRUNC", "modify", in(d, "readtrunc"),
               open(in(d, "readtrunc"), O_RDONLY | O_TRUNC));
        expect("> new", "create", in(d, "new"),
               open(in(d, "new"), O_WRONLY | O_CREAT | O_TRUNC, 0644));
        expect("O_EXCL", "create", in(d, "excl"),
               open(in(d, "excl"), O_RDWR | O_CREAT | O_EXCL, 0600));
        expect("truncate", "modify", in(d, "trunc"), truncate(in(d, "trunc"), 1));
}

static void names(const char *d, const char *out) {
        expect("mkdir", "create", in(d, "newdir"), mkdir(in(d, "newdir"), 0755));
        expect("mknod", "create", in(d, "fifo"), mknod(in(d, "fifo"), S_IFIFO | 0600, 0));
        expect("symlink", "create", in(d, "symlink"), symlink("write", in(d, "symlink")));
        expect("link", "create", in(d, "hardlink"), link(in(d, "source"), in(d, "hardlink")));
        expect("unlink", "delete", in(d, "victim"), unlink(in(d, "victim")));
        expect("rmdir", "delete", in(d, "emptydir"), rmdir(in(d, "emptydir")));
        expect("rename", "rename", in(d, "moved"), rename(in(d, "move"), in(d, "moved")));
        expect("rename over", "rename", in(d, "target"), rename(in(d, "over"), in(d, "target")));
        if (!out)
                return;
        expect("rename in", "rename", in(d, "arrived"),
               rename(in(out, "arrive"), in(d, "arrived")));
        expect("rename out", "rename", in(d, "leave"), rename(in(d, "leave"), in(out, "left")));
        errno = 0;
        if (exchange(in(d, "swap1"), in(d, "swap2")) < 0 && errno == EINVAL)
                return; /* this filesystem has none */
        /* the kernel asks the other way round first */
        expect("exchange", "rename", in(d, "swap3"), exchange(in(d, "swap3"), in(d, "swap4")));
        printf("rename %s\n", in(d, "swap1"));
}

static void attributes(const char *d) {
        const struct timespec times[2] = {{1, 0}, {1, 0}};

        expect("chmod", "metadata", in(d, "mode"), chmod(in(d, "mode"), 0600));
        expect("chown", "metadata", in(d, "owner"), chown(in(d, "owner"), 1, 1));
        expect("utimensat", "metadata", in(d, "times"),
               utimensat(AT_FDCWD, in(d, "times"), times, 0));
        expect("setxattr", "metadata", in(d, "xattr"),
               setxattr(in(d, "xattr"), "user.test", "1", 1, 0));
}

int main(int argc, char **argv) {
        int fd;

        if (argc < 2)
                return 2;
        /* what only reads is let, O_CREAT or not */
        fd = open(in(argv[1], "readcreat"), O_RDONLY | O_CREAT, 0644);
        if (fd < 0) {
                fprintf(stderr, "calls: open for reading: %s\n", strerror(errno));
                failures++;
        }
        opens(argv[1]);
        names(argv[1], argc > 2 ? argv[2] : NULL);
        attributes(argv[1]);
        return failures > 0;
}
