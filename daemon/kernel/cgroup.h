/* SPDX-License-Identifier: MIT */
/*
 * The session tag: a cgroup v2 child `mountwatch-ID` below the cgroup that the process is in now. The kernel carries it
 * through fork, exec, setsid and reparenting; freeze and kill act on the whole tree at once.
 *
 * On a hybrid host the unified hierarchy is mounted elsewhere (/sys/fs/cgroup/unified); mountinfo says where.
 * Where no cgroup v2 is writable every function answers -EOPNOTSUPP and the process table carries the tag alone.
 *
 * The folder is root's: an ordinary user can move a process out of it only with the right to write cgroup.procs of the
 * common ancestor. Below user@UID.service, which systemd delegates to the user, that right exists: the tag is a guard-rail
 * there, not a wall.
 */
#ifndef MOUNTWATCH_KERNEL_CGROUP_H
#define MOUNTWATCH_KERNEL_CGROUP_H

#include "common/macro.h"

#include <stdbool.h>
#include <sys/types.h>

/* Where the unified hierarchy is mounted. The caller frees. */
int cgroup_find_root(char **ret);
/* Absolute path of the cgroup v2 folder that `pid` is in. -ESRCH when it is gone, -EOPNOTSUPP when it lies outside our cgroup
 * namespace. */
int cgroup_of_pid(const char *root, pid_t pid, char **ret);
/* Parses the content of /proc/PID/cgroup: the path of the "0::" line. -ENODATA without one. */
int cgroup_parse(const char *data, size_t size, char **ret);

/* Makes mountwatch-ID below the present cgroup of `pid` and moves it there; its descendants stay where they are.
 * *ret: its absolute path. On failure nothing is left behind. -EINVAL for an id that cannot be a name, -EAGAIN when a
 * limit on cgroups is reached. */
int cgroup_create_for(const char *root, pid_t pid, const char *id, char **ret);
/* Moves a process with all its threads. -ENOENT when the folder is gone, -ESRCH when the process is. */
int cgroup_add(const char *cgroup, pid_t pid);
/* Members, those of nested cgroups included. The caller frees. -ENOENT when the folder is gone. */
int cgroup_list(const char *cgroup, pid_t **ret, size_t *ret_n);
int cgroup_is_populated(const char *cgroup); /* 1, 0, negative errno */
int cgroup_is_frozen(const char *cgroup);    /* likewise */
/* A descriptor on cgroup.events: EPOLLPRI when `populated` or `frozen` change, and once at first. It stays ready until it is
 * read from offset 0 (pread), which fails with ENODEV once the folder has been removed. */
int cgroup_open_events(const char *cgroup);
/* Asks for it; a process in a system call follows a moment later (`frozen` in cgroup.events). */
int cgroup_freeze(const char *cgroup, bool freeze);
/* SIGKILL to all members, those of nested cgroups included, without a gap for forks. */
int cgroup_kill(const char *cgroup);
/* The same one by one while frozen, for kernels before 5.14. -EAGAIN when some are still ending, -EPERM when we are one. */
int cgroup_kill_each(const char *cgroup);
/* Moves the members (and nested cgroups' members) to the parent and removes the folder. Not there any more is success.
 * -EBUSY: a session began inside this one and its folder is still below; its members stay tagged, all others have been moved,
 * and the folder waits empty until the caller calls again after the end of the inner one. -EAGAIN: members fork
 * faster than they can be moved, or one that is ending still closes its files (on a dead share for long): call again later. */
int cgroup_dissolve(const char *cgroup);
/* Calls f for each folder mountwatch-* below root (left by an earlier daemon), inner ones first. f may dissolve it. */
int cgroup_foreach_left(const char *root,
                        void (*f)(const char *cgroup, const char *id, void *userdata),
                        void *userdata);

#endif
