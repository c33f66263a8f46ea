/* SPDX-License-Identifier: MIT */
/*
 * Owns the netlink socket, the thread that drains it, and what has been read and not yet been taken. Thread and
 * connector_take() do the same work under one mutex; order is kept because messages are received and appended under it.
 * Touches /proc, never a watched filesystem.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "daemon/kernel/connector.h"
#include "daemon/kernel/connector_socket.h"
#include "daemon/kernel/proc.h"

#define CONFIRM_MSEC 2000
#define BATCH 64
#define DATAGRAM_MAX 256 /* 76 bytes are sent */
/* More than fits the receive buffer, so one drain reaches at least what was there when it began. */
#define DRAIN_MAX (256 * 1024)
/* Events that wait, then PROC_LOST; bytes of command lines among them, then execs come without details. */
#define PENDING_MAX (256 * 1024)
#define PENDING_TEXT_MAX (64UL * 1024 * 1024)
/* Processes at a time whose main thread ended first; then PROC_LOST. */
#define LEADERS_MAX 256
#define EXITS 256

/* A process whose main thread has ended while others live on. The pidfd is readable once the last has gone. */
typedef struct Leader {
        pid_t pid;
        int pidfd;
} Leader;

/* Where in `pending` the exit of a pid is, found by pid modulo EXITS. */
typedef struct Exit {
        pid_t pid;
        size_t index;
} Exit;

struct Connector {
        pthread_mutex_t mutex; /* guards what follows but the descriptors */
        ProcEvents pending;
        size_t room;
        size_t text; /* bytes of details in pending */
        bool full;   /* nothing more is appended until it is taken; it ends with PROC_LOST */
        bool lost;   /* to be said with the next append */
        Exit exits[EXITS];
        Leader leaders[LEADERS_MAX];
        size_t n_leaders;
        nsec_t boot_offset; /* CLOCK_BOOTTIME - CLOCK_MONOTONIC, as of the present drain */
        Members *members;   /* borrowed; NULL: nobody wants to know */
        uint32_t token;
        int ack; /* of our subscription; -ENODATA until it has come */

        int socket, epoll, stop, ready;
        pthread_t thread;
        bool has_thread;
};

static nsec_t now_of(clockid_t clock) {
        struct timespec ts = {0};

        (void) clock_gettime(clock, &ts);
        return (nsec_t) ts.tv_sec * NSEC_PER_SEC + (nsec_t) ts.tv_nsec;
}

static uint64_t to_ticks(const Connector *c, nsec_t at) {
        return (at + c->boot_offset) / (NSEC_PER_SEC / (nsec_t) sysconf(_SC_CLK_TCK));
}

static void proc_event_done(ProcEvent *e) {
        e->details.program = program_unref(e->details.program);
}

void proc_events_done(ProcEvents *e) {
        for (size_t i = 0; i < e->n; i++)
                proc_event_done(&e->items[i]);
        free(e->items);
        *e = (ProcEvents){0};
}

static int watch_fd(const Connector *c, int fd) {
        struct epoll_event watch = {.events = EPOLLIN, .data.fd = fd};

        return epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &watch) < 0 ? -errno : 0;
}

/* ---- what waits ---- */

/* No more room: what comes now is dropped until connector_take(), and said in place of the last event. */
static void set_full(Connector *c) {
        ProcEvent *last = &c->pending.items[c->pending.n - 1];

        proc_event_done(last);
        *last = (ProcEvent){.type = PROC_LOST, .at = last->at};
        c->full = true;
}

static bool has_room(Connector *c) {
        size_t room = c->room ? 2 * c->room : 256;
        ProcEvent *grown;

        if (c->pending.n < c->room)
                return true;
        grown = room <= PENDING_MAX ? reallocarray(c->pending.items, room, sizeof(*grown)) : NULL;
        if (!grown)
                return false;
        c->pending.items = grown;
        c->room = room;
        return true;
}

