/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/guard_call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>

/* Where the arguments are. A descriptor of NONE is the working directory; an address of NONE is the descriptor itself. */
#define NONE (-1)
#define PATH_0 \
        { NONE, 0 }
#define PATH_1 \
        { NONE, 1 }
#define AT_0 \
        { 0, 1 }
#define AT_2 \
        { 2, 3 }
#define FD_0 \
        { 0, NONE }

typedef enum Follow {
        FOLLOW_NOT,
        FOLLOW,
        FOLLOW_UNLESS, /* AT_SYMLINK_NOFOLLOW */
        FOLLOW_IF,     /* AT_SYMLINK_FOLLOW */
} Follow;

typedef struct Shape {
        CallKind kind;
        struct {
                int8_t dirfd, address;
        } path[2];
        uint8_t n_paths;
        uint8_t follow; /* of path[0] */
        int8_t flags;   /* O_*, AT_* or RENAME_*; NONE */
        int8_t mode;
} Shape;

#define METADATA(path_, follow_, flags_) \
        { CALL_KIND_METADATA, {path_}, 1, (follow_), (flags_), NONE }
#define VIEW \
        { .kind = CALL_KIND_VIEW, .flags = NONE, .mode = NONE }
#define OPEN(path_, flags_) \
        { CALL_KIND_OPEN, {path_}, 1, FOLLOW, (flags_), NONE }

static const Shape shapes[_CALL_MAX] = {
        [CALL_OPEN] = OPEN(PATH_0, 1),
        [CALL_OPENAT] = OPEN(AT_0, 2),
        [CALL_OPENAT2] = OPEN(AT_0, NONE),
        [CALL_CREAT] = OPEN(PATH_0, NONE),
        [CALL_OPEN_BY_HANDLE_AT] = OPEN(FD_0, 2),
        [CALL_UNLINK] = {CALL_KIND_DELETE, {PATH_0}, 1, FOLLOW_NOT, NONE, NONE},
        [CALL_UNLINKAT] = {CALL_KIND_DELETE, {AT_0}, 1, FOLLOW_NOT, 2, NONE},
        [CALL_RMDIR] = {CALL_KIND_DELETE, {PATH_0}, 1, FOLLOW_NOT, NONE, NONE},
        [CALL_RENAME] = {CALL_KIND_RENAME, {PATH_0, PATH_1}, 2, FOLLOW_NOT, NONE, NONE},
        [CALL_RENAMEAT] = {CALL_KIND_RENAME, {AT_0, AT_2}, 2, FOLLOW_NOT, NONE, NONE},
        [CALL_RENAMEAT2] = {CALL_KIND_RENAME, {AT_0, AT_2}, 2, FOLLOW_NOT, 4, NONE},
        [CALL_MKDIR] = {CALL_KIND_MAKE, {PATH_0}, 1, FOLLOW_NOT, NONE, NONE},
        [CALL_MKDIRAT] = {CALL_KIND_MAKE, {AT_0}, 1, FOLLOW_NOT, NONE, NONE},
        [CALL_MKNOD] = {CALL_KIND_MAKE, {PATH_0}, 1, FOLLOW_NOT, NONE, 1},
        [CALL_MKNODAT] = {CALL_KIND_MAKE, {AT_0}, 1, FOLLOW_NOT, NONE, 2},
        [CALL_LINK] = {CALL_KIND_LINK, {PATH_0, PATH_1}, 2, FOLLOW_NOT, NONE, NONE},
        [CALL_LINKAT] = {CALL_KIND_LINK, {AT_0, AT_2}, 2, FOLLOW_IF, 4, NONE},
        [CALL_SYMLINK] = {CALL_KIND_SYMLINK, {PATH_1}, 1, FOLLOW_NOT, NONE, NONE},
        [CALL_SYMLINKAT] = {CALL_KIND_SYMLINK, {{1, 2}}, 1, FOLLOW_NOT, NONE, NONE},
        [CALL_TRUNCATE] = {CALL_KIND_TRUNCATE, {PATH_0}, 1, FOLLOW, NONE, NONE},
        [CALL_TRUNCATE64] = {CALL_KIND_TRUNCATE, {PATH_0}, 1, FOLLOW, NONE, NONE},
        [CALL_CHMOD] = METADATA(PATH_0, FOLLOW, NONE),
        [CALL_FCHMOD] = METADATA(FD_0, FOLLOW, NONE),
        [CALL_FCHMODAT] = METADATA(AT_0, FOLLOW, NONE),
        [CALL_FCHMODAT2] = METADATA(AT_0, FOLLOW_UNLESS, 3),
        [CALL_CHOWN] = METADATA(PATH_0, FOLLOW, NONE),
        [CALL_CHOWN32] = METADATA(PATH_0, FOLLOW, NONE),
        [CALL_LCHOWN] = METADATA(PATH_0, FOLLOW_NOT, NONE),
        [CALL_LCHOWN32] = METADATA(PATH_0, FOLLOW_NOT, NONE),
        [CALL_FCHOWN] = METADATA(FD_0, FOLLOW, NONE),
        [CALL_FCHOWN32] = METADATA(FD_0, FOLLOW, NONE),
        [CALL_FCHOWNAT] = METADATA(AT_0, FOLLOW_UNLESS, 4),
        [CALL_UTIME] = METADATA(PATH_0, FOLLOW, NONE),
        [CALL_UTIMES] = METADATA(PATH_0, FOLLOW, NONE),
        [CALL_FUTIMESAT] = METADATA(AT_0, FOLLOW, NONE),
        [CALL_UTIMENSAT] = METADATA(AT_0, FOLLOW_UNLESS, 3),
        [CALL_UTIMENSAT_TIME64] = METADATA(AT_0, FOLLOW_UNLESS, 3),
        [CALL_SETXATTR] = METADATA(PATH_0, FOLLOW, NONE),
        [CALL_LSETXATTR] = METADATA(PATH_0, FOLLOW_NOT, NONE),
        [CALL_FSETXATTR] = METADATA(FD_0, FOLLOW, NONE),
        [CALL_SETXATTRAT] = METADATA(AT_0, FOLLOW_UNLESS, 2),
        [CALL_REMOVEXATTR] = METADATA(PATH_0, FOLLOW, NONE),
        [CALL_LREMOVEXATTR] = METADATA(PATH_0, FOLLOW_NOT, NONE),
        [CALL_FREMOVEXATTR] = METADATA(FD_0, FOLLOW, NONE),
        [CALL_REMOVEXATTRAT] = METADATA(AT_0, FOLLOW_UNLESS, 2),
        [CALL_FILE_SETATTR] = METADATA(AT_0, FOLLOW_UNLESS, 4),
        [CALL_CHROOT] = VIEW,
        [CALL_PIVOT_ROOT] = VIEW,
        [CALL_SETNS] = VIEW,
        [CALL_UNSHARE] = VIEW,
        [CALL_SECCOMP] = {.kind = CALL_KIND_LISTENER, .flags = NONE, .mode = NONE},
};

