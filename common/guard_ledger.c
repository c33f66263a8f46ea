/* SPDX-License-Identifier: MIT */
/*
 * A slot is free while its time is 0. The writer fills in the rest before the time, and clears the time before anything else, so
 * that a reader who sees the same time before and after has read one entry. What the reader is told of an entry that is
 * just leaving does no harm: the kernel refuses a second answer.
 *
 * Nothing in the memory is trusted: the other side may write whatever it likes, and gets nothing for it but wrong answers
 * to its own calls.
 */
#include "common/guard_ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define MAGIC 0x6d77676c65640001ULL
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

typedef struct Slot {
        _Atomic uint64_t since; /* ns, CLOCK_MONOTONIC; 0: free */
        _Atomic uint64_t notification;
        _Atomic uint32_t refuse;
        uint32_t padding;
} Slot;

typedef struct Memory {
        uint64_t magic;
        _Atomic uint64_t beats;
        _Atomic uint64_t lapses, lapses_taken;
        _Atomic uint32_t released;
        _Atomic uint32_t listener_wanted;
        Slot slots[GUARD_LEDGER_SLOTS];
} Memory;

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2,
               "processes share these: no lock of one of them will do");

struct GuardLedger {
        Memory *memory;
        size_t hint; /* where the writer looks first */
};

static int map(int fd, GuardLedger **ret) {
        _cleanup_(guard_ledger_freep) GuardLedger *l = calloc(1, sizeof(*l));
        void *p;

        if (!l)
                return -ENOMEM;
        p = mmap(NULL, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED)
                return -errno;
        l->memory = p;
        *ret = TAKE_PTR(l);
        return 0;
}

int guard_ledger_new(GuardLedger **ret, int *ret_fd) {
        _cleanup_close_ int fd = memfd_create("mountwatch-ledger", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        int r;

        if (fd < 0 || ftruncate(fd, (off_t) sizeof(Memory)) < 0 ||
            fcntl(fd, F_ADD_SEALS, SEALS) < 0)
                return -errno;
        r = map(fd, ret);
        if (r < 0)
                return r;
        (*ret)->memory->magic = MAGIC;
        *ret_fd = TAKE_FD(fd);
        return 0;
}

int guard_ledger_map(int fd, GuardLedger **ret) {
        _cleanup_(guard_ledger_freep) GuardLedger *l = NULL;
        int seals = fcntl(fd, F_GET_SEALS), r;
        struct stat st;

        if (seals < 0)
                return errno == EBADF ? -EBADF : -EINVAL;
        if (fstat(fd, &st) < 0)
                return -errno;
        /* without the seal against shrinking, a read behind the new end would end this program */
        if ((seals & SEALS) != SEALS || (seals & F_SEAL_WRITE) ||
            st.st_size != (off_t) sizeof(Memory))
                return -EINVAL;
        r = map(fd, &l);
        if (r < 0)
                return r;
        if (l->memory->magic != MAGIC)
                return -EINVAL;
        *ret = TAKE_PTR(l);
        return 0;
}

GuardLedger *guard_ledger_free(GuardLedger *l) {
        if (!l)
                return NULL;
        if (l->memory)
                (void) munmap(l->memory, sizeof(Memory));
        free(l);
        return NULL;
}

static Slot *find(GuardLedger *l, uint64_t notification) {
        for (size_t i = 0; i < GUARD_LEDGER_SLOTS; i++) {
                Slot *s =
                        &l->memory->slots[(l->hint + GUARD_LEDGER_SLOTS - i) % GUARD_LEDGER_SLOTS];

                if (atomic_load_explicit(&s->since, memory_order_relaxed) != 0 &&
                    atomic_load_explicit(&s->notification, memory_order_relaxed) == notification)
                        return s;
        }
        return NULL;
}

int guard_ledger_enter(GuardLedger *l, uint64_t notification, nsec_t now, bool refuse_when_late) {
        for (size_t i = 0; i < GUARD_LEDGER_SLOTS; i++) {
                size_t k = (l->hint + i) % GUARD_LEDGER_SLOTS;
                Slot *s = &l->memory->slots[k];

                if (atomic_load_explicit(&s->since, memory_order_relaxed) != 0)
                        continue;
                atomic_store_explicit(&s->notification, notification, memory_order_relaxed);
                atomic_store_explicit(&s->refuse, refuse_when_late, memory_order_relaxed);
                atomic_store_explicit(&s->since, now ? now : 1, memory_order_release);
                l->hint = k;
                return 0;
        }
        return -ENOBUFS;
}

void guard_ledger_leave(GuardLedger *l, uint64_t notification) {
        Slot *s = find(l, notification);

        if (s)
                atomic_store_explicit(&s->since, 0, memory_order_release);
}

void guard_ledger_renew(GuardLedger *l, uint64_t notification, nsec_t now) {
        Slot *s = find(l, notification);

        if (s)
                atomic_store_explicit(&s->since, now ? now : 1, memory_order_release);
}

void guard_ledger_foreach(GuardLedger *l, nsec_t before, void (*f)(uint64_t, bool, void *),
                          void *userdata) {
        for (size_t i = 0; i < GUARD_LEDGER_SLOTS; i++) {
                Slot *s = &l->memory->slots[i];
                nsec_t since = atomic_load_explicit(&s->since, memory_order_acquire);
                uint64_t notification;
                bool refuse;

                if (since == 0 || since >= before)
                        continue;
                notification = atomic_load_explicit(&s->notification, memory_order_relaxed);
                refuse = atomic_load_explicit(&s->refuse, memory_order_relaxed) != 0;
                atomic_thread_fence(memory_order_acquire);
                if (atomic_load_explicit(&s->since, memory_order_relaxed) == since)
                        f(notification, refuse, userdata);
        }
}

void guard_ledger_beat(GuardLedger *l) {
        atomic_fetch_add(&l->memory->beats, 1);
}

uint64_t guard_ledger_beats(const GuardLedger *l) {
        return atomic_load(&l->memory->beats);
}

void guard_ledger_release(GuardLedger *l) {
        atomic_store(&l->memory->released, 1);
}

bool guard_ledger_is_released(const GuardLedger *l) {
        return atomic_load(&l->memory->released) != 0;
}

void guard_ledger_note_listener(GuardLedger *l) {
        atomic_store(&l->memory->listener_wanted, 1);
}

bool guard_ledger_wanted_listener(const GuardLedger *l) {
        return atomic_load(&l->memory->listener_wanted) != 0;
}

void guard_ledger_add_lapse(GuardLedger *l) {
        atomic_fetch_add(&l->memory->lapses, 1);
}

uint64_t guard_ledger_take_lapses(GuardLedger *l) {
        uint64_t all = atomic_load(&l->memory->lapses);

        return all - atomic_exchange(&l->memory->lapses_taken, all);
}

uint64_t guard_ledger_lapses(const GuardLedger *l) {
        return atomic_load(&l->memory->lapses);
}
