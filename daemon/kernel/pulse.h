/* SPDX-License-Identifier: MIT */
/*
 * Pulses: by them another process sees whether threads for which people wait still get on. A page of shared memory; each such
 * thread has a pulse in it and counts up once a second at least. That it has stopped counting is what stopped means: by a
 * signal, by a debugger, by a lock that nobody gives back. Counts, not times: whoever watches compares them as often as it
 * runs itself, so that a machine that stood still as a whole is not taken for a daemon that did.
 */
#ifndef MOUNTWATCH_KERNEL_PULSE_H
#define MOUNTWATCH_KERNEL_PULSE_H

#include "common/macro.h"

#include <stdbool.h>
#include <sys/types.h>

#define PULSES_MAX 256 /* the kernel allows a user 128 fanotify groups */
#define PULSE_MSEC 1000

typedef struct Pulses Pulses;
typedef struct Pulse Pulse;

int pulses_new(Pulses **ret);
Pulses *pulses_ref(Pulses *p);
Pulses *pulses_unref(Pulses *p);
DEFINE_CLEANUP(Pulses *, pulses_unref)
/* An eventfd, written to when a pulse begins. */
int pulses_fd(const Pulses *p);

/* ---- for the thread ---- */

/* `patience`: for how long it may stand still. NULL: all are taken. Does not look at `p` again after pulse_end(). */
Pulse *pulse_begin(Pulses *p, pid_t tid, usec_t patience);
void pulse_end(Pulse *p);
void pulse_beat(Pulse *p);
/* What comes now may hang for as long as the filesystem does, and nobody is the worse for it: whoever waits, waits for that as well. */
void pulse_enter_filesystem(Pulse *p);
void pulse_leave_filesystem(Pulse *p);

/* ---- for the one who watches, from another process; keeps what it knows in `w` ---- */

typedef struct PulseWatch {
        struct {
                uint64_t beats;
                uint64_t unchanged; /* looks in a row */
        } of[PULSES_MAX];
} PulseWatch;

typedef struct PulseLate {
        pid_t tid;
        bool in_filesystem;
} PulseLate;

/* To be called every PULSE_MSEC. How many pulses there are; *ret_n of those have not moved for as long as they may, are in `ret`. */
size_t pulses_look(Pulses *p, PulseWatch *w, PulseLate ret[static PULSES_MAX], size_t *ret_n);

#endif
