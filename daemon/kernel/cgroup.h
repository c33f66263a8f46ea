/* SPDX-License-Identifier: MIT */
/*
 * The session tag: a cgroup v2 child `mountwatch-ID` below the cgroup that the process is in now. The kernel carries it
 * through fork, exec, setsid and reparenting; freeze and kill act on the whole tree at once.
 *
 * On a hybrid host the unified hierarchy is mounted elsewhere (/sys/fs/cgroup/unified); mountinfo says where.
 * Where no cgroup v2 is writable every function answers -EOPNOTSUPP and the process table carries the tag alone.
 */
#ifndef MOUNTWATCH_KERNEL_CGROUP_H
#define MOUNTWATCH_KERNEL_CGROUP_H

#include "common/macro.h"

#include <stdbool.h>
#include <sys/types.h>

/* Where the unified hierarchy is mounted. The caller frees. */
int cgroup_find_root(char **ret);
/* Absolute path of the cgroup v2 folder that `pid` is in. -ESRCH when it is gone. */
int cgroup_of_pid(const char *root, pid_t pid, char **ret);
/* Parses the content of /proc/PID/cgroup: the path of the "0::" line. -ENODATA without one. */
int cgroup_parse(const char *data, size_t size, char **ret);

/* Makes mountwatch-ID below the present cgroup of `pid` and moves it there. *ret: its absolute path. */
int cgroup_create_for(const char *root, pid_t pid, const char *id, char **ret);
int cgroup_add(const char *cgroup, pid_t pid);
/* Members, those of nested cgroups included. The caller frees. -ENOENT when the folder is gone. */
int cgroup_list(const char *cgroup, pid_t **ret, size_t *ret_n);
int cgroup_is_populated(const char *cgroup); /* 1, 0, negative errno */
/* A descriptor on cgroup.events: EPOLLPRI when `populated` or `frozen` change. */
int cgroup_open_events(const char *cgroup);
int cgroup_freeze(const char *cgroup, bool freeze);
int cgroup_kill(const char *cgroup);
/* Moves the members (and nested cgroups' members) to the parent and removes the folder. Not there any more is success. */
int cgroup_dissolve(const char *cgroup);
/* Calls f for each folder mountwatch-* below root (left by an earlier daemon). */
int cgroup_foreach_left(const char *root,
                        void (*f)(const char *cgroup, const char *id, void *userdata),
                        void *userdata);

#endif
