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
#include <linux/magic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/fanotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <utlist.h>

#include "daemon/kernel/batch.h"
#include "daemon/kernel/hold_private.h"
#include "daemon/kernel/inner_path.h"
#include "daemon/kernel/mount_helper.h"
#include "daemon/kernel/thread_group.h"

#define PRIORITY (-15) /* people wait */
#define SMB_MAGIC 0xff534d42L
#define SMB2_MAGIC 0xfe534d42L
/* Descriptors that one read may open. */
#define EVENTS 64
/* The event may be read before its thread has fallen asleep, and only then /proc shows what it is in. On another processor that
 * takes a microsecond; on one that is busy it must get its turn first. */
#define TRIES 3
#define AWAKE_MAX_NSEC (200 * 1000 * 1000ULL)

typedef struct Event {
        struct Event *prev, *next;
        pid_t tid, pid;
        int fd;
        nsec_t since;
        SessionRule rule;
} Event;

typedef struct Answerer {
        Hold *hold;
        pid_t self;
        ThreadGroups groups;
        MountHelpers helpers;
        Event *awake; /* of members; owned */
        InnerPaths paths;
        Pulse *pulse; /* or NULL */
        int epoll;
        int beat; /* timerfd, or -1: cheaper than a time-out of each poll() */
        bool has_paths;
        bool lets_all;
} Answerer;

static int timer_new(void) {
        const struct itimerspec each = {
                .it_value.tv_sec = PULSE_MSEC / 1000,
                .it_interval.tv_sec = PULSE_MSEC / 1000,
        };
        int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

        if (fd >= 0)
                (void) timerfd_settime(fd, 0, &each, NULL);
        return fd;
}

static bool add(const Answerer *t, int fd) {
        struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

        return fd < 0 || epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &e) == 0;
}

/* What the thread is given: so that it cannot fail once it runs. */
void *hold_answerer_new(Hold *h) {
        Answerer *t = calloc(1, sizeof(*t));

        if (!t)
                return NULL;
        t->hold = h;
        t->self = getpid();
        t->beat = h->pulses ? timer_new() : -1;
        t->epoll = epoll_create1(EPOLL_CLOEXEC);
        if ((h->pulses && t->beat < 0) || t->epoll < 0 || !add(t, h->group) ||
            !add(t, h->answer_wake) || !add(t, t->beat))
                return hold_answerer_free(t);
        return t;
}

void *hold_answerer_free(void *answerer) {
        Answerer *t = answerer;

        safe_close(t->epoll);
        safe_close(t->beat);
        free(t);
        return NULL;
}

/* ---- who ---- */

