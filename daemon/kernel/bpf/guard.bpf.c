/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The guard in the kernel: refuses, with EPERM, what a process in a session's cgroup would change in a watch whose policy is deny, on any
 * filesystem and before the filesystem is asked. It writes nothing, waits for nobody, and tells of each refusal once.
 *
 * Nothing of the build host's kernel is needed: what is declared here is found by name in the kernel that it is loaded into (CO-RE).
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "daemon/kernel/bpf/guard_record.h"

#define KERNEL __attribute__((preserve_access_index))

#define EPERM 1
#define ENOENT 2
#define EEXIST 17
#define FMODE_WRITE 2
#define PROT_WRITE 2
#define MAP_TYPE 0xf
#define MAP_PRIVATE 2
#define S_IFMT 0170000
#define S_IFREG 0100000
#define S_IFDIR 0040000
#define S_IFLNK 0120000
#define RECENT 8 /* a power of two, and no less than GUARD_PATTERN_DEPTH */

struct super_block {
        __u32 s_dev;
} KERNEL;

struct inode {
        unsigned short i_mode;
        struct super_block *i_sb;
} KERNEL;

struct qstr {
        const unsigned char *name;
} KERNEL;

struct dentry {
        struct dentry *d_parent;
        struct qstr d_name;
        struct inode *d_inode;
        struct super_block *d_sb;
} KERNEL;

struct path {
        struct dentry *dentry;
} KERNEL;

struct file {
        unsigned int f_mode;
        unsigned int f_flags;
        struct path f_path;
        struct inode *f_inode;
} KERNEL;

struct task_struct {
        struct task_struct *group_leader;
        __u64 start_boottime;
} KERNEL;

struct iattr;
struct user_namespace;

struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(max_entries, 1);
        __type(key, __u32);
        __type(value, struct guard_config);
} config SEC(".maps");

struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(max_entries, GUARD_SESSIONS_MAX);
        __type(key, __u64);
        __type(value, struct guard_session);
} sessions SEC(".maps");

/* The devices of superblocks that a watch lies on, and how many of them. */
struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(max_entries, GUARD_WATCHES_MAX);
        __type(key, __u32);
        __type(value, __u32);
} devices SEC(".maps");

/*
 * By the address of the inode, which the daemon holds: no filesystem's numbering of inodes matters, which on btrfs, overlay and
 * shares is not to be relied on. (An inode storage would be the same, but takes no pointer that was found through file->f_path,
 * which is in a union from 6.18 on.) The addresses stay in the kernel: the map cannot be read from outside.
 */
struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(max_entries, GUARD_WATCHES_MAX);
        __uint(map_flags, BPF_F_WRONLY);
        __type(key, __u64);
        __type(value, struct guard_root);
} roots SEC(".maps");

struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(max_entries, GUARD_WATCHES_MAX);
        __type(key, __u32);
        __type(value, struct guard_watch);
} watches SEC(".maps");

struct {
        __uint(type, BPF_MAP_TYPE_HASH);
        __uint(max_entries, GUARD_NODES_MAX);
        __uint(map_flags, BPF_F_NO_PREALLOC);
        __type(key, struct guard_node_key);
        __type(value, struct guard_node);
} nodes SEC(".maps");

/* Threads whose last refusal here was that of a create. */
struct {
        __uint(type, BPF_MAP_TYPE_LRU_HASH);
        __uint(max_entries, 4096);
        __type(key, __u64);
        __type(value, __u32);
} creating SEC(".maps");

struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(max_entries, _GUARD_COUNT_MAX);
        __type(key, __u32);
        __type(value, __u64);
} counts SEC(".maps");

struct {
        __uint(type, BPF_MAP_TYPE_RINGBUF);
        __uint(max_entries, GUARD_RING_BYTES);
} records SEC(".maps");

/* Where an object lies. */
struct place {
        __u64 object; /* a struct dentry, as a number: it is read from, and nothing else is done with it */
        __u64 at; /* of the climb */
        __u64 recent[RECENT];
        __u32 depth; /* directories above the object, up to where the climb stopped */
        __u32 watch;
        __u32 inside;
        __u32 end; /* the climb came to one */
};

