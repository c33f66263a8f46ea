/* SPDX-License-Identifier: MIT */
#include "daemon/restrain.h"
#include "daemon/follow.h"
#include "daemon/intake.h"
#include "daemon/kernel/cgroup.h"
#include "daemon/kernel/kill.h"

#include <errno.h>
#include <signal.h>

typedef struct Signal {
        int sig;
        int n;
} Signal;

static void signal_member(Process *p, void *userdata) {
        Signal *s = userdata;

        if (kill_process(p->pid, p->image ? p->image->start_ticks : 0, s->sig) >= 0)
                s->n++;
}

/* The session and those inside it; without a cgroup of its own each member is signalled by pidfd. */
static int signal_members(Live *l, int sig) {
        Signal s = {.sig = sig};
        Live *inner, *next;

        process_table_foreach(l->manager->processes, l->session, signal_member, &s);
        HASH_ITER (hh, l->manager->live, inner, next)
                if (inner->session->outer == l->session)
                        s.n += signal_members(inner, sig);
        return s.n;
}

static int count_members(Live *l) {
        Live *inner, *next;
        int n = (int) process_table_count(l->manager->processes, l->session);

        HASH_ITER (hh, l->manager->live, inner, next)
                if (inner->session->outer == l->session)
                        n += count_members(inner);
        return n;
}

int restrain_kill(Live *l) {
        int n;

        intake_processes(l->manager);
        l->killed = true;
        n = count_members(l);
        if (l->session->cgroup && cgroup_kill(l->session->cgroup) >= 0)
                return n;
        return signal_members(l, SIGKILL);
}

static void mark_frozen(Live *l, bool frozen) {
        Live *inner, *next;

        l->frozen = frozen;
        HASH_ITER (hh, l->manager->live, inner, next)
                if (inner->session->outer == l->session)
                        mark_frozen(inner, frozen);
}

int restrain_freeze(Live *l, bool freeze) {
        int n;

        intake_processes(l->manager);
        mark_frozen(l, freeze);
        if (!freeze)
                l->frozen_by_policy = false;
        follow_lists_changed(l->manager);
        n = count_members(l);
        if (l->session->cgroup && cgroup_freeze(l->session->cgroup, freeze) >= 0)
                return n;
        return signal_members(l, freeze ? SIGSTOP : SIGCONT);
}

int restrain_freeze_by_policy(Live *l) {
        l->frozen_by_policy = true;
        return restrain_freeze(l, /* freeze= */ true);
}

int restrain_kill_member(Live *l, pid_t pid) {
        Process *p = process_table_find(l->manager->processes, pid);

        if (!p || p->session != l->session)
                return -ESRCH;
        return kill_process(pid, p->image ? p->image->start_ticks : 0, SIGKILL);
}