void call_table_init(CallTable *t) {
        t->n = MIN(guarded_arch_count(), ELEMENTSOF(t->arch));
        for (size_t i = 0; i < t->n; i++) {
                const GuardedArch *a = &guarded_archs[i];

                t->arch[i].audit = a->audit;
                t->arch[i].bit = a->bit;
                memset(t->arch[i].id, -1, sizeof(t->arch[i].id));
                for (int id = 0; id < _CALL_MAX; id++) {
                        int n = guarded_call_number((GuardedCallId) id, a);

                        n = n < 0 ? n : (int) ((uint32_t) n & ~a->bit);
                        if (n >= 0 && (size_t) n < ELEMENTSOF(t->arch[i].id))
                                t->arch[i].id[n] = (int8_t) id;
                }
        }
}

static int find(const CallTable *t, const struct seccomp_data *data) {
        uint32_t nr = (uint32_t) data->nr;

        for (size_t i = 0; i < t->n; i++) {
                uint32_t bit = t->arch[i].bit;

                /* two may have the same name to the kernel, and differ by the bit only */
                if (t->arch[i].audit == data->arch && (nr & ~511U) == bit)
                        return t->arch[i].id[nr & 511U];
        }
        return -1;
}

static bool follows(Follow f, unsigned flags) {
        switch (f) {
        case FOLLOW_NOT:
                return false;
        case FOLLOW:
                return true;
        case FOLLOW_UNLESS:
                return !(flags & AT_SYMLINK_NOFOLLOW);
        case FOLLOW_IF:
                return flags & AT_SYMLINK_FOLLOW;
        }
        return false;
}

