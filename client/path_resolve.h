/* SPDX-License-Identifier: MIT */
/* The absolute name of something that may not exist any more. */
#ifndef MOUNTWATCH_CLIENT_PATH_RESOLVE_H
#define MOUNTWATCH_CLIENT_PATH_RESOLVE_H

/*
 * Makes `path` absolute against `cwd` (an absolute path), and resolves the links of its directories as far as they still exist; the
 * last name stays as it is, and what is gone is taken by its letters ("a/../b" is "b"). The caller frees. -ENOMEM,
 * -EINVAL for an empty path.
 */
int path_resolve(const char *cwd, const char *path, char **ret);

#endif