/* Our own threads are of no session here, whoever has started us. */
static bool find_member(Answerer *t, Event *e) {
        Hold *h = t->hold;
        Membership m = members_look(h->members, e->tid, &e->rule);
        pid_t pid = e->tid;

        if (m == MEMBERSHIP_OUTSIDER)
                return false;
        /* By this number there was a member; a thread of somebody else may have it by now. */
        if (m == MEMBERSHIP_UNKNOWN || !thread_is_main(e->tid)) {
                pid = thread_group_of(&t->groups, e->tid, e->since);
                if (pid == 0)
                        return false;
                m = members_look(h->members, pid, &e->rule);
        }
        if (pid == t->self || m == MEMBERSHIP_OUTSIDER)
                return false;
        e->pid = pid;
        if (m == MEMBERSHIP_MEMBER)
                return true;
        if (h->connector)
                connector_poke(h->connector);
        return members_settle(h->members, pid, &e->rule);
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
static int find_path(Answerer *t, const Event *e, dev_t dev, char **ret) {
        const WatchSites *sites = t->hold->sites;
        _cleanup_(inner_path_done) InnerPath inner = {0};
        const WatchSite *site;
        const char *rest;
        int r;

        *ret = NULL;
        if (!watch_sites_may_hold(sites, e->fd, dev))
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

/* What is not empty has been spared: the client knew the file, and truncates in a second request. */
static bool is_too_late(const WatchSites *sites, const Intent *intent, const struct statx *st) {
        if (!intent->truncates || !intent->creates || st->stx_size > 0)
                return false;
        for (size_t i = 0; i < sites->n; i++) {
                long type = sites->sites[i].fs_type;

                if (type == NFS_SUPER_MAGIC || type == SMB_MAGIC || type == SMB2_MAGIC)
                        return true;
        }
        return false;
}

static AccessType type_of(const Intent *intent, const Made *made) {
        if (made->yes || intent->nameless)
                return ACCESS_CREATE;
        return intent->truncates ? ACCESS_TRUNCATE : ACCESS_OPEN;
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
        a->since = e->since;
        a->at = clock_usec();
        (void) snprintf(a->watch, sizeof(a->watch), "%s", h->watch);
        return a;
}

static Intent read_intent(const Event *e) {
        Intent intent = intent_read_open(e->tid);

        for (int i = 1; intent.running && i < TRIES; i++)
                intent = intent_read_open(e->tid);
        return intent;
}

/* 1: *ret is what it is up to. 0: nothing that a watch could mind. -EAGAIN: it is awake yet. */
static int describe(Answerer *t, const Event *e, Attempt **ret, Made *ret_made) {
        Intent intent = read_intent(e);
        Made made = {0};
        struct statx st;
        char *path;
        int r;

        if (intent.running && clock_nsec() - e->since < AWAKE_MAX_NSEC)
                return -EAGAIN;
        if (!intent.may_write && !intent.truncates && !intent.creates && !intent.nameless)
                return 0;
        made = creations_judge(&t->hold->creations, e->fd, e->tid, &intent);
        if (!intent.may_write && !intent.truncates && !made.yes && !intent.nameless)
                return 0;
        if (mount_helper_is(&t->helpers, e->pid))
                return 0;
        /* what is known here already: a server is not asked */
        if (statx(e->fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_SIZE, &st) < 0)
                return -errno;
        r = find_path(t, e, makedev(st.stx_dev_major, st.stx_dev_minor), &path);
        if (r < 0 || !path)
                return r;
        *ret = attempt_new(t->hold, e, path);
        if (!*ret)
                return -ENOMEM;
        (*ret)->access.type = type_of(&intent, &made);
        (*ret)->too_late = !made.yes && is_too_late(t->hold->sites, &intent, &st);
        (*ret)->access.kind = S_ISREG(st.stx_mode) ? KIND_FILE : KIND_OTHER;
        *ret_made = made;
        return 1;
}

/* ---- verdict ---- */

static void let(Answerer *t, const Event *e) {
        Hold *h = t->hold;

        hold_respond(h, e->fd, /* let= */ true);
        if (atomic_load(&h->n_made) > 0)
                hold_keep_opened(h, e->fd);
        (void) pthread_mutex_lock(&h->lock);
        hold_close_later(h, e->fd);
        (void) pthread_mutex_unlock(&h->lock);
}

static bool try_later(Answerer *t, const Event *e) {
        Event *copy = malloc(sizeof(*copy));

        if (!copy)
                return false;
        *copy = *e;
        DL_APPEND(t->awake, copy);
        return true;
}

static void judge(Answerer *t, const Event *e) {
        Hold *h = t->hold;
        Attempt *a = NULL;
        Made made = {0};
        int r;

        r = e->rule.guarded ? 0 : describe(t, e, &a, &made);
        if (r == -EAGAIN && try_later(t, e))
                return;
        if (r < 0)
                (void) atomic_fetch_add(&h->lapses, 1);
        if (!a || !h->hooks.judge(a, h->hooks.userdata)) {
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

static void judge_awake(Answerer *t) {
        Event *list = TAKE_PTR(t->awake), *e, *next;

        if (!list)
                return;
        (void) pthread_mutex_lock(&t->hold->use);
        DL_FOREACH_SAFE (list, e, next) {
                DL_DELETE(list, e);
                if (t->hold->members && !t->lets_all)
                        judge(t, e);
                else
                        let(t, e);
                free(e);
        }
        (void) pthread_mutex_unlock(&t->hold->use);
}

/* ---- events ---- */

/* Bystanders first: none of them waits while a member is looked at. */
static void answer_batch(Answerer *t, Event *events, size_t n) {
        Hold *h = t->hold;
        size_t n_members = 0;

        (void) pthread_mutex_lock(&h->use);
        for (size_t i = 0; i < n; i++) {
                Event *e = &events[i];

                if (h->members && !t->lets_all && find_member(t, e))
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
        const nsec_t now = clock_nsec();
        size_t n = 0;

        for (; FAN_EVENT_OK(m, size); m = FAN_EVENT_NEXT(m, size)) {
                if (m->fd >= 0 && (m->mask & FAN_OPEN_PERM))
                        ret[n++] = (Event){.tid = m->pid, .fd = m->fd, .since = now};
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

/* True: there may be more. */
static bool read_events(Answerer *t) {
        _Alignas(struct fanotify_event_metadata) char buffer[EVENTS * FAN_EVENT_METADATA_LEN];
        Event events[EVENTS];
        ssize_t n;

        /* opens the files, of which the filesystem is told */
        if (t->pulse)
                pulse_enter_filesystem(t->pulse);
        n = read(t->hold->group, buffer, sizeof(buffer));
        if (t->pulse)
                pulse_leave_filesystem(t->pulse);
        if (n < 0 && errno == EAGAIN)
                return false;
        if (n < 0 && errno != EINTR)
                read_failed(t, errno);
        if (n > 0)
                answer_batch(t, events, decode(t->hold, buffer, n, events));
        /* The kernel fills the buffer when it can; after an error it is not known. */
        return n < 0 || n == sizeof(buffer);
}

/* Of which the filesystem is told, too. */
static void close_answered(Answerer *t) {
        if (t->pulse)
                pulse_enter_filesystem(t->pulse);
        hold_close_all(t->hold);
        if (t->pulse)
                pulse_leave_filesystem(t->pulse);
}

static int expire(Hold *h) {
        int wait;

        if (atomic_load(&h->n_pending) == 0)
                return -1;
        (void) pthread_mutex_lock(&h->use);
        wait = h->members ? hold_expire(h) : -1;
        (void) pthread_mutex_unlock(&h->use);
        return wait;
}

/* Until there is something to do. `wait`: at most so many milliseconds, -1 for any time. */
static void sleep_until(const Answerer *t, int wait) {
        struct epoll_event e[3];
        uint64_t count;
        int n = epoll_wait(t->epoll, e, ELEMENTSOF(e), wait);

        for (int i = 0; i < n; i++)
                if (e[i].data.fd != t->hold->group)
                        (void) !read(e[i].data.fd, &count, sizeof(count));
}

/* As long as a mark may be placed, somebody has to answer. */
static void loop(Answerer *t) {
        Hold *h = t->hold;
        bool more = true;

        while (!atomic_load(&h->stop) || !atomic_load(&h->placed) || t->awake) {
                int wait = expire(h);

                if (t->pulse)
                        pulse_beat(t->pulse);
                if (!more)
                        sleep_until(t, t->awake ? 1 : wait);
                if (atomic_load(&h->stop))
                        let_all(t);
                more = read_events(t);
                judge_awake(t);
                close_answered(t);
        }
        /* Not left to close(): a child of ours that has not yet called exec may have the group open, too. */
        let_all(t);
        while (read_events(t))
                ;
        close_answered(t);
}

static void begin_pulse(Answerer *t) {
        Hold *h = t->hold;

        if (!h->pulses)
                return;
        t->pulse = pulse_begin(h->pulses, gettid(), h->patience);
        if (t->pulse)
                return;
        hold_set_state(h, -ENOSPC, "the watchdog can look after no more watches");
        let_all(t);
}

void *hold_answer_main(void *answerer) {
        Answerer *t = answerer;
        Hold *h = t->hold;

        (void) pthread_setname_np(pthread_self(), "hold");
        (void) setpriority(PRIO_PROCESS, (id_t) syscall(SYS_gettid), PRIORITY);
        t->has_paths = inner_paths_init(&t->paths) == 0;
        begin_pulse(t);
        loop(t);
        pulse_end(t->pulse);
        if (t->has_paths)
                inner_paths_done(&t->paths);
        hold_answerer_free(t);
        hold_unref(h);
        return NULL;
}
