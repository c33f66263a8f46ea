/* SPDX-License-Identifier: MIT */
#include "daemon/leftover.h"

#include <errno.h>

static void clear(Leftover *l) {
        free(l->path);
        *l = (Leftover){};
}

static Leftover *find(Leftover *ring, const char *path, pid_t pid) {
        for (unsigned i = 0; i < LEFTOVERS_MAX; i++)
                if (ring[i].path && ring[i].pid == pid && strcmp(ring[i].path, path) == 0)
                        return &ring[i];
        return NULL;
}

static int put(Leftover *ring, unsigned *n, const char *path, pid_t pid, int64_t seq) {
        Leftover *l = &ring[(*n)++ % LEFTOVERS_MAX];
        char *copy = strdup(path);

        if (!copy)
                return -ENOMEM;
        clear(l);
        *l = (Leftover){.path = copy, .pid = pid, .seq = seq};
        return 0;
}

void leftovers_done(Leftovers *l) {
        for (unsigned i = 0; i < LEFTOVERS_MAX; i++) {
                clear(&l->made[i]);
                clear(&l->refused[i]);
        }
}

int leftovers_note_made(Leftovers *l, const char *path, pid_t pid, int64_t seq) {
        return put(l->made, &l->n_made, path, pid, seq);
}

int64_t leftovers_refuse(Leftovers *l, const char *path, pid_t pid) {
        Leftover *made = find(l->made, path, pid);
        int64_t seq = made ? made->seq : 0;

        if (made)
                clear(made);
        else
                (void) put(l->refused, &l->n_refused, path, pid, 0);
        return seq;
}

bool leftovers_take_refused(Leftovers *l, const char *path, pid_t pid) {
        Leftover *refused = find(l->refused, path, pid);

        if (!refused)
                return false;
        clear(refused);
        return true;
}
