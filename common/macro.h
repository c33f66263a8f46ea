/* SPDX-License-Identifier: MIT */
/*
 * Cleanup attributes, ownership hand-over and the units of time that the whole tree uses.
 *
 * usec_t is microseconds of CLOCK_REALTIME (what reports show); nsec_t is nanoseconds of CLOCK_MONOTONIC (what
 * the process connector stamps, and what is compared). Neither is ever taken inside common/ or daemon/core/:
 * time is an argument there.
 */
#ifndef MOUNTWATCH_COMMON_MACRO_H
#define MOUNTWATCH_COMMON_MACRO_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef uint64_t usec_t;
typedef uint64_t nsec_t;

#define USEC_PER_SEC 1000000ULL
#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_USEC 1000ULL

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _unused_ __attribute__((unused))
#define _printf_(a, b) __attribute__((format(printf, a, b)))

#define ELEMENTSOF(x) (sizeof(x) / sizeof((x)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* Hands a pointer or a descriptor over: the variable is left empty. */
#define TAKE_PTR(p)                     \
        ({                              \
                typeof(p) _taken = (p); \
                (p) = NULL;             \
                _taken;                 \
        })
#define TAKE_FD(fd)                \
        ({                         \
                int _taken = (fd); \
                (fd) = -1;         \
                _taken;            \
        })

/* Defines `free_fn`p, the form that _cleanup_() takes, next to the free function of a type. */
#define DEFINE_CLEANUP(type, free_fn)            \
        static inline void free_fn##p(type *p) { \
                if (*p)                          \
                        (void) free_fn(*p);      \
        }

static inline void freep(void *p) {
        free(*(void **) p);
}

static inline int safe_close(int fd) {
        if (fd >= 0)
                (void) close(fd);
        return -1;
}

static inline void closep(int *fd) {
        *fd = safe_close(*fd);
}

#define _cleanup_free_ _cleanup_(freep)
#define _cleanup_close_ _cleanup_(closep)

static inline int str_equal(const char *a, const char *b) {
        return a == b || (a && b && strcmp(a, b) == 0);
}

#endif
