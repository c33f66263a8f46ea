/* SPDX-License-Identifier: MIT */
/* A file that holds a secret. */
#ifndef MOUNTWATCH_SECRET_FILE_H
#define MOUNTWATCH_SECRET_FILE_H

#define SECRET_FILE_MAX (64 * 1024) /* bytes */

/* Its text, without white space at the end. -EINVAL: it must not be used, and *ret_reason (the caller's) says why: missing, no regular file,
 * of somebody else than root or ourselves, open to group or others, empty, too large, with a NUL. -EACCES: closed to us, who are not root. */
int secret_file_read(const char *path, char **ret, char **ret_reason);

#endif
