/* SPDX-License-Identifier: MIT */
/*
 * A file that appears whole or not at all: written beside its name and renamed over it. What is no regular file (a device, a
 * pipe) cannot be replaced and is written directly.
 */
#ifndef MOUNTWATCH_CLIENT_ATOMIC_FILE_H
#define MOUNTWATCH_CLIENT_ATOMIC_FILE_H

#include <stdio.h>
#include <sys/types.h>

#include "common/macro.h"

typedef struct AtomicFile {
        FILE *file;      /* to write to; NULL: closed */
        char *path;      /* symbolic links followed */
        char *temporary; /* NULL: written directly */
} AtomicFile;

/* `mode` is cut by the umask. The process's own streams are never reused as its descriptor. */
int atomic_file_open(const char *path, mode_t mode, AtomicFile *ret);
/* Makes it durable, then visible. After an error the old file is as it was. Either way *f is done. */
int atomic_file_commit(AtomicFile *f);
/* Forgets what was written. */
void atomic_file_done(AtomicFile *f);

#endif