#define DENTRY(d) ((struct dentry *) (unsigned long) (d))

static __u32 device_of(__u64 dentry) {
        return BPF_CORE_READ(DENTRY(dentry), d_sb, s_dev);
}

static const unsigned char *name_of(__u64 dentry) {
        return BPF_CORE_READ(DENTRY(dentry), d_name.name);
}

static __u64 parent_of(__u64 dentry) {
        return (__u64) (unsigned long) BPF_CORE_READ(DENTRY(dentry), d_parent);
}

static void count(__u32 what) {
        __u64 *n = bpf_map_lookup_elem(&counts, &what);

        if (n)
                __sync_fetch_and_add(n, 1);
}

static __noinline struct guard_node *find_node(__u32 watch, __u32 parent, __u64 dentry) {
        struct guard_node_key key = {.watch = watch, .parent = parent};

        bpf_probe_read_kernel_str(key.name, sizeof(key.name), name_of(dentry));
        return bpf_map_lookup_elem(&nodes, &key);
}

/* One step up from p->at, which is i directories above the object. */
static long climb(__u32 i, struct place *p) {
        struct dentry *d = DENTRY(p->at);
        __u64 inode = (__u64) (unsigned long) BPF_CORE_READ(d, d_inode), parent;
        struct guard_root *root = inode ? bpf_map_lookup_elem(&roots, &inode) : NULL;

        if (root && root->only_named) {
                struct guard_node *n = i == 1 ? find_node(root->watch, 0, p->recent[0]) : NULL;

                if (!n || !(n->flags & GUARD_NODE_WATCHED))
                        root = NULL;
        }
        if (root) {
                p->watch = root->watch;
                p->inside = 1;
                p->end = 1;
                p->depth = i;
                return 1;
        }
        p->recent[i & (RECENT - 1)] = p->at;
        parent = parent_of(p->at);
        if (parent == p->at) {
                p->end = 1;
                p->depth = i;
                return 1;
        }
        p->at = parent;
        return 0;
}

/* Whether Allow= or Ignore= has it: by names from the root of the watch down. */
static __noinline int is_let(struct place *p) {
        __u32 parent = 0, at = p->depth, k;

        for (k = 0; k < GUARD_PATTERN_DEPTH; k++) {
                struct guard_node *n;

                if (at == 0)
                        return 0;
                at--;
                n = find_node(p->watch, parent, p->recent[at & (RECENT - 1)]);
                if (!n)
                        return 0;
                if ((n->flags & GUARD_NODE_TREE) || (at == 0 && (n->flags & GUARD_NODE_EXACT)))
                        return 1;
                parent = n->number;
        }
        return 0;
}

/* The innermost session of the caller: the id of its cgroup; 0 for none, or one that is exempt. */
static __noinline __u64 find_session(__u32 *ret_policy) {
        __u64 found = 0;
        __u32 policy = 0;
        int level;

        for (level = 0; level < GUARD_CGROUP_DEPTH; level++) {
                __u64 id = bpf_get_current_ancestor_cgroup_id(level);
                struct guard_session *s;

                if (id == 0)
                        break;
                s = bpf_map_lookup_elem(&sessions, &id);
                if (!s)
                        continue;
                found = s->exempt ? 0 : id;
                policy = s->policy;
        }
        *ret_policy = policy;
        return found;
}

/* Whether the caller must not change what `d` is, or names. `p` tells where that lies. */
static __noinline int judge(__u64 d, struct place *p, __u32 session_policy) {
        struct guard_watch *w;
        __u32 watch;

        __builtin_memset(p, 0, sizeof(*p));
        p->object = p->at = d;
        bpf_loop(GUARD_CLIMB_MAX, climb, p, 0);
        if (!p->end) {
                /* nobody knows: what a session that must change nothing does so deep is refused, and counted */
                if (session_policy == GUARD_POLICY_DENY)
                        count(GUARD_COUNT_DEEP);
                return session_policy == GUARD_POLICY_DENY;
        }
        if (!p->inside)
                return 0;
        watch = p->watch;
        w = bpf_map_lookup_elem(&watches, &watch);
        if (!w || w->lets_all ||
            (w->policy > session_policy ? w->policy : session_policy) != GUARD_POLICY_DENY)
                return 0;
        return !is_let(p);
}

