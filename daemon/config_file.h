/* SPDX-License-Identifier: MIT */
/* The files that make a configuration. */
#ifndef MOUNTWATCH_CONFIG_FILE_H
#define MOUNTWATCH_CONFIG_FILE_H

#include <stddef.h>

#define CONFIG_FILE_MAX (1024 * 1024) /* bytes */

/* The whole file, not NUL-terminated; *ret is NULL for /dev/null, with which a drop-in is masked. -EISDIR; -EBADF: something
 * else that is no regular file; -EFBIG. */
int config_file_read(const char *path, char **ret, size_t *ret_size);

/* The paths of *.conf in a folder, sorted by their bytes, hidden files left out; NULL when there are none. */
int config_file_list(const char *folder, char ***ret);

#endif
