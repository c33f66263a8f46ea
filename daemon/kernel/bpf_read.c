/* SPDX-License-Identifier: MIT */
/* Records of the program in the kernel become refusals. */
#include "daemon/kernel/bpf_private.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/sysmacros.h>

static const AccessType types[] = {
        [GUARD_OPEN] = ACCESS_OPEN,         [GUARD_TRUNCATE] = ACCESS_TRUNCATE,
        [GUARD_CREATE] = ACCESS_CREATE,     [GUARD_MAKE] = ACCESS_CREATE,
        [GUARD_DELETE] = ACCESS_DELETE,     [GUARD_RENAME] = ACCESS_RENAME,
        [GUARD_METADATA] = ACCESS_METADATA, [GUARD_VOID] = ACCESS_OPEN,
};

void bpf_refusal_done(BpfRefusal *r) {
        free(r->place.rest);
        free(r->from.rest);
        *r = (BpfRefusal){};
}

/* The names come last component first, each with its NUL. */
static int read_place(const struct guard_path *p, BpfPlace *ret) {
        size_t left = MIN((size_t) p->bytes, sizeof(p->names)), at;
        char *text = malloc(left + 1);
        const char *name = p->names;

        if (!text)
                return -ENOMEM;
        at = left;
        text[at] = '\0';
        while (left > 0) {
                size_t n = strnlen(name, left);

                if (n == left)
                        break;
                at -= n + 1;
                text[at] = '/';
                memcpy(text + at + 1, name, n);
                name += n + 1;
                left -= n + 1;
        }
        memmove(text, text + at, strlen(text + at) + 1);
        *ret = (BpfPlace){
                .inside = p->flags & GUARD_INSIDE,
                .cut = p->flags & GUARD_CUT,
                .watch = p->watch,
                .rest = text,
        };
        return 0;
}

static int read_record(const struct guard_record *g, BpfRefusal *ret) {
        const unsigned last = g->n_paths > 1;
        int r;

        *ret = (BpfRefusal){
                .cgroup_id = g->cgroup,
                .pid = (pid_t) g->pid,
                .tid = (pid_t) g->tid,
                .at = g->at,
                .device = makedev(g->device >> 20, g->device & 0xfffff),
                .type = types[g->op],
                .kind = (ObjectKind) g->kind,
                .replaces = g->replaces,
                .tentative = g->op == GUARD_CREATE,
                .voids = g->voids,
                .none = g->op == GUARD_VOID,
                .has_from = g->op == GUARD_RENAME,
        };
        r = read_place(&g->path[last], &ret->place);
        if (r >= 0 && ret->has_from)
                r = read_place(&g->path[0], &ret->from);
        return r;
}

static int on_record(void *userdata, void *data, size_t size) {
        const struct guard_record *g = data;
        BpfEngine *e = userdata;
        BpfRefusal refusal = {};

        if (size < offsetof(struct guard_record, path) + sizeof(struct guard_path) ||
            g->op >= ELEMENTSOF(types) || g->kind >= _KIND_MAX ||
            (g->n_paths > 1 && size < sizeof(*g)) || !e->told)
                return 0;
        if (read_record(g, &refusal) >= 0)
                e->told(&refusal, e->told_userdata);
        else
                e->dropped++;
        bpf_refusal_done(&refusal);
        return 0;
}

int bpf_engine_open_records(BpfEngine *e) {
        e->ring = ring_buffer__new(e->records, on_record, e, NULL);
        return e->ring ? 0 : -errno;
}

int bpf_engine_fd(const BpfEngine *e) {
        return ring_buffer__epoll_fd(e->ring);
}

int bpf_engine_read(BpfEngine *e, bpf_engine_told_t told, void *userdata) {
        int r;

        e->told = told;
        e->told_userdata = userdata;
        r = ring_buffer__consume(e->ring);
        e->told = NULL;
        return r < 0 ? r : 0;
}

uint64_t bpf_engine_take_lost(BpfEngine *e) {
        const uint32_t key = GUARD_COUNT_LOST;
        uint64_t now = 0, n;

        if (bpf_map_lookup_elem(e->counts, &key, &now) < 0)
                now = e->lost;
        n = now - e->lost + e->dropped;
        e->lost = now;
        e->dropped = 0;
        return n;
}
