/* SPDX-License-Identifier: MIT */
/*
 * What a held open costs a bystander: of a process in no session, on a filesystem that is held, beside a bare responder that lets
 * everything go at once, and beside no responder at all. Prints one line of JSON. Needs root; mounts a tmpfs of its own in a
 * mount namespace of its own.
 *
 * The three take turns in slices, so that whatever else the machine does falls on all of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/fanotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "daemon/kernel/hold.h"

#define ROUNDS 20
#define OPENS 500 /* in each */
#define TOTAL ((size_t) (ROUNDS * OPENS))
#define SHORT_LIVED 200

static void must(bool good, const char *what) {
        if (good)
                return;
        (void) fprintf(stderr, "%s: %s\n", what, strerror(errno)); // NOLINT(concurrency-mt-unsafe)
        exit(errno == EPERM ? 77 : 1);                             // NOLINT(concurrency-mt-unsafe)
}

static uint64_t now(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t) t.tv_sec * NSEC_PER_SEC + (uint64_t) t.tv_nsec;
}

/* ---- the responders ---- */

typedef struct Bare {
        int group;
        pthread_t thread;
} Bare;

static void *answer_bare(void *userdata) {
        const Bare *b = userdata;

        (void) setpriority(PRIO_PROCESS, (id_t) gettid(), -15); /* as the hold has */
        for (;;) {
                _Alignas(struct fanotify_event_metadata) char buffer[4096];
                const struct fanotify_event_metadata *m = (const void *) buffer;
                ssize_t n = read(b->group, buffer, sizeof(buffer));

                if (n < 0 && errno != EINTR)
                        return NULL;
                for (; FAN_EVENT_OK(m, n); m = FAN_EVENT_NEXT(m, n)) {
                        const struct fanotify_response r = {m->fd, FAN_ALLOW};

                        (void) !write(b->group, &r, sizeof(r));
                        (void) close(m->fd);
                }
        }
}

/* In a process of its own: killing that is how it ends. */
static pid_t start_bare(const char *top) {
        int ready[2];
        char byte;
        pid_t pid;

        must(pipe2(ready, O_CLOEXEC) == 0, "pipe");
        pid = fork();
        must(pid >= 0, "fork");
        if (pid == 0) {
                Bare b;

                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                b.group = fanotify_init(FAN_CLASS_CONTENT | FAN_UNLIMITED_QUEUE | FAN_CLOEXEC,
                                        O_RDONLY | O_LARGEFILE | O_CLOEXEC);
                must(b.group >= 0, "fanotify_init");
                must(fanotify_mark(b.group, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_OPEN_PERM,
                                   AT_FDCWD, top) == 0,
                     "fanotify_mark");
                must(write(ready[1], "", 1) == 1, "write");
                (void) answer_bare(&b);
                _exit(1);
        }
        must(read(ready[0], &byte, 1) == 1, "bare responder");
        (void) close(ready[0]);
        (void) close(ready[1]);
        return pid;
}

static bool judge(Attempt *a, void *userdata) {
        a->decision = (Decision){.verb = VERB_REFUSE};
        return true;
}

static void tell(Attempt *a, void *userdata) {
        (void) attempt_free(a);
}

/* What the daemon has anyway while there is a session; it takes processor time, so it runs beside all three. */
typedef struct Daemon {
        WatchSites *sites;
        Members *members;
        Connector *connector;
        Pulses *pulses;
} Daemon;

static void start_daemon(const char *top, pid_t member, Daemon *ret) {
        const SessionRule rule = {.id = "bench", .policy = POLICY_DENY};

        ret->sites = watch_sites_new();
        must(ret->sites && watch_sites_add(ret->sites, "bench", top) == 0, "watch_sites_add");
        must(members_new(&ret->members) == 0, "members_new");
        must(members_set_rule(ret->members, &rule) == 0, "members_set_rule");
        must(members_add(ret->members, member, "bench") == 0, "members_add");
        errno = -connector_new(&ret->connector);
        must(errno == 0, "connector_new");
        connector_set_members(ret->connector, ret->members);
        must(pulses_new(&ret->pulses) == 0, "pulses_new");
}

static void stop_daemon(Daemon *d) {
        (void) connector_free(d->connector);
        (void) members_free(d->members);
        (void) watch_sites_unref(d->sites);
        (void) pulses_unref(d->pulses);
}

static Hold *start_hold(const char *top, const Daemon *d) {
        const HoldConfig config = {
                .watch = "bench",
                .path = top,
                .sites = d->sites,
                .members = d->members,
                .connector = d->connector,
                .hooks = {judge, tell, NULL},
                .deadline = 5 * USEC_PER_SEC,
                .pulses = d->pulses,
                .patience = 5 * USEC_PER_SEC,
        };
        char reason[256] = "";
        Hold *h = NULL;
        int state;

        must(hold_new(&config, &h) == 0, "hold_new");
        while ((state = hold_state(h, reason)) == 0) {
                struct pollfd p = {.fd = hold_fd(h), .events = POLLIN};

                (void) poll(&p, 1, -1);
        }
        errno = EPERM;
        must(state == 1, reason);
        return h;
}

