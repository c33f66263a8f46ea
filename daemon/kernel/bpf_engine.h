/* SPDX-License-Identifier: MIT */
/*
 * The guard in the kernel, from the daemon's side: a BPF-LSM program (bpf/guard.bpf.c) that refuses by itself what the sessions it is told
 * of would change in the watches it is told of, where deny is the stricter policy of the two. It knows a session by its cgroup
 * and a watch by the inode of its root, and it cannot wait for anybody: ask, Preserve= and the other policies are the gates' business.
 *
 * The programs are attached for as long as the engine lives; nothing is pinned, so the kernel detaches them when the daemon ends.
 */
#ifndef MOUNTWATCH_KERNEL_BPF_ENGINE_H
#define MOUNTWATCH_KERNEL_BPF_ENGINE_H

#include "daemon/core/access.h"
#include "daemon/kernel/watch_site.h"

#define BPF_REASON_MAX 256

typedef struct BpfEngine BpfEngine;

/* Loads and attaches. On failure `reason` says why not, in words. */
int bpf_engine_new(BpfEngine **ret, char reason[static BPF_REASON_MAX]);
BpfEngine *bpf_engine_free(BpfEngine *e);
DEFINE_CLEANUP(BpfEngine *, bpf_engine_free)

/* Whether the kernel can tell what Allow= and Ignore= of this watch cover; why not in *ret_reason, a literal. */
bool bpf_engine_can_decide(const WatchSpec *w, const char **ret_reason);

/* `floor`: the session's own policy, POLICY_RECORD when it has none. A session that is `exempt` is let by its own cgroup, also when
 * one around it is not. */
int bpf_engine_put_session(BpfEngine *e, uint64_t cgroup_id, Policy floor, bool exempt);
void bpf_engine_drop_session(BpfEngine *e, uint64_t cgroup_id);

/*
 * root_fd: the root of the watch, or the directory of a watch of one file; it must stay open until the watch is dropped, since
 * the program knows the inode by its address. O_PATH will do. Touches no filesystem. -EEXIST: another watch has that root. -ENOSPC: too many.
 */
int bpf_engine_put_watch(BpfEngine *e, const WatchSpec *w, const WatchSite *site, int root_fd,
                         unsigned *ret_number);
void bpf_engine_drop_watch(BpfEngine *e, unsigned number, int root_fd);

typedef struct BpfPlace {
        bool inside;    /* in the watch `watch` */
        unsigned watch; /* its number */
        bool cut;       /* components at the beginning are missing */
        char *rest; /* owned; below the root of the watch, or of the filesystem: "" or begins with a slash */
} BpfPlace;

/* A call that was refused. */
typedef struct BpfRefusal {
        uint64_t cgroup_id; /* of the session */
        pid_t pid, tid;
        nsec_t at; /* CLOCK_MONOTONIC */
        dev_t device;
        AccessType type;
        ObjectKind kind;
        bool replaces;
        /* The kernel asks for a create before it has looked whether the name exists (lookup_open() of 6.1 to 7.3). If it
         * does, the open follows in the same call, and either is refused too and `voids` the create, or says that it was `none`. */
        bool tentative, voids, none;
        BpfPlace place, from; /* of a rename both */
        bool has_from;
} BpfRefusal;

void bpf_refusal_done(BpfRefusal *r);

/* Readable when there are refusals to be read. */
int bpf_engine_fd(const BpfEngine *e);
typedef void (*bpf_engine_told_t)(BpfRefusal *r, void *userdata); /* may take what is inside */
int bpf_engine_read(BpfEngine *e, bpf_engine_told_t told, void *userdata);
/* How many refusals could not be told since the last call, because the buffer was full. */
uint64_t bpf_engine_take_lost(BpfEngine *e);

#endif
