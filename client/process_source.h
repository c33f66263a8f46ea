/* SPDX-License-Identifier: MIT */
/* Where processes are looked up by id, and the chain from a process up to the root of its session. */
#ifndef MOUNTWATCH_CLIENT_PROCESS_SOURCE_H
#define MOUNTWATCH_CLIENT_PROCESS_SOURCE_H

#include "common/operation.h"

#define PROCESS_CHAIN_MAX 64

typedef struct ProcessSource {
        const ProcessInfo *(*find)(void *userdata, int64_t id); /* NULL: unknown */
        void *userdata;
} ProcessSource;

static inline const ProcessInfo *process_source_find(ProcessSource source, int64_t id) {
        return id > 0 ? source.find(source.userdata, id) : NULL;
}

/* The ancestors of process `id`, nearest first, without itself; at most PROCESS_CHAIN_MAX. With a `root_pid` (not 0) it ends with
 * the first ancestor of that pid, and is empty for the root itself. */
size_t process_source_ancestors(ProcessSource source, int64_t id, pid_t root_pid,
                                const ProcessInfo *ret[static PROCESS_CHAIN_MAX]);

#endif