struct telling {
        struct guard_path *to;
        __u64 at;
        __u32 used, parts, depth, full;
};

static long tell_part(__u32 i, struct telling *t) {
        __u32 used = t->used;
        long n;

        if (i >= t->depth)
                return 1;
        if (used > GUARD_ROOM - 256) {
                t->full = 1;
                return 1;
        }
        n = bpf_probe_read_kernel_str(&t->to->names[used], 256, name_of(t->at));
        if (n <= 0 || n > 256)
                return 1;
        t->used = used + n;
        t->parts = i + 1;
        t->at = parent_of(t->at);
        return 0;
}

static __noinline void tell_path(struct guard_path *to, const struct place *p) {
        struct telling t = {.to = to, .at = p->object, .depth = p->depth};

        if (!p->end)
                t.depth = GUARD_CLIMB_MAX;
        bpf_loop(GUARD_PARTS_MAX, tell_part, &t, 0);
        to->watch = p->watch;
        to->flags = (p->inside ? GUARD_INSIDE : 0) |
                (t.full || t.depth > GUARD_PARTS_MAX ? GUARD_CUT : 0);
        to->n_parts = t.parts;
        to->bytes = t.used;
}

static __u32 kind_of_mode(__u32 mode) {
        switch (mode & S_IFMT) {
        case S_IFREG:
        case 0:
                return 0;
        case S_IFDIR:
                return 1;
        case S_IFLNK:
                return 2;
        default:
                return 3;
        }
}

static __u32 kind_of(struct dentry *d) {
        struct inode *inode = d->d_inode;

        return inode ? kind_of_mode(inode->i_mode) : 0;
}

struct call {
        __u32 op;
        __u32 kind;
        __u32 replaces;
        __u32 voids;
};

static void fill(struct guard_record *r, const struct call *call, __u64 cgroup, __u32 device) {
        struct task_struct *task = bpf_get_current_task_btf();
        __u64 id = bpf_get_current_pid_tgid();

        r->cgroup = cgroup;
        r->start = task->group_leader->start_boottime;
        r->at = bpf_ktime_get_ns();
        r->pid = id >> 32;
        r->tid = (__u32) id;
        r->op = call->op;
        r->kind = call->kind;
        r->replaces = call->replaces;
        r->voids = call->voids;
        r->device = device;
        r->n_paths = 0;
}

#define ONE_PATH (sizeof(struct guard_record) - sizeof(struct guard_path))

static __noinline void tell(const struct call *call, __u64 cgroup, const struct place *p) {
        struct guard_record *r = bpf_ringbuf_reserve(&records, ONE_PATH, 0);

        if (!r) {
                count(GUARD_COUNT_LOST);
                return;
        }
        fill(r, call, cgroup, device_of(p->object));
        r->n_paths = 1;
        tell_path(&r->path[0], p);
        bpf_ringbuf_submit(r, 0);
}

static __noinline void tell_two(const struct call *call, __u64 cgroup, const struct place *p,
                                const struct place *q) {
        struct guard_record *r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);

        if (!r) {
                count(GUARD_COUNT_LOST);
                return;
        }
        fill(r, call, cgroup, device_of(p->object));
        r->n_paths = 2;
        tell_path(&r->path[0], p);
        tell_path(&r->path[1], q);
        bpf_ringbuf_submit(r, 0);
}

/* Cheapest first: most calls are of filesystems without a watch, and most callers in no session. */
static __noinline __u64 concerns(__u32 device, __u32 *ret_policy) {
        __u32 zero = 0;
        struct guard_config *c = bpf_map_lookup_elem(&config, &zero);

        if (!c || c->n_sessions == 0 || !bpf_map_lookup_elem(&devices, &device))
                return 0;
        if ((__u32) (bpf_get_current_pid_tgid() >> 32) == c->exempt)
                return 0;
        return find_session(ret_policy);
}

static __noinline int check(struct dentry *d, const struct call *call) {
        struct place p;
        __u32 policy = 0;
        __u64 cgroup = concerns(d->d_sb->s_dev, &policy);

        if (cgroup == 0 || !judge((__u64) (unsigned long) d, &p, policy))
                return 0;
        tell(call, cgroup, &p);
        return -EPERM;
}

