/* SPDX-License-Identifier: MIT */
/* The text files of proc and cgroup: made by the kernel at the moment of the read, without a size, sometimes gone. */
#ifndef MOUNTWATCH_KERNEL_TEXTFILE_H
#define MOUNTWATCH_KERNEL_TEXTFILE_H

#include <stddef.h>

/* Reads at most `size` bytes of `name` (relative to dirfd; AT_FDCWD for a path) into buf. A longer file is cut. */
int textfile_read_at(int dirfd, const char *name, void *buf, size_t size, size_t *ret_n);
/* Reads all of it; -E2BIG above `max`. The caller frees; a NUL (not counted in ret_n) follows the last byte. */
int textfile_read_all_at(int dirfd, const char *name, size_t max, char **ret, size_t *ret_n);
/* Writes `text` in one write(2), as these files want it. Never creates the file. */
int textfile_write_at(int dirfd, const char *name, const char *text);

#endif
