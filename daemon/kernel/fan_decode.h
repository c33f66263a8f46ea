/* SPDX-License-Identifier: MIT */
/*
 * Decodes what one read() of a fanotify descriptor returned. Pure: no system calls; every length is checked against the bytes
 * that are there. What a record points to lies in the caller's buffer.
 */
#ifndef MOUNTWATCH_KERNEL_FAN_DECODE_H
#define MOUNTWATCH_KERNEL_FAN_DECODE_H

#include "common/macro.h"

#include <stdbool.h>
#include <sys/types.h>

/* Masks and types that glibc 2.36 or older kernel headers may lack; the values are kernel ABI. */
#define FAN_BIT_MODIFY 0x00000002ULL
#define FAN_BIT_ATTRIB 0x00000004ULL
#define FAN_BIT_CLOSE_WRITE 0x00000008ULL
#define FAN_BIT_MOVED_FROM 0x00000040ULL
#define FAN_BIT_MOVED_TO 0x00000080ULL
#define FAN_BIT_CREATE 0x00000100ULL
#define FAN_BIT_DELETE 0x00000200ULL
#define FAN_BIT_DELETE_SELF 0x00000400ULL
#define FAN_BIT_MOVE_SELF 0x00000800ULL
#define FAN_BIT_OVERFLOW 0x00004000ULL
#define FAN_BIT_RENAME 0x10000000ULL
#define FAN_BIT_ONDIR 0x40000000ULL

#define FAN_HANDLE_MAX 128 /* MAX_HANDLE_SZ */

/* A file handle where it lies: struct file_handle is { u32 bytes; s32 type; u8 data[] }. */
typedef struct FanHandle {
        const unsigned char *data; /* NULL: no handle */
        uint32_t size;
        int32_t type;
} FanHandle;

/* A directory and a name in it. */
typedef struct FanName {
        FanHandle dir;
        const char *name; /* NUL-terminated, "." for the directory itself; NULL: none */
} FanName;

typedef struct FanRecord {
        uint64_t mask;
        pid_t pid;
        int fd;         /* fd mode: the descriptor, -1 none. The caller closes it. */
        int pidfd;      /* -1 none. The caller closes it. */
        bool has_pidfd; /* the record has a place for one: pidfd == -1 means that the author was gone */
        FanName at;     /* where it happened; for a rename the old side */
        FanName to; /* the new side of a rename. A rename has only the side whose directory is marked. */
        FanHandle child; /* the object */
} FanRecord;

/*
 * Takes the record at *offset. Returns 1 and moves *offset behind it, 0 at the end, -EBADMSG for bytes that are no record
 * (what follows cannot be found then either). On -EBADMSG the descriptors of the broken record are in ret all the same
 * as far as they could be read, -1 otherwise.
 */
int fan_decode_next(const void *buffer, size_t size, size_t *offset, FanRecord *ret);

/* The identity of an object on its filesystem: a hash of the handle, never 0; 0 for no handle. */
uint64_t fan_handle_id(const FanHandle *h);

#endif
