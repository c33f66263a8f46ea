/* SPDX-License-Identifier: MIT */
/* In place of the other bpf_*.c files in a build without them (make BPF=no): there never is an engine. */
#include "daemon/kernel/bpf_engine.h"

#include <errno.h>
#include <stdio.h>

int bpf_engine_new(BpfEngine **ret, char reason[static BPF_REASON_MAX]) {
        (void) snprintf(reason, BPF_REASON_MAX, "this program was built without it (make BPF=yes)");
        return -EOPNOTSUPP;
}

BpfEngine *bpf_engine_free(BpfEngine *e) {
        return NULL;
}

bool bpf_engine_can_decide(const WatchSpec *w, const char **ret_reason) {
        *ret_reason = "there is no engine";
        return false;
}

int bpf_engine_put_session(BpfEngine *e, uint64_t cgroup_id, Policy floor, bool exempt) {
        return -EOPNOTSUPP;
}

void bpf_engine_drop_session(BpfEngine *e, uint64_t cgroup_id) {
}

int bpf_engine_put_watch(BpfEngine *e, const WatchSpec *w, const WatchSite *site, int root_fd,
                         unsigned *ret_number) {
        return -EOPNOTSUPP;
}

void bpf_engine_drop_watch(BpfEngine *e, unsigned number, int root_fd) {
}

void bpf_refusal_done(BpfRefusal *r) {
}

int bpf_engine_fd(const BpfEngine *e) {
        return -EOPNOTSUPP;
}

int bpf_engine_read(BpfEngine *e, bpf_engine_told_t told, void *userdata) {
        return -EOPNOTSUPP;
}

uint64_t bpf_engine_take_lost(BpfEngine *e) {
        return 0;
}