/* Takes the program reference in *e. */
static bool append(Connector *c, ProcEvent *e) {
        if (!c->full && has_room(c)) {
                c->pending.items[c->pending.n++] = *e;
                return true;
        }
        proc_event_done(e);
        if (c->pending.n == 0)
                c->lost = true;
        else if (!c->full)
                set_full(c);
        return false;
}

static void append_lost(Connector *c) {
        const ProcEvents *p = &c->pending;
        ProcEvent e = {.type = PROC_LOST, .at = now_of(CLOCK_MONOTONIC)};

        c->lost = false;
        if (c->members)
                members_lost(c->members);
        if (p->n == 0 || p->items[p->n - 1].type != PROC_LOST)
                (void) append(c, &e);
}

static void append_exit(Connector *c, pid_t pid, nsec_t at) {
        ProcEvent e = {.type = PROC_EXIT, .pid = pid, .at = at};

        if (c->members)
                members_exit(c->members, pid);
        if (append(c, &e))
                c->exits[(unsigned) pid % EXITS] = (Exit){pid, c->pending.n - 1};
}

static void forget_exit(Connector *c, pid_t pid) {
        Exit *x = &c->exits[(unsigned) pid % EXITS];

        if (x->pid == pid)
                *x = (Exit){0};
}

/* The exit in `pending` that was nobody's: another thread called exec, and took the place of the main thread. Had
 * the exit been taken before, /proc would have shown then that the process lives. */
static void revoke_exit(Connector *c, pid_t pid) {
        const Exit *x = &c->exits[(unsigned) pid % EXITS];

        if (x->pid == pid)
                c->pending.items[x->index].pid = 0;
        forget_exit(c, pid);
}

/* ---- main threads that end before the others ---- */

static Leader *leader_find(Connector *c, pid_t pid) {
        for (size_t i = 0; i < c->n_leaders; i++)
                if (c->leaders[i].pid == pid)
                        return &c->leaders[i];
        return NULL;
}

/* Moves the last one to its place. */
static void leader_remove(Connector *c, Leader *l) {
        /* Not left to close(): a child that has not yet called exec holds the description, too. */
        (void) epoll_ctl(c->epoll, EPOLL_CTL_DEL, l->pidfd, NULL);
        safe_close(l->pidfd);
        *l = c->leaders[--c->n_leaders];
}

/* Takes the pidfd on success. */
static int leader_add(Connector *c, pid_t pid, int pidfd) {
        int r;

        if (c->n_leaders == LEADERS_MAX)
                return -ENOSPC;
        r = watch_fd(c, pidfd);
        if (r < 0)
                return r;
        c->leaders[c->n_leaders++] = (Leader){pid, pidfd};
        return 0;
}

static bool is_over(int pidfd) {
        struct pollfd p = {.fd = pidfd, .events = POLLIN};

        return poll(&p, 1, 0) == 1 && (p.revents & POLLIN);
}

/* Does the number belong to a process that began after `at`? */
static bool is_recycled(const Connector *c, pid_t pid, nsec_t at) {
        ProcStat st;
        int r = proc_read_stat(pid, &st);

        return r == -ESRCH || (r == 0 && st.start_ticks > to_ticks(c, at));
}

/* A main thread has ended. It is a zombie by the time of the message (exit_notify() comes before
 * proc_exit_connector() in do_exit()), so without other threads its pidfd is readable, or it is gone. */
static void handle_exit(Connector *c, const ProcEvent *e) {
        _cleanup_close_ int pidfd = -1;

        if (leader_find(c, e->pid))
                return; /* reported when the pidfd says so */
        pidfd = pidfd_open(e->pid, 0);
        if (pidfd < 0 && errno != ESRCH && errno != EINVAL && errno != ENOENT)
                append_lost(c); /* out of descriptors: whether others live on is not known */
        if (pidfd < 0 || is_over(pidfd) || is_recycled(c, e->pid, e->at)) {
                append_exit(c, e->pid, e->at);
                return;
        }
        if (leader_add(c, e->pid, pidfd) < 0) {
                append_lost(c);
                return;
        }
        TAKE_FD(pidfd);
}

