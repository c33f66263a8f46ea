/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/guard_access.h"

#include "daemon/kernel/ground.h"
#include "daemon/kernel/guard_caller.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

/* Of a directory entry or of what is open. */
typedef struct Look {
        bool exists;
        mode_t mode;
        dev_t dev;
        uint64_t inode, mount;
        unsigned links;
} Look;

typedef struct Inquiry {
        Placer *placer;
        Walker *walker;
        const WatchSites *sites;
        GuardCall *call;
        GuardAccess *out;
        int n;
        bool as_caller; /* the thread has its rights */
} Inquiry;

void guard_access_done(GuardAccess *a) {
        access_done(&a->access);
        *a = (GuardAccess){};
}

static int look_at(int fd, const char *name, Look *ret) {
        struct statx st;

        if (statx(fd, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
                  STATX_TYPE | STATX_NLINK | STATX_INO | STATX_MNT_ID, &st) < 0) {
                if (errno != ENOENT)
                        return -errno;
                *ret = (Look){};
                return 0;
        }
        *ret = (Look){
                .exists = true,
                .mode = st.stx_mode,
                .dev = makedev(st.stx_dev_major, st.stx_dev_minor),
                .inode = st.stx_ino,
                .mount = st.stx_mnt_id,
                .links = st.stx_nlink,
        };
        return 0;
}

/* Nothing can be changed there. */
static bool is_read_only(int fd) {
        struct statvfs fs;

        return fstatvfs(fd, &fs) == 0 && (fs.f_flag & ST_RDONLY);
}

static bool is_allowed(int fd, int mode) {
        return syscall(SYS_faccessat2, fd, "", mode, AT_EACCESS | AT_EMPTY_PATH) == 0 ||
                errno != EACCES;
}

/* Whether the caller may do what it is about to do to what is open: a call that fails by itself is none. Attributes are not looked
 * at: who may change them depends on more than that. */
static bool caller_may(const Inquiry *q, int fd, int mode) {
        _cleanup_(caller_rights_done) CallerRights rights = {};
        bool may;

        if (q->as_caller)
                return is_allowed(fd, mode);
        if (caller_read_rights(q->walker->proc_fd, q->walker->tid, &rights) < 0 ||
            rights.overrides || rights.uid == 0 || caller_rights_take(&rights) < 0)
                return true;
        may = syscall(SYS_faccessat2, fd, "", mode, AT_EACCESS | AT_EMPTY_PATH) == 0 ||
                errno != EACCES;
        caller_rights_give_back();
        return may;
}

/* Whether what is open may lie in a watch; *ret_look is always set then. */
static bool may_matter(const Inquiry *q, int fd, Look *ret_look) {
        return look_at(fd, "", ret_look) == 0 && ret_look->exists && ret_look->links > 0 &&
                watch_sites_may_hold(q->sites, fd, ret_look->dev) && !is_read_only(fd);
}

static bool is_empty_directory(int parent, const char *name) {
        int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC);
        DIR *d = fd < 0 ? NULL : fdopendir(fd);
        unsigned n = 0;

        if (!d) {
                safe_close(fd);
                return true;
        }
        while (n < 3 && readdir(d))
                n++;
        (void) closedir(d);
        return n < 3;
}

/* ---- results ---- */

static int put(Inquiry *q, const WatchSite *site, Access *access) {
        GuardAccess *a = &q->out[q->n++];

        *a = (GuardAccess){.access = *access};
        memcpy(a->watch, site->name, sizeof(a->watch));
        *access = (Access){};
        return 0;
}

static int put_found(Inquiry *q, int fd, const char *name, AccessType type, ObjectKind kind) {
        _cleanup_(found_done) Found f = {};
        Access a = {.type = type, .kind = kind};
        int r;

        r = placer_find(q->placer, q->sites, fd, name, &f);
        if (r < 0 || !f.site)
                return r;
        if (type != ACCESS_METADATA && !caller_may(q, fd, name ? W_OK | X_OK : W_OK))
                return 0;
        a.path = TAKE_PTR(f.path);
        return put(q, f.site, &a);
}

/* ---- calls on what exists ---- */

static bool only_reads(const GuardCall *c) {
        return (c->flags & O_ACCMODE) == O_RDONLY && !(c->flags & O_TRUNC);
}

static int ask_open_existing(Inquiry *q, const Spot *s) {
        const GuardCall *c = q->call;
        Look l;

        /* EEXIST, ENOTDIR; created only if absent */
        if ((c->flags & O_CREAT && c->flags & O_EXCL) || s->slash || only_reads(c))
                return 0;
        if (!may_matter(q, s->object, &l) || !S_ISREG(l.mode))
                return 0;
        return put_found(q, s->object, NULL, c->flags & O_TRUNC ? ACCESS_TRUNCATE : ACCESS_OPEN,
                         KIND_FILE);
}

static int ask_open_new(Inquiry *q, const Spot *s) {
        Look l;

        if (s->slash || !may_matter(q, s->parent, &l))
                return 0;
        return put_found(q, s->parent, s->name, ACCESS_CREATE, KIND_FILE);
}

