/* SPDX-License-Identifier: MIT */
/* Every guarded call on real filesystems, by whatever way a path may lead there. */
#include "daemon/kernel/mountinfo.h"
#include "guard_fixture.h"

#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <utime.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static Fixture fixture;

#define ACTION(name, ...)             \
        static long name(void) {      \
                return (__VA_ARGS__); \
        }

static const struct timespec times[2] = {{1, 0}, {2, 0}};
static const struct timeval timevals[2] = {{1, 0}, {2, 0}};

static int open_fd(const char *path, int flags) {
        return (int) syscall(SYS_openat, AT_FDCWD, path, flags, 0666);
}

/* ---- plain calls ---- */

ACTION(a_unlink, syscall(SYS_unlink, "w/f"))
ACTION(a_unlink_missing, syscall(SYS_unlink, "w/nothing"))
ACTION(a_unlink_dir, syscall(SYS_unlink, "w/d"))
ACTION(a_unlinkat, syscall(SYS_unlinkat, AT_FDCWD, "w/d/g", 0))
ACTION(a_unlinkat_rmdir, syscall(SYS_unlinkat, AT_FDCWD, "w/e", AT_REMOVEDIR))
ACTION(a_rmdir, syscall(SYS_rmdir, "w/e/"))
ACTION(a_rmdir_full, syscall(SYS_rmdir, "w/d"))
ACTION(a_rmdir_file, syscall(SYS_rmdir, "w/f"))
ACTION(a_rmdir_dots, syscall(SYS_rmdir, "w/e/."))
ACTION(a_unlink_link, syscall(SYS_unlink, "w/ln"))
ACTION(a_mkdir, syscall(SYS_mkdir, "w/new/", 0777))
ACTION(a_mkdir_there, syscall(SYS_mkdir, "w/d", 0777))
ACTION(a_mkdirat, syscall(SYS_mkdirat, AT_FDCWD, "w/d/new", 0777))
ACTION(a_mknod, syscall(SYS_mknod, "w/fifo", S_IFIFO | 0600, 0))
ACTION(a_mknod_file, syscall(SYS_mknod, "w/file", 0600, 0))
ACTION(a_mknodat, syscall(SYS_mknodat, AT_FDCWD, "w/dev", S_IFCHR | 0600, makedev(1, 3)))
ACTION(a_symlink, syscall(SYS_symlink, "w/f", "w/s"))
ACTION(a_symlinkat, syscall(SYS_symlinkat, "x", AT_FDCWD, "w/s"))
ACTION(a_link, syscall(SYS_link, "w/f", "w/h"))
ACTION(a_link_of_link, syscall(SYS_link, "w/ln", "w/h"))
ACTION(a_linkat_follow, syscall(SYS_linkat, AT_FDCWD, "w/ln", AT_FDCWD, "w/h", AT_SYMLINK_FOLLOW))
ACTION(a_link_across, syscall(SYS_link, "o/f", "w/h"))
ACTION(a_link_out, syscall(SYS_link, "w/f", "o/h"))
ACTION(a_link_dir, syscall(SYS_link, "w/d", "w/h"))
ACTION(a_link_missing, syscall(SYS_link, "w/nothing", "w/h"))
ACTION(a_truncate, syscall(SYS_truncate, "w/f", 0))
ACTION(a_truncate_link, syscall(SYS_truncate, "o/to_f", 1))
ACTION(a_truncate_dir, syscall(SYS_truncate, "w/d", 0))
ACTION(a_chmod, syscall(SYS_chmod, "w/f", 0600))
ACTION(a_chmod_root, syscall(SYS_chmod, "w", 0755))
ACTION(a_chmod_link, syscall(SYS_chmod, "w/ln", 0600))
ACTION(a_fchmodat, syscall(SYS_fchmodat, AT_FDCWD, "w/d/g", 0600))
ACTION(a_fchmodat2, syscall(SYS_fchmodat2, AT_FDCWD, "w/f", 0600, 0))
ACTION(a_chown, syscall(SYS_chown, "w/ln", 1, 1))
ACTION(a_lchown, syscall(SYS_lchown, "w/ln", 1, 1))
ACTION(a_fchownat, syscall(SYS_fchownat, AT_FDCWD, "w/ln", 1, 1, AT_SYMLINK_NOFOLLOW))
ACTION(a_utime, syscall(SYS_utime, "w/f", NULL))
ACTION(a_utimes, syscall(SYS_utimes, "w/f", timevals))
ACTION(a_futimesat, syscall(SYS_futimesat, AT_FDCWD, "w/f", timevals))
ACTION(a_utimensat, syscall(SYS_utimensat, AT_FDCWD, "w/d", times, 0))
ACTION(a_setxattr, syscall(SYS_setxattr, "w/ln", "trusted.x", "1", 1, 0))
ACTION(a_lsetxattr, syscall(SYS_lsetxattr, "w/f", "trusted.x", "1", 1, 0))
ACTION(a_removexattr, syscall(SYS_removexattr, "w/xattr", "trusted.y"))
ACTION(a_lremovexattr, syscall(SYS_lremovexattr, "w/xattr", "trusted.y"))

