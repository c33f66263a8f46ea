/* SPDX-License-Identifier: MIT */
/*
 * The answering thread. Owns nothing but what it remembers of processes and mounts. Reads events, lets go who is in no session
 * first of all, then looks at the others one by one.
 *
 * FAN_REPORT_TID: the event names the waiting thread, so that /proc/TID/syscall is that of the call in question, also when
 * several threads of a process wait. It costs a bystander nothing when its main thread opens, else one tgkill(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "daemon/kernel/batch.h"
#include "daemon/kernel/hold_private.h"
#include "daemon/kernel/inner_path.h"
#include "daemon/kernel/mount_helper.h"
#include "daemon/kernel/thread_group.h"

#define PRIORITY (-15) /* people wait */
/* Descriptors that one read may open. */
#define EVENTS 64

typedef struct Event {
        pid_t tid, pid;
        int fd;
        SessionRule rule;
} Event;

typedef struct Answerer {
        Hold *hold;
        pid_t self;
        ThreadGroups groups;
        MountHelpers helpers;
        InnerPaths paths;
        bool has_paths;
        bool lets_all;
} Answerer;

/* What the thread is given: so that it cannot fail once it runs. */
void *hold_answerer_new(Hold *h) {
        Answerer *t = calloc(1, sizeof(*t));

        if (t) {
                t->hold = h;
                t->self = getpid();
        }
        return t;
}

/* ---- who ---- */

/* Our own threads are of no session here, whoever has started us. */
static bool find_member(Answerer *t, pid_t tid, pid_t *ret_pid, SessionRule *ret) {
        Hold *h = t->hold;
        Membership m = members_look(h->members, tid, ret);
        pid_t pid = tid;

        if (m == MEMBERSHIP_OUTSIDER)
                return false;
        /* By this number there was a member; a thread of somebody else may have it by now. */
        if (m == MEMBERSHIP_UNKNOWN || !thread_is_main(tid)) {
                pid = thread_group_of(&t->groups, tid);
                if (pid == 0)
                        return false;
                m = members_look(h->members, pid, ret);
        }
        if (pid == t->self || m == MEMBERSHIP_OUTSIDER)
                return false;
        *ret_pid = pid;
        if (m == MEMBERSHIP_MEMBER)
                return true;
        if (h->connector)
                connector_poke(h->connector);
        return members_settle(h->members, pid, ret);
}

/* ---- where ---- */

static int join(const char *path, const char *rest, char **ret) {
        return asprintf(ret, "%s%s", str_equal(path, "/") ? "" : path, rest) < 0 ? -ENOMEM : 0;
}

/* The last component is all that is sure: neither we nor the caller can see the mount that it opened the file on. */
static int name_unknown(const Answerer *t, int fd, char **ret) {
        char name[64], path[4096];
        const char *slash;
        ssize_t n;

        (void) snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
        n = readlink(name, path, sizeof(path) - 1);
        path[MAX(n, 0)] = '\0';
        slash = strrchr(path, '/');
        if (asprintf(ret, "%s/?%s", t->hold->path, slash ? slash : "") < 0)
                return -ENOMEM;
        return 0;
}

/* *ret is NULL when it lies outside of the watch. */
static int find_path(Answerer *t, const Event *e, const struct stat *st, char **ret) {
        const WatchSites *sites = t->hold->sites;
        _cleanup_(inner_path_done) InnerPath inner = {0};
        const WatchSite *site;
        const char *rest;
        int r;

        *ret = NULL;
        if (!watch_sites_may_hold(sites, e->fd, st->st_dev))
                return 0;
        r = t->has_paths ? inner_path_of_fd(&t->paths, e->fd, e->tid, &inner) : -ENOENT;
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return name_unknown(t, e->fd, ret);
        site = watch_sites_find(sites, inner.fs_dev, inner.path, &rest);
        return site ? join(site->path, rest, ret) : 0;
}

/* ---- what ---- */