static int read_how(Inquiry *q) {
        GuardCall *c = q->call;
        char how[256];
        int r;

        if (c->how_size > sizeof(how))
                return -E2BIG;
        r = walker_read(q->walker, c->how, how, c->how_size);
        return r < 0 ? r : guard_call_set_how(c, how, c->how_size);
}

static int ask_open(Inquiry *q) {
        _cleanup_(spot_done) Spot s = SPOT_INIT;
        GuardCall *c = q->call;
        int r;

        r = c->id == CALL_OPENAT2 ? read_how(q) : 0;
        if (r < 0)
                return r;
        /* with O_DIRECTORY (O_TMPFILE has it) no name and no content is touched */
        if (!guard_call_may_write(c) || (c->flags & O_DIRECTORY))
                return 0;
        if (c->id == CALL_OPEN_BY_HANDLE_AT)
                r = walker_find_handle(q->walker, c->path[0].dirfd, c->handle, &s);
        else
                r = walker_find_object(q->walker, &c->path[0], c->resolve, c->flags & O_CREAT, &s);
        if (r < 0)
                return r;
        return s.object >= 0 ? ask_open_existing(q, &s) : ask_open_new(q, &s);
}

static int ask_object(Inquiry *q) {
        bool truncates = q->call->kind == CALL_KIND_TRUNCATE;
        _cleanup_(spot_done) Spot s = SPOT_INIT;
        Look l;
        int r;

        r = walker_find_object(q->walker, &q->call->path[0], 0, /* create= */ false, &s);
        if (r < 0)
                return r;
        if (!may_matter(q, s.object, &l) || (truncates && !S_ISREG(l.mode)))
                return 0;
        return put_found(q, s.object, NULL, truncates ? ACCESS_TRUNCATE : ACCESS_METADATA,
                         ground_kind(l.mode));
}

/* ---- calls on names ---- */

/* 1: there is such a name, or may be one, in a directory that may matter. */
static int find_entry(Inquiry *q, const CallPath *path, Spot *s, Look *parent, Look *entry) {
        int r = walker_find_name(q->walker, path, s);

        if (r < 0)
                return r;
        if (!may_matter(q, s->parent, parent))
                return 0;
        r = look_at(s->parent, s->name, entry);
        return r < 0 ? r : 1;
}

static int ask_delete(Inquiry *q) {
        _cleanup_(spot_done) Spot s = SPOT_INIT;
        bool directory = q->call->removes_directory;
        Look parent, entry;
        int r;

        r = find_entry(q, &q->call->path[0], &s, &parent, &entry);
        if (r <= 0)
                return r;
        /* ENOENT, EBUSY (mounted on), EISDIR or ENOTDIR, ENOTEMPTY */
        if (!entry.exists || entry.mount != parent.mount || S_ISDIR(entry.mode) != directory ||
            (s.slash && !directory) || (directory && !is_empty_directory(s.parent, s.name)))
                return 0;
        return put_found(q, s.parent, s.name, ACCESS_DELETE, ground_kind(entry.mode));
}

static int ask_make(Inquiry *q, mode_t mode) {
        _cleanup_(spot_done) Spot s = SPOT_INIT;
        Look parent, entry;
        int r;

        r = find_entry(q, &q->call->path[0], &s, &parent, &entry);
        if (r <= 0)
                return r;
        if (entry.exists || (s.slash && !S_ISDIR(mode)))
                return 0;
        return put_found(q, s.parent, s.name, ACCESS_CREATE, ground_kind(mode));
}

static int ask_link(Inquiry *q) {
        _cleanup_(spot_done) Spot from = SPOT_INIT, to = SPOT_INIT;
        Look parent, entry, object;
        int r;

        r = find_entry(q, &q->call->path[1], &to, &parent, &entry);
        if (r <= 0)
                return r;
        if (entry.exists || to.slash)
                return 0;
        r = walker_find_object(q->walker, &q->call->path[0], 0, /* create= */ false, &from);
        if (r >= 0)
                r = look_at(from.object, "", &object);
        if (r < 0)
                return r;
        if (!object.exists || S_ISDIR(object.mode) || object.mount != parent.mount)
                return 0;
        return put_found(q, to.parent, to.name, ACCESS_CREATE, ground_kind(object.mode));
}

/* ---- rename ---- */

typedef struct Rename {
        Spot from, to;
        Look from_parent, to_parent, source, target;
        bool exchange;
} Rename;

static void rename_done(Rename *n) {
        spot_done(&n->from);
        spot_done(&n->to);
}