/* Descriptors and flags are ints to the kernel: what stands in the upper half of the register is not looked at. */
static int int_argument(const struct seccomp_data *data, int index) {
        return (int) (uint32_t) data->args[index];
}

static void set_open_flags(GuardCall *c, unsigned flags) {
        c->flags = flags;
        /* creating exclusively, the last component is never followed; an existing symlink is EEXIST */
        if ((flags & O_NOFOLLOW) || ((flags & O_CREAT) && (flags & O_EXCL)))
                c->path[0].follow = false;
}

static void set_special(const struct seccomp_data *data, GuardCall *c) {
        switch (c->id) {
        case CALL_CREAT:
                set_open_flags(c, O_CREAT | O_WRONLY | O_TRUNC);
                break;
        case CALL_OPEN:
        case CALL_OPENAT:
                set_open_flags(c, c->flags);
                break;
        case CALL_OPENAT2:
                c->how = data->args[2];
                c->how_size = data->args[3];
                break;
        case CALL_OPEN_BY_HANDLE_AT:
                c->handle = data->args[1];
                break;
        case CALL_RMDIR:
                c->removes_directory = true;
                break;
        case CALL_UNLINKAT:
                c->removes_directory = c->flags & AT_REMOVEDIR;
                break;
        case CALL_MKDIR:
        case CALL_MKDIRAT:
                c->mode = S_IFDIR;
                break;
        case CALL_MKNOD:
        case CALL_MKNODAT:
                c->mode &= S_IFMT;
                if (c->mode == 0)
                        c->mode = S_IFREG;
                break;
        case CALL_FUTIMESAT: /* a path of NULL is the descriptor (utimensat(2), "C library/kernel ABI differences") */
        case CALL_UTIMENSAT:
        case CALL_UTIMENSAT_TIME64:
                c->path[0].by_fd = c->path[0].address == 0;
                break;
        default:
                break;
        }
}

int guard_call_decode(const CallTable *t, const struct seccomp_data *data, GuardCall *ret) {
        int id = find(t, data);
        const Shape *s;
        GuardCall c;

        if (id < 0)
                return -ENOENT;
        s = &shapes[id];
        c = (GuardCall){.id = (GuardedCallId) id, .kind = s->kind, .n_paths = s->n_paths};
        if (s->flags != NONE)
                c.flags = (unsigned) int_argument(data, s->flags);
        if (s->mode != NONE)
                c.mode = (mode_t) int_argument(data, s->mode);
        for (unsigned i = 0; i < s->n_paths; i++) {
                CallPath *p = &c.path[i];

                p->dirfd =
                        s->path[i].dirfd == NONE ? AT_FDCWD : int_argument(data, s->path[i].dirfd);
                p->by_fd = s->path[i].address == NONE;
                p->address = p->by_fd ? 0 : data->args[s->path[i].address];
        }
        c.path[0].follow = follows((Follow) s->follow, c.flags);
        /* of open and rename the flags are others, and an empty path is nothing */
        if (s->kind == CALL_KIND_METADATA || s->kind == CALL_KIND_LINK)
                c.path[0].may_be_empty = s->flags != NONE && (c.flags & AT_EMPTY_PATH);
        /* NULL is as good as empty there (6.11) */
        if (c.path[0].may_be_empty && c.path[0].address == 0)
                c.path[0].by_fd = true;
        set_special(data, &c);
        *ret = c;
        return 0;
}

int guard_call_set_how(GuardCall *c, const void *how, size_t size) {
        struct open_how h = {};
        const unsigned char *more = how;

        if (size < sizeof(h))
                return -EINVAL;
        memcpy(&h, how, sizeof(h));
        /* a longer struct is one of a newer kernel: fine for an older one as long as the rest is 0 */
        for (size_t i = sizeof(h); i < size; i++)
                if (more[i])
                        return -E2BIG;
        if (h.flags > UINT32_MAX)
                return -EINVAL;
        c->resolve = h.resolve;
        set_open_flags(c, (unsigned) h.flags);
        return 0;
}

bool guard_call_may_write(const GuardCall *c) {
        if (c->flags & O_PATH)
                return false;
        return (c->flags & O_ACCMODE) != O_RDONLY || (c->flags & (O_CREAT | O_TRUNC));
}