static void collect_leaders(Connector *c) {
        for (size_t i = c->n_leaders; i > 0; i--) {
                Leader *l = &c->leaders[i - 1];

                if (!is_over(l->pidfd))
                        continue;
                append_exit(c, l->pid, now_of(CLOCK_MONOTONIC));
                leader_remove(c, l);
        }
}

/* ---- messages ---- */

static void handle_fork(Connector *c, ProcEvent *e) {
        Leader *l = leader_find(c, e->pid);

        if (l) { /* its number is in use again before its end was noticed */
                append_exit(c, l->pid, e->at);
                leader_remove(c, l);
        }
        forget_exit(c, e->pid);
        if (c->members && members_fork(c->members, e->parent, e->pid, e->at) < 0)
                append_lost(c);
        e->start_ticks = to_ticks(c, e->at);
        (void) append(c, e);
}

static size_t text_size(const Program *p) {
        size_t n = sizeof(*p);

        n += p->exe ? strlen(p->exe) : 0;
        n += p->cwd ? strlen(p->cwd) : 0;
        for (char **s = p->cmdline; s && *s; s++)
                n += strlen(*s) + 2 * sizeof(*s);
        return n;
}

static void handle_exec(Connector *c, ProcEvent *e) {
        Leader *l;

        if (c->members)
                members_exec(c->members, e->pid);
        if (c->text < PENDING_TEXT_MAX && !c->full && proc_read_details(e->pid, &e->details) == 0) {
                e->has_details = e->details.start_ticks <= to_ticks(c, e->at);
                if (!e->has_details) { /* the number is somebody else's by now */
                        proc_event_done(e);
                        e->details = (ProcessDetails){0};
                }
        }
        if (e->details.program)
                c->text += text_size(e->details.program);

        l = leader_find(c, e->pid);
        if (l) /* another thread became the main thread */
                leader_remove(c, l);
        revoke_exit(c, e->pid);
        (void) append(c, e);
}

static void handle_event(Connector *c, ProcEvent *e) {
        switch (e->type) {
        case PROC_FORK:
                handle_fork(c, e);
                break;
        case PROC_EXEC:
                handle_exec(c, e);
                break;
        case PROC_UID:
                (void) append(c, e);
                break;
        case PROC_EXIT:
                handle_exit(c, e);
                break;
        case PROC_LOST: /* not on the wire */
                break;
        }
}

static void handle_datagram(Connector *c, const void *data, size_t size) {
        ProcEvent events[DATAGRAM_MAX / NLMSG_HDRLEN];
        int n;

        if (c->ack == -ENODATA)
                c->ack = connector_parse_ack(data, size, c->token);
        n = connector_parse(data, size, events, ELEMENTSOF(events));
        if (n < 0)
                append_lost(c);
        for (int i = 0; i < n; i++)
                handle_event(c, &events[i]);
}

/* One system call's worth of messages. Positive: how many. 0: none left. */
static int receive(Connector *c) {
        char buf[BATCH][DATAGRAM_MAX] __attribute__((aligned(8)));
        struct sockaddr_nl from[BATCH];
        struct iovec iov[BATCH];
        struct mmsghdr m[BATCH] = {0};
        int n;

        for (size_t i = 0; i < BATCH; i++) {
                iov[i] = (struct iovec){buf[i], sizeof(buf[i])};
                m[i].msg_hdr = (struct msghdr){
                        .msg_name = &from[i],
                        .msg_namelen = sizeof(from[i]),
                        .msg_iov = &iov[i],
                        .msg_iovlen = 1,
                };
        }
        n = recvmmsg(c->socket, m, BATCH, MSG_DONTWAIT, NULL);
        if (n < 0)
                return errno == EAGAIN ? 0 : -errno;
        for (int i = 0; i < n; i++) {
                if (m[i].msg_hdr.msg_namelen != sizeof(from[i]) || from[i].nl_pid != 0)
                        continue; /* not from the kernel */
                handle_datagram(c, buf[i], MIN((size_t) m[i].msg_len, sizeof(buf[i])));
        }
        return n;
}

