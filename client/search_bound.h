/* SPDX-License-Identifier: MIT */
/* How long and how far a search may go on, and where it does not go. */
#ifndef MOUNTWATCH_CLIENT_SEARCH_BOUND_H
#define MOUNTWATCH_CLIENT_SEARCH_BOUND_H

#include <stdbool.h>

#include "common/mount_table.h"

typedef struct SearchBound {
        const MountTable *mounts; /* borrowed */
        nsec_t deadline;          /* CLOCK_MONOTONIC */
        size_t left;              /* things to look at */
        bool hit;                 /* one of the two: not everything was looked at */
} SearchBound;

SearchBound search_bound(const MountTable *mounts, unsigned seconds, size_t n);
/* Counts one; false when it is one too many, or too late. */
bool search_goes_on(SearchBound *b);
/* On a filesystem of another machine, or on none of a disk: not to be touched. */
bool search_avoids(const SearchBound *b, const char *path);

#endif
