/* SPDX-License-Identifier: MIT */
#include "daemon/tag.h"
#include "daemon/core/policy.h"
#include "daemon/gatekeeper.h"
#include "daemon/intake.h"
#include "daemon/kernel/cgroup.h"
#include "daemon/kernel/proc.h"
#include "daemon/log.h"

#include <errno.h>
#include <sys/epoll.h>

int tag_member(Live *l, Process *p) {
        int r;

        r = process_table_tag(l->manager->processes, p, l->session);
        if (r >= 0)
                r = gatekeeper_add_member(l->manager->gatekeeper, l, p->pid);
        return r;
}

static void tag(Live *l, pid_t pid) {
        Process *p = process_table_find(l->manager->processes, pid);

        if (!p || !p->image || !p->image->program)
                p = intake_learn(l->manager, pid);
        if (p && p->session != l->session)
                (void) tag_member(l, p);
}

/* Every process whose chain of parents leads to one that is tagged. Forks go on meanwhile: what a tagged process forks is born
 * tagged, so the search ends when a round finds nobody new. */
static void tag_descendants(Live *l) {
        Manager *m = l->manager;
        bool more = true;

        for (unsigned round = 0; more && round < 100; round++) {
                _cleanup_free_ pid_t *pids = NULL;
                size_t n = 0;

                more = false;
                intake_processes(m);
                if (proc_list(&pids, &n) < 0)
                        return;
                for (size_t i = 0; i < n; i++) {
                        Process *known = process_table_find(m->processes, pids[i]), *parent;
                        ProcStat st;

                        if (known && known->session)
                                continue;
                        if (proc_read_stat(pids[i], &st) < 0 || st.ppid <= 1)
                                continue;
                        parent = process_table_find(m->processes, st.ppid);
                        if (!parent || parent->session != l->session)
                                continue;
                        if (l->session->cgroup)
                                (void) cgroup_add(l->session->cgroup, pids[i]);
                        tag(l, pids[i]);
                        more = true;
                }
        }
}

static int on_cgroup_events(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Live *l = userdata;
        char buffer[256];

        /* reading rearms the notification of kernfs */
        (void) pread(fd, buffer, sizeof buffer, 0);
        live_check_soon(l->manager);
        return 0;
}

static int follow_cgroup(Live *l) {
        _cleanup_close_ int fd = -1;
        int r;

        fd = cgroup_open_events(l->session->cgroup);
        if (fd < 0)
                return fd;
        r = sd_event_add_io(l->manager->event, &l->events_source, fd, EPOLLPRI, on_cgroup_events,
                            l);
        if (r < 0)
                return r;
        (void) sd_event_source_set_io_fd_own(l->events_source, true);
        TAKE_FD(fd);
        return 0;
}

int tag_root(Live *l, bool automatic) {
        Session *s = l->session;
        Manager *m = l->manager;
        Process *p;
        ProcStat st;
        int r;

        intake_processes(m);
        p = intake_learn(m, s->root_pid);
        if (!p)
                return -ESRCH;
        if (proc_read_stat(s->root_pid, &st) < 0 || st.start_ticks != s->root_start_ticks)
                return -ESRCH;
        if (p->session && automatic)
                return -EALREADY;
        if (p->session) {
                s->outer = p->session;
                if (s->outer->has_policy) {
                        s->policy = s->has_policy ? policy_stricter(s->policy, s->outer->policy)
                                                  : s->outer->policy;
                        s->has_policy = true;
                }
        }
        if (m->cgroup_root) {
                r = cgroup_create_for(m->cgroup_root, s->root_pid, s->id, &s->cgroup);
                if (r == -ESRCH)
                        return r;
                if (r < 0)
                        log_warning(
                                "session %s: no cgroup of its own (%s); the process table alone carries the tag",
                                s->id, strerror(-r));
        }
        r = tag_member(l, p);
        if (r < 0)
                return r;
        /* asked after the tag is on: what is forked from now on inherits it */
        if (proc_has_children(s->root_pid))
                tag_descendants(l);
        if (s->cgroup) {
                r = follow_cgroup(l);
                if (r < 0)
                        log_warning("session %s: cannot follow its cgroup: %s", s->id,
                                    strerror(-r));
        }
        return 0;
}

/* The table says nobody is left. The kernel may know of somebody: a member whose fork message was lost, or one that is just
 * dying (then cgroup.events comes once more). */
bool tag_has_members(Live *l) {
        _cleanup_free_ pid_t *pids = NULL;
        size_t n = 0;

        if (!l->session->cgroup || cgroup_is_populated(l->session->cgroup) != 1)
                return false;
        if (cgroup_list(l->session->cgroup, &pids, &n) < 0)
                return false;
        for (size_t i = 0; i < n; i++)
                tag(l, pids[i]);
        return true;
}

int tag_again(Live *l) {
        _cleanup_free_ pid_t *pids = NULL;
        ProcStat st;
        size_t n = 0;

        if (l->session->cgroup && cgroup_list(l->session->cgroup, &pids, &n) >= 0) {
                for (size_t i = 0; i < n; i++)
                        tag(l, pids[i]);
                return l->events_source ? 0 : follow_cgroup(l);
        }
        if (proc_read_stat(l->session->root_pid, &st) >= 0 &&
            st.start_ticks == l->session->root_start_ticks)
                tag(l, l->session->root_pid);
        tag_descendants(l);
        return 0;
}

typedef struct Gone {
        pid_t *pids;
        size_t n, room;
} Gone;

static void collect_gone(Process *p, void *userdata) {
        Gone *gone = userdata;
        ProcStat st;

        if (gone->n < gone->room && proc_read_stat(p->pid, &st) == -ESRCH)
                gone->pids[gone->n++] = p->pid;
}

void tag_resync(Live *l) {
        ProcessTable *t = l->manager->processes;
        Gone gone = {.room = process_table_count(t, l->session)};

        gone.pids = calloc(gone.room + 1, sizeof *gone.pids);
        if (gone.pids)
                process_table_foreach(t, l->session, collect_gone, &gone);
        for (size_t i = 0; i < gone.n; i++)
                process_table_exit(t, gone.pids[i], manager_now_mono(l->manager));
        free(gone.pids);
        (void) tag_again(l);
}
