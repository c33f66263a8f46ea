/* SPDX-License-Identifier: MIT */
/*
 * Makes files as fast as it can, and prints how many seconds that took.
 *
 *   writer FOLDER COUNT [write|empty|pairs|stamp]
 *
 * write: create, write 10 bytes, close (the default). empty: create, close. pairs: create, close, unlink, in 1,000 files for
 * each folder. stamp: like empty, one each millisecond, named by the time of CLOCK_REALTIME in nanoseconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(clockid_t clock) {
        struct timespec t;

        (void) clock_gettime(clock, &t);
        return (uint64_t) t.tv_sec * 1000000000ULL + (uint64_t) t.tv_nsec;
}

static bool make_one(const char *name, const char *mode) {
        int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

        if (fd < 0)
                return false;
        if (strcmp(mode, "write") == 0 && write(fd, "0123456789", 10) != 10)
                return false;
        (void) close(fd);
        return strcmp(mode, "pairs") != 0 || unlink(name) == 0;
}

int main(int argc, char **argv) {
        const char *mode = argc > 3 ? argv[3] : "write";
        const struct timespec pause = {.tv_nsec = 1000000};
        unsigned long count;
        uint64_t begun;
        char name[64];

        if (argc < 3 || chdir(argv[1]) < 0) {
                (void) fprintf(stderr, "writer FOLDER COUNT [write|empty|pairs|stamp]\n");
                return 2;
        }
        count = strtoul(argv[2], NULL, 10);
        begun = now(CLOCK_MONOTONIC);
        for (unsigned long i = 0; i < count; i++) {
                if (strcmp(mode, "stamp") == 0) {
                        (void) nanosleep(&pause, NULL);
                        (void) snprintf(name, sizeof(name), "t%llu",
                                        (unsigned long long) now(CLOCK_REALTIME));
                } else {
                        (void) snprintf(name, sizeof(name), "d%lu", i / 1000);
                        if (i % 1000 == 0 && mkdir(name, 0755) < 0 && errno != EEXIST)
                                break;
                        (void) snprintf(name, sizeof(name), "d%lu/f%lu", i / 1000, i);
                }
                if (!make_one(name, mode)) {
                        perror(name);
                        return 1;
                }
        }
        printf("%.6f\n", (double) (now(CLOCK_MONOTONIC) - begun) / 1e9);
        return 0;
}