/* With the mutex held. */
static int receive_all(Connector *c) {
        bool overrun = false;
        int r = 0;

        /* In this order: the sum is never too small, so a start time computed from it is never too early. */
        c->boot_offset = now_of(CLOCK_MONOTONIC);
        c->boot_offset = now_of(CLOCK_BOOTTIME) - c->boot_offset;

        if (c->lost)
                append_lost(c);
        for (size_t n = 0; n < DRAIN_MAX; n += (size_t) MAX(r, 1)) {
                r = receive(c);
                if (r == -ENOBUFS)
                        overrun = true;
                else if (r <= 0 && r != -EINTR)
                        break;
        }
        /* After an overrun the kernel drops all until the queue is empty (NETLINK_S_CONGESTED): the gap is here. */
        if (overrun)
                append_lost(c);
        return MIN(r, 0);
}

/* The same. */
static int drain(Connector *c) {
        int r = receive_all(c);

        collect_leaders(c);
        return r;
}

void connector_set_members(Connector *c, Members *m) {
        (void) pthread_mutex_lock(&c->mutex);
        c->members = m;
        (void) pthread_mutex_unlock(&c->mutex);
}

/* Waits for a drain that is under way: where it is in the queue is not known. A dead socket is the thread's business. */
void connector_poke(Connector *c) {
        bool was_empty;

        (void) pthread_mutex_lock(&c->mutex);
        was_empty = c->pending.n == 0;
        (void) receive_all(c);
        if (was_empty && c->pending.n > 0)
                (void) eventfd_write(c->ready, 1);
        (void) pthread_mutex_unlock(&c->mutex);
}

/* ---- thread ---- */

/* An exec is read before the process goes on only if we get the processor when the message comes: with 8 spinning
 * processes on 2 processors that was so for 2,000 of 2,000 short-lived ones with a real-time priority and for 1,344 with
 * nice -20. Where it is forbidden (RestrictRealtime=, a cgroup without a real-time share) nice has to do; where that is,
 * too, more details are missed. It works off a bounded number of messages at a time and then sleeps. */
static void raise_priority(void) {
        const struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};

        if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &lowest) == 0)
                return;
        /* By the number of the thread: Linux keeps a nice value for each. */
        (void) setpriority(PRIO_PROCESS, (id_t) gettid(), -20);
}

static void *run(void *userdata) {
        Connector *c = userdata;

        raise_priority();
        for (;;) {
                struct epoll_event events[8];
                bool was_empty;
                int n, r;

                n = epoll_wait(c->epoll, events, ELEMENTSOF(events), -1);
                for (int i = 0; i < n; i++)
                        if (events[i].data.fd == c->stop)
                                return NULL;

                (void) pthread_mutex_lock(&c->mutex);
                was_empty = c->pending.n == 0;
                r = drain(c);
                if (r < 0) { /* the socket is of no use any more */
                        append_lost(c);
                        (void) epoll_ctl(c->epoll, EPOLL_CTL_DEL, c->socket, NULL);
                }
                if (was_empty && c->pending.n > 0)
                        (void) eventfd_write(c->ready, 1);
                (void) pthread_mutex_unlock(&c->mutex);
        }
}