/* ---- the bystander ---- */

typedef struct Sample {
        uint64_t ns[TOTAL];
        size_t n;
} Sample;

static int compare(const void *a, const void *b) {
        const uint64_t *x = a, *y = b;

        return (*x > *y) - (*x < *y);
}

static double percentile(Sample *s, double p) {
        qsort(s->ns, s->n, sizeof(s->ns[0]), compare);
        return (double) s->ns[(size_t) ((double) (s->n - 1) * p)] / 1000;
}

static void *open_repeatedly(void *userdata) {
        Sample *s = userdata;

        for (int i = 0; i < OPENS; i++) {
                uint64_t begin = now();
                int fd = open("f", O_RDWR | O_CLOEXEC);

                s->ns[s->n++] = now() - begin;
                if (fd < 0)
                        _exit(1);
                (void) close(fd);
        }
        return NULL;
}

/* A process that begins, opens once, and ends: nobody knows it yet. */
static void open_short_lived(Sample *s) {
        for (int i = 0; i < SHORT_LIVED / ROUNDS; i++) {
                pid_t pid = fork();

                if (pid == 0) {
                        uint64_t begin = now();
                        int fd = open("f", O_RDWR | O_CLOEXEC);

                        s->ns[s->n + 1] = now() - begin;
                        _exit(fd < 0);
                }
                must(pid > 0 && waitpid(pid, NULL, 0) == pid, "child");
                s->n++;
        }
}

typedef struct Samples {
        Sample main_thread, other_thread, short_lived;
} Samples;

/* In a child, as any bystander is. */
static void measure(Samples *s) {
        pid_t pid = fork();
        int status;

        must(pid >= 0, "fork");
        if (pid == 0) {
                pthread_t t;

                (void) open_repeatedly(&s->main_thread);
                if (pthread_create(&t, NULL, open_repeatedly, &s->other_thread) != 0)
                        _exit(1);
                (void) pthread_join(t, NULL);
                open_short_lived(&s->short_lived);
                _exit(0);
        }
        must(waitpid(pid, &status, 0) == pid && status == 0, "a bystander was refused");
}

static void print(const char *name, Sample *none, Sample *bare, Sample *hold, const char *end) {
        printf("\"%s\": {\"open_us\": %.1f, \"bare_p50_us\": %.1f, \"bare_p99_us\": %.1f, \"hold_p50_us\": %.1f, "
               "\"hold_p99_us\": %.1f, \"ratio_p50\": %.2f, \"ratio_p99\": %.2f}%s",
               name, percentile(none, 0.5), percentile(bare, 0.5), percentile(bare, 0.99),
               percentile(hold, 0.5), percentile(hold, 0.99),
               percentile(hold, 0.5) / percentile(bare, 0.5),
               percentile(hold, 0.99) / percentile(bare, 0.99), end);
}

static void prepare(char *top) {
        int fd;

        must(geteuid() == 0 || (errno = EPERM, false), "needs root");
        must(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0,
             "mount namespace");
        must(mkdtemp(top) && mount("bench", top, "tmpfs", 0, NULL) == 0 && chdir(top) == 0,
             "mount");
        fd = open("f", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        must(fd >= 0 && close(fd) == 0, "open");
}

static void take_turns(const char *top, const Daemon *d, Samples s[static 3]) {
        for (int i = 0; i < ROUNDS; i++) {
                ProcEvents events = {0};
                Hold *hold;
                pid_t bare;

                measure(&s[0]);
                bare = start_bare(top);
                measure(&s[1]);
                must(kill(bare, SIGKILL) == 0 && waitpid(bare, NULL, 0) == bare, "kill");
                hold = start_hold(top, d);
                measure(&s[2]);
                (void) hold_free(hold);
                if (connector_take(d->connector, &events) == 0)
                        proc_events_done(&events);
        }
}

static pid_t start_member(void) {
        pid_t pid = fork();

        must(pid >= 0, "fork");
        if (pid == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;)
                        (void) pause();
        }
        return pid;
}

int main(void) {
        char top[] = "/tmp/mwbench.XXXXXX";
        Daemon d = {0};
        Samples *s;
        pid_t member;

        prepare(top);
        s = mmap(NULL, 3 * sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        must(s != MAP_FAILED, "mmap");
        member = start_member();
        start_daemon(top, member, &d);
        take_turns(top, &d, s);
        stop_daemon(&d);
        (void) kill(member, SIGKILL);
        printf("{");
        print("main_thread", &s[0].main_thread, &s[1].main_thread, &s[2].main_thread, ", ");
        print("other_thread", &s[0].other_thread, &s[1].other_thread, &s[2].other_thread, ", ");
        print("short_lived", &s[0].short_lived, &s[1].short_lived, &s[2].short_lived, "}\n");
        must(chdir("/") == 0 && umount2(top, MNT_DETACH) == 0 && rmdir(top) == 0, "umount");
        return 0;
}
