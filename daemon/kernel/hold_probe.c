/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "daemon/kernel/hold_probe.h"

/* So many names are looked at for one that tells. */
#define NAMES_MAX 4000
#define DIRECTORIES_MAX 256

static bool has_option(const char *options, const char *wanted) {
        size_t n = strlen(wanted);

        for (const char *p = options; p && *p; p = *p ? p + 1 : p) {
                size_t k = strcspn(p, ",");

                if (k == n && memcmp(p, wanted, n) == 0)
                        return true;
                p += k;
                if (!*p)
                        break;
        }
        return false;
}

static bool is_one_of(const char *s, const char *const *list) {
        for (; *list; list++)
                if (str_equal(s, *list))
                        return true;
        return false;
}

Trust hold_probe_mount(const Mount *m, const char **ret_reason) {
        /* root is whom the server makes of it */
        static const char *const served[] = {"nfs",    "nfs4", "ceph",     "9p",
                                             "lustre", "gfs2", "orangefs", NULL};
        static const char *const windows[] = {"cifs", "smb3", NULL};
        const char *type = m->fstype;

        if (strncmp(type, "fuse.", strlen("fuse.")) == 0 || str_equal(type, "fuse")) {
                /* fuse_allow_current_process() */
                if (has_option(m->super_options, "allow_other") ||
                    has_option(m->super_options, "user_id=0"))
                        return TRUST_YES;
                *ret_reason = "this FUSE mount lets only its owner in (no allow_other)";
                return TRUST_NO;
        }
        if (str_equal(type, "afs")) {
                *ret_reason = "AFS lets nobody in without a token of his own";
                return TRUST_NO;
        }
        if (is_one_of(type, windows))
                return has_option(m->super_options, "multiuser") ? TRUST_PROVE : TRUST_YES;
        return is_one_of(type, served) ? TRUST_PROVE : TRUST_YES;
}

/* Without these we are as any other user to a local filesystem, too. */
static bool may_read_everything(void) {
        struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
        const uint32_t either = 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH;

        return syscall(SYS_capget, &header, data) == 0 && (data[0].effective & either);
}

/* ---- looking for a file that tells ---- */

typedef struct Search {
        bool (*abort)(void *);
        void *userdata;
        char *queue[DIRECTORIES_MAX]; /* [next, n) are to be read */
        size_t next, n, names;
} Search;

static void search_done(Search *s) {
        for (size_t i = 0; i < s->n; i++)
                free(s->queue[i]);
        *s = (Search){0};
}

static int search_add(Search *s, const char *directory, const char *name) {
        char *path;

        if (s->n == DIRECTORIES_MAX)
                return 0;
        if (asprintf(&path, "%s%s%s", directory, name ? "/" : "", name ? name : "") < 0)
                return -ENOMEM;
        s->queue[s->n++] = path;
        return 0;
}

/* Somebody else's, and not for everyone to read. */
static bool would_tell(const struct stat *st) {
        mode_t needed = S_ISDIR(st->st_mode) ? S_IROTH | S_IXOTH : S_IROTH;

        return (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)) && st->st_uid != geteuid() &&
                (st->st_mode & needed) != needed;
}

/* 1: we are let in. 0: says nothing. */
static int try_name(Search *s, int fd, const char *directory, const char *name) {
        _cleanup_close_ int opened = -1;
        struct stat st;

        if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
                return errno == EACCES || errno == EPERM ? -EACCES : 0;
        if (!would_tell(&st))
                return S_ISDIR(st.st_mode) ? search_add(s, directory, name) : 0;
        opened = openat(fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (opened >= 0)
                return 1;
        return errno == EACCES || errno == EPERM ? -EACCES : 0;
}

static bool is_dots(const char *name) {
        return str_equal(name, ".") || str_equal(name, "..");
}

static int try_directory(Search *s, const char *directory) {
        DIR *d = opendir(directory);
        const struct dirent *e;
        int r = 0;

        if (!d)
                return errno == EACCES || errno == EPERM ? -EACCES : 0;
        while (r == 0 && s->names++ < NAMES_MAX && (e = readdir(d)))
                if (!is_dots(e->d_name))
                        r = s->abort(s->userdata) ? -ECANCELED
                                                  : try_name(s, dirfd(d), directory, e->d_name);
        (void) closedir(d);
        return r;
}

static int search(Search *s, const char *root) {
        int r = search_add(s, root, NULL);

        while (r == 0 && s->next < s->n && s->names < NAMES_MAX)
                r = try_directory(s, s->queue[s->next++]);
        return r;
}

static int find_mount(const char *root, Trust *ret, const char **ret_reason) {
        _cleanup_(mount_table_done) MountTable table = {0};
        const Mount *m;
        int r;

        r = mountinfo_read(&table);
        if (r < 0)
                return r;
        m = mount_table_covering(&table, root);
        if (!m)
                return -ENOENT;
        *ret = hold_probe_mount(m, ret_reason);
        return 0;
}

int hold_probe(const char *root, bool (*abort)(void *), void *userdata, const char **ret_reason) {
        _cleanup_(search_done) Search s = {.abort = abort, .userdata = userdata};
        Trust trust = TRUST_NO;
        int r;

        if (!may_read_everything()) {
                *ret_reason = "this service lacks CAP_DAC_READ_SEARCH";
                return -EACCES;
        }
        r = find_mount(root, &trust, ret_reason);
        if (r < 0 || trust == TRUST_YES)
                return r;
        if (trust == TRUST_NO)
                return -EACCES;
        r = search(&s, root);
        if (r == 0)
                *ret_reason =
                        "no file was found that shows whether the server lets root read the users' files";
        if (r == -EACCES)
                *ret_reason = "root cannot open the users' files on this server (root_squash)";
        if (r > 0)
                return 0;
        return r == 0 ? -EACCES : r;
}