/* ENOENT, EXDEV, EBUSY, EEXIST, ENOTDIR, EISDIR, ENOTEMPTY; and two names of one file, where nothing is done at all. */
static bool rename_fails(const Rename *n, unsigned flags) {
        bool directory = S_ISDIR(n->source.mode);

        if (!n->source.exists || n->from_parent.mount != n->to_parent.mount ||
            n->source.mount != n->from_parent.mount)
                return true;
        if ((n->from.slash || n->to.slash) && !directory && !n->exchange)
                return true;
        if (!n->target.exists)
                return n->exchange;
        if ((flags & RENAME_NOREPLACE) || n->target.mount != n->to_parent.mount ||
            (n->source.inode == n->target.inode && n->source.dev == n->target.dev))
                return true;
        if (n->exchange)
                return false;
        return S_ISDIR(n->target.mode) != directory ||
                (directory && !is_empty_directory(n->to.parent, n->to.name));
}

static int copy_path(const char *s, char **ret) {
        *ret = strdup(s);
        return *ret ? 0 : -ENOMEM;
}

static int put_leaving(Inquiry *q, const Rename *n, const Found *from, const Found *to) {
        Access a = {.type = ACCESS_RENAME, .kind = ground_kind(n->source.mode), .leaves = true};
        int r;

        r = copy_path(from->path, &a.path);
        if (r >= 0)
                r = copy_path(to->path, &a.to);
        if (r < 0) {
                access_done(&a);
                return r;
        }
        return put(q, from->site, &a);
}

static int put_arriving(Inquiry *q, const Rename *n, const Found *from, const Found *to) {
        Access a = {.type = ACCESS_RENAME, .kind = ground_kind(n->source.mode)};
        int r;

        /* of an exchange inside the watch nothing is lost; else what was there leaves it */
        a.replaces = n->target.exists && !(n->exchange && from->site == to->site);
        r = copy_path(to->path, &a.path);
        if (r >= 0)
                r = copy_path(from->path, &a.from);
        if (r < 0) {
                access_done(&a);
                return r;
        }
        return put(q, to->site, &a);
}

static int put_rename(Inquiry *q, const Rename *n) {
        _cleanup_(found_done) Found from = {}, to = {};
        int r;

        r = placer_find(q->placer, q->sites, n->from.parent, n->from.name, &from);
        if (r >= 0)
                r = placer_find(q->placer, q->sites, n->to.parent, n->to.name, &to);
        if (r >= 0 && from.site && from.site != to.site)
                r = put_leaving(q, n, &from, &to);
        if (r >= 0 && to.site)
                r = put_arriving(q, n, &from, &to);
        return r;
}

static int ask_rename(Inquiry *q) {
        _cleanup_(rename_done) Rename n = {.from = SPOT_INIT, .to = SPOT_INIT};
        GuardCall *c = q->call;
        int r;

        r = find_entry(q, &c->path[0], &n.from, &n.from_parent, &n.source);
        if (r <= 0)
                return r; /* elsewhere: what is in a watch is on another filesystem then */
        r = find_entry(q, &c->path[1], &n.to, &n.to_parent, &n.target);
        if (r <= 0)
                return r;
        n.exchange = c->flags & RENAME_EXCHANGE;
        if (rename_fails(&n, c->flags) || !caller_may(q, n.from.parent, W_OK | X_OK) ||
            !caller_may(q, n.to.parent, W_OK | X_OK))
                return 0;
        return put_rename(q, &n);
}

/* ---- all of them ---- */

static int ask(Inquiry *q) {
        switch (q->call->kind) {
        case CALL_KIND_OPEN:
                return ask_open(q);
        case CALL_KIND_DELETE:
                return ask_delete(q);
        case CALL_KIND_RENAME:
                return ask_rename(q);
        case CALL_KIND_MAKE:
                return ask_make(q, q->call->mode);
        case CALL_KIND_SYMLINK:
                return ask_make(q, S_IFLNK);
        case CALL_KIND_LINK:
                return ask_link(q);
        case CALL_KIND_TRUNCATE:
        case CALL_KIND_METADATA:
                return ask_object(q);
        case CALL_KIND_VIEW:
        case CALL_KIND_LISTENER:
                break;
        }
        return 0;
}

static int ask_as_caller(Inquiry *q) {
        _cleanup_(caller_rights_done) CallerRights rights = {};
        int r;

        r = caller_read_rights(q->walker->proc_fd, q->walker->tid, &rights);
        if (r >= 0)
                r = caller_rights_take(&rights);
        if (r < 0)
                return r;
        q->as_caller = true;
        r = ask(q);
        caller_rights_give_back();
        return r == -EACCES ? 0 : r;
}

/* Root is nobody on an NFS that squashes it, and locked out of others' FUSE mounts: then the walk is done with the caller's
 * rights, and when these are not enough either, so it is for the call. (FUSE looks at more than these; what lies there
 * can be no watch of ours.) */
int guard_access_find(Placer *p, const WatchSites *sites, GuardCall *call,
                      GuardAccess ret[static GUARD_ACCESSES]) {
        Inquiry q = {.placer = p, .walker = p->walker, .sites = sites, .call = call, .out = ret};
        int r = ask(&q);

        if (r == -EACCES && q.n == 0)
                r = ask_as_caller(&q);
        if (r >= 0)
                return q.n;
        for (int i = 0; i < q.n; i++)
                guard_access_done(&ret[i]);
        return walker_is_fault(r) ? 0 : r;
}
