/* SPDX-License-Identifier: MIT */
/* Of the bpf_*.c files alone. */
#ifndef MOUNTWATCH_KERNEL_BPF_PRIVATE_H
#define MOUNTWATCH_KERNEL_BPF_PRIVATE_H

#include "daemon/kernel/bpf/guard_record.h"
#include "daemon/kernel/bpf_engine.h"

#include <bpf/libbpf.h>

#define BPF_LINKS_MAX 32

struct BpfEngine {
        struct bpf_object *object;
        struct bpf_link *links[BPF_LINKS_MAX];
        size_t n_links;
        struct bpf_program *introducer; /* attached when it is needed */
        struct ring_buffer *ring;
        int config, sessions, devices, watches, nodes, counts, records; /* the object's */
        unsigned n_sessions;
        uint64_t lost;      /* as counted by the kernel when last asked */
        uint64_t dropped;   /* for lack of memory, since then */
        uint32_t last_node; /* number given out last */
        struct {
                bool used;
                uint32_t device;
        } slots[GUARD_WATCHES_MAX];
        bpf_engine_told_t told; /* while records are read */
        void *told_userdata;
};

/* The program, as clang has made it (bpf/guard.bpf.c); put in by the assembler, see the Makefile. */
extern const unsigned char bpf_guard_object[], bpf_guard_object_end[];

int bpf_engine_configure(BpfEngine *e);
int bpf_engine_open_records(BpfEngine *e);

#endif