/* ---- renames ---- */

ACTION(a_rename, syscall(SYS_rename, "w/f", "w/n"))
ACTION(a_rename_over, syscall(SYS_rename, "w/f", "w/d/g"))
ACTION(a_rename_dir, syscall(SYS_renameat, AT_FDCWD, "w/d", AT_FDCWD, "w/n/"))
ACTION(a_rename_missing, syscall(SYS_rename, "w/nothing", "w/n"))
ACTION(a_rename_across, syscall(SYS_rename, "o/f", "w/n"))
ACTION(a_rename_in, syscall(SYS_rename, "fs/p/f", "fs/w/n"))
ACTION(a_rename_in_over, syscall(SYS_rename, "fs/p/f", "fs/w/f"))
ACTION(a_rename_out, syscall(SYS_rename, "fs/w/f", "p/n"))
ACTION(a_rename_other_mount, syscall(SYS_rename, "w/f", "p/n"))
ACTION(a_rename_dir_over_full, syscall(SYS_rename, "w/e", "w/d"))
ACTION(a_rename_file_over_dir, syscall(SYS_rename, "w/f", "w/e"))
ACTION(a_rename_same, syscall(SYS_rename, "w/f", "w/hard"))
ACTION(a_rename_root, syscall(SYS_rename, "fs/w", "fs/elsewhere"))
ACTION(a_noreplace, syscall(SYS_renameat2, AT_FDCWD, "w/f", AT_FDCWD, "w/d/g", RENAME_NOREPLACE))
ACTION(a_exchange, syscall(SYS_renameat2, AT_FDCWD, "w/f", AT_FDCWD, "w/d", RENAME_EXCHANGE))
ACTION(a_exchange_in,
       syscall(SYS_renameat2, AT_FDCWD, "fs/p/f", AT_FDCWD, "fs/w/f", RENAME_EXCHANGE))

/* ---- opens ---- */

ACTION(a_open_write, syscall(SYS_open, "w/f", O_WRONLY))
ACTION(a_open_append, syscall(SYS_open, "w/f", O_RDWR | O_APPEND))
ACTION(a_open_trunc, syscall(SYS_openat, AT_FDCWD, "w/f", O_WRONLY | O_TRUNC))
ACTION(a_open_trunc_reading, syscall(SYS_open, "w/f", O_RDONLY | O_TRUNC))
ACTION(a_open_read, syscall(SYS_open, "w/f", O_RDONLY))
ACTION(a_open_create, syscall(SYS_open, "w/n", O_WRONLY | O_CREAT, 0666))
ACTION(a_open_create_there, syscall(SYS_open, "w/f", O_RDONLY | O_CREAT, 0666))
ACTION(a_open_excl_there, syscall(SYS_open, "w/f", O_RDWR | O_CREAT | O_EXCL, 0666))
ACTION(a_open_excl, syscall(SYS_open, "w/n", O_RDWR | O_CREAT | O_EXCL, 0666))
ACTION(a_open_dir, syscall(SYS_open, "w/d", O_RDWR))
ACTION(a_open_tmpfile, syscall(SYS_open, "w", O_TMPFILE | O_RDWR, 0666))
ACTION(a_open_fifo, syscall(SYS_open, "w/pipe", O_RDWR))
ACTION(a_open_link, syscall(SYS_open, "o/to_f", O_WRONLY))
ACTION(a_open_nofollow, syscall(SYS_open, "w/ln", O_WRONLY | O_NOFOLLOW))
ACTION(a_open_dangling, syscall(SYS_open, "o/dangling", O_WRONLY | O_CREAT, 0666))
ACTION(a_open_dangling_excl, syscall(SYS_open, "o/dangling", O_WRONLY | O_CREAT | O_EXCL, 0666))
ACTION(a_open_slash, syscall(SYS_open, "w/n/", O_WRONLY | O_CREAT, 0666))
ACTION(a_open_path, syscall(SYS_open, "w/f", O_PATH | O_RDWR))
ACTION(a_creat, syscall(SYS_creat, "w/n", 0666))
ACTION(a_creat_there, syscall(SYS_creat, "w/f", 0666))

static long open2(const char *path, uint64_t flags, uint64_t resolve, int dirfd) {
        const struct open_how how = {.flags = flags,
                                     .mode = flags & O_CREAT ? 0666 : 0,
                                     .resolve = resolve};

        return syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
}