/* ---- opens ---- */

/* The kernel asks for the create before it has looked whether the name exists; if it does, the open follows in the same call. */
static __u32 forget_create(void) {
        __u64 id = bpf_get_current_pid_tgid();

        return bpf_map_delete_elem(&creating, &id) == 0;
}

SEC("lsm/file_open")
int BPF_PROG(guard_file_open, struct file *file) {
        struct dentry *d = file->f_path.dentry;
        struct call call = {.op = GUARD_OPEN};
        __u32 zero = 0, flags = file->f_flags, policy = 0;
        struct guard_config *c = bpf_map_lookup_elem(&config, &zero);
        struct place p;
        __u64 cgroup;

        if (!c || c->n_sessions == 0)
                return 0;
        if (!(file->f_mode & FMODE_WRITE) && !(flags & (c->creat | c->trunc)))
                return 0;
        if ((file->f_inode->i_mode & S_IFMT) != S_IFREG)
                return 0;
        cgroup = concerns(d->d_sb->s_dev, &policy);
        if (cgroup == 0)
                return 0;
        if (flags & c->creat)
                call.voids = forget_create();
        if (flags & c->trunc)
                call.op = GUARD_TRUNCATE;
        if (((file->f_mode & FMODE_WRITE) || (flags & c->trunc)) &&
            judge((__u64) (unsigned long) d, &p, policy)) {
                tell(&call, cgroup, &p);
                return -EPERM;
        }
        if (call.voids) {
                call.op = GUARD_VOID;
                __builtin_memset(&p, 0, sizeof(p));
                p.object = (__u64) (unsigned long) d;
                p.end = 1;
                tell(&call, cgroup, &p);
        }
        return 0;
}

/* A descriptor that was opened before the session, mapped to be written through. */
SEC("lsm/mmap_file")
int BPF_PROG(guard_mmap_file, struct file *file, unsigned long requested, unsigned long prot,
             unsigned long flags) {
        const struct call call = {.op = GUARD_OPEN};

        if (!file || !(prot & PROT_WRITE) || (flags & MAP_TYPE) == MAP_PRIVATE)
                return 0;
        if ((file->f_inode->i_mode & S_IFMT) != S_IFREG)
                return 0;
        return check(file->f_path.dentry, &call);
}

SEC("lsm/path_truncate")
int BPF_PROG(guard_path_truncate, struct path *path) {
        const struct call call = {.op = GUARD_TRUNCATE};

        return check(path->dentry, &call);
}

/* 6.2; before that ftruncate(2) comes to path_truncate */
SEC("?lsm/file_truncate")
int BPF_PROG(guard_file_truncate, struct file *file) {
        const struct call call = {.op = GUARD_TRUNCATE};

        return check(file->f_path.dentry, &call);
}

/* ---- names ---- */

SEC("lsm/inode_create")
int BPF_PROG(guard_inode_create, struct inode *dir, struct dentry *dentry, unsigned short mode) {
        const struct call call = {.op = GUARD_CREATE};
        __u64 id = bpf_get_current_pid_tgid();
        __u32 one = 1;
        int r = check(dentry, &call);

        if (r)
                bpf_map_update_elem(&creating, &id, &one, BPF_ANY);
        return r;
}

SEC("lsm/inode_mknod")
int BPF_PROG(guard_inode_mknod, struct inode *dir, struct dentry *dentry, unsigned short mode) {
        const struct call call = {.op = GUARD_MAKE, .kind = kind_of_mode(mode)};

        return check(dentry, &call);
}

SEC("lsm/inode_mkdir")
int BPF_PROG(guard_inode_mkdir, struct inode *dir, struct dentry *dentry) {
        const struct call call = {.op = GUARD_MAKE, .kind = 1};

        return check(dentry, &call);
}

SEC("lsm/inode_symlink")
int BPF_PROG(guard_inode_symlink, struct inode *dir, struct dentry *dentry) {
        const struct call call = {.op = GUARD_MAKE, .kind = 2};

        return check(dentry, &call);
}