static AccessType type_of(const Intent *intent, const Made *made) {
        if (made->yes || intent->nameless)
                return ACCESS_CREATE;
        return intent->truncates ? ACCESS_TRUNCATE : ACCESS_OPEN;
}

static Made judge_made(Hold *h, int fd, const Intent *intent) {
        Made m;

        (void) pthread_mutex_lock(&h->lock);
        m = made_table_judge(&h->made, fd, intent, clock_usec());
        (void) pthread_mutex_unlock(&h->lock);
        return m;
}

static Attempt *attempt_new(Hold *h, const Event *e, char *path) {
        Attempt *a = calloc(1, sizeof(*a));

        if (!a) {
                free(path);
                return NULL;
        }
        a->id = h->next_id++;
        a->pid = e->pid;
        a->tid = e->tid;
        a->access.path = path;
        a->since = clock_nsec();
        a->at = clock_usec();
        (void) snprintf(a->watch, sizeof(a->watch), "%s", h->watch);
        return a;
}

/* 1: *ret is what it is up to. 0: nothing that a watch could mind. */
static int describe(Answerer *t, const Event *e, Attempt **ret, Made *ret_made) {
        Intent intent = intent_read_open(e->tid);
        Made made = {0};
        struct stat st;
        char *path;
        int r;

        if (!intent.may_write && !intent.truncates && !intent.creates && !intent.nameless)
                return 0;
        made = judge_made(t->hold, e->fd, &intent);
        if (!intent.may_write && !intent.truncates && !made.yes && !intent.nameless)
                return 0;
        if (mount_helper_is(&t->helpers, e->pid))
                return 0;
        if (fstat(e->fd, &st) < 0)
                return -errno;
        r = find_path(t, e, &st, &path);
        if (r < 0 || !path)
                return r;
        *ret = attempt_new(t->hold, e, path);
        if (!*ret)
                return -ENOMEM;
        (*ret)->access.type = type_of(&intent, &made);
        (*ret)->access.kind = S_ISREG(st.st_mode) ? KIND_FILE : KIND_OTHER;
        *ret_made = made;
        return 1;
}

/* ---- verdict ---- */

static void let(Answerer *t, const Event *e) {
        Hold *h = t->hold;
        const struct fanotify_response answer = {.fd = e->fd, .response = FAN_ALLOW};

        while (write(h->group, &answer, sizeof(answer)) < 0 && errno == EINTR)
                ;
        /* After the answer: nobody waits for this. */
        (void) pthread_mutex_lock(&h->lock);
        made_table_note(&h->made, e->fd, clock_usec());
        (void) pthread_mutex_unlock(&h->lock);
        safe_close(e->fd);
}

static void judge(Answerer *t, const Event *e) {
        Hold *h = t->hold;
        Attempt *a = NULL;
        Made made = {0};
        int r;

        r = e->rule.guarded ? 0 : describe(t, e, &a, &made);
        if (r < 0)
                (void) atomic_fetch_add(&h->lapses, 1);
        if (r <= 0 || !h->hooks.judge(a, h->hooks.userdata)) {
                let(t, e);
                attempt_free(a);
                return;
        }
        a->pending = a->decision.preserve ||
                (a->decision.verb != VERB_LET && a->decision.verb != VERB_REFUSE);
        if (a->pending) {
                hold_pend(h, a, e->fd, &made);
        } else if (a->decision.verb == VERB_LET) {
                let(t, e);
                attempt_free(a);
        } else {
                hold_refuse(h, e->fd, &made, a->access.path);
                h->hooks.tell(a, h->hooks.userdata);
        }
}

/* ---- events ---- */