ACTION(a_openat2, open2("w/f", O_RDWR, 0, AT_FDCWD))
ACTION(a_openat2_read, open2("w/f", O_RDONLY, 0, AT_FDCWD))
ACTION(a_openat2_in_root, open2("/up", O_RDWR | O_TRUNC, RESOLVE_IN_ROOT, open_fd("w", O_RDONLY)))
ACTION(a_openat2_bad, syscall(SYS_openat2, AT_FDCWD, "w/f", NULL, 24))

static long a_open_by_handle(void) {
        union {
                struct file_handle h;
                char room[sizeof(struct file_handle) + 128];
        } u = {.h.handle_bytes = 128};
        int id;

        if (name_to_handle_at(AT_FDCWD, "w/d/g", &u.h, &id, 0) < 0)
                return -1;
        return syscall(SYS_open_by_handle_at, open_fd("w", O_RDONLY), &u.h, O_WRONLY);
}

/* ---- ways ---- */

ACTION(a_dirfd, syscall(SYS_unlinkat, open_fd("w/d", O_PATH), "g", 0))
ACTION(a_dirfd_dots, syscall(SYS_unlinkat, open_fd("w/d", O_RDONLY), ".././d//../f", 0))
ACTION(a_link_between, syscall(SYS_unlink, "o/to_d/g"))
ACTION(a_link_chain, syscall(SYS_unlink, "o/chain/g"))
ACTION(a_slashes, syscall(SYS_unlink, "w///d/.//g"))
ACTION(a_outside, syscall(SYS_unlink, "o/f"))
ACTION(a_beside, syscall(SYS_unlink, "fs/p/f"))
ACTION(a_inner, syscall(SYS_unlink, "fs/w/f"))
ACTION(a_null, syscall(SYS_unlink, NULL))
ACTION(a_empty, syscall(SYS_unlink, ""))
ACTION(a_bad_fd, syscall(SYS_unlinkat, 999, "f", 0))
ACTION(a_loop, syscall(SYS_chmod, "o/loop", 0600))

static long a_absolute(void) {
        char path[128];

        (void) snprintf(path, sizeof(path), "%s/w/f", fixture.base);
        return syscall(SYS_unlink, path);
}

/* The string ends on the last byte of the last page. */
static long a_page_end(void) {
        char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (p == MAP_FAILED || munmap(p + 4096, 4096) < 0)
                return -1;
        memcpy(p + 4096 - 4, "w/f", 4);
        return syscall(SYS_unlink, p + 4096 - 4);
}

static long a_page_crossing(void) {
        char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (p == MAP_FAILED)
                return -1;
        memcpy(p + 4096 - 2, "w/f", 4);
        return syscall(SYS_unlink, p + 4096 - 2);
}

static long a_too_long(void) {
        static char path[8192];

        memset(path, 'a', sizeof(path) - 1);
        return syscall(SYS_unlink, path);
}

static long proc_self(const char *directory, int fd, long number) {
        char path[64];

        (void) snprintf(path, sizeof(path), "%s/%d", directory, fd);
        return number == SYS_truncate ? syscall(SYS_truncate, path, 0)
                                      : syscall(number, path, O_WRONLY);
}

ACTION(a_proc_self_fd, proc_self("/proc/self/fd", open_fd("w/f", O_PATH), SYS_truncate))
ACTION(a_thread_self_fd, proc_self("/proc/thread-self/fd", open_fd("w/f", O_RDONLY), SYS_open))
ACTION(a_dev_fd, proc_self("/dev/fd", open_fd("w/f", O_RDONLY), SYS_open))
ACTION(a_proc_self_cwd, syscall(SYS_unlink, "/proc/self/cwd/w/f"))
ACTION(a_proc_self_fd_dir,
       syscall(SYS_unlinkat, open_fd("/proc/self/fd", O_RDONLY), "3/nothing", 0))

static long a_proc_self_fd_below(void) {
        char path[64];

        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d/g", open_fd("w/d", O_PATH));
        return syscall(SYS_unlink, path);
}

static long a_linkat_proc(void) {
        char path[64];
        int fd = open_fd("w", O_TMPFILE | O_RDWR);

        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        return syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, "w/tmp", AT_SYMLINK_FOLLOW);
}

ACTION(a_linkat_empty,
       syscall(SYS_linkat, open_fd("w", O_TMPFILE | O_RDWR), "", AT_FDCWD, "w/tmp", AT_EMPTY_PATH))
ACTION(a_fchownat_empty, syscall(SYS_fchownat, open_fd("w/f", O_PATH), "", 1, 1, AT_EMPTY_PATH))
ACTION(a_fchmod, syscall(SYS_fchmod, open_fd("w/f", O_RDONLY), 0600))
ACTION(a_fchmod_outside, syscall(SYS_fchmod, open_fd("o/f", O_RDONLY), 0600))
ACTION(a_fchmod_bad, syscall(SYS_fchmod, 999, 0600))
ACTION(a_fchown, syscall(SYS_fchown, open_fd("w/d", O_RDONLY), 1, 1))
ACTION(a_fsetxattr, syscall(SYS_fsetxattr, open_fd("w/f", O_RDONLY), "trusted.x", "1", 1, 0))
ACTION(a_fremovexattr, syscall(SYS_fremovexattr, open_fd("w/xattr", O_RDONLY), "trusted.y"))
ACTION(a_futimens, syscall(SYS_utimensat, open_fd("w/f", O_RDONLY), NULL, times, 0))

