/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/place.h"

#include "daemon/kernel/mountinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <sys/stat.h>

/* Filesystems whose content a server, or another machine, changes without this kernel's knowledge. */
static const char *const remote_types[] = {"cifs", "smb3", "smbfs", "nfs",        "nfs4",
                                           "ceph", "9p",   "afs",   "fuse.sshfs", "ncpfs"};

void place_done(Place *p) {
        free(p->root);
        free(p->base);
        free(p->file);
        *p = (Place){};
}

/* "/a/b" -> "/a" and "b"; the root has itself as parent. */
static int split(const char *path, char **ret_parent, char **ret_name) {
        const char *slash = strrchr(path, '/');
        _cleanup_free_ char *parent = NULL;
        char *name;

        if (!slash)
                return -EINVAL;
        parent = slash == path ? strdup("/") : strndup(path, (size_t) (slash - path));
        name = parent ? strdup(slash + 1) : NULL;
        if (!name)
                return -ENOMEM;
        *ret_parent = TAKE_PTR(parent);
        *ret_name = name;
        return 0;
}

static int resolve_mount(const char *real, Place *p) {
        MountTable table = {};
        const Mount *m, *covering;
        size_t i;
        int r;

        r = mountinfo_read(&table);
        if (r < 0)
                return r;
        m = mount_table_find(&table, real);
        covering = mount_table_covering(&table, p->root);
        if (m && p->scope == SCOPE_SUBTREE)
                p->scope = SCOPE_FILESYSTEM;
        if (covering) {
                p->dev = covering->dev;
                (void) snprintf(p->fstype, sizeof(p->fstype), "%s", covering->fstype);
                for (i = 0; i < ELEMENTSOF(remote_types); i++) {
                        if (str_equal(covering->fstype, remote_types[i]))
                                p->remote = true;
                }
        }
        mount_table_done(&table);
        return 0;
}

int place_resolve(const char *path, Place *ret) {
        _cleanup_(place_done) Place p = {};
        _cleanup_free_ char *real = NULL, *name = NULL;
        struct stat st;
        int r;

        real = realpath(path, NULL);
        if (!real)
                return -errno;
        if (stat(real, &st) < 0)
                return -errno;
        if (S_ISDIR(st.st_mode)) {
                p.scope = SCOPE_SUBTREE;
                p.root = strdup(real);
                p.base = strdup(path);
                if (!p.root || !p.base)
                        return -ENOMEM;
        } else {
                p.scope = SCOPE_FILE;
                r = split(real, &p.root, &p.file);
                if (r < 0)
                        return r;
                r = split(path, &p.base, &name);
                if (r < 0)
                        return r;
        }
        r = resolve_mount(real, &p);
        if (r < 0)
                return r;
        *ret = p;
        p = (Place){};
        return 0;
}

bool place_is_expected_mount(const char *fstab, const char *path) {
        char buffer[4096];
        struct mntent entry;
        bool found = false;
        FILE *f;

        f = setmntent(fstab, "re");
        if (!f)
                return false;
        while (!found && getmntent_r(f, &entry, buffer, sizeof(buffer)))
                found = str_equal(entry.mnt_dir, path);
        (void) endmntent(f);
        return found;
}
