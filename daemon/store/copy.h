/* SPDX-License-Identifier: MIT */
/*
 * Faithful copies of single objects, between filesystems too. Plain system calls: any thread, and it may block for as long as
 * the filesystem does.
 *
 * The *at forms take a directory and a name in it; a symlink is itself, not its target.
 */
#ifndef MOUNTWATCH_STORE_COPY_H
#define MOUNTWATCH_STORE_COPY_H

#include "common/macro.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#define COPY_HASH_SIZE 32 /* SHA-256 */

typedef enum CopyMethod {
        COPY_REFLINK, /* FICLONE: no data is moved, both share it until one is written */
        COPY_RANGE,   /* copy_file_range: within one filesystem, or on the server */
        COPY_BUFFER,  /* read and write */
} CopyMethod;

/* Asked between two pieces of at most 8 MiB; NULL is never. */
typedef const atomic_bool *CopyCancel;

/* What stat knows of an object and a copy has to bring back. */
typedef struct CopyMeta {
        mode_t mode; /* with the type */
        uid_t uid;
        gid_t gid;
        dev_t rdev;
        int64_t atime, mtime; /* nanoseconds since 1970 */
        char *xattrs; /* owned; for each: name, NUL, size (uint32_t), value. POSIX ACLs are two of them. NULL: none */
        size_t xattrs_size;
} CopyMeta;

void copy_meta_done(CopyMeta *m);
int copy_meta_clone(const CopyMeta *m, CopyMeta *ret);
/* Of `name` in dir_fd (a symlink itself, not its target), or of dir_fd for "". Attributes of the filesystem itself (security.selinux
 * and trusted.* included) as far as they can be read; those that it keeps for itself (system.nfs4_acl on NFS, cifs) likewise. */
int copy_meta_read(int dir_fd, const char *name, CopyMeta *ret);
/* Owner, xattrs (others are removed), mode, times, in this order: a change of owner clears set-id bits and file capabilities. Does what
 * it can: returns the first error after trying all (-EOPNOTSUPP of an attribute that the filesystem cannot have is none). */
int copy_meta_write(int dir_fd, const char *name, const CopyMeta *m);
/* Access times do not count. */
bool copy_meta_equal(const CopyMeta *a, const CopyMeta *b, bool with_times);

/* Bytes of data, without holes, as far as the filesystem tells. */
uint64_t copy_data_size(const struct stat *st);
/* All of the content of `from` into `to`, which is then as long, with holes where `from` has them. `to` need not be empty: what it
 * has is overwritten in place, so that other descriptors and hard links go on being of this file. `bytes_max`: -EFBIG when there
 * is more (data, not holes). -ENOSPC (EDQUOT too), -ECANCELED. */
int copy_content(int from, int to, uint64_t bytes_max, CopyCancel cancel, CopyMethod *ret_method);
/* SHA-256 over every block of 64 KiB that is not all zeros, each after its number, and the length: the same whether zeros
 * are holes or not, and a terabyte of hole costs nothing. No file offset is changed. */
int copy_hash(int fd, CopyCancel cancel, uint8_t ret[static COPY_HASH_SIZE]);

/* The name that something has until it is complete and comes to `name`: the same for every try, so that a try which was killed leaves
 * nothing for good. */
#define COPY_TEMP_SIZE 40
void copy_temp_name(const char *name, char ret[static COPY_TEMP_SIZE]);

/* Makes `name` in dir_fd as a copy, with its metadata; not synced. A regular file (with the content of fd; -1: none)
 * comes to its name when it is complete, by O_TMPFILE or by a name `.mountwatch-…` beside it, which the next try removes. -EEXIST when
 * something is there already; a directory is made empty. 1 when not all metadata could be put on it. */
typedef struct CopySource {
        const CopyMeta *meta;
        const char *target;
        int fd;
} CopySource;
int copy_make(int dir_fd, const char *name, const CopySource *source, CopyCancel cancel);

#endif