static long p_unlinked(void) {
        int fd = open_fd("w/f", O_RDONLY);

        return fd < 0 || dup2(fd, 50) < 0 || unlink("w/f") < 0 ? -1 : 0;
}
ACTION(a_fchmod_unlinked, syscall(SYS_fchmod, 50, 0600))

ACTION(p_in_w, chdir("w"))
ACTION(a_relative, syscall(SYS_unlink, "d/g"))
ACTION(a_relative_up, syscall(SYS_unlink, "../w/f"))

ACTION(p_chroot, chroot("w") < 0 || chdir("/") < 0 ? -1 : 0)
ACTION(a_in_chroot, syscall(SYS_unlink, "/../../d/g"))
ACTION(a_in_chroot_link, syscall(SYS_open, "/up", O_WRONLY))
ACTION(p_chroot_outside, chroot("w/d") < 0 ? -1 : 0)
ACTION(a_outside_chroot, syscall(SYS_unlink, "w/f"))

static long p_namespace(void) {
        if (unshare(CLONE_NEWNS) < 0 || mkdir("o/m", 0755) < 0 ||
            mount("w/d", "o/m", NULL, MS_BIND, NULL) < 0)
                return -1;
        return 0;
}
ACTION(a_in_namespace, syscall(SYS_unlink, "o/m/g"))

static long p_bind_file(void) {
        int fd = creat("o/bound", 0600);

        return fd < 0 || unshare(CLONE_NEWNS) < 0 ||
                        mount("w/f", "o/bound", NULL, MS_BIND, NULL) < 0
                ? -1
                : 0;
}
ACTION(a_bind_file, syscall(SYS_open, "o/bound", O_WRONLY | O_TRUNC))

static void *thread_unlink(void *result) {
        long *r = result;

        /* a working directory of its own */
        if (unshare(CLONE_FS) < 0 || chdir("w/d") < 0)
                return NULL;
        *r = syscall(SYS_unlink, "g") < 0 ? -errno : 0;
        return NULL;
}

static long a_thread(void) {
        pthread_t t;
        long r = -1;

        if (pthread_create(&t, NULL, thread_unlink, &r) != 0 || pthread_join(t, NULL) != 0)
                return -1;
        errno = (int) -r;
        return r;
}

#ifdef __x86_64__
/* As a 32-bit program enters the kernel: other numbers, addresses below 4 GiB. */
static long i386(long number, const char *path, long b, long c) {
        char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
        long r = number;

        if (low == MAP_FAILED)
                return -1;
        strcpy(low, path);
        if (number == 295) /* openat: the path comes second */
                __asm__ volatile("int $0x80"
                                 : "+a"(r)
                                 : "b"((long) AT_FDCWD), "c"(low), "d"(b)
                                 : "memory");
        else
                __asm__ volatile("int $0x80" : "+a"(r) : "b"(low), "c"(b), "d"(c) : "memory");
        errno = r < 0 ? (int) -r : 0;
        return r;
}

ACTION(a_i386_unlink, i386(10, "w/f", 0, 0))
ACTION(a_i386_openat, i386(295, "w/f", O_WRONLY | O_TRUNC, 0))
ACTION(a_i386_open_read, i386(5, "w/f", O_RDONLY, 0))
ACTION(a_i386_truncate64, i386(193, "w/f", 0, 0))
ACTION(a_i386_chown32, i386(212, "w/f", 1, 1))
#endif

/* What is in the upper half of a register that holds an int is not looked at. */
ACTION(a_dirty_register,
       syscall(SYS_unlinkat, 0x5555555500000000L | (uint32_t) AT_FDCWD, "w/f", 0x1234567800000000L))

typedef struct Case {
        const char *name;
        fixture_action_t prepare, action;
        const char *asked; /* "": nothing */
        int error;         /* when it is let */
} Case;

