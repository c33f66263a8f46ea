/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <mntent.h>

#include "client/find_mounts.h"

static const struct {
        const char *fstype, *text;
} network_table[] = {
        {"nfs", "NFS share"},
        {"nfs4", "NFS share"},
        {"cifs", "SMB share"},
        {"smb3", "SMB share"},
        {"smbfs", "SMB share"},
        {"fuse.sshfs", "sshfs mount"},
        {"fuse.rclone", "rclone mount"},
        {"fuse.s3fs", "S3 bucket"},
        {"fuse.gcsfuse", "GCS bucket"},
        {"fuse.glusterfs", "GlusterFS volume"},
        {"glusterfs", "GlusterFS volume"},
        {"ceph", "CephFS"},
        {"fuse.ceph", "CephFS"},
        {"fuse.ceph-fuse", "CephFS"},
        {"fuse.moosefs", "MooseFS"},
        {"fuse.mfs", "MooseFS"},
        {"fuse.juicefs", "JuiceFS"},
        {"fuse.curlftpfs", "FTP mount"},
        {"fuse.davfs", "WebDAV mount"},
        {"davfs", "WebDAV mount"},
        {"fuse.gvfsd-fuse", NULL}, /* a person's desktop: what is in it comes and goes */
        {"9p", "9p share"},
        {"virtiofs", "share of the host"},
        {"vboxsf", "share of the host"},
        {"fuse.vmhgfs-fuse", "share of the host"},
        {"prl_fs", "share of the host"},
        {"afs", "AFS"},
        {"coda", "Coda"},
        {"lustre", "Lustre"},
        {"beegfs", "BeeGFS"},
        {"gpfs", "GPFS"},
        {"pvfs2", "OrangeFS"},
        {"gfs2", "cluster filesystem"},
        {"ocfs2", "cluster filesystem"},
};

const char *network_filesystem(const char *fstype) {
        for (size_t i = 0; i < ELEMENTSOF(network_table); i++)
                if (str_equal(network_table[i].fstype, fstype))
                        return network_table[i].text;
        return NULL;
}

bool mount_is_remote(const Mount *m) {
        return str_equal(m->fstype, "autofs") || str_equal(m->fstype, "fuse.gvfsd-fuse") ||
                network_filesystem(m->fstype);
}

static bool has_option(const char *options, const char *name) {
        const size_t n = strlen(name);

        for (const char *p = options; *p; p += strcspn(p, ",")) {
                p += *p == ',';
                if (strncmp(p, name, n) == 0 && (p[n] == ',' || p[n] == '\0'))
                        return true;
        }
        return false;
}

static int add(Findings *f, const Mount *m, const char *kind, const char *source,
               const char *remark) {
        _cleanup_free_ char *why = NULL;

        if (asprintf(&why, "%s%s%s%s", kind, *source ? " " : "", source, remark) < 0) {
                why = NULL;
                return -ENOMEM;
        }
        return findings_add(f, m->target, /* preserve= */ true, why);
}

static int add_mounted(Findings *f, const Mount *m) {
        const char *kind = network_filesystem(m->fstype);

        if (!kind || has_option(m->options, "ro") || has_option(m->super_options, "ro"))
                return 0;
        return add(f, m, kind, m->source, "");
}

/* systemd makes an automount point of a line of fstab (x-systemd.automount), and of its own finds such as /boot. */
static int add_of_fstab(Findings *f, const Mount *m, const char *fstab) {
        FILE *file = setmntent(fstab, "re");
        int r = 0;

        if (!file)
                return 0;
        for (struct mntent *e; r >= 0 && (e = getmntent(file));) {
                const char *kind = network_filesystem(e->mnt_type);

                if (kind && str_equal(e->mnt_dir, m->target) && !hasmntopt(e, "ro"))
                        r = add(f, m, kind, e->mnt_fsname, ", mounted on demand");
        }
        (void) endmntent(file);
        return r;
}

/* A direct map is the place of one mount; below an indirect one names come and go. */
static int add_automount(Findings *f, const Mount *m, const char *fstab) {
        if (!has_option(m->super_options, "direct"))
                return 0;
        if (str_equal(m->source, "systemd-1"))
                return add_of_fstab(f, m, fstab);
        return add(f, m, "automount point of", m->source, ", mounted on demand");
}

int find_mounts(const MountTable *t, const char *fstab, Findings *f) {
        for (size_t i = 0; i < t->n; i++) {
                const Mount *m = &t->mounts[i];
                int r;

                /* what is mounted over cannot be reached */
                if (mount_table_find(t, m->target) != m)
                        continue;
                r = str_equal(m->fstype, "autofs") ? add_automount(f, m, fstab) : add_mounted(f, m);
                if (r < 0)
                        return r;
        }
        return 0;
}
