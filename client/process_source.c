/* SPDX-License-Identifier: MIT */
#include "client/process_source.h"

size_t process_source_ancestors(ProcessSource source, int64_t id, pid_t root_pid,
                                const ProcessInfo *ret[static PROCESS_CHAIN_MAX]) {
        const ProcessInfo *p = process_source_find(source, id);
        size_t n = 0;

        /* the limit also ends a chain that a broken reply made circular */
        while (p && n < PROCESS_CHAIN_MAX && !(root_pid > 0 && p->pid == root_pid)) {
                p = process_source_find(source, p->parent_id);
                if (p)
                        ret[n++] = p;
        }
        return n;
}