static int start_thread(Connector *c) {
        sigset_t all, before;
        int r;

        (void) sigfillset(&all);
        (void) pthread_sigmask(SIG_SETMASK, &all, &before);
        r = pthread_create(&c->thread, NULL, run, c);
        (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
        c->has_thread = r == 0;
        return -r;
}

/* ---- subscription ---- */

/* Sends the request and waits for the answer; events that come meanwhile are kept. */
static int subscribe(Connector *c) {
        const nsec_t deadline = now_of(CLOCK_MONOTONIC) + CONFIRM_MSEC * (NSEC_PER_SEC / 1000);
        int r = connector_socket_listen(c->socket, c->token);

        if (r < 0)
                return r;
        while (c->ack == -ENODATA) {
                struct pollfd p = {.fd = c->socket, .events = POLLIN};
                nsec_t now = now_of(CLOCK_MONOTONIC);

                if (now >= deadline)
                        return -ETIMEDOUT;
                r = poll(&p, 1, (int) ((deadline - now) / (NSEC_PER_SEC / 1000)) + 1);
                if (r < 0 && errno != EINTR)
                        return -errno;
                r = drain(c);
                if (r < 0)
                        return r;
        }
        return c->ack;
}

/* Whoever drains for connector_take() and keeps the thread waiting gets the thread's priority. */
static void init_mutex(pthread_mutex_t *m) {
        pthread_mutexattr_t attr;

        (void) pthread_mutexattr_init(&attr);
        (void) pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
        (void) pthread_mutex_init(m, &attr);
        (void) pthread_mutexattr_destroy(&attr);
}

int connector_new(Connector **ret) {
        _cleanup_(connector_freep) Connector *c = calloc(1, sizeof(*c));
        int r;

        if (!c)
                return -ENOMEM;
        c->socket = -1;
        c->ack = -ENODATA;
        init_mutex(&c->mutex);
        c->epoll = epoll_create1(EPOLL_CLOEXEC);
        c->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        c->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (c->epoll < 0 || c->stop < 0 || c->ready < 0)
                return -errno;
        r = connector_socket_open(&c->socket, &c->token);
        if (r < 0)
                return r;
        r = subscribe(c);
        if (r < 0)
                return r;
        r = watch_fd(c, c->socket);
        if (r < 0)
                return r;
        r = watch_fd(c, c->stop);
        if (r < 0)
                return r;
        if (c->pending.n > 0)
                (void) eventfd_write(c->ready, 1);
        r = start_thread(c);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(c);
        return 0;
}

Connector *connector_free(Connector *c) {
        if (!c)
                return NULL;
        /* Before 6.6 the kernel counts listeners by these words alone, and would go on building messages. */
        if (c->socket >= 0 && c->ack == 0)
                (void) connector_socket_ignore(c->socket, c->token);
        if (c->has_thread) {
                (void) eventfd_write(c->stop, 1);
                (void) pthread_join(c->thread, NULL);
        }
        while (c->n_leaders > 0)
                leader_remove(c, &c->leaders[0]);
        proc_events_done(&c->pending);
        safe_close(c->socket);
        safe_close(c->epoll);
        safe_close(c->stop);
        safe_close(c->ready);
        (void) pthread_mutex_destroy(&c->mutex);
        free(c);
        return NULL;
}

int connector_fd(const Connector *c) {
        return c->ready;
}

/* Leaves out the exits that have been revoked. */
static void compact(ProcEvents *e) {
        size_t kept = 0;

        for (size_t i = 0; i < e->n; i++)
                if (e->items[i].type != PROC_EXIT || e->items[i].pid != 0)
                        e->items[kept++] = e->items[i];
        e->n = kept;
}

int connector_take(Connector *c, ProcEvents *ret) {
        ProcEvents out;
        eventfd_t count;
        int r;

        (void) pthread_mutex_lock(&c->mutex);
        r = drain(c);
        if (r == 0) {
                (void) eventfd_read(c->ready, &count);
                out = c->pending;
                c->pending = (ProcEvents){0};
                c->room = c->text = 0;
                c->full = false;
                memset(c->exits, 0, sizeof(c->exits));
        }
        (void) pthread_mutex_unlock(&c->mutex);
        if (r < 0)
                return r;
        compact(&out);
        *ret = out;
        return 0;
}