/* Bystanders first: none of them waits while a member is looked at. */
static void answer_batch(Answerer *t, Event *events, size_t n) {
        Hold *h = t->hold;
        size_t n_members = 0;

        (void) pthread_mutex_lock(&h->use);
        for (size_t i = 0; i < n; i++) {
                Event *e = &events[i];

                if (h->members && !t->lets_all && find_member(t, e->tid, &e->pid, &e->rule))
                        events[n_members++] = *e;
                else
                        let(t, e);
        }
        for (size_t i = 0; i < n_members; i++)
                judge(t, &events[i]);
        (void) pthread_mutex_unlock(&h->use);
}

static size_t decode(Hold *h, const char *buffer, ssize_t size, Event *ret) {
        const struct fanotify_event_metadata *m = (const void *) buffer;
        size_t n = 0;

        for (; FAN_EVENT_OK(m, size); m = FAN_EVENT_NEXT(m, size)) {
                if (m->fd >= 0 && (m->mask & FAN_OPEN_PERM))
                        ret[n++] = (Event){.tid = m->pid, .fd = m->fd};
                else if (m->mask & FAN_Q_OVERFLOW)
                        (void) atomic_fetch_add(&h->lapses, 1);
        }
        return n;
}

/* From now on everyone is let: marks may still be there, or come. */
static void let_all(Answerer *t) {
        Hold *h = t->hold;

        if (t->lets_all)
                return;
        t->lets_all = true;
        (void) fanotify_mark(h->group, FAN_MARK_FLUSH | FAN_MARK_FILESYSTEM, 0, AT_FDCWD, "/");
        (void) fanotify_mark(h->group, FAN_MARK_FLUSH, 0, AT_FDCWD, "/");
        hold_let_all(h);
}

/* The kernel opens the file for us and has failed: it has refused somebody's open for that. When we are not let in, the next will
 * be refused, too. Else the file was gone, a server did not answer, or there are too many descriptors. */
static void read_failed(Answerer *t, int error) {
        (void) atomic_fetch_add(&t->hold->lapses, 1);
        if (error != EACCES && error != EPERM)
                return;
        hold_set_state(t->hold, -EACCES,
                       "this service is not let in where the users are: their opens would fail");
        let_all(t);
}

/* False: none left. */
static bool read_events(Answerer *t) {
        _Alignas(struct fanotify_event_metadata) char buffer[EVENTS * FAN_EVENT_METADATA_LEN];
        Event events[EVENTS];
        ssize_t n = read(t->hold->group, buffer, sizeof(buffer));

        if (n < 0 && errno == EAGAIN)
                return false;
        if (n < 0 && errno != EINTR)
                read_failed(t, errno);
        if (n > 0)
                answer_batch(t, events, decode(t->hold, buffer, n, events));
        return true;
}

static int expire(Hold *h) {
        int wait;

        (void) pthread_mutex_lock(&h->use);
        wait = h->members ? hold_expire(h) : -1;
        (void) pthread_mutex_unlock(&h->use);
        return wait;
}

/* As long as a mark may be placed, somebody has to answer. */
static void loop(Answerer *t) {
        Hold *h = t->hold;
        bool more = true;

        while (!atomic_load(&h->stop) || !atomic_load(&h->placed)) {
                struct pollfd p[] = {
                        {.fd = h->answer_wake, .events = POLLIN},
                        {.fd = h->group, .events = POLLIN},
                };
                int wait = expire(h);
                eventfd_t count;

                if (!more)
                        (void) poll(p, ELEMENTSOF(p), wait);
                if (p[0].revents)
                        (void) eventfd_read(h->answer_wake, &count);
                if (atomic_load(&h->stop))
                        let_all(t);
                more = read_events(t);
        }
}

void *hold_answer_main(void *answerer) {
        Answerer *t = answerer;
        Hold *h = t->hold;

        (void) pthread_setname_np(pthread_self(), "hold");
        (void) setpriority(PRIO_PROCESS, (id_t) syscall(SYS_gettid), PRIORITY);
        t->has_paths = inner_paths_init(&t->paths) == 0;
        loop(t);
        if (t->has_paths)
                inner_paths_done(&t->paths);
        free(t);
        hold_unref(h);
        return NULL;
}