#define ASKS(action_, asked_) \
        { .name = #action_, .action = (action_), .asked = (asked_) }
#define FAILS(action_, error_) \
        { .name = #action_, .action = (action_), .asked = "", .error = (error_) }
#define PASSES(action_) \
        { .name = #action_, .action = (action_), .asked = "" }
#define PREPARED(prepare_, action_, asked_) \
        { .name = #action_, .prepare = (prepare_), .action = (action_), .asked = (asked_) }

static const Case cases[] = {
        ASKS(a_unlink, "delete file w/f"),
        FAILS(a_unlink_missing, ENOENT),
        FAILS(a_unlink_dir, EISDIR),
        ASKS(a_unlinkat, "delete file w/d/g"),
        ASKS(a_unlinkat_rmdir, "delete dir w/e"),
        ASKS(a_rmdir, "delete dir w/e"),
        FAILS(a_rmdir_full, ENOTEMPTY),
        FAILS(a_rmdir_file, ENOTDIR),
        FAILS(a_rmdir_dots, EINVAL),
        ASKS(a_unlink_link, "delete symlink w/ln"),
        ASKS(a_mkdir, "create dir w/new"),
        FAILS(a_mkdir_there, EEXIST),
        ASKS(a_mkdirat, "create dir w/d/new"),
        ASKS(a_mknod, "create other w/fifo"),
        ASKS(a_mknod_file, "create file w/file"),
        ASKS(a_mknodat, "create other w/dev"),
        ASKS(a_symlink, "create symlink w/s"),
        ASKS(a_symlinkat, "create symlink w/s"),
        ASKS(a_link, "create file w/h"),
        ASKS(a_link_of_link, "create symlink w/h"),
        ASKS(a_linkat_follow, "create file w/h"),
        FAILS(a_link_across, EXDEV),
        FAILS(a_link_out, EXDEV),
        FAILS(a_link_dir, EPERM),
        FAILS(a_link_missing, ENOENT),
        ASKS(a_truncate, "truncate file w/f"),
        ASKS(a_truncate_link, "truncate file w/f"),
        FAILS(a_truncate_dir, EISDIR),
        ASKS(a_chmod, "metadata file w/f"),
        ASKS(a_chmod_root, "metadata dir w"),
        ASKS(a_chmod_link, "metadata file w/f"),
        ASKS(a_fchmodat, "metadata file w/d/g"),
        ASKS(a_fchmodat2, "metadata file w/f"),
        ASKS(a_chown, "metadata file w/f"),
        ASKS(a_lchown, "metadata symlink w/ln"),
        ASKS(a_fchownat, "metadata symlink w/ln"),
        ASKS(a_utime, "metadata file w/f"),
        ASKS(a_utimes, "metadata file w/f"),
        ASKS(a_futimesat, "metadata file w/f"),
        ASKS(a_utimensat, "metadata dir w/d"),
        ASKS(a_setxattr, "metadata file w/f"),
        ASKS(a_lsetxattr, "metadata file w/f"),
        ASKS(a_removexattr, "metadata file w/xattr"),
        ASKS(a_lremovexattr, "metadata file w/xattr"),

        ASKS(a_rename, "rename file w/n from w/f"),
        ASKS(a_rename_over, "rename file w/d/g from w/f replaces"),
        ASKS(a_rename_dir, "rename dir w/n from w/d"),
        FAILS(a_rename_missing, ENOENT),
        FAILS(a_rename_across, EXDEV),
        ASKS(a_rename_in, "rename file w/n from fs/p/f"),
        ASKS(a_rename_in_over, "rename file w/f from fs/p/f replaces"),
        ASKS(a_rename_out, "rename file w/f to fs/p/n leaves"),
        FAILS(a_rename_other_mount, EXDEV),
        FAILS(a_rename_dir_over_full, ENOTEMPTY),
        FAILS(a_rename_file_over_dir, EISDIR),
        PASSES(a_rename_same),
        FAILS(a_noreplace, EEXIST),
        ASKS(a_exchange, "rename file w/d from w/f"),
        ASKS(a_exchange_in, "rename file w/f from fs/p/f replaces"),

        ASKS(a_open_write, "open file w/f"),
        ASKS(a_open_append, "open file w/f"),
        ASKS(a_open_trunc, "truncate file w/f"),
        ASKS(a_open_trunc_reading, "truncate file w/f"),
        PASSES(a_open_read),
        ASKS(a_open_create, "create file w/n"),
        PASSES(a_open_create_there),
        FAILS(a_open_excl_there, EEXIST),
        ASKS(a_open_excl, "create file w/n"),
        FAILS(a_open_dir, EISDIR),
        PASSES(a_open_tmpfile),
        PASSES(a_open_fifo),
        ASKS(a_open_link, "open file w/f"),
        FAILS(a_open_nofollow, ELOOP),
        ASKS(a_open_dangling, "create file w/d/dangled"),
        FAILS(a_open_dangling_excl, EEXIST),
        FAILS(a_open_slash, EISDIR),
        PASSES(a_open_path),
        ASKS(a_creat, "create file w/n"),
        ASKS(a_creat_there, "truncate file w/f"),
        ASKS(a_openat2, "open file w/f"),
        PASSES(a_openat2_read),
        ASKS(a_openat2_in_root, "truncate file w/f"),
        FAILS(a_openat2_bad, EFAULT),
        ASKS(a_open_by_handle, "open file w/d/g"),

        ASKS(a_dirfd, "delete file w/d/g"),
        ASKS(a_dirfd_dots, "delete file w/f"),
        ASKS(a_link_between, "delete file w/d/g"),
        ASKS(a_link_chain, "delete file w/d/g"),
        ASKS(a_slashes, "delete file w/d/g"),
        PASSES(a_outside),
        PASSES(a_beside),
        ASKS(a_inner, "delete file w/f"),
        FAILS(a_null, EFAULT),
        FAILS(a_empty, ENOENT),
        FAILS(a_bad_fd, EBADF),
        FAILS(a_loop, ELOOP),
        ASKS(a_absolute, "delete file w/f"),
        ASKS(a_page_end, "delete file w/f"),
        ASKS(a_page_crossing, "delete file w/f"),
        FAILS(a_too_long, ENAMETOOLONG),
        ASKS(a_proc_self_fd, "truncate file w/f"),
        ASKS(a_thread_self_fd, "open file w/f"),
        ASKS(a_dev_fd, "open file w/f"),
        ASKS(a_proc_self_cwd, "delete file w/f"),
        ASKS(a_proc_self_fd_below, "delete file w/d/g"),
        FAILS(a_proc_self_fd_dir, ENOTDIR),
        ASKS(a_linkat_proc, "create file w/tmp"),
        ASKS(a_linkat_empty, "create file w/tmp"),
        ASKS(a_fchownat_empty, "metadata file w/f"),
        ASKS(a_fchmod, "metadata file w/f"),
        PASSES(a_fchmod_outside),
        FAILS(a_fchmod_bad, EBADF),
        ASKS(a_fchown, "metadata dir w/d"),
        ASKS(a_fsetxattr, "metadata file w/f"),
        ASKS(a_fremovexattr, "metadata file w/xattr"),
        ASKS(a_futimens, "metadata file w/f"),
        PREPARED(p_unlinked, a_fchmod_unlinked, ""),
        PREPARED(p_in_w, a_relative, "delete file w/d/g"),
        PREPARED(p_in_w, a_relative_up, "delete file w/f"),
        PREPARED(p_chroot, a_in_chroot, "delete file w/d/g"),
        PREPARED(p_chroot, a_in_chroot_link, "open file w/f"),
        PREPARED(p_chroot_outside, a_outside_chroot, "delete file w/f"),
        PREPARED(p_namespace, a_in_namespace, "delete file w/d/g"),
        PREPARED(p_bind_file, a_bind_file, "truncate file w/f"),
        ASKS(a_thread, "delete file w/d/g"),
        ASKS(a_dirty_register, "delete file w/f"),
#ifdef __x86_64__
        ASKS(a_i386_unlink, "delete file w/f"),
        ASKS(a_i386_openat, "truncate file w/f"),
        PASSES(a_i386_open_read),
        ASKS(a_i386_truncate64, "truncate file w/f"),
        ASKS(a_i386_chown32, "metadata file w/f"),
#endif
        ASKS(a_rename_root, "rename dir w to fs/elsewhere leaves"),
};

static void make_tree(void) {
        run("cd %s && rm -rf w/* fs/p/* o/* fs/elsewhere && cd w && echo text >f && ln f hard && mkdir d e && echo g >d/g && "
            "ln -s f ln && ln -s /f up && mkfifo pipe && echo x >xattr && echo p >../fs/p/f && cd ../o && echo o >f && "
            "ln -s ../w/f to_f && ln -s ../w/d to_d && ln -s to_d chain && ln -s ../w/d/dangled dangling && "
            "ln -s loop loop",
            fixture.base);
        {
                char path[128];

                (void) snprintf(path, sizeof(path), "%s/w/xattr", fixture.base);
                assert_int_equal(setxattr(path, "trusted.y", "2", 1, 0), 0);
        }
}

static char *snapshot(void) {
        char command[256], *text = NULL;
        size_t n;
        FILE *f;

        (void) snprintf(
                command, sizeof(command),
                "cd %s/fs && find . -printf '%%p %%M %%U %%s %%T@ %%C@ %%l\\n' | sort && cat w/f w/d/g; "
                "getfattr -d -m - w/xattr 2>/dev/null",
                fixture.base);
        f = popen(command, "r");
        assert_non_null(f);
        (void) getdelim(&text, &n, '\0', f);
        (void) pclose(f);
        assert_non_null(text);
        return text;
}

/* Where the daemon is in a chroot itself, the kernel gives the place of an object outside the caller's root from the top of the mount
 * namespace, which the daemon's view does not have: such a call is not found to be in a watch. */
static bool cannot_be_told_here(const char *name) {
        MountTable mounts = {0};
        const Mount *top;
        bool whole;

        if (!str_equal(name, "a_outside_chroot"))
                return false;
        assert_int_equal(mountinfo_read(&mounts), 0);
        top = mount_table_find(&mounts, "/");
        whole = top && str_equal(top->root, "/");
        mount_table_done(&mounts);
        if (!whole)
                print_message("%s: not tried, this machine is a chroot\n", name);
        return !whole;
}

static void each_call_is_told_as_what_it_does(void **state) {
        bool failed = false;

        fixture.decision = (Decision){.verb = VERB_LET};
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                int r;

                if (cannot_be_told_here(cases[i].name))
                        continue;
                make_tree();
                r = fixture_run(&fixture, cases[i].prepare, cases[i].action);
                if (str_equal(fixture.asked, cases[i].asked) && r == cases[i].error)
                        continue;
                failed = true;
                print_message("%s: asked '%s' instead of '%s', errno %d instead of %d\n",
                              cases[i].name, fixture.asked, cases[i].asked, r, cases[i].error);
                if (str_equal(cases[i].name, "a_rename_root"))
                        continue;
        }
        run("cd %s && if [ -e fs/elsewhere ]; then mv fs/elsewhere fs/w; fi", fixture.base);
        assert_false(failed);
}

static void what_is_refused_changes_nothing(void **state) {
        bool failed = false;

        fixture.decision = (Decision){.verb = VERB_REFUSE, .violation = true};
        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                _cleanup_free_ char *before = NULL, *after = NULL;
                int r;

                if (!cases[i].asked[0] || cannot_be_told_here(cases[i].name))
                        continue;
                make_tree();
                before = snapshot();
                r = fixture_run(&fixture, cases[i].prepare, cases[i].action);
                after = snapshot();
                if (r == EPERM && fixture.n_told == 1 && !fixture.attempts->pending &&
                    fixture.attempts->pid == fixture.child && str_equal(before, after))
                        continue;
                failed = true;
                print_message("%s: errno %d, told %u times%s\n", cases[i].name, r, fixture.n_told,
                              str_equal(before, after) ? "" : ", something has changed");
        }
        assert_false(failed);
}

static void nothing_is_asked_of_a_read_only_mount(void **state) {
        fixture.decision = (Decision){.verb = VERB_REFUSE};
        make_tree();
        run("cd %s && mount -o remount,bind,ro w", fixture.base);
        assert_int_equal(fixture_run(&fixture, NULL, a_unlink), EROFS);
        run("cd %s && mount -o remount,bind,rw w", fixture.base);
        assert_string_equal(fixture.asked, "");
}

/* Narrower places; and a new file beside a watched one is nobody's business unless SQLite calls it so. */
ACTION(a_sibling, open_fd("w/f-wal", O_RDWR | O_CREAT))
ACTION(a_no_sibling, open_fd("w/f-other", O_RDWR | O_CREAT))
ACTION(a_replace, syscall(SYS_rename, "w/xattr", "w/f"))

static void a_place_may_be_a_directory_or_a_file(void **state) {
        WatchSites *whole = fixture.sites;

        make_tree();
        fixture.decision = (Decision){.verb = VERB_LET};
        fixture.sites = watch_sites_new();
        fixture_watch(&fixture, "w/d");
        fixture_watch(&fixture, "w/f");
        assert_int_equal(fixture_run(&fixture, NULL, a_mkdir), 0);
        assert_string_equal(fixture.asked, "");
        assert_int_equal(fixture_run(&fixture, NULL, a_chmod), 0);
        assert_string_equal(fixture.asked, "metadata file w/f");
        assert_int_equal(fixture_run(&fixture, NULL, a_sibling), 0);
        assert_string_equal(fixture.asked, "create file w/f-wal");
        assert_int_equal(fixture_run(&fixture, NULL, a_no_sibling), 0);
        assert_string_equal(fixture.asked, "");
        assert_int_equal(fixture_run(&fixture, NULL, a_replace), 0);
        assert_string_equal(fixture.asked, "rename file w/f from w/xattr replaces");
        assert_int_equal(fixture_run(&fixture, NULL, a_rename_over), 0);
        assert_string_equal(fixture.asked,
                            "rename file w/f to w/d/g leaves\nrename file w/d/g from w/f replaces");
        (void) watch_sites_unref(fixture.sites);
        fixture.sites = whole;
}

static void a_caller_of_no_session_is_let(void **state) {
        make_tree();
        fixture.unknown = true;
        fixture.decision = (Decision){.verb = VERB_REFUSE};
        assert_int_equal(fixture_run(&fixture, NULL, a_unlink), 0);
        assert_int_equal(fixture.n_told, 0);
        fixture.unknown = false;
}

static long p_nobody(void) {
        return syscall(SYS_setgroups, 0, NULL) < 0 || setresgid(65534, 65534, 65534) < 0 ||
                        setresuid(65534, 65534, 65534) < 0
                ? -1
                : 0;
}

/* What fails for want of permission has not been attempted on the watch, as far as anybody is concerned. */
static void a_caller_without_permission_attempts_nothing(void **state) {
        static const fixture_action_t actions[] = {a_unlink, a_open_write, a_open_create, a_mkdir,
                                                   a_rename, a_rename_in,  a_truncate};

        fixture.decision = (Decision){.verb = VERB_REFUSE};
        for (size_t i = 0; i < ELEMENTSOF(actions); i++) {
                make_tree();
                assert_int_equal(fixture_run(&fixture, p_nobody, actions[i]), EACCES);
                assert_string_equal(fixture.asked, "");
        }
        for (size_t i = 0; i < ELEMENTSOF(actions); i++) {
                make_tree();
                run("chmod -R a+rwX %s/fs", fixture.base);
                assert_int_equal(fixture_run(&fixture, p_nobody, actions[i]), EPERM);
                assert_string_not_equal(fixture.asked, "");
                run("chmod -R go-w %s/fs", fixture.base);
        }
}

/* Root may not look into it, which is no reason to call anything unenforced. */
ACTION(a_private, syscall(SYS_unlink, "/tmp/mwguard-private/mount/f"))
ACTION(a_private_missing, syscall(SYS_unlink, "/tmp/mwguard-private/mount/nothing/f"))

static void a_private_fuse_is_no_obstacle(void **state) {
        /* everybody may use /dev/fuse in this mount namespace */
        static const char mount_it[] =
                "cd %s && command -v bindfs >/dev/null && test -e /dev/fuse && mknod fuse c 10 229 && chmod 666 fuse && "
                "mount --bind fuse /dev/fuse && mkdir -p /tmp/mwguard-private/source /tmp/mwguard-private/mount && "
                "chown -R 65534:65534 /tmp/mwguard-private && setpriv --reuid 65534 --regid 65534 --clear-groups sh -c "
                "'cd / && echo f >/tmp/mwguard-private/source/f && bindfs --no-allow-other /tmp/mwguard-private/source "
                "/tmp/mwguard-private/mount' 2>/dev/null";
        char command[1024];

        (void) snprintf(command, sizeof(command), mount_it, fixture.base);
        if (system(command) != 0 || access("/tmp/mwguard-private/mount/f", F_OK) == 0) {
                run("umount -l /dev/fuse 2>/dev/null; rm -rf /tmp/mwguard-private %s/fuse",
                    fixture.base);
                print_message("skipped: no FUSE mount for one user to be had\n");
                skip();
        }
        fixture.decision = (Decision){.verb = VERB_REFUSE};
        assert_int_equal(fixture_run(&fixture, p_nobody, a_private_missing), ENOENT);
        assert_int_equal(fixture_run(&fixture, p_nobody, a_private), 0);
        assert_string_equal(fixture.asked, "");
        run("umount -l /tmp/mwguard-private/mount && rm -rf /tmp/mwguard-private && umount -l /dev/fuse && rm %s/fuse",
            fixture.base);
}

ACTION(a_uring, syscall(425, 1, NULL))

static void rings_are_not_to_be_had(void **state) {
        assert_int_equal(fixture_run(&fixture, NULL, a_uring), ENOSYS);
}

static long a_second_filter(void) {
        int r = guard_filter_install(true);

        errno = r < 0 ? -r : 0;
        return r;
}

/* Which is noted, so that it can be said what was in the way. */
static void there_is_one_listener_in_a_tree(void **state) {
        _cleanup_(guard_ledger_freep) GuardLedger *ledger = NULL;

        assert_int_equal(guard_ledger_new(&ledger, &fixture.ledger_fd), 0);
        assert_false(guard_ledger_wanted_listener(ledger));
        assert_int_equal(fixture_run(&fixture, NULL, a_second_filter), EBUSY);
        assert_true(guard_ledger_wanted_listener(ledger));
}

static int set_up(void **state) {
        fixture_init(&fixture);
        fixture_watch(&fixture, "w");
        return 0;
}

static int tear_down(void **state) {
        fixture_done(&fixture);
        return 0;
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_call_is_told_as_what_it_does),
                cmocka_unit_test(what_is_refused_changes_nothing),
                cmocka_unit_test(nothing_is_asked_of_a_read_only_mount),
                cmocka_unit_test(a_place_may_be_a_directory_or_a_file),
                cmocka_unit_test(a_caller_of_no_session_is_let),
                cmocka_unit_test(a_caller_without_permission_attempts_nothing),
                cmocka_unit_test(a_private_fuse_is_no_obstacle),
                cmocka_unit_test(rings_are_not_to_be_had),
                cmocka_unit_test(there_is_one_listener_in_a_tree),
        };

        if (!scratch_can_mount())
                return 77;
        return cmocka_run_group_tests(tests, set_up, tear_down);
}
