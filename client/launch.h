/* SPDX-License-Identifier: MIT */
/*
 * A command that is forked, held until its session exists, and waited for.
 *
 * The command gets what this program was given: environment, descriptors, working directory, terminal, process group, signal
 * mask and dispositions. Meanwhile this program stays out of its way: it ignores the signals that a terminal sends to both, hands on
 * those that are sent to it alone, and stops when the command stops.
 */
#ifndef MOUNTWATCH_CLIENT_LAUNCH_H
#define MOUNTWATCH_CLIENT_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#define LAUNCH_SIGNALS 5

/* Runs in the child when it has been released, just before the command is executed. Nonzero: it is not executed. */
typedef struct LaunchHook {
        int (*run)(void *userdata);
        void *userdata;
} LaunchHook;

/* Something to look after while the command runs. */
typedef enum LaunchWish {
        LAUNCH_ON,   /* call again when the descriptor is readable */
        LAUNCH_SOON, /* call again in a moment, whatever the descriptor does */
        LAUNCH_OVER,
} LaunchWish;

typedef struct LaunchSide {
        int fd; /* stays the caller's */
        LaunchWish (*ready)(void *userdata);
        void *userdata;
} LaunchSide;

typedef struct Launch {
        pid_t pid;
        int release_fd; /* closed without a byte: the child gives up */
        int error_fd;   /* the errno of a failed exec; nothing when it worked */
        sigset_t mask;  /* as it was */
        struct sigaction actions[LAUNCH_SIGNALS];
} Launch;

/* Forks; the child waits. On failure nothing is left behind. `hook` may be NULL. */
int launch_fork(char *const *argv, const LaunchHook *hook, Launch *ret);
/* Lets the command start. From now on the terminal's signals are the command's alone. */
int launch_release(Launch *l);
/* The command is not to start: ends the child. */
void launch_abort(Launch *l);
/* Waits for its end and puts everything back as it was; `side` may be NULL. *ret_status as a shell shows it, 126 and 127 included;
 * *ret_exec_errno is not 0 when the command could not be executed. */
int launch_wait(Launch *l, const LaunchSide *side, int *ret_status, int *ret_exec_errno);

#endif
