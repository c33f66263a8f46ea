/* SPDX-License-Identifier: MIT */
/*
 * The least that a fanotify listener can do: one filesystem mark with names, read, count. What mountwatch costs is measured
 * against it. Ends on SIGTERM or SIGINT, when the queue is empty, with one line of JSON.
 *
 *   bare_reader FOLDER [alive|names]
 *
 * alive: also looks whether the process of each event is still in /proc. names: also prints each name.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <unistd.h>

#define EVENTS                                                                              \
        (FAN_CREATE | FAN_DELETE | FAN_RENAME | FAN_ATTRIB | FAN_MODIFY | FAN_CLOSE_WRITE | \
         FAN_ONDIR)

typedef struct Count {
        unsigned long long events, creates, overflows, alive;
} Count;

static volatile sig_atomic_t stop;

static void on_signal(int sig) {
        stop = 1;
}

/* The name behind the directory handle of a record. */
static void print_name(const struct fanotify_event_metadata *m) {
        const char *at = (const char *) m + m->metadata_len;
        const struct fanotify_event_info_fid *fid = (const void *) at;
        const struct file_handle *handle = (const void *) fid->handle;

        if (at < (const char *) m + m->event_len &&
            fid->hdr.info_type == FAN_EVENT_INFO_TYPE_DFID_NAME)
                puts((const char *) handle->f_handle + handle->handle_bytes);
}

static bool is_alive(int pid) {
        char path[32];

        (void) snprintf(path, sizeof(path), "/proc/%d/stat", pid);
        return access(path, F_OK) == 0;
}

static void look(const struct fanotify_event_metadata *m, const char *mode, Count *c) {
        if (m->mask & FAN_Q_OVERFLOW) {
                c->overflows++;
                return;
        }
        c->events++;
        if (m->mask & FAN_CREATE)
                c->creates++;
        if (strcmp(mode, "alive") == 0 && is_alive(m->pid))
                c->alive++;
        if (strcmp(mode, "names") == 0 && m->mask & FAN_CREATE)
                print_name(m);
}

int main(int argc, char **argv) {
        static char buffer[256 * 1024] __attribute__((aligned(8)));
        const char *mode = argc > 2 ? argv[2] : "";
        Count c = {};
        struct pollfd p = {.events = POLLIN};

        if (argc < 2)
                return 2;
        p.fd = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE |
                                     FAN_REPORT_DFID_NAME,
                             0);
        if (p.fd < 0 ||
            fanotify_mark(p.fd, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, EVENTS, -1, argv[1]) < 0) {
                perror("bare_reader");
                return 1;
        }
        (void) setvbuf(stdout, NULL, _IOLBF, 0);
        (void) sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_signal}, NULL);
        (void) sigaction(SIGINT, &(struct sigaction){.sa_handler = on_signal}, NULL);
        (void) fprintf(stderr, "ready\n");
        for (;;) {
                ssize_t n = read(p.fd, buffer, sizeof(buffer));

                if (n < 0 && errno == EAGAIN) {
                        if (stop)
                                break;
                        (void) poll(&p, 1, 100);
                        continue;
                }
                if (n < 0 && errno != EINTR)
                        break;
                for (struct fanotify_event_metadata *m = (void *) buffer;
                     n > 0 && FAN_EVENT_OK(m, n); m = FAN_EVENT_NEXT(m, n))
                        look(m, mode, &c);
        }
        printf("{\"events\": %llu, \"creates\": %llu, \"overflows\": %llu, \"alive\": %llu}\n",
               c.events, c.creates, c.overflows, c.alive);
        return 0;
}
