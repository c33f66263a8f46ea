/* SPDX-License-Identifier: MIT */
#include "daemon/kernel/pulse.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
               "processes share these: no lock of one of them will do");

/* A pulse is taken while tid is not 0; that is set last and cleared first. */
struct Pulse {
        _Atomic int tid;
        _Atomic bool reserved;
        _Atomic bool in_filesystem;
        _Atomic uint64_t patience; /* looks */
        _Atomic uint64_t beats;
};

typedef struct Memory {
        Pulse pulses[PULSES_MAX];
} Memory;

struct Pulses {
        atomic_uint n_ref;
        int fd;
        Memory *memory;
};

int pulses_new(Pulses **ret) {
        Pulses *p = calloc(1, sizeof(*p));
        void *memory;
        int r;

        if (!p)
                return -ENOMEM;
        atomic_init(&p->n_ref, 1);
        p->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        memory = mmap(NULL, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                      0);
        if (p->fd < 0 || memory == MAP_FAILED) {
                r = -errno;
                if (memory != MAP_FAILED)
                        (void) munmap(memory, sizeof(Memory));
                safe_close(p->fd);
                free(p);
                return r;
        }
        p->memory = memory;
        *ret = p;
        return 0;
}

Pulses *pulses_ref(Pulses *p) {
        (void) atomic_fetch_add(&p->n_ref, 1);
        return p;
}

Pulses *pulses_unref(Pulses *p) {
        if (!p || atomic_fetch_sub(&p->n_ref, 1) > 1)
                return NULL;
        (void) munmap(p->memory, sizeof(Memory));
        safe_close(p->fd);
        free(p);
        return NULL;
}

int pulses_fd(const Pulses *p) {
        return p->fd;
}

/* ---- the thread ---- */

Pulse *pulse_begin(Pulses *all, pid_t tid, usec_t patience) {
        for (size_t i = 0; i < PULSES_MAX; i++) {
                Pulse *p = &all->memory->pulses[i];

                if (atomic_exchange(&p->reserved, true))
                        continue;
                atomic_store(&p->in_filesystem, false);
                atomic_store(&p->patience, patience / (PULSE_MSEC * 1000) + 1);
                /* another count than that of whoever had it before */
                pulse_beat(p);
                atomic_store(&p->tid, tid);
                (void) eventfd_write(all->fd, 1);
                return p;
        }
        return NULL;
}

void pulse_end(Pulse *p) {
        if (!p)
                return;
        atomic_store(&p->tid, 0);
        atomic_store(&p->reserved, false);
}

void pulse_beat(Pulse *p) {
        (void) atomic_fetch_add_explicit(&p->beats, 1, memory_order_relaxed);
}

void pulse_enter_filesystem(Pulse *p) {
        atomic_store_explicit(&p->in_filesystem, true, memory_order_relaxed);
}

void pulse_leave_filesystem(Pulse *p) {
        atomic_store_explicit(&p->in_filesystem, false, memory_order_relaxed);
}

/* ---- the one who watches ---- */

size_t pulses_look(Pulses *all, PulseWatch *w, PulseLate ret[static PULSES_MAX], size_t *ret_n) {
        size_t n = 0, n_late = 0;

        for (size_t i = 0; i < PULSES_MAX; i++) {
                Pulse *p = &all->memory->pulses[i];
                int tid = atomic_load(&p->tid);
                uint64_t beats = atomic_load(&p->beats);

                if (tid == 0 || beats != w->of[i].beats) {
                        w->of[i].beats = beats;
                        w->of[i].unchanged = 0;
                } else
                        w->of[i].unchanged++;
                n += tid != 0;
                if (tid != 0 && w->of[i].unchanged > atomic_load(&p->patience))
                        ret[n_late++] = (PulseLate){
                                .tid = tid,
                                .in_filesystem = atomic_load(&p->in_filesystem),
                        };
        }
        *ret_n = n_late;
        return n;
}
