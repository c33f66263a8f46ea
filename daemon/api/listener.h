/* SPDX-License-Identifier: MIT */
/* The socket file: taken over when it is stale, left alone when it is not ours. */
#ifndef MOUNTWATCH_API_LISTENER_H
#define MOUNTWATCH_API_LISTENER_H

#include "common/macro.h"

#include <sys/types.h>

typedef struct Listener {
        int fd;
        char *path; /* NULL: handed to us, its file is another's */
        dev_t dev;
        ino_t ino;
} Listener;

#define LISTENER_NULL ((Listener){.fd = -1})

/* -EADDRINUSE: somebody answers there. -EEXIST: something that is no socket is there. -ENAMETOOLONG: sun_path holds 107
 * bytes. The folder is made when it is missing. */
int listener_open(const char *path, Listener *ret);
/* Takes over a listening socket (socket activation), on success. */
int listener_take(int fd, Listener *ret);
/* Removes the file if it is still the one that was made. */
void listener_done(Listener *l);

#endif
