/* SPDX-License-Identifier: MIT */
/*
 * The resolver against the kernel: a path made of the input's bytes must lead to the same object, or to none, by both. The
 * process is its own caller. Everything is opened with O_PATH, so that nothing that is found can be harmed.
 */
#include "daemon/kernel/guard_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TOP 72

static const char *const words[] = {
        "/",
        "/",
        "/",
        "a",
        "b",
        "f",
        "..",
        ".",
        "//",
        "to_a",
        "to_f",
        "abs",
        "loop",
        "gone",
        "chain",
        "/proc/self/cwd",
        "/proc/thread-self/cwd",
        "self",
        "fd",
        "/proc/",
        "/dev/fd/70",
        "root",
        "cwd",
        "/proc/self/fd/71",
        "exe",
        "new",
        " ",
        "(deleted)",
        "\xff",
        "70",
        "to_proc",
        "deep",
};

typedef struct Tree {
        Walker walker;
        char directory[32];
        bool ready;
} Tree;

static Tree tree;

static void check(bool holds) {
        if (!holds)
                abort();
}

static void put_fd(const char *path, int number) {
        int fd = open(path, O_PATH | O_CLOEXEC);

        check(fd >= 0 && dup3(fd, number, O_CLOEXEC) == number);
        (void) close(fd);
}

static void remove_tree(void) {
        static const char *const names[] = {"a/b/f", "a/b/chain", "a/b", "a",    "f",
                                            "to_a",  "to_f",      "abs", "loop", "gone",
                                            "chain", "to_proc",   "deep"};

        for (size_t i = 0; i < ELEMENTSOF(names); i++)
                if (unlinkat(TOP, names[i], 0) < 0)
                        (void) unlinkat(TOP, names[i], AT_REMOVEDIR);
        (void) rmdir(tree.directory);
}

static void put_link(int top, const char *name, const char *target) {
        check(symlinkat(target, top, name) == 0);
}

/* a/b/f, and ways there. The working directory stays: corpora are found from there. */
static void make_tree(void) {
        char *directory = strcpy(tree.directory, "/tmp/mwfuzz.XXXXXX"), absolute[64];
        _cleanup_close_ int top = -1;

        check(mkdtemp(directory) != NULL);
        top = open(directory, O_PATH | O_CLOEXEC);
        (void) snprintf(absolute, sizeof(absolute), "%s/a/b", directory);
        check(mkdirat(top, "a", 0700) == 0 && mkdirat(top, "a/b", 0700) == 0);
        check(mknodat(top, "f", S_IFREG | 0600, 0) == 0 &&
              mknodat(top, "a/b/f", S_IFREG | 0600, 0) == 0);
        put_link(top, "to_a", "a");
        put_link(top, "to_f", "to_a/b/f");
        put_link(top, "abs", absolute);
        put_link(top, "loop", "loop");
        put_link(top, "gone", "a/new");
        put_link(top, "chain", "to_a/b/");
        put_link(top, "a/b/chain", "../../chain");
        put_link(top, "to_proc", "/proc/self/fd/70/b");
        put_link(top, "deep", "a/b/../b/./chain/f");
        put_fd(absolute, 71);
        absolute[strlen(absolute) - 2] = '\0';
        put_fd(absolute, 70);
        put_fd(directory, TOP);
        check(walker_init(&tree.walker) == 0);
        tree.ready = true;
        check(atexit(remove_tree) == 0);
}

static void make_path(const uint8_t *data, size_t size, char path[static PATH_MAX * 2]) {
        size_t n = 0;

        for (size_t i = 0; i < size && n < PATH_MAX; i++) {
                const char *word = words[data[i] % ELEMENTSOF(words)];

                memcpy(path + n, word, strlen(word));
                n += strlen(word);
        }
        path[n] = '\0';
}

static bool is_proc(int fd) {
        struct statfs s;

        return fstatfs(fd, &s) == 0 && s.f_type == PROC_SUPER_MAGIC;
}

static bool same_object(int a, int b) {
        struct stat x, y;

        if (is_proc(a) && is_proc(b))
                return true;
        check(fstat(a, &x) == 0 && fstat(b, &y) == 0);
        return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void compare_objects(const CallPath *p, const char *path) {
        _cleanup_close_ int fd =
                openat(p->dirfd, path, O_PATH | O_CLOEXEC | (p->follow ? 0 : O_NOFOLLOW));
        Spot s;
        int r = walker_find_object(&tree.walker, p, 0, /* create= */ false, &s);

        check((r >= 0) == (fd >= 0));
        if (r < 0)
                return;
        check(s.object >= 0 && same_object(s.object, fd));
        spot_done(&s);
}

/* What would be made is not there, and is where the kernel would look for it. */
static void compare_new(const CallPath *p, const char *path) {
        Spot s;
        int fd;

        if (walker_find_object(&tree.walker, p, 0, /* create= */ true, &s) < 0)
                return;
        /* with a slash behind it nothing is made by an open */
        if (s.object < 0 && !s.slash) {
                check(s.parent >= 0 && s.name[0] && !strchr(s.name, '/'));
                check(faccessat(s.parent, s.name, F_OK, AT_SYMLINK_NOFOLLOW) < 0);
                fd = openat(p->dirfd, path, O_PATH | O_CLOEXEC);
                check(fd < 0);
        }
        spot_done(&s);
}

static void compare_names(const CallPath *p, const char *path) {
        struct stat by_kernel, by_us;
        Spot s;

        if (walker_find_name(&tree.walker, p, &s) < 0)
                return;
        check(s.parent >= 0 && s.name[0] && !strchr(s.name, '/'));
        /* entries of procfs have other inodes by every way */
        if (!s.slash && !is_proc(s.parent) &&
            fstatat(p->dirfd, path, &by_kernel, AT_SYMLINK_NOFOLLOW) == 0) {
                check(fstatat(s.parent, s.name, &by_us, AT_SYMLINK_NOFOLLOW) == 0);
                check(by_kernel.st_ino == by_us.st_ino && by_kernel.st_dev == by_us.st_dev);
        }
        spot_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        char path[PATH_MAX * 2];
        CallPath p = {.dirfd = AT_FDCWD, .address = (uintptr_t) path};

        if (size == 0)
                return 0;
        if (!tree.ready)
                make_tree();
        make_path(data + 1, size - 1, path);
        p.follow = data[0] & 1;
        p.dirfd = data[0] & 2 ? 70 : TOP;
        walker_enter(&tree.walker, (pid_t) syscall(SYS_gettid), 1, data[0] & 4);
        compare_objects(&p, path);
        compare_new(&p, path);
        compare_names(&p, path);
        return 0;
}