SEC("lsm/inode_link")
int BPF_PROG(guard_inode_link, struct dentry *old, struct inode *dir, struct dentry *new) {
        const struct call call = {.op = GUARD_MAKE, .kind = kind_of(old)};

        return check(new, &call);
}

SEC("lsm/inode_unlink")
int BPF_PROG(guard_inode_unlink, struct inode *dir, struct dentry *dentry) {
        const struct call call = {.op = GUARD_DELETE, .kind = kind_of(dentry)};

        return check(dentry, &call);
}

SEC("lsm/inode_rmdir")
int BPF_PROG(guard_inode_rmdir, struct inode *dir, struct dentry *dentry) {
        const struct call call = {.op = GUARD_DELETE, .kind = 1};

        return check(dentry, &call);
}

/* An exchange comes twice, the other way round the second time; the first refusal ends it. */
SEC("lsm/inode_rename")
int BPF_PROG(guard_inode_rename, struct inode *old_dir, struct dentry *old, struct inode *new_dir,
             struct dentry *new) {
        const struct call call = {.op = GUARD_RENAME,
                                  .kind = kind_of(old),
                                  .replaces = new->d_inode != NULL};
        struct place p, q;
        __u32 policy = 0;
        __u64 cgroup = concerns(old->d_sb->s_dev, &policy);
        int refused;

        if (cgroup == 0)
                return 0;
        refused = judge((__u64) (unsigned long) old, &p, policy);
        refused |= judge((__u64) (unsigned long) new, &q, policy);
        if (!refused)
                return 0;
        tell_two(&call, cgroup, &p, &q);
        return -EPERM;
}

/* ---- metadata ---- */

static int check_metadata(struct dentry *d) {
        const struct call call = {.op = GUARD_METADATA, .kind = kind_of(d)};

        return check(d, &call);
}

SEC("?lsm/inode_setattr")
int BPF_PROG(guard_inode_setattr, void *idmap, struct dentry *dentry) {
        return check_metadata(dentry);
}

/* before 6.9 */
SEC("?lsm/inode_setattr")
int BPF_PROG(guard_inode_setattr_old, struct dentry *dentry) {
        return check_metadata(dentry);
}

SEC("lsm/inode_setxattr")
int BPF_PROG(guard_inode_setxattr, void *idmap, struct dentry *dentry) {
        return check_metadata(dentry);
}

SEC("lsm/inode_removexattr")
int BPF_PROG(guard_inode_removexattr, void *idmap, struct dentry *dentry) {
        return check_metadata(dentry);
}

/* 6.2; before that they come to inode_setxattr and inode_removexattr */
SEC("?lsm/inode_set_acl")
int BPF_PROG(guard_inode_set_acl, void *idmap, struct dentry *dentry) {
        return check_metadata(dentry);
}

SEC("?lsm/inode_remove_acl")
int BPF_PROG(guard_inode_remove_acl, void *idmap, struct dentry *dentry) {
        return check_metadata(dentry);
}

/* 6.17: chattr(1) */
SEC("?lsm/inode_file_setattr")
int BPF_PROG(guard_inode_file_setattr, struct dentry *dentry) {
        return check_metadata(dentry);
}

/* ---- the daemon's own ---- */

/* Attached only while the daemon introduces the root of a watch: fcntl(fd, F_GETFL, token). */
SEC("lsm/file_fcntl")
int BPF_PROG(guard_introduce, struct file *file, unsigned int command, unsigned long token) {
        __u32 zero = 0, word = (__u32) token;
        struct guard_config *c = bpf_map_lookup_elem(&config, &zero);
        struct guard_root root = {.watch = word & GUARD_TOKEN_WATCH,
                                  .only_named = !!(word & GUARD_TOKEN_ONLY_NAMED)};
        __u64 inode = (__u64) (unsigned long) file->f_inode;

        if (!c || (bpf_get_current_pid_tgid() >> 32) != c->exempt ||
            (word & GUARD_TOKEN_MASK) != GUARD_TOKEN_MAGIC)
                return 0;
        if (word & GUARD_TOKEN_DROP)
                return bpf_map_delete_elem(&roots, &inode) ? -ENOENT : 0;
        return bpf_map_update_elem(&roots, &inode, &root, BPF_NOEXIST) ? -EEXIST : 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
